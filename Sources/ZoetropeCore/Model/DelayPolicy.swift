/// The rule by which the stored delay of a frame determines how long the frame is shown.
///
/// A policy never changes the stored delay. It is applied when frames are timed.
public struct DelayPolicy: Sendable, Hashable {
  let kind: Kind

  enum Kind: Sendable, Hashable {
    case exact
    /// If a delay, rounded down to whole milliseconds, is at most `atMost`, it is replaced by `replacement`.
    case replace(atMost: Int, replacement: Duration)
    /// A delay below `floor` is replaced by `replacement`.
    case minimum(Duration, replacement: Duration)
  }

  /// Chromium's rule, which is the default: in both GIF and APNG, a delay of 10 ms or less is replaced by 100 ms.
  ///
  /// Chromium compares whole milliseconds, so 1/99 s counts as 10 ms. Longer delays are used exactly.
  public static let browser = DelayPolicy(
    kind: .replace(atMost: 10, replacement: .milliseconds(100)))
  /// Uses the stored delay unchanged, even if it is zero.
  public static let exact = DelayPolicy(kind: .exact)
  /// ffmpeg's rule for GIF: a delay of less than 20 ms is replaced by 100 ms.
  public static let ffmpeg = DelayPolicy(
    kind: .minimum(.milliseconds(20), replacement: .milliseconds(100)))
  /// Image I/O's rule, as reported by third parties: a delay of less than 11 ms is replaced by 100 ms.
  public static let imageIO = DelayPolicy(
    kind: .minimum(.milliseconds(11), replacement: .milliseconds(100)))
  /// Returns a policy that replaces a delay below `floor` by `replacement`, or by `floor` if `replacement` is nil.
  ///
  /// Both durations are clamped to the range from 0 to 10¹⁰ seconds, which exceeds any delay that a file can store.
  public static func minimum(_ floor: Duration, replacement: Duration? = nil) -> DelayPolicy {
    DelayPolicy(
      kind: .minimum(clamped(floor), replacement: clamped(replacement ?? floor)))
  }

  /// Returns `delay`, clamped to the range from 0 to the longest time for which a frame can be shown, 10¹⁰ seconds.
  /// With this bound, deadlines stay exact even for hundreds of thousands of frames of the longest duration at the
  /// slowest rate.
  package static func clamped(_ delay: Duration) -> Duration {
    min(max(delay, .zero), .seconds(10_000_000_000))
  }

  /// Returns how long a frame with this delay is shown at normal speed.
  public func shownDuration(of delay: FrameDelay) -> Duration {
    let stored = delay.duration
    switch kind {
    case .exact: return stored
    case .replace(let atMost, let replacement):
      return delay.milliseconds <= atMost ? replacement : stored
    case .minimum(let floor, let replacement): return stored < floor ? replacement : stored
    }
  }
}

extension DelayPolicy: CustomStringConvertible {
  /// The policy's name, as the command line spells it, or `minimum` if the policy is none of the named ones.
  public var description: String {
    switch self {
    case .exact: "exact"
    case .browser: "browser"
    case .ffmpeg: "ffmpeg"
    case .imageIO: "imageio"
    default: "minimum"
    }
  }
}

/// A policy that has a name on the command line and in JSON.
package struct NamedPolicy: Sendable {
  package let name: StaticString
  package let policy: DelayPolicy

  package static let all = [
    NamedPolicy(name: "browser", policy: .browser), NamedPolicy(name: "exact", policy: .exact),
    NamedPolicy(name: "ffmpeg", policy: .ffmpeg), NamedPolicy(name: "imageio", policy: .imageIO),
    NamedPolicy(name: "gtk", policy: .minimum(.milliseconds(20))),
  ]
}
