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

/// What happens when a frame is not ready at its deadline.
///
/// A frame is late when its decoding, or with ``FrameBuffering/lossless`` its consumer, takes longer
/// than the time there was. Waking up a fraction of a millisecond after a deadline does not count: no
/// policy lets such delays add up. Not an enum, so that a later release may add a policy.
public struct LatePolicy: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case skip, stretch, latest
    case catchUp(maximumRate: Double)
  }

  let kind: Kind

  /// Shows the frame that is due and counts the ones passed over; the schedule stays. The default.
  ///
  /// A frame whose time is not over is shown late instead of skipped. When even the frame that was
  /// due has been overtaken while it was decoded, it is shown: a slow machine sees fewer frames,
  /// never none.
  public static let skip = LatePolicy(kind: .skip)
  /// Shows every frame for its full time and shifts the schedule by the lateness.
  public static let stretch = LatePolicy(kind: .stretch)
  /// Shows the newest frame that is due *and decoded*; the schedule stays.
  ///
  /// Unlike ``skip`` it never leaves a decoded frame for one that is yet to be decoded.
  public static let latest = LatePolicy(kind: .latest)
  /// Shows every frame, up to `maximumRate` times as fast as playback runs, until it has caught up.
  ///
  /// The schedule stays while it is at most ten seconds ahead. A longer stall, as of a machine that
  /// slept, moves the schedule by the rest. Values below 1 and NaN act as 1, those above 1000 as 1000.
  public static func catchUp(maximumRate: Double) -> LatePolicy {
    LatePolicy(kind: .catchUp(maximumRate: maximumRate))
  }

  /// The most that ``catchUp(maximumRate:)`` makes up for.
  static let maximumDebt = Duration.seconds(10)
}

extension LatePolicy: CustomStringConvertible {
  /// The name by which the command line knows the policy: `skip`, `stretch`, `latest`, `catchup`.
  public var description: String {
    switch kind {
    case .skip: "skip"
    case .stretch: "stretch"
    case .latest: "latest"
    case .catchUp: "catchup"
    }
  }
}

/// What a stream does with a frame that its consumer has not taken when the next one is due.
public enum FrameBuffering: String, Sendable, Hashable {
  /// Replaces it: a slow consumer sees fewer frames, never old ones. The default.
  ///
  /// The frame that takes its place counts it in ``ScheduledFrame/skipped`` and covers what it drew
  /// in ``ScheduledFrame/dirtyRect``.
  case newest
  /// Waits: no presented frame is ever lost, and the next one is late by the consumer's delay.
  ///
  /// Together with ``LatePolicy/stretch`` (see ``PlaybackOptions/everyFrame``) a consumer gets each
  /// frame exactly once.
  case lossless
}

/// Which way time runs through the frames.
public enum PlaybackDirection: String, Sendable, Hashable {
  /// From the first frame to the last.
  case forward
  /// From the last frame to the first.
  case backward

  /// The other direction.
  public var reversed: PlaybackDirection { self == .forward ? .backward : .forward }

  /// What one step adds to a frame's index.
  var offset: Int { self == .forward ? 1 : -1 }
}
