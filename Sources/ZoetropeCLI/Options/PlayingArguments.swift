package import ArgumentParser
internal import Glibc
internal import Zoetrope
package import ZoetropePlayer
internal import ZoetropeTerminal

/// A value of `--protocol`.
enum ProtocolArgument: ExpressibleByArgument, Hashable {
  /// The drawing mode that is best for the terminal.
  case auto
  /// Nothing is drawn.
  case none
  case mode(DrawingMode)

  init?(argument: String) {
    switch argument {
    case "auto": self = .auto
    case "none": self = .none
    default:
      guard let mode = DrawingMode(name: argument) else { return nil }
      self = .mode(mode)
    }
  }

  static var allValueStrings: [String] {
    ["auto"] + DrawingMode.all.map(\.name) + ["cells", "none"]
  }

  static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }

  /// The drawing mode, or nil to choose the best one for the terminal.
  var mode: DrawingMode? { if case .mode(let mode) = self { mode } else { nil } }
}

/// A value of `--colors` for commands that draw in the terminal.
enum ColorsArgument: String, ExpressibleByArgument, CaseIterable {
  case auto, full
  case indexed = "256"
  case basic = "16"
  case none

  /// The number of colours, or nil to use those of the terminal.
  var depth: ColorDepth? { self == .auto ? nil : ColorDepth(rawValue: rawValue) }
}

/// A value of `--passthrough`.
enum PassthroughArgument: String, ExpressibleByArgument, CaseIterable {
  case auto, tmux, screen, none

  /// The passthrough, or nil to choose it by the multiplexer in which the program runs.
  var passthrough: Passthrough? { Passthrough(rawValue: rawValue) }
}

/// A value of `--fit` for the player.
enum FitArgument: String, ExpressibleByArgument, CaseIterable {
  case auto, fit, shrink, fill, original, integer, stretch

  /// The fit, or nil to fit the whole picture into the terminal, with a whole scaling factor for pixel art.
  var fit: FrameLayout.Fit? { FrameLayout.Fit(rawValue: rawValue) }
}

/// A value of `--filter` for the player.
enum FilterArgument: String, ExpressibleByArgument, CaseIterable {
  case auto, nearest, box, bilinear, bicubic, lanczos3

  /// The filter, or nil to smooth all pictures except pixel art.
  var filter: ScalingFilter? { ScalingFilter(rawValue: rawValue) }
}

/// A value of `--loops`: a number of plays, `file` or `inf`.
enum LoopsArgument: ExpressibleByArgument, Hashable {
  case file
  case count(PlayCount)

  init?(argument: String) {
    switch argument {
    case "file": self = .file
    case "inf": self = .count(.indefinite)
    default:
      guard let plays = Int(argument), plays > 0 else { return nil }
      self = .count(.finite(plays))
    }
  }

  var defaultValueDescription: String { "file" }

  static var defaultCompletionKind: CompletionKind { .list(["file", "inf", "1"]) }

  /// The play count for the library, or nil to use the play count in the file.
  var playCount: PlayCount? {
    if case .count(let count) = self { return count }
    return nil
  }

  /// Whether the value is a number of plays, after which the player quits.
  var isFinite: Bool { if case .count(.finite) = self { true } else { false } }
}

/// A value of `--start`: a frame number, or a time with a unit. Negative frame numbers count from the end.
extension PlayStart: ExpressibleByArgument {
  package init?(argument: String) {
    if let number = FrameNumber(argument) {
      self = .frame(number.number)
    } else if argument.hasSuffix("s"), let time = TimeRange.time(argument[...]) {
      self = .time(time + .printingLoss)
    } else {
      return nil
    }
  }
}

enum PlaybackSpeed {
  /// The speeds that are allowed. At these speeds, the longest delays do not overflow.
  static let range = 0.001...1000.0
}

/// A value of `--late`.
struct LateArgument: ExpressibleByArgument, Hashable {
  let policy: LatePolicy

  init(policy: LatePolicy) { self.policy = policy }

  init?(argument: String) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    switch (parts.first, parts.count) {
    case ("skip", 1), ("drop", 1): policy = .skip
    case ("stretch", 1), ("keep", 1): policy = .stretch
    case ("latest", 1): policy = .latest
    case ("catchup", 1): policy = .catchUp(maximumRate: 2)
    case ("catchup", 2):
      guard let rate = Double(parts[1]), rate > 1, PlaybackSpeed.range.contains(rate) else {
        return nil
      }
      policy = .catchUp(maximumRate: rate)
    default: return nil
    }
  }

  var defaultValueDescription: String { "\(policy)" }

  static var defaultCompletionKind: CompletionKind {
    .list(["skip", "stretch", "latest", "catchup"])
  }
}

/// A value of `--bg` for the player: `terminal`, `checker`, `black`, `white` or a colour such as `#336699`.
extension PlayerBackdrop: ExpressibleByArgument {
  package init?(argument: String) {
    switch argument {
    case "terminal": self = .terminal
    case "checker": self = .checker
    case "black": self = .color(red: 0, green: 0, blue: 0)
    case "white": self = .color(red: 255, green: 255, blue: 255)
    default:
      guard let color = RGBA(hexadecimal: argument) else { return nil }
      self = .color(red: color.red, green: color.green, blue: color.blue)
    }
  }

  package static var defaultCompletionKind: CompletionKind {
    .list(["terminal", "checker", "black", "white"])
  }
}

/// The user's preference for less motion, from the environment.
enum MotionPreference {
  /// Whether `ZOETROPE_REDUCED_MOTION` or `NO_MOTION` is set to something other than 0.
  static var isReduced: Bool {
    ["ZOETROPE_REDUCED_MOTION", "NO_MOTION"].contains { name in
      let text = environmentVariable(name) ?? ""
      return !text.isEmpty && text != "0"
    }
  }
}
