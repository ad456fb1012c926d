/// How an animation is played. The defaults play it as browsers do.
public struct PlaybackOptions: Sendable, Hashable {
  /// The total number of plays; `.finite` must be at least 1. Default: nil, as stored in the file.
  ///
  /// A still image, or a ``range`` of one frame, is always shown once, for its delay.
  public var playCount: PlayCount?
  /// The first frame shown. Default: nil, the first of ``range`` in playing direction.
  public var startIndex: Int?
  /// The frames to play. Default: nil, all.
  ///
  /// Each play goes from one end of the range to the other.
  public var range: Range<Int>?
  /// Shows every frame for this long at rate 1 instead of its stored delay. Must not be negative; clamped to
  /// 10¹⁰ seconds, which is 317 years. Default: nil.
  public var fixedDelay: Duration?
  /// How stored delays are interpreted. Default: ``DelayPolicy/browser``.
  public var delayPolicy: DelayPolicy
  /// The playback rate: 2 is twice as fast. Clamped to 0.001...1000 and rounded to a millionth. Default: 1.
  public var rate: Double
  /// The playback direction. Default: ``PlaybackDirection/forward``.
  public var direction: PlaybackDirection
  /// Whether each play reverses the direction of the previous one. Default: false.
  ///
  /// The frame at the turn is shown once: two plays of three frames are 0 1 2 1 0.
  public var bounces: Bool
  /// How to handle late frames. Default: ``LatePolicy/skip``.
  public var latePolicy: LatePolicy
  /// How the schedule continues when the next frame of a ``StreamedImage`` has not arrived. Default:
  /// ``StallPolicy/shift``.
  public var stallPolicy: StallPolicy
  /// How to handle frames that the consumer has not taken. Default: ``FrameBuffering/newest``.
  public var buffering: FrameBuffering
  /// The number of frames decoded ahead of time, each of which holds one bitmap. Clamped to 1...64, or 2...64
  /// with ``LatePolicy/latest``, and to the number of frames played. Default: 2. To keep more frames, use a
  /// cache (see ``FrameCaching``).
  ///
  /// If decoding takes little of the time, one more frame is decoded in the same batch, so that the decoder
  /// wakes half as often.
  public var decodeAhead: Int
  /// Whether to reduce motion: one frame is shown, then the stream ends. Default: false.
  public var reducesMotion: Bool
  /// The frame shown if motion is reduced. Default: nil, the frame at which playback would start.
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

  /// ``decodeAhead``, clamped.
  func decodeAhead(in range: Range<Int>) -> Int {
    min(max(decodeAhead, latePolicy == .latest ? 2 : 1), 64, range.count)
  }

  /// Options that deliver each frame exactly once; a slow consumer delays playback.
  public static let everyFrame = PlaybackOptions(latePolicy: .stretch, buffering: .lossless)
}

/// What to do when a frame is not ready at its deadline.
///
/// A frame is late if its decoding, or with ``FrameBuffering/lossless`` its consumer, took too long. Timer
/// imprecision does not count, and never accumulates under any policy. Not an enum, so that later releases
/// can add policies.
public struct LatePolicy: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case skip, stretch, latest
    case catchUp(maximumRate: Double)
  }

  let kind: Kind

  /// Skips to the frame that is due and counts the skipped ones; the schedule stays. The default.
  ///
  /// A frame whose time is not over is shown late rather than skipped. A frame chosen by skipping is shown
  /// even if it was overtaken while it was decoded, so a slow machine shows fewer frames but never none.
  public static let skip = LatePolicy(kind: .skip)
  /// Shows every frame for its full time and shifts the schedule by the lateness.
  public static let stretch = LatePolicy(kind: .stretch)
  /// Shows the newest frame that is due *and decoded*; the schedule stays.
  ///
  /// Unlike ``skip``, it never drops a decoded frame for one that is not decoded yet because decoding is slow.
  /// If all requested frames were decoded in time, but the consumer or the wake-up was late, it continues with
  /// the frame that is due.
  public static let latest = LatePolicy(kind: .latest)
  /// Shows every frame, up to `maximumRate` times faster than the playback rate, until it has caught up.
  ///
  /// The schedule does not move if playback is at most ten seconds behind. After a longer stall, such as a
  /// suspended machine, it moves by the excess. `maximumRate` is clamped to 1...1000; NaN counts as 1.
  public static func catchUp(maximumRate: Double) -> LatePolicy {
    LatePolicy(kind: .catchUp(maximumRate: maximumRate))
  }

  /// The longest delay that ``catchUp(maximumRate:)`` makes up for.
  static let maximumDebt = Duration.seconds(10)
}

