import ZoetropeFrames

/// One behaviour of a program, the evidence for it, and its source.
package struct Rule: Hashable, Sendable {
  /// What a rule is about.
  package enum Subject: String, Sendable {
    case format, delays, plays, canvas, dispose, blend, frames, colour, damage
  }

  package enum Evidence: Hashable, Sendable {
    /// The behaviour was compared with this version of the program, in a test or over a corpus.
    case measured(String)
    /// The behaviour is stated by the program's source, its documentation or a third party.
    case reported
  }

  package let subject: Subject
  package let text: String
  package let evidence: Evidence
  /// The URL of the source.
  package let source: String
}

/// The rule for how long a program shows a frame with a given stored delay.
struct DelayRule: Hashable, Sendable {
  /// A frame with a delay below `bound` is shown for the time `shown`.
  struct Step: Hashable, Sendable {
    let bound: Duration
    let shown: Duration
  }

  enum Unit: Hashable, Sendable {
    case exact
    /// Whole milliseconds, to which the stored delay is rounded down before the steps are applied.
    case milliseconds
    /// Units of 10 µs. After the steps are applied, the delay is rounded to the nearest unit and stored in 32 bits.
    /// Delays that do not fit wrap around.
    case hundredThousandths
  }

  /// The steps, of which only the first that applies is used.
  var steps: [Step] = []
  var unit = Unit.exact
  /// Whether a GIF frame without a graphic control extension inherits the delay of the previous frame.
  var isInherited = false
  let rule: Rule

  /// Returns how long a frame with `delay` is shown. The result is negative if the program's arithmetic overflows.
  func shownDuration(of delay: FrameDelay) -> Duration {
    let stored = unit == .milliseconds ? .milliseconds(delay.milliseconds) : delay.duration
    let shown = steps.first { stored < $0.bound }?.shown ?? stored
    guard unit == .hundredThousandths else { return shown }
    let (seconds, attoseconds) = shown.components
    let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    let count = Int32(truncatingIfNeeded: (nanoseconds + 5000) / 10_000)
    return .microseconds(Int64(count) * 10)
  }
}

/// The rule for how often a program plays an animation.
struct PlayRule: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    /// As often as the file specifies. The loop count of a GIF counts the plays after the first.
    case file
    /// Like ``file``, but a GIF is played once unless a NETSCAPE2.0 block precedes its first frame.
    case netscape
    case once
    case forever
    /// The program does not play animations, but reports the stored loop count. In a GIF, the program finds the loop
    /// count only in a NETSCAPE2.0 block before the first frame.
    case storedNumber
  }

  let kind: Kind
  let rule: Rule
}
