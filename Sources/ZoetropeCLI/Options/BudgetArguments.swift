import ArgumentParser

/// How far colours may be off, as `--lossy` takes it.
struct ToleranceArgument: ExpressibleByArgument, Hashable, Sendable {
  let tolerance: Int

  init?(argument: String) {
    guard let tolerance = Int(argument), (0...200).contains(tolerance) else { return nil }
    self.tolerance = tolerance
  }
}

extension ArgumentHelp {
  /// That of `--lossy`.
  static var lossy: ArgumentHelp {
    ArgumentHelp(
      "Allow similar colours, 0 to 200. (default: 0)", valueName: "n")
  }
}
