extension SharedFrames {
  /// Shares the frames of `image`, rendered, looked for in a cache first and kept there.
  ///
  /// Frames may be asked for in any order: canvases kept along the way bound what a jump decodes, and
  /// stepping back decodes about one frame a step (see ``frame(at:)``). While one of its decoding
  /// positions is in use, the cache keeps the two frames used last, whatever its limits.
  ///
  /// - Parameters:
  ///   - image: what is shown.
  ///   - identity: its bytes' identity; nil, the default, finds it by
  ///     ``AnimatedImage/contentIdentity()`` before the first frame, on a decoding thread.
  ///   - rendering: how frames come out. Default: as they are.
  ///   - cache: where frames are looked for and kept. Default: ``MemoryFrameCache/shared``.
  ///   - budget: what canvases are charged to. Default: ``MemoryBudget/shared``.
  public convenience init(
    _ image: AnimatedImage, identity: ContentIdentity? = nil, rendering: Rendering = .init(),
    cache: any FrameCaching = MemoryFrameCache.shared, budget: MemoryBudget = .shared
  ) {
    let charged = image.charged(to: budget)
    if let identity { charged.access.identity = identity }
    self.init(charged, rendering: rendering, cache: cache, keeping: 2)
  }

  /// The frames of `image`, in `cache` when there is one and the bytes can be told from others.
  ///
  /// Canvases are charged to the image's budget.
  convenience init(
    _ image: AnimatedImage, rendering: Rendering = .init(), cache: (any FrameCaching)?, keeping: Int
  ) {
    let checkpoints = image.access.checkpoints(of: image)
    let renderer = FrameRenderer(rendering, of: image.canvasSize, options: image.options)
    // A cache of the caller's runs code of the caller's.
    let isLight = image.isLightToPlay && (cache == nil || cache is MemoryFrameCache)
    let image = image.preparedForPlaying
    let isAtHand: @Sendable (Int) -> Bool = { image.source.isAtHand(image.frames[$0].byteRange) }
    self.init(
      frames: image.frames, canvasSize: image.canvasSize, scaler: renderer.scaler,
      playCount: image.playCount, keeping: keeping,
      // A cached reader reads the whole file first, unless its identity is known.
      openingThreads: cache != nil && image.access.identity == nil ? .loading : nil,
      isAtHand: isLight ? isAtHand : nil, burst: isLight ? 1 : 0,
      resting: RestingCost(
        in: image.access.budget,
        ofReader: checkpoints.canvasCost + (renderer.scaler == nil ? 0 : renderer.bitmapCost))
    ) { () throws(AnimatedImageError) in
      guard let cache else {
        return SeekingReader(image, store: checkpoints, keepsCheckpoints: false)
      }
      return CachedFrameReader(image, renderer: renderer, cache: cache)
    }
  }
}
