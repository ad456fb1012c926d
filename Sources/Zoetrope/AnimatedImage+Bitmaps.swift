extension AnimatedImage {
  /// The canvas as it is shown during frame `index`.
  ///
  /// Frames may be asked for in any order, by many at once: equal ones are decoded once. What is not
  /// in the cache is decoded on threads of the library's own, on from the frame asked for before when
  /// that is near, else from the nearest of the canvases kept along the way, so that a jump decodes
  /// a bounded number of frames (see ``MemoryBudget``; the first one into a part not seen yet decodes
  /// what lies before it). A step back costs about what a step forward does. All of it is shared by
  /// copies of this value, charged to ``MemoryBudget/shared``, and goes with the last copy.
  ///
  /// - Parameters:
  ///   - index: the frame, from 0.
  ///   - cache: where it is looked for and kept. Default: ``MemoryFrameCache/shared``; nil keeps no
  ///     frame. With a cache, the first call reads the whole file once to tell it from others.
  /// - Throws: `parameter` when there is no such frame, as ``FrameReader/next()``, and `cancelled` when
  ///   the task is cancelled: at once. Decoding ends within a frame when nobody else waits for it.
  public func bitmap(
    at index: Int, cache: (any FrameCaching)? = MemoryFrameCache.shared
  ) async throws(AnimatedImageError) -> Bitmap {
    guard !Task.isCancelled else {
      throw AnimatedImageError(.cancelled, "cancelled before decoding", format: format)
    }
    let key = cache == nil ? nil : try await cacheKey(index)
    if let key, let bitmap = cache?.bitmap(for: key) { return bitmap }
    access.shownFrames = key.flatMap { ShownFrames($0.animation, of: self, in: cache) }
    let frame = try await access.frames(of: self).frame(at: index)
    // Pixels of a file that was written over meanwhile are not those of the bytes in the key.
    if let key, source.isUnchanged {
      cache?.store(CachedFrame(frame.bitmap, damage: frame.damage), for: key)
    }
    access.budget.settle()
    return frame.bitmap
  }

  /// The canvas as it is shown `time` after the start of the first play.
  ///
  /// Times past the last frame of the last play give the last frame.
  ///
  /// - Throws: As ``bitmap(at:cache:)``.
  public func bitmap(
    at time: Duration, policy: DelayPolicy = .browser,
    cache: (any FrameCaching)? = MemoryFrameCache.shared
  ) async throws(AnimatedImageError) -> Bitmap {
    try await bitmap(at: frameIndex(at: time, policy: policy), cache: cache)
  }

  /// Where frame `index` is cached; nil for a file that was written over since it was opened.
  private func cacheKey(_ index: Int) async throws(AnimatedImageError) -> FrameKey? {
    var identity = access.identity
    if identity == nil {
      do throws(AnimatedImageError) {
        identity = try await onThread(.loading) { (image, flag) throws(AnimatedImageError) in
          try image.contentIdentity { flag.isRaised }
        }
      } catch {
        if error.code == .cancelled { throw error }
      }
    }
    let rendition = Rendition.canvas(
      canvasSize, format: options.canvasFormat, damage: options.damage)
    return identity.map { AnimationKey(content: $0, rendition: rendition)[index] }
  }

  /// The picture that readers without animation show, when it is not a frame (APNG); else frame 0.
  ///
  /// - Throws: As ``bitmap(at:cache:)``.
  public func staticBitmap() async throws(AnimatedImageError) -> Bitmap {
    try await onThread(.shared) { (image, _) throws(AnimatedImageError) in
      try image.renderStaticBitmap()
    }
  }

  /// ``staticBitmap()`` on the calling thread.
  public func renderStaticBitmap() throws(AnimatedImageError) -> Bitmap {
    guard let staticImage else { return try FrameReader(self).frame(at: 0).bitmap }
    let pixels = FramePixels()
    var worker = FrameWorker(header: header, options: options)
    try worker.decode(staticImage, header: header, source: source, into: pixels)
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
  public func bitmaps(_ range: some RangeExpression<Int> & Sendable = 0...) -> BitmapSequence {
    // Resolved against all indices there can be: against those there are, a partial range that
    // begins past them is a range with its bounds the wrong way round.
    BitmapSequence(
      image: self, range: range.relative(to: 0..<Int.max).clamped(to: frames.indices))
  }

  /// Runs `work` on one of `threads`; the flag is raised when the task is cancelled.
  private func onThread<Value: Sendable>(
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
