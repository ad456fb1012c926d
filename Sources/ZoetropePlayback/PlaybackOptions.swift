/// Options for playing an animation. The defaults play it as browsers do.
public struct PlaybackOptions: Sendable, Hashable {
  /// The total number of plays; `.finite` must be at least 1. Default: nil, as stored in the file.
  ///
  /// A still image, or a ``range`` of one frame, is always shown once, for its delay.
  public var playCount: PlayCount?
  /// The index of the first frame shown. Default: nil, the first frame of ``range`` in playback direction.
  public var startIndex: Int?
  /// The frames to play. Default: nil, all.
  ///
  /// Each play goes from one end of the range to the other.
  public var range: Range<Int>?
  /// The time for which every frame is shown at rate 1, instead of its stored delay. Must not be negative; clamped to
  /// 10¹⁰ seconds, which is 317 years. Default: nil, the stored delays.
  public var fixedDelay: Duration?
  /// How stored delays are interpreted. Default: ``DelayPolicy/browser``.
  public var delayPolicy: DelayPolicy
  /// The playback rate: 2 is twice as fast. Clamped to 0.001...1000 and rounded to a millionth. Default: 1.
  public var rate: Double
  /// The playback direction. Default: ``PlaybackDirection/forward``.
  public var direction: PlaybackDirection
  /// Whether each play reverses the direction of the previous one. Default: false.
  ///
  /// The frame at the turning point is shown once: two plays of three frames are 0 1 2 1 0.
  public var bounces: Bool
  /// How to handle late frames. Default: ``LatePolicy/skip``.
  public var latePolicy: LatePolicy
  /// How the schedule continues when the next frame of a ``StreamedImage`` has not arrived. Default:
  /// ``StallPolicy/shift``.
  public var stallPolicy: StallPolicy
  /// How to handle frames that the consumer has not taken yet. Default: ``FrameBuffering/newest``.
  public var buffering: FrameBuffering
  /// The number of frames decoded ahead of time, each of which holds one bitmap. Clamped to 1...64, or 2...64
  /// with ``LatePolicy/latest``, and to the number of frames played. Default: 2. To keep more frames, use a
  /// cache (see ``FrameCaching``).
  ///
  /// If decoding takes only a small part of the playing time, one more frame is decoded in the same batch, so that the
  /// decoder wakes half as often.
  public var decodeAhead: Int
  /// Whether to reduce motion: only one frame is shown, and then the stream ends. Default: false.
  public var reducesMotion: Bool
  /// The index of the frame shown if motion is reduced. Default: nil, the frame at which playback would start.
  public var posterIndex: Int?
  /// Whether to record each frame's times in ``FrameScheduler/trace``. Default: false.
  public var recordsTrace: Bool

  /// Creates options; omitted arguments take their defaults.
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

  /// Returns ``decodeAhead``, clamped for `range`.
  func decodeAhead(in range: Range<Int>) -> Int {
    min(max(decodeAhead, latePolicy == .latest ? 2 : 1), 64, range.count)
  }

  /// Options that deliver each frame exactly once; a slow consumer delays playback.
  public static let everyFrame = PlaybackOptions(latePolicy: .stretch, buffering: .lossless)
}

/// The direction of playback.
public enum PlaybackDirection: String, Sendable, Hashable {
  /// From the first frame to the last.
  case forward
  /// From the last frame to the first.
  case backward

  /// The other direction.
  package var reversed: PlaybackDirection { self == .forward ? .backward : .forward }

  /// The change of a frame's index per step.
  var offset: Int { self == .forward ? 1 : -1 }
}
