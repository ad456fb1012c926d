/// An animation whose frames can be decoded and played: a whole file (``AnimatedImage``), one whose bytes are still
/// arriving (``StreamedImage``), or one read by byte ranges (``RemoteImage``).
///
/// Only these three types conform. To play pictures that a program computes, write them to a `MemorySink` and open the
/// resulting bytes.
public protocol AnimationSource: Sendable {
  /// How the frames are read.
  var origin: FrameOrigin { get }
}

/// How the frames of an animation are read. Does not retain the animation, so releasing a ``StreamedImage`` still ends
/// it.
public struct FrameOrigin: Sendable {
  package let base: any ImageOrigin

  package init(_ base: any ImageOrigin) { self.base = base }
}

extension AnimationSource {
  /// The file's format.
  public var format: AnimationFormat { origin.base.format }
  /// The size of every composited frame.
  public var canvasSize: PixelSize { origin.base.canvasSize }
  /// The frames, in order; those known so far of a ``StreamedImage``.
  public var frames: [FrameControl] { origin.base.frames }
  /// The total number of plays, as known so far.
  public var playCount: PlayCount { origin.base.playCount }
}

extension AnimationSource {
  /// Returns the bitmap of frame `index`.
  ///
  /// Frames may be requested in any order and concurrently; equal requests are decoded once. Decoding runs on the
  /// library's own threads and continues from the previous request or the nearest checkpoint, so a jump decodes a
  /// bounded number of frames. (The first jump into a part that has not been visited yet decodes every frame between it
  /// and the nearest earlier checkpoint or independent frame.) A step back costs about as much as a step forward,
  /// except in a ``RemoteImage``. Copies of the image share the checkpoints, which are charged to
  /// ``MemoryBudget/shared`` and freed with the last copy.
  ///
  /// For a ``StreamedImage``, waits until the frame has arrived. A ``RemoteImage`` reads the bytes of the frame
  /// and of the frames it depends on.
  ///
  /// - Parameters:
  ///   - index: The frame, from 0.
  ///   - rendering: The size and format of the bitmap. Default: as decoded.
  ///   - cache: The cache for rendered frames. Default: nil, no caching. With a cache, such as
  ///     ``MemoryFrameCache/shared``, the first call reads the whole file once, to compute its
  ///     ``ContentIdentity``. A ``StreamedImage`` is cached once it is complete, a ``RemoteImage`` only if
  ///     ``SharedFrames`` was given its identity.
  /// - Throws: `parameter` if the frame does not exist; the errors of ``FrameReader/next()``; errors of reading byte
  ///   ranges; `cancelled`, never `CancellationError`, as soon as the task is cancelled. Decoding then stops within one
  ///   frame, unless other callers are waiting for it.
  public func bitmap(
    at index: Int, rendering: Rendering = .init(), cache: (any FrameCaching)? = nil
  ) async throws(AnimatedImageError) -> Bitmap {
    try await frame(at: index, rendering: rendering, cache: cache).bitmap
  }

  /// Returns frame `index` with the damage found in it. Otherwise like ``bitmap(at:rendering:cache:)``.
  public func frame(
    at index: Int, rendering: Rendering = .init(), cache: (any FrameCaching)? = nil
  ) async throws(AnimatedImageError) -> CompositedFrame {
    try await origin.base.frame(at: index, rendering, cache)
  }

  /// Returns the bitmap shown `time` after the start of the first play.
  ///
  /// A time past the last play means the last frame. For a ``StreamedImage``, waits until the frame shown at
  /// that time has arrived. Otherwise like ``bitmap(at:rendering:cache:)``.
  public func bitmap(
    at time: Duration, policy: DelayPolicy = .browser, rendering: Rendering = .init(),
    cache: (any FrameCaching)? = nil
  ) async throws(AnimatedImageError) -> Bitmap {
    let base = origin.base
    return try await base.frame(at: base.frameIndex(at: time, policy), rendering, cache).bitmap
  }

  /// Returns composited frames, without timing, decoded on demand.
  ///
  /// For a whole file, later frames are decoded ahead on all processors (see ``DecodingOptions/parallelism``), bounded
  /// in bytes. For a ``StreamedImage``, each frame is awaited; for a ``RemoteImage``, its bytes are read first. Frames
  /// before the range are decoded too if the first frame of the range needs them. Each iterator starts over. The range
  /// is clamped to the image's frames, so a range past the end is empty.
  ///
  /// - Parameters:
  ///   - range: The frames. Default: all.
  ///   - rendering: The size and format of the frames. Default: as decoded. Only the changed part of each frame is
  ///     scaled.
  ///   - cache: The cache for rendered frames, as in ``bitmap(at:rendering:cache:)``. Default: nil, no caching.
  public func bitmaps(
    _ range: some RangeExpression<Int> & Sendable = 0..., rendering: Rendering = .init(),
    cache: (any FrameCaching)? = nil
  ) -> BitmapSequence {
    BitmapSequence(self, rendering: rendering, cache: cache) { range.contains($0) }
  }
}

