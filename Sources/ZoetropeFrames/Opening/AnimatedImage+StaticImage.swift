extension AnimatedImage: AnimationSource {
  /// Describes how the frames are read. All frames are available at any time.
  public var origin: FrameOrigin { FrameOrigin(self) }

  /// Returns the image that readers without animation support show: the static image of an APNG if that image is not a
  /// frame, otherwise frame 0.
  ///
  /// - Throws: The errors of ``AnimationSource/bitmap(at:rendering:cache:)``. If the calling task is cancelled,
  ///   decoding that has begun still completes, and its result is discarded.
  public func staticBitmap() async throws(AnimatedImageError) -> Bitmap {
    try await DecodeThreads.shared.valueUnlessCancelled { [self] _ throws(AnimatedImageError) in
      try renderStaticBitmap()
    }
  }

  /// Returns the same image as ``staticBitmap()``, decoded on the calling thread.
  /// The result does not tell its damage; see ``staticImageLoss()``.
  package func renderStaticBitmap() throws(AnimatedImageError) -> Bitmap {
    if let picture = try StoredFrameReader(self).staticImage() { return picture.bitmap }
    return try FrameReader(self).frame(at: 0).bitmap
  }

  /// Returns the damage by which a static image that is not a frame has lost pixels, or nil if there is none.
  package func staticImageLoss() throws(AnimatedImageError) -> Damage? {
    let damage = try StoredFrameReader(self).staticImage()?.damage
    return damage.flatMap { $0.kind.isTolerated ? nil : $0 }
  }
}
