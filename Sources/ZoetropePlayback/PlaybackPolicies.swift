/// What to do when a frame is not ready at its deadline.
///
/// A frame is late if decoding it took too long or, with ``FrameBuffering/lossless``, if the consumer did. Timer
/// imprecision does not count, and never accumulates under any policy. Not an enum, so that later releases can add
/// policies.
public struct LatePolicy: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case skip, stretch, latest
    case catchUp(maximumRate: Double)
  }

  let kind: Kind

  /// Skips to the frame that is due and counts the skipped ones; the schedule stays. The default.
  ///
  /// A frame whose time is not over is shown late rather than skipped. Once playback has skipped to a frame, that frame
  /// is shown even if its time passes while it is decoded, so a slow machine shows fewer frames but never none.
  public static let skip = LatePolicy(kind: .skip)
  /// Shows every frame for its full time and shifts the schedule by the lateness.
  public static let stretch = LatePolicy(kind: .stretch)
  /// Shows the newest frame that is due *and decoded*; the schedule stays.
  ///
  /// Unlike ``skip``, it never drops a decoded frame in favour of one that is still being decoded. If all requested
  /// frames were decoded in time, but the consumer or the wake-up was late, playback continues with the frame that is
  /// due.
  public static let latest = LatePolicy(kind: .latest)
  /// Shows every frame, but up to `maximumRate` times faster than the playback rate until playback has caught up.
  ///
  /// The schedule does not move if playback is at most ten seconds behind. After a longer stall, for example because
  /// the machine was suspended, it moves by the excess. `maximumRate` is clamped to 1...1000; NaN counts as 1.
  public static func catchUp(maximumRate: Double) -> LatePolicy {
    LatePolicy(kind: .catchUp(maximumRate: maximumRate))
  }

  /// The maximum lateness that ``catchUp(maximumRate:)`` makes up for.
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
/// Under every policy the current frame stays on screen until the next one has arrived. Not an enum, so that later
/// releases can add policies.
public struct StallPolicy: Sendable, Hashable {
  private enum Kind: Sendable, Hashable { case shift, keep }

  private let kind: Kind

  /// The schedule resumes when the frame arrives: all later deadlines move by the time waited. The default.
  public static let shift = StallPolicy(kind: .shift)
  /// The schedule stays; frames that arrive late are treated as ``LatePolicy`` says. For live streams.
  public static let keep = StallPolicy(kind: .keep)
}

extension StallPolicy: CustomStringConvertible {
  /// The policy's name.
  public var description: String { kind == .shift ? "shift" : "keep" }
}

/// How to handle a frame that the consumer has not taken when the next one is due.
public struct FrameBuffering: OpenChoice, Sendable, Hashable, CustomStringConvertible {
  package enum Kind: String, CaseIterable, Sendable { case newest, lossless }

  package let kind: Kind
  package init(_ kind: Kind) { self.kind = kind }

  /// The next frame replaces it: a slow consumer gets fewer frames, but never outdated ones. The default.
  ///
  /// The new frame counts the replaced one in ``ScheduledFrame/skipped`` and includes its changes in
  /// ``ScheduledFrame/dirtyRect``.
  public static let newest = FrameBuffering(.newest)
  /// The next frame waits: no presented frame is lost, and the next one is late by the consumer's delay.
  ///
  /// With ``LatePolicy/stretch`` (see ``PlaybackOptions/everyFrame``), the consumer gets each frame exactly
  /// once.
  public static let lossless = FrameBuffering(.lossless)
}
