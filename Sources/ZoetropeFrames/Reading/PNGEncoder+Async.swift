extension PNGEncoder {
  /// Encodes `bitmap` as a PNG file on one of the library's threads and returns the bytes of the file. For the
  /// parameters and the result, see ``init(effort:metadata:)`` and ``encode(_:)``.
  ///
  /// There is one such thread per processor. Frames are decoded on others, so playback goes on while pictures are
  /// encoded. Each call allocates the working memory of an encoder. To encode many bitmaps, create one encoder per
  /// thread instead.
  ///
  /// - Throws: The errors of ``encode(_:)``; ``AnimatedImageError/Code/cancelled`` as soon as the calling task is
  ///   cancelled. An encoding in progress ends once the picture has been compressed in the way that is being tried, and
  ///   other encodings may wait for its thread until then.
  public static func encode(
    _ bitmap: Bitmap, effort: EncodingEffort = .balanced, metadata: AnimationMetadata? = nil
  ) async throws(AnimatedImageError) -> [UInt8] {
    try await DecodeThreads.encoding.valueUnlessCancelled { (flag) throws(AnimatedImageError) in
      try PNGEncoder(effort: effort, metadata: metadata).encode(
        bitmap, in: PixelRect(bitmap.size), isCancelled: { flag.isRaised })
    }
  }
}
