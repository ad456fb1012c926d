extension PNGEncoder {
  /// Encodes `bitmap` as a PNG file on one of the library's threads and returns the bytes of the file. For the
  /// parameters and the result, see ``init(effort:metadata:)`` and ``encode(_:)``.
  ///
  /// Each call allocates the working memory of an encoder. To encode many bitmaps, create one encoder per thread
  /// instead.
  ///
  /// - Throws: The errors of ``encode(_:)``; ``AnimatedImageError/Code/cancelled`` as soon as the calling task is
  ///   cancelled. An encoding in progress still completes, and its result is discarded.
  public static func encode(
    _ bitmap: Bitmap, effort: EncodingEffort = .balanced, metadata: AnimationMetadata? = nil
  ) async throws(AnimatedImageError) -> [UInt8] {
    try await DecodeThreads.shared.valueUnlessCancelled { () throws(AnimatedImageError) in
      try PNGEncoder(effort: effort, metadata: metadata).encode(bitmap)
    }
  }
}
