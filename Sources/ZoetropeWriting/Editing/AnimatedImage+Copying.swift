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
}