extension AnimationSource {
  /// The frames that ``bitmap(at:rendering:cache:)`` reads.
  package var randomAccessFrames: SharedFrames { origin.base.randomAccessFrames }
}

extension ImageOrigin {
  fileprivate var randomAccessFrames: SharedFrames { state.frames(of: self) }

  fileprivate func frame(
    at index: Int, _ rendering: Rendering, _ cache: (any FrameCaching)?
  ) async throws(AnimatedImageError) -> CompositedFrame {
    guard !Task.isCancelled else {
      throw AnimatedImageError(.cancelled, "cancelled before decoding", format: format)
    }
    let rendition = Rendition(rendering, of: canvasSize, options: options)
    try rendition.check(options.limits)
    var key: FrameKey?
    if let cache {
      let found = try await lookUp(index, rendition, in: cache)
      if let frame = found?.frame {
        return CompositedFrame(index: index, bitmap: frame.bitmap, damage: frame.damage)
      }
      key = found?.key
      state.shownFrames = key.flatMap { ShownFrames($0.animation, of: self, in: cache) }
    } else {
      state.shownFrames = nil
    }
    let composited = try await randomAccessFrames.frame(at: index)
    var frame = composited
    if rendering != Rendering() {
      frame = try await DecodeThreads.shared.value { [self] flag throws(AnimatedImageError) in
        var renderer = FrameRenderer(rendering, of: canvasSize, options: options)
        return try renderer.render(composited) { flag.isRaised }
      }
    }
    // If the file was overwritten meanwhile, these pixels do not belong to the content in the key.
    if let key, let cache, isUnchanged {
      let stored = CachedFrame(frame.bitmap, damage: frame.damage)
      if cache.mayBlock {
        // The frame was decoded, so return it even if the task was cancelled meanwhile.
        try? await DecodeThreads.shared.value { [self] flag throws(AnimatedImageError) in
          cache.storeIfPossible(stored, for: key)
          var filler = cache.filler(besides: rendering, of: self, key.animation.content)
          filler?.fillIfPossible(composited) { flag.isRaised }
        }
      } else {
        cache.storeIfPossible(stored, for: key)
      }
    }
    state.budget.settle()
    return frame
  }

  /// Returns the key of frame `index`, and the frame if `cache` has it; nil if the image cannot be cached.
  private func lookUp(
    _ index: Int, _ rendition: Rendition, in cache: any FrameCaching
  ) async throws(AnimatedImageError) -> (key: FrameKey, frame: CachedFrame?)? {
    let find = { @Sendable (isCancelled: () -> Bool) throws(AnimatedImageError) in
      try animationKey(rendition, in: cache, isCancelled: isCancelled).map {
        (key: $0[index], frame: cache.frame(for: $0[index]))
      }
    }
    if !cache.mayBlock, state.identity != nil { return try find { false } }
    return try await state.lookupThreads.value { flag throws(AnimatedImageError) in
      try find { flag.isRaised }
    }
  }

  /// Returns the frame shown `time` after the start, once that frame has arrived.
  fileprivate func frameIndex(
    at time: Duration, _ policy: DelayPolicy
  ) async throws(AnimatedImageError) -> Int {
    var timeline = PlaybackTimeline(arrivals == nil ? frames : [], policy: policy)
    while let arrivals {
      let arrival = arrivals.arrival(after: timeline.frameCount)
      timeline.append(arrival.frames)
      let known = timeline.frameCount
      if !arrival.isOpen || timeline.startTime(known) > time { break }
      guard await arrivals.waitForFrame(known) else {
        throw AnimatedImageError(.cancelled, "while frames arrived", format: format)
      }
    }
    guard timeline.frameCount > 0 else {
      throw AnimatedImageError(.noFrames, "no frame has arrived", format: format)
    }
    return timeline.position(at: time, in: 0..<timeline.frameCount, playCount: playCount).frame
  }
}

extension DecodeThreads {
  /// Runs `work` on one of these threads; the flag is raised when the calling task is cancelled.
  ///
  /// - Throws: `cancelled` immediately if it is already cancelled; errors of `work`.
  package func value<Value: Sendable>(
    _ work: @escaping @Sendable (CancelFlag) throws(AnimatedImageError) -> Value
  ) async throws(AnimatedImageError) -> Value {
    guard !Task.isCancelled else {
      throw AnimatedImageError(.cancelled, "cancelled before decoding")
    }
    return try await cancellableResult { flag in
      Result { () throws(AnimatedImageError) in try work(flag) }
    }.get()
  }
}
