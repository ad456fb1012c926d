/// How an animation is played. Every option left alone plays it as a browser does.
public struct PlaybackOptions: Sendable, Hashable {
  /// Plays in total; nil, the default, takes the file's. `.finite` needs at least 1.
  ///
  /// A still picture, and a ``range`` of one frame, is shown once for its delay, whatever this says.
  public var playCount: PlayCount?
  /// The first frame shown; nil, the default, is the first of ``range`` in playing direction.
  public var startIndex: Int?
  /// The frames that are played; nil, the default, plays all.
  ///
  /// Each play goes from one end of the range to the other.
  public var range: Range<Int>?
  /// Shows every frame for this long at rate 1, whatever the file says. Default: nil. Must
  /// not be negative.
  public var fixedDelay: Duration?
  /// How long a stored delay is shown. Default: ``DelayPolicy/browser``.
  public var delayPolicy: DelayPolicy
  /// How fast time runs: 2 is twice as fast. Default: 1. Kept between 0.001 and 1000, to a millionth.
  public var rate: Double
  /// Which way time runs. Default: ``PlaybackDirection/forward``.
  public var direction: PlaybackDirection
  /// Whether each play turns round at the end of the one before. Default: false.
  ///
  /// The frame at the turn is shown once: two plays of three frames are 0 1 2 1 0.
  public var bounces: Bool
  /// What happens to late frames. Default: ``LatePolicy/skip``.
  public var latePolicy: LatePolicy
  /// What happens to frames nobody has taken. Default: ``FrameBuffering/newest``.
  public var buffering: FrameBuffering
  /// Frames that are decoded before their time. Default: 2. Each holds one bitmap. Kept between 1 and 64,
  /// and to the number of frames that are played; a cache keeps more (see ``FrameCaching``).
  ///
  /// Where decoding takes little of the time, one more is decoded in the same go, so that the decoder
  /// works half as often.
  public var decodeAhead: Int
  /// Whether the viewer asked for less motion: one frame is shown, and the stream ends. Default: false.
  public var reducesMotion: Bool
  /// The frame shown when motion is reduced; nil, the default, is the frame playback would start at.
  public var posterIndex: Int?
  /// Whether each frame's times are kept in ``FrameScheduler/trace``. Default: false.
  public var recordsTrace: Bool

  /// Options; each argument left out has its default.
  public init(
    playCount: PlayCount? = nil, startIndex: Int? = nil, range: Range<Int>? = nil,
    fixedDelay: Duration? = nil, delayPolicy: DelayPolicy = .browser, rate: Double = 1,
    direction: PlaybackDirection = .forward, bounces: Bool = false,
    latePolicy: LatePolicy = .skip, buffering: FrameBuffering = .newest, decodeAhead: Int = 2,
    reducesMotion: Bool = false, posterIndex: Int? = nil, recordsTrace: Bool = false
  ) {
    self.playCount = playCount
    self.startIndex = startIndex
    self.range = range
    self.fixedDelay = fixedDelay
    self.delayPolicy = delayPolicy
    self.rate = rate
    self.direction = direction
    self.bounces = bounces
    self.latePolicy = latePolicy
    self.buffering = buffering
    self.decodeAhead = decodeAhead
    self.reducesMotion = reducesMotion
    self.posterIndex = posterIndex
    self.recordsTrace = recordsTrace
  }

  /// ``decodeAhead`` as it is kept.
  func decodeAhead(in range: Range<Int>) -> Int { min(max(decodeAhead, 1), 64, range.count) }

  /// Options with which a consumer gets each frame exactly once, and a slow one makes time wait.
  public static let everyFrame = PlaybackOptions(latePolicy: .stretch, buffering: .lossless)
}
