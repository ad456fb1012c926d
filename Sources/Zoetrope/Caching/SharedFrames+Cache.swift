extension SharedFrames {
  /// Shares the frames of `image`, rendered, looked for in a cache first and kept there.
  ///
  /// Frames may be asked for in any order: canvases kept along the way bound what a jump decodes, and
  /// stepping back decodes about one frame a step (see ``frame(at:)``). While one of its decoding
  /// positions is in use, the cache keeps the two frames used last, whatever its limits.
  ///
  /// - Parameters:
  ///   - image: what is shown.
  ///   - identity: its bytes' identity; see ``AnimatedImage/contentIdentity()`` and
  ///     ``ContentIdentity/init(contentsOf:)``.
  ///   - rendering: how frames come out. Default: as they are.
  ///   - cache: where frames are looked for and kept. Default: ``MemoryFrameCache/shared``.
  ///   - budget: what canvases are charged to. Default: ``MemoryBudget/shared``.
  public convenience init(
    _ image: AnimatedImage, identity: ContentIdentity, rendering: Rendering = .init(),
    cache: any FrameCaching = MemoryFrameCache.shared, budget: MemoryBudget = .shared
  ) {
    let opened = OpenedImage(image, identity: identity, cost: 0, budget: budget)
    self.init(opened, rendering: rendering, cache: cache)
  }

  /// The frames of `opened`, rendered by `rendering`, looked for and kept in `cache`.
  package convenience init(
    _ opened: OpenedImage, rendering: Rendering = .init(), cache: any FrameCaching
  ) {
    let image = opened.image
    self.init(
      frames: image.frames, canvasSize: image.canvasSize, playCount: image.playCount
    ) { () throws(AnimatedImageError) in
      CachedFrameReader(opened, rendering: rendering, cache: cache)
    }
  }
}