extension LatePolicy: CustomStringConvertible {
  /// The policy's name on the command line: `skip`, `stretch`, `latest` or `catchup`.
  public var description: String {
    switch kind {
    case .skip: "skip"
    case .stretch: "stretch"
    case .latest: "latest"
    case .catchUp: "catchup"
    }
  }
}

/// How the schedule continues after playback has waited for bytes.
///
/// Either way the current frame stays on screen until the next one has arrived. Not an enum, so that later
/// releases can add policies.
public struct StallPolicy: Sendable, Hashable {
  private enum Kind: Sendable, Hashable { case shift, keep }

  private let kind: Kind

  /// The schedule resumes when the frame arrives: every later deadline moves by the wait. The default.
  public static let shift = StallPolicy(kind: .shift)
  /// The schedule stays; frames that arrive late are treated as ``LatePolicy`` says. For live streams.
  public static let keep = StallPolicy(kind: .keep)
}

extension StallPolicy: CustomStringConvertible {
  /// The policy's name.
  public var description: String { kind == .shift ? "shift" : "keep" }
}

/// The result of a seek, because frames of a stream may not have arrived.
public struct SeekResult: Sendable, Hashable {
  private enum Kind: Sendable, Hashable { case available, awaited }

  private let kind: Kind

  /// The frame has arrived. Always so for a whole file.
  public static let available = SeekResult(kind: .available)
  /// The frame has not arrived. The current one stays on screen, and playback continues at the requested frame
  /// as soon as it arrives. If the stream ends without it, playback continues at the last frame; a time past
  /// the end then continues into the next play, as in a whole file.
  public static let awaited = SeekResult(kind: .awaited)
}

extension SeekResult: CustomStringConvertible {
  /// The result's name.
  public var description: String { kind == .available ? "available" : "awaited" }
}

/// How to handle a frame that the consumer has not taken when the next one is due.
public struct FrameBuffering: OpenChoice, Sendable, Hashable, CustomStringConvertible {
  package enum Kind: String, CaseIterable, Sendable { case newest, lossless }

  package let kind: Kind
  package init(_ kind: Kind) { self.kind = kind }

  /// Replaces it: a slow consumer gets fewer frames, never outdated ones. The default.
  ///
  /// The new frame counts it in ``ScheduledFrame/skipped`` and includes its changes in
  /// ``ScheduledFrame/dirtyRect``.
  public static let newest = FrameBuffering(.newest)
  /// Waits: no presented frame is lost, and the next one is late by the consumer's delay.
  ///
  /// With ``LatePolicy/stretch`` (see ``PlaybackOptions/everyFrame``), the consumer gets each frame exactly
  /// once.
  public static let lossless = FrameBuffering(.lossless)

  /// The name.
  public var description: String { rawValue }
}

/// The direction of playback.
public enum PlaybackDirection: String, Sendable, Hashable {
  /// From the first frame to the last.
  case forward
  /// From the last frame to the first.
  case backward

  /// The other direction.
  public var reversed: PlaybackDirection { self == .forward ? .backward : .forward }

  /// The change of a frame's index per step.
  var offset: Int { self == .forward ? 1 : -1 }
}
