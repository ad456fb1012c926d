extension AnimatedImage {
  /// Returns the bitmap of frame `index`.
  ///
  /// Frames may be requested in any order and concurrently; equal requests are decoded once. Decoding runs
  /// on the library's own threads and continues from the previous request or the nearest checkpoint, so a
  /// jump decodes a bounded number of frames. (The first jump into an unseen part decodes everything before
  /// it.) A step back costs about as much as a step forward. Copies of this value share the checkpoints,
  /// which are charged to ``MemoryBudget/shared`` and freed with the last copy.
  ///
  /// - Parameters:
  ///   - index: the frame, from 0.
  ///   - rendering: its size and format. Default: as decoded.
  ///   - cache: the cache for rendered frames. Default: nil, no caching. With a cache, such as
  ///     ``MemoryFrameCache/shared``, the first call reads the whole file once, for its
  ///     ``ContentIdentity``.
  /// - Throws: `parameter` if there is no such frame; the errors of ``FrameReader/next()``; `cancelled`,
  ///   never `CancellationError`, as soon as the task is cancelled. Decoding then stops within one frame
  ///   unless others wait for it.
  public func bitmap(
    at index: Int, rendering: Rendering = .init(), cache: (any FrameCaching)? = nil
  ) async throws(AnimatedImageError) -> Bitmap {
    guard !Task.isCancelled else {
      throw AnimatedImageError(.cancelled, "cancelled before decoding", format: format)
    }
    try Rendition(rendering, of: canvasSize, options: options).check(options.limits)
    let key: FrameKey?
    if let cache, cache.mayBlock {
      let found = try await onThread(lookupThreads) { (image, flag) throws(AnimatedImageError) in
        try image.lookUp(index, rendering, in: cache) { flag.isRaised }
      }
      if let bitmap = found?.bitmap { return bitmap }
      key = found?.key
    } else {
      key = cache == nil ? nil : try await cacheKey(index, rendering)
      if let key, let bitmap = cache?.bitmap(for: key) { return bitmap }
    }
    access.shownFrames = key.flatMap { ShownFrames($0.animation, of: self, in: cache) }
    let composited = try await access.frames(of: self).frame(at: index)
    var frame = composited
    if rendering != Rendering() {
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
        try? await onThread(.shared) { (image, flag) throws(AnimatedImageError) in
          cache.store(stored, for: key)
          var filler = cache.backing?.filler(besides: rendering, of: image, key.animation.content)
          filler?.fillIfPossible(composited) { flag.isRaised }
        }
      } else {
        cache.store(stored, for: key)
      }
    }
    access.budget.settle()
    return frame.bitmap
  }

  /// Returns the bitmap shown `time` after the start of the first play.
  ///
  /// Times past the last play give the last frame. Otherwise like ``bitmap(at:rendering:cache:)``.
  public func bitmap(
    at time: Duration, policy: DelayPolicy = .browser, rendering: Rendering = .init(),
    cache: (any FrameCaching)? = nil
  ) async throws(AnimatedImageError) -> Bitmap {
    try await bitmap(
      at: frameIndex(at: time, policy: policy), rendering: rendering, cache: cache)
  }

  /// Where the image is looked up in a store: apart from loads if its identity is known, since that is short
  /// then. (A file that was touched, or another store, has it hashed there all the same, once.)
  var lookupThreads: DecodeThreads { access.storedIdentity == nil ? .loading : .checking }

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

  /// Returns the image for readers without animation support: the static image of an APNG if it is not a
  /// frame, else frame 0.
  ///
  /// - Throws: the errors of ``bitmap(at:rendering:cache:)``.
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

  /// Returns the composited frames of `range`, without timing, decoded on demand.
  ///
  /// Later frames are decoded ahead on all processors (see ``DecodingOptions/parallelism``), bounded in
  /// bytes. Frames before the range are decoded too if its first frame needs them. Each iterator starts
  /// over. The range is clamped to the image's frames, so one past the end is empty.
  ///
  /// - Parameters:
  ///   - range: the frames. Default: all.
  ///   - rendering: their size and format. Default: as decoded. Only the changed part of each frame is
  ///     scaled.
  public func bitmaps(
    _ range: some RangeExpression<Int> & Sendable = 0..., rendering: Rendering = .init()
  ) -> BitmapSequence {
    // Not `relative(to:)`, which traps for a closed range up to `Int.max`, and reverses the bounds of a partial
    // range that begins past the last frame.
    let first = frames.indices.first { range.contains($0) } ?? 0
    let last = frames.indices.last { range.contains($0) } ?? -1
    return BitmapSequence(image: self, range: first..<last + 1, rendering: rendering)
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
