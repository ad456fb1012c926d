/// An animation whose frames can be decoded and played: a whole file (``AnimatedImage``), a file whose bytes are still
/// arriving (``StreamedImage``), or a file that is read by byte ranges (``RemoteImage``).
///
/// Only these three types conform to this protocol. To play pictures that a program computes, write them to a
/// `MemorySink` and open the resulting bytes.
public protocol AnimationSource: Sendable {
  /// Describes how the frames are read.
  var origin: FrameOrigin { get }
}

/// A description of how the frames of an animation are read. It does not retain the animation, so releasing a
/// ``StreamedImage`` still ends the stream.
public struct FrameOrigin: Sendable {
  package let base: any ImageOrigin

  package init(_ base: any ImageOrigin) { self.base = base }
}

extension AnimationSource {
  /// The format of the file.
  public var format: AnimationFormat { origin.base.format }
  /// The size of every composited frame.
  public var canvasSize: PixelSize { origin.base.canvasSize }
  /// The frames in order. For a ``StreamedImage``, these are the frames that have arrived so far.
  public var frames: [FrameControl] { origin.base.frames }
  /// The total number of plays. For a ``StreamedImage``, this is the number that is known so far.
  public var playCount: PlayCount { origin.base.playCount }
}

extension AnimationSource {
  /// Returns the bitmap of frame `index`.
  ///
  /// Frames may be requested in any order and concurrently; requests for the same frame share one decode. Decoding runs
  /// on the library's own threads and continues from the previous request or from the nearest checkpoint, so a jump
  /// decodes a bounded number of frames. (The first jump into a part of the animation that has not been visited yet
  /// decodes every frame from the nearest earlier checkpoint or independent frame on.) A step back costs about as much
  /// as a step forward, except in a ``RemoteImage``. Copies of the image share the checkpoints, which are charged to
  /// ``MemoryBudget/shared`` and freed with the last copy.
  ///
  /// For a ``StreamedImage``, this method waits until the frame has arrived. For a ``RemoteImage``, it reads the bytes
  /// of the frame and of the frames that it depends on.
  ///
  /// - Parameters:
  ///   - index: The index of the frame, from 0.
  ///   - rendering: The size and format of the bitmap. Default: the size and format in which frames are decoded.
  ///   - cache: The cache for rendered frames. Default: nil, no caching. With a cache, such as
  ///     ``MemoryFrameCache/shared``, the first call reads the whole file once, to compute its ``ContentIdentity``. The
  ///     frames of a ``StreamedImage`` are cached once the stream is complete; the frames of a ``RemoteImage`` are
  ///     cached only if ``SharedFrames`` was given its identity.
  /// - Throws: `parameter` if the frame does not exist; the errors of ``FrameReader/next()``; the errors of reading
  ///   byte ranges; `cancelled`, never `CancellationError`, as soon as the task is cancelled. Decoding then stops
  ///   within one frame, unless other callers are waiting for the frame.
  public func bitmap(
    at index: Int, rendering: Rendering = .init(), cache: (any FrameCaching)? = nil
  ) async throws(AnimatedImageError) -> Bitmap {
    try await frame(at: index, rendering: rendering, cache: cache).bitmap
  }

  /// Returns frame `index` with the damage found in it. In all other respects, this method behaves like
  /// ``bitmap(at:rendering:cache:)``.
  public func frame(
    at index: Int, rendering: Rendering = .init(), cache: (any FrameCaching)? = nil
  ) async throws(AnimatedImageError) -> CompositedFrame {
    try await origin.base.frame(at: index, rendering, cache)
  }

  /// Returns the bitmap that is shown `time` after the start of the first play.
  ///
  /// A negative time counts as 0, and a time after the last play gives the last frame. For a ``StreamedImage``, this
  /// method waits until the frame that is shown at `time` has arrived. In all other respects, it behaves like
  /// ``bitmap(at:rendering:cache:)``.
  public func bitmap(
    at time: Duration, policy: DelayPolicy = .browser, rendering: Rendering = .init(),
    cache: (any FrameCaching)? = nil
  ) async throws(AnimatedImageError) -> Bitmap {
    let base = origin.base
    return try await base.frame(at: base.frameIndex(at: time, policy), rendering, cache).bitmap
  }

