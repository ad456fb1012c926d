extension TerminalModel {
  /// What each cell looks like: a blank does not show its ink, and a half block can be told either way
  /// round. Frames that follow others leave cells that look right as they are.
  var looks: [[String]] { cells.map(\.look) }
}

extension TerminalModel.Cell {
  fileprivate var look: [String] {
    // Without `3` and `4`, in which the numbers of a colour for ink and for ground differ.
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
