extension TerminalModel {
  /// What each cell looks like: a blank does not show its ink, and a half block can have either half as ink. Frames
  /// that follow others leave cells unchanged that already look right.
  var looks: [[String]] { cells.map(\.look) }
}

extension TerminalModel.Cell {
  fileprivate var look: [String] {
    // Without the `3` or `4` that distinguishes the numbers of a foreground from those of a background colour.
    let ink = pen.first { $0.hasPrefix("f3") }.map { String($0.dropFirst(2)) } ?? "ink"
    let ground = pen.first { $0.hasPrefix("b4") }.map { String($0.dropFirst(2)) } ?? "ground"
    switch character {
    case " ": return [ground, ground]
    case "█": return [ink, ink]
    case "▀": return [ink, ground]
    case "▄": return [ground, ink]
    default: return ["\(character)"] + pen
    }
  }
}