  /// Returns a sequence of composited frames, which are decoded on demand and delivered without timing.
  ///
  /// For a whole file, later frames are decoded ahead on all processors (see ``DecodingOptions/parallelism``), within a
  /// bound on memory. For a ``StreamedImage``, the sequence waits for each frame to arrive. For a ``RemoteImage``, it
  /// reads the bytes of each frame before decoding it. Frames before the range are decoded too if the first frame of
  /// the range depends on them. Each iterator starts at the beginning of the range. The range is clamped to the frames
  /// of the image, so a range past the end is empty.
  ///
  /// - Parameters:
  ///   - range: The indices of the frames. Default: all frames.
  ///   - rendering: The size and format of the frames. Default: the size and format in which frames are decoded. Only
  ///     the changed part of each frame is scaled.
  ///   - cache: The cache for rendered frames, as in ``bitmap(at:rendering:cache:)``. Default: nil, no caching.
  public func bitmaps(
    _ range: some RangeExpression<Int> & Sendable = 0..., rendering: Rendering = .init(),
    cache: (any FrameCaching)? = nil
  ) -> BitmapSequence {
    BitmapSequence(self, rendering: rendering, cache: cache, isEmpty: range.containsNoFrame) {
      range.contains($0)
    }
  }
}

extension RangeExpression<Int> {
  /// Whether this range is known to contain no index of a frame, so that no stream is waited for.
  fileprivate var containsNoFrame: Bool {
    switch self {
    case let range as Range<Int>: range.isEmpty || range.upperBound <= 0
    case let range as ClosedRange<Int>: range.upperBound < 0
    case let range as PartialRangeUpTo<Int>: range.upperBound <= 0
    case let range as PartialRangeThrough<Int>: range.upperBound < 0
    default: false
    }
  }
}

extension AnimationSource {
  /// The shared frames from which ``bitmap(at:rendering:cache:)`` reads.
  package var randomAccessFrames: SharedFrames { origin.base.randomAccessFrames }
}

extension ImageOrigin {
  fileprivate var randomAccessFrames: SharedFrames { state.frames(of: self) }

  fileprivate func frame(
    at index: Int, _ rendering: Rendering, _ cache: (any FrameCaching)?
  ) async throws(AnimatedImageError) -> CompositedFrame {
    guard !Task.isCancelled else {
      throw AnimatedImageError(.cancelled, "stopped before decoding", format: format)
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
    // If the file has been overwritten in the meantime, these pixels do not belong to the content that the key
    // identifies.
    if let key, let cache, isUnchanged {
      let stored = CachedFrame(frame.bitmap, damage: frame.damage)
      if cache.mayBlock {
        // The frame has been decoded, so it is returned even if the task has been cancelled in the meantime.
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

  /// Returns the key of frame `index` in `cache`, together with the frame if `cache` contains it. Returns nil if the
  /// image cannot be cached.
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

  /// Returns the index of the frame that is shown `time` after the start, once that frame has arrived.
  fileprivate func frameIndex(
    at time: Duration, _ policy: DelayPolicy
  ) async throws(AnimatedImageError) -> Int {
    // Before the first frame has arrived, a negative time would seem to have passed.
    let time = max(time, .zero)
    var timeline = PlaybackTimeline(arrivals == nil ? frames : [], policy: policy)
    while let arrivals {
      let arrival = arrivals.arrival(after: timeline.frameCount)
      timeline.append(arrival.frames)
      let known = timeline.frameCount
      if !arrival.isOpen || timeline.startTime(known) > time { break }
      guard await arrivals.waitForFrame(known) else {
        throw AnimatedImageError(.cancelled, "stopped while waiting for a frame", format: format)
      }
    }
    guard timeline.frameCount > 0 else {
      throw AnimatedImageError(.noFrames, "no frame has arrived", format: format)
    }
    return timeline.position(at: time, in: 0..<timeline.frameCount, playCount: playCount).frame
  }
}
