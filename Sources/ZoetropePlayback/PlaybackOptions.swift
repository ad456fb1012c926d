/// Options for playing an animation. With the default options, an animation plays as it does in browsers.
public struct PlaybackOptions: Sendable, Hashable {
  /// The total number of plays, which must be at least 1 if finite. Default: nil, the number stored in the file.
  ///
  /// A still image, or a ``range`` of one frame, is always played once, for the frame's delay.
  public var playCount: PlayCount?
  /// The index of the first frame shown. Default: nil, the first frame of ``range`` in the direction of playback.
  public var startIndex: Int?
  /// The range of frames to play. Default: nil, all frames.
  ///
  /// Each play goes from one end of the range to the other.
  public var range: Range<Int>?
  /// The time for which every frame is shown at rate 1, instead of the frame's stored delay. The time must not be
  /// negative, and is clamped to 10¹⁰ seconds (317 years). Default: nil, which keeps the stored delays.
  public var fixedDelay: Duration?
  /// How stored delays are interpreted. Default: ``DelayPolicy/browser``.
  public var delayPolicy: DelayPolicy
  /// The playback rate. At 2, the animation plays twice as fast. The rate is clamped to 0.001...1000 and rounded to a
  /// millionth. Default: 1.
  public var rate: Double
  /// The playback direction. Default: ``PlaybackDirection/forward``.
  public var direction: PlaybackDirection
  /// Whether each play runs in the direction opposite to that of the previous play. Default: false.
  ///
  /// The frame at each turning point is shown once: two plays of three frames show frames 0, 1, 2, 1 and 0.
  public var bounces: Bool
  /// The policy for frames that are not ready at their deadlines. Default: ``LatePolicy/skip``.
  public var latePolicy: LatePolicy
  /// The policy for continuing the schedule after the next frame of a ``StreamedImage`` did not arrive in time.
  /// Default: ``StallPolicy/shift``.
  public var stallPolicy: StallPolicy
  /// The policy for frames that the consumer has not taken when the next frame is due. Default:
  /// ``FrameBuffering/newest``.
  public var buffering: FrameBuffering
  /// The number of frames decoded ahead of time, each of which takes the memory of one bitmap. Default: 2.
  ///
  /// The number is clamped to 1...64, or to 2...64 with ``LatePolicy/latest``, and is never above the number of frames
  /// played. To keep more frames, use a cache (see ``FrameCaching``). If decoding takes only a small part of the
  /// playing time, one more frame is decoded ahead, so that the decoder wakes half as often.
  public var decodeAhead: Int
  /// Whether to reduce motion by showing a single frame, after which the stream ends. Default: false.
  public var reducesMotion: Bool
  /// The index of the frame shown if ``reducesMotion`` is set. Default: nil, which selects the frame given by
  /// ``startIndex`` or, if that is also nil, the first frame of ``range``.
  public var posterIndex: Int?
  /// Whether to record each frame's times in ``FrameScheduler/trace``. Default: false.
  public var recordsTrace: Bool

  /// Creates options. Omitted arguments have the defaults documented for the properties.
  public init(
    playCount: PlayCount? = nil, rate: Double = 1, direction: PlaybackDirection = .forward,
    bounces: Bool = false, startIndex: Int? = nil, range: Range<Int>? = nil,
    delayPolicy: DelayPolicy = .browser, fixedDelay: Duration? = nil,
    latePolicy: LatePolicy = .skip, stallPolicy: StallPolicy = .shift,
    buffering: FrameBuffering = .newest, decodeAhead: Int = 2,
    reducesMotion: Bool = false, posterIndex: Int? = nil, recordsTrace: Bool = false
  ) {
    self.playCount = playCount
    self.rate = rate
    self.direction = direction
    self.bounces = bounces
    self.startIndex = startIndex
    self.range = range
    self.delayPolicy = delayPolicy
    self.fixedDelay = fixedDelay
    self.latePolicy = latePolicy
    self.stallPolicy = stallPolicy
    self.buffering = buffering
    self.decodeAhead = decodeAhead
    self.reducesMotion = reducesMotion
    self.posterIndex = posterIndex
    self.recordsTrace = recordsTrace
  }

  /// Returns ``decodeAhead``, clamped to its limits and to the number of frames in `range`.
  func decodeAhead(in range: Range<Int>) -> Int {
    min(max(decodeAhead, latePolicy == .latest ? 2 : 1), 64, range.count)
  }

  /// Options that deliver each frame exactly once. A slow consumer delays playback.
  public static let everyFrame = PlaybackOptions(latePolicy: .stretch, buffering: .lossless)
}

/// The direction of playback.
public enum PlaybackDirection: String, Sendable, Hashable {
  /// From the first frame to the last.
  case forward
  /// From the last frame to the first.
  case backward

  /// The opposite direction.
  package var reversed: PlaybackDirection { self == .forward ? .backward : .forward }

  /// The difference between the indices of successive frames in this direction: 1 or -1.
  var offset: Int { self == .forward ? 1 : -1 }
}
