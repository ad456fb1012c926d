import ZoetropeFrames

/// One thing that a program does with animations, how that is known, and where it can be read.
package struct Rule: Hashable, Sendable {
  /// What a rule is about.
  package enum Subject: String, Sendable {
    case format, delays, plays, canvas, dispose, blend, frames, colour, damage
  }

  package enum Evidence: Hashable, Sendable {
    /// Compared with the program itself in this version, by a test or over a corpus.
    case measured(String)
    /// Stated by the program's source, its documentation or a third party.
    case reported
  }

  package let subject: Subject
  package let text: String
  package let evidence: Evidence
  /// A URL.
  package let source: String
}

/// How long a program shows a frame for its stored delay.
struct DelayRule: Hashable, Sendable {
  /// A delay below `bound` is shown as `shown`.
  struct Step: Hashable, Sendable {
    let bound: Duration
    let shown: Duration
  }

  enum Unit: Hashable, Sendable {
    case exact
    /// Fractions of a millisecond are dropped before the steps.
    case milliseconds
    /// Rounded to the nearest unit after the steps, and kept in 32 bits: longer delays wrap around.
    case hundredThousandths
  }

  /// The first one that applies counts.
  var steps: [Step] = []
  var unit = Unit.exact
  /// Whether a GIF's frame without a graphic control extension has the delay of the frame before.
  var isInherited = false
  let rule: Rule

  /// How long a frame with `delay` is shown; negative where the program's arithmetic overflows.
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

/// How often a program plays an animation.
struct PlayRule: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    /// As often as the file says: a GIF's repeats come after the first play.
    case file
    /// As ``file``, if a GIF's count is in a NETSCAPE2.0 block before the first frame; else once.
    case netscape
    case once
    case forever
    /// It does not play, but hands over the stored number; of a GIF, only that of a NETSCAPE2.0
    /// block before the first frame.
    case storedNumber
  }

  let kind: Kind
  let rule: Rule
}

/// What a program does with the files of one format.
package struct Behaviour: Hashable, Sendable {
  /// What is known of its pictures.
  enum Pictures: Hashable, Sendable {
    /// They are compared with this package's, frame by frame, over a corpus.
    case same
    /// Nothing but what ``Behaviour/rules`` say.
    case unknown
    case gif(GIFModel)
    case apng(APNGModel)
    /// Only the still picture of a PNG is decoded, and nothing of one that is damaged, by this rule.
    case still(Rule)
  }

  /// False: it shows one picture, an APNG's static one.
  package var animates = true
  var delays: DelayRule?
  var plays: PlayRule?
  var pictures = Pictures.unknown
  /// Applied to files with a colour profile or a gamma other than sRGB's; nil if it shows the stored
  /// colours.
  var profiles: Rule?
  /// Applied to interlaced frames of a single row, which are not drawn; nil if they are.
  var interlacedRow: Rule?
  /// Applied to frames with an index past the palette; nil if such pixels are as in this package.
  var paletteIndex: Rule?
  /// Further rules, which need no number.
  var rules: [Rule] = []
}

/// A program that shows or decodes animations.
package struct Program: Hashable, Sendable {
  /// What the command line calls it.
  package let id: String
  package let name: String
  let gif: Behaviour
  let apng: Behaviour

  /// What it does with files of `format`; a still PNG is handled like an APNG.
  func behaviour(for format: AnimationFormat) -> Behaviour { format == .gif ? gif : apng }
}
