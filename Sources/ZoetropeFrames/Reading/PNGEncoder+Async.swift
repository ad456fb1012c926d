extension PNGEncoder {
  /// Encodes `bitmap` as a PNG file on one of the library's threads. See ``init(effort:metadata:)`` and
  /// ``encode(_:)``.
  ///
  /// Each call allocates an encoder's working memory. For many pictures, use one encoder per thread. Throws
  /// ``AnimatedImageError/Code/cancelled`` as soon as the calling task is cancelled; an encoding in progress still
  /// completes, and its result is discarded.
  public static func encode(
    _ bitmap: Bitmap, effort: EncodingEffort = .balanced, metadata: AnimationMetadata? = nil
  ) async throws(AnimatedImageError) -> [UInt8] {
    try await DecodeThreads.shared.value { _ throws(AnimatedImageError) in
      try PNGEncoder(effort: effort, metadata: metadata).encode(bitmap)
    }
  }
}
