/// The rule that turns a frame's stored delay into the time it is shown.
///
/// The stored value never changes. The policy applies when frames are timed.
public struct DelayPolicy: Sendable, Hashable {
  let kind: Kind

  enum Kind: Sendable, Hashable {
    case exact
    /// A delay of `atMost` whole milliseconds or less is shown as `replacement`.
    case replace(atMost: Int, replacement: Duration)
    /// A delay below `floor` is shown as `replacement`.
    case minimum(Duration, replacement: Duration)
  }

  /// Chromium's rule, the default: 10 ms or less is shown as 100 ms, in both formats.
  ///
  /// Chromium compares whole milliseconds: 1/99 s counts as 10. Longer delays are shown exactly.
  public static let browser = DelayPolicy(
    kind: .replace(atMost: 10, replacement: .milliseconds(100)))
  /// The stored delay, including zero.
  public static let exact = DelayPolicy(kind: .exact)
  /// ffmpeg's GIF rule: less than 20 ms is shown as 100 ms.
  public static let ffmpeg = DelayPolicy(
    kind: .minimum(.milliseconds(20), replacement: .milliseconds(100)))
  /// Image I/O's rule as reported by third parties: less than 11 ms is shown as 100 ms.
  public static let imageIO = DelayPolicy(
    kind: .minimum(.milliseconds(11), replacement: .milliseconds(100)))
  /// Returns a policy that shows a delay below `floor` as `replacement`, or as `floor` if none is given.
  ///
  /// Both are clamped to the range from 0 to 10¹⁰ seconds, which exceeds any delay a file can store.
  public static func minimum(_ floor: Duration, replacement: Duration? = nil) -> DelayPolicy {
    DelayPolicy(
      kind: .minimum(clamped(floor), replacement: clamped(replacement ?? floor)))
  }

  /// Returns `delay` clamped to the longest time that a frame can be shown. With this bound, deadlines stay exact for
  /// hundreds of thousands of the longest frames at the slowest rate.
  package static func clamped(_ delay: Duration) -> Duration {
    min(max(delay, .zero), .seconds(10_000_000_000))
  }

  /// Returns the time that a frame with this delay is shown at normal speed.
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
  /// The policy as spelled on the command line.
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
