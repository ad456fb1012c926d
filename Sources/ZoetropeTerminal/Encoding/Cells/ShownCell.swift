/// What a cell shows: the split, and the colours of its two parts.
///
/// Which of the two is the glyph's ink is not kept: it makes no difference to the picture.
struct ShownCell: Sendable, Hashable, BitwiseCopyable {
  var split: UInt16
  var ink: TerminalColor
  var paper: TerminalColor

  /// A cell of which nothing is known.
  static let unknown = ShownCell(split: .max, ink: .default, paper: .default)
}
