extension AnimatedImage {
  /// With ``DamagePolicy/strict``, throws an error if the static image or one of the frames up to `last` is damaged.
  /// Call this method before copying their compressed pixels, because copying does not find damage.
  ///
  /// The frames are decoded one after another, in the memory that a ``FrameReader`` takes. With any other policy,
  /// nothing is decoded.
  ///
  /// - Parameter last: The index of the last frame that is copied, or nil if none is.
  /// - Throws: the errors of ``FrameReader/frame(at:isCancelled:)``.
  func checkCopies(
    through last: Int?, isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    guard options.damage == .strict else { return }
    let reader = FrameReader(self)
    for index in frames.indices.prefix((last ?? -1) + 1) {
      _ = try reader.frame(at: index, isCancelled: isCancelled)
    }
    _ = try staticImageLoss()
  }

  /// Returns whether a file of `format` whose pictures are all encoded again lacks metadata of this image. In the
  /// format of this image, that includes chunks and extension blocks that are not read as metadata.
  func losesMetadata(in format: AnimationFormat) throws(AnimatedImageError) -> Bool {
    if format.writable?.losesMetadata(metadata) == true { return true }
    guard format == self.format.outputFormat, let editing = self.format.editing else {
      return false
    }
    return try editing.hasOtherExtensions(self)
  }
}

extension EditPlan {
  /// Whether the output shows what the source shows, in the same format, for the same times and as many times, so that
  /// a copy of the source can replace it unless pixels are to be stored in another way.
  ///
  /// False for a source that has lost data, and for one with bytes that no reader reads and a copy would keep.
  var showsSource: Bool {
    let isWhole = image.damage.allSatisfy {
      $0.kind.isTolerated && $0.kind != .trailingData && $0.kind != .gifStrayByte
    }
    return isWhole && format == image.format && playCount == image.playCount
      && crop == PixelRect(image.canvasSize) && canvasSize == image.canvasSize
      && steps.count == image.frames.count
      && steps.enumerated().allSatisfy { place, step in
        step.source == place && step.delay == image.frames[place].delay
      }
  }
}
