import ArgumentParser
import ZoetropeTerminal

/// The words of `--protocol`.
enum ProtocolArgument: ExpressibleByArgument, Hashable {
  /// What suits the terminal best.
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
    ["auto"] + DrawingMode.all.map(\.name) + ["none"]
  }

  var defaultValueDescription: String { "auto" }
}

/// The words of `--colors`.
enum ColorsArgument: String, ExpressibleByArgument, CaseIterable {
  case auto, full
  case indexed = "256"
  case basic = "16"
  case none

  /// Nil believes the terminal.
  var depth: ColorDepth? { self == .auto ? nil : ColorDepth(rawValue: rawValue) }
}

/// The words of `--passthrough`.
enum PassthroughArgument: String, ExpressibleByArgument, CaseIterable {
  case auto, tmux, screen, none

  /// Nil takes the multiplexer that the terminal is inside of.
  var passthrough: Passthrough? { Passthrough(rawValue: rawValue) }
}

/// The words of `--fit`.
enum FitArgument: String, ExpressibleByArgument, CaseIterable {
  case contain, shrink, cover, original, integer, stretch

  var fit: FrameLayout.Fit { FrameLayout.Fit(rawValue: rawValue) ?? .contain }
}
