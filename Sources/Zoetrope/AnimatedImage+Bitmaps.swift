extension AnimatedImage {
  /// The picture of frame `index`.
  ///
  /// Frames may be requested in any order, by many tasks at once: equal requests are decoded once.
  /// Decoding happens on the library's own threads, on from the frame requested before when that is
  /// near, else from the nearest of the canvases kept along the way, so that a jump decodes a bounded
  /// number of frames (see ``MemoryBudget``; the first jump into an unseen part decodes what lies before
  /// it). A step back costs about what a step forward does. Copies of this value share all of it; it is
  /// charged to ``MemoryBudget/shared`` and freed with the last copy.
  ///
  /// - Parameters:
  ///   - index: the frame, from 0.
  ///   - rendering: its size and format. Default: as decoded.
  ///   - cache: where it is looked up and kept. Default: nil, nowhere. With a cache, such as
  ///     ``MemoryFrameCache/shared``, the first call reads the whole file once, for its
  ///     ``ContentIdentity``.
  /// - Throws: `parameter` when there is no such frame, as ``FrameReader/next()``, and `cancelled`,
  ///   never `CancellationError`, as soon as the task is cancelled. Decoding then ends within a frame
  ///   unless others wait for it.
  public func bitmap(
    at index: Int, rendering: Rendering = .init(), cache: (any FrameCaching)? = nil
  ) async throws(AnimatedImageError) -> Bitmap {
    guard !Task.isCancelled else {
      throw AnimatedImageError(.cancelled, "cancelled before decoding", format: format)
    }
    let key: FrameKey?
    if let cache, cache.mayBlock {
      let found = try await onThread(.loading) { (image, flag) throws(AnimatedImageError) in
        try image.lookUp(index, rendering, in: cache) { flag.isRaised }
      }
      if let bitmap = found?.bitmap { return bitmap }
      key = found?.key
    } else {
      key = cache == nil ? nil : try await cacheKey(index, rendering)
      if let key, let bitmap = cache?.bitmap(for: key) { return bitmap }
    }
    access.shownFrames = key.flatMap { ShownFrames($0.animation, of: self, in: cache) }
    var frame = try await access.frames(of: self).frame(at: index)
    if rendering != Rendering() {
      let composited = frame
      frame = try await onThread(.shared) { (image, flag) throws(AnimatedImageError) in
        var renderer = FrameRenderer(rendering, of: image.canvasSize, options: image.options)
        return try renderer.render(composited) { flag.isRaised }
      }
    }
    // If the file was overwritten meanwhile, these pixels do not belong to the bytes in the key.
    if let key, let cache, source.isUnchanged {
      let stored = CachedFrame(frame.bitmap, damage: frame.damage)
      if cache.mayBlock {
        // Cancelled meanwhile, the frame is there all the same.
        try? await onThread(.shared) { (_, _) throws(AnimatedImageError) in
          cache.store(stored, for: key)
        }
      } else {
        cache.store(stored, for: key)
      }
    }
    access.budget.settle()
    return frame.bitmap
  }

  /// The picture that is shown `time` after the start of the first play.
  ///
  /// Times past the last frame of the last play give the last frame. Everything else is as with
  /// ``bitmap(at:rendering:cache:)``.
  public func bitmap(
    at time: Duration, policy: DelayPolicy = .browser, rendering: Rendering = .init(),
    cache: (any FrameCaching)? = nil
  ) async throws(AnimatedImageError) -> Bitmap {
    try await bitmap(
      at: frameIndex(at: time, policy: policy), rendering: rendering, cache: cache)
  }

  /// The key of frame `index`; nil for a file that was overwritten since it was opened.
  private func cacheKey(
    _ index: Int, _ rendering: Rendering
  ) async throws(AnimatedImageError) -> FrameKey? {
    do throws(AnimatedImageError) {
      let rendition = Rendition(rendering, of: canvasSize, options: options)
      return AnimationKey(content: try await contentIdentity(), rendition: rendition)[index]
    } catch {
      if error.code == .cancelled { throw error }
      return nil
    }
  }

  /// The key of frame `index`, and its pixels if `cache` has them; on the calling thread. Nil for a file
  /// that was overwritten since it was opened.
  private func lookUp(
    _ index: Int, _ rendering: Rendering, in cache: any FrameCaching, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> (key: FrameKey, bitmap: Bitmap?)? {
    do throws(AnimatedImageError) {
      let identity = try cache.identity(of: self, isCancelled: isCancelled)
      let rendition = Rendition(rendering, of: canvasSize, options: options)
      let key = AnimationKey(content: identity, rendition: rendition)[index]
      return (key, cache.bitmap(for: key))
    } catch {
      if error.code == .cancelled { throw error }
      return nil
    }
  }

  /// The picture that readers without animation show, when it is not a frame (APNG); else frame 0.
  ///
  /// - Throws: As ``bitmap(at:rendering:cache:)``.
  public func staticBitmap() async throws(AnimatedImageError) -> Bitmap {
    try await onThread(.shared) { (image, _) throws(AnimatedImageError) in
      try image.renderStaticBitmap()
    }
  }

  /// ``staticBitmap()`` on the calling thread.
  public func renderStaticBitmap() throws(AnimatedImageError) -> Bitmap {
    guard let staticImage else { return try FrameReader(self).frame(at: 0).bitmap }
    let pixels = FramePixels()
    var decoder = FrameDecoder(header: header, options: options)
    try decoder.decode(staticImage, from: source, into: pixels)
    try pixels.refuse(under: options.damage, format: format)
    var compositor = try Compositor(size: canvasSize, format: options.canvasFormat)
    _ = try compositor.draw(pixels, staticImage)
    return compositor.canvas.bitmap
  }

  /// The composited frames of `range`, untimed, each decoded when it is asked for.
  ///
  /// Later frames decode meanwhile on all processors (see ``DecodingOptions/parallelism``), within a
  /// bounded number of bytes. Frames before the range are decoded too when its first frame needs
  /// them. Each iterator starts over. Indices that the image does not have are left out, so a range
  /// past the end is empty: how many frames there are is the file's to choose.
  ///
  /// - Parameters:
  ///   - range: the frames. Default: all.
  ///   - rendering: their size and format. Default: as decoded. Only what changed from one frame to the
  ///     next is scaled.
  public func bitmaps(
    _ range: some RangeExpression<Int> & Sendable = 0..., rendering: Rendering = .init()
  ) -> BitmapSequence {
    // Resolved against all possible indices first: a partial range that begins past the frames would
    // otherwise have its bounds the wrong way round.
    BitmapSequence(
      image: self, range: range.relative(to: 0..<Int.max).clamped(to: frames.indices),
      rendering: rendering)
  }

  /// Runs `work` on one of `threads`; the flag is raised when the task is cancelled.
  func onThread<Value: Sendable>(
    _ threads: DecodeThreads,
    _ work: @escaping @Sendable (AnimatedImage, CancelFlag) throws(AnimatedImageError) -> Value
  ) async throws(AnimatedImageError) -> Value {
    guard !Task.isCancelled else {
      throw AnimatedImageError(.cancelled, "cancelled before decoding", format: format)
    }
    let result = await threads.cancellableResult { [self] flag in
      Result { () throws(AnimatedImageError) in try work(self, flag) }
    }
    return try result.get()
  }
}
