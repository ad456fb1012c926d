/// A policy for frames that are not ready at their deadlines.
///
/// A frame is late if decoding it took too long or, with ``FrameBuffering/lossless``, if the consumer took too long.
/// Imprecise timers do not make a frame late in this sense, and their errors never accumulate under any policy. This
/// type is not an enum, so that later releases can add policies.
public struct LatePolicy: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case skip, stretch, latest
    case catchUp(maximumRate: Double)
  }

  let kind: Kind

  /// Skips late frames whose time is over, and keeps the schedule. This policy is the default.
  ///
  /// A frame whose time is not over is shown late rather than skipped. Once playback has skipped to a frame, that frame
  /// is shown even if its time passes while it is decoded, so a slow machine shows fewer frames, but always some.
  /// ``ScheduledFrame/skipped`` counts the skipped frames.
  public static let skip = LatePolicy(kind: .skip)
  /// Shows every frame for its full time, and moves later deadlines by the lateness.
  public static let stretch = LatePolicy(kind: .stretch)
  /// Shows the newest frame that is both due and decoded, and keeps the schedule.
  ///
  /// Unlike ``skip``, this policy never drops a decoded frame in favour of a frame that is still being decoded. If all
  /// requested frames were decoded in time, but the consumer was late or a timer fired late, playback continues with
  /// the frame that is due.
  public static let latest = LatePolicy(kind: .latest)
  /// Shows every frame and, after a late frame, plays up to `maximumRate` times faster than the playback rate until
  /// playback has caught up.
  ///
  /// The schedule is kept if playback is at most ten seconds behind. After a longer stall, for example because the
  /// machine was suspended, the schedule is delayed by the time in excess of ten seconds. `maximumRate` is clamped to
  /// 1...1000; NaN counts as 1.
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

/// A policy for continuing the schedule after playback has waited for frames of a ``StreamedImage``.
///
/// Under every policy, the current frame stays on screen until the next frame has arrived. This type is not an enum, so
/// that later releases can add policies.
public struct StallPolicy: Sendable, Hashable {
  private enum Kind: Sendable, Hashable { case shift, keep }

  private let kind: Kind

  /// Resumes the schedule when the frame arrives: all later deadlines move by the time waited. This policy is the
  /// default.
  public static let shift = StallPolicy(kind: .shift)
  /// Keeps the schedule. Frames that arrive after their deadlines are treated according to ``LatePolicy``. Use this
  /// policy for live streams.
  public static let keep = StallPolicy(kind: .keep)
}

extension StallPolicy: CustomStringConvertible {
  /// The name of the policy.
  public var description: String { kind == .shift ? "shift" : "keep" }
}

/// A policy for a frame that the consumer has not taken when the next frame is due.
public struct FrameBuffering: OpenChoice, Sendable, Hashable, CustomStringConvertible {
  package enum Kind: String, CaseIterable, Sendable { case newest, lossless }

  package let kind: Kind
  package init(_ kind: Kind) { self.kind = kind }

  /// Replaces the frame that was not taken with the next frame: a slow consumer gets fewer frames, but never an
  /// outdated one. This policy is the default.
  ///
  /// The next frame counts the replaced frame in ``ScheduledFrame/skipped``, and its ``ScheduledFrame/dirtyRect``
  /// includes that of the replaced frame.
  public static let newest = FrameBuffering(.newest)
  /// Delays the next frame until the consumer has taken the previous one, so that no presented frame is lost.
  ///
  /// With ``LatePolicy/stretch`` (see ``PlaybackOptions/everyFrame``), the consumer gets each frame exactly once.
  public static let lossless = FrameBuffering(.lossless)
}
