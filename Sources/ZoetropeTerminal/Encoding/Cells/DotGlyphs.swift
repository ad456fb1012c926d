/// Which characters show pictures without colours.
public enum DotGlyphs: String, Sendable, Hashable, CaseIterable {
  /// ASCII from light to dense.
  case ascii
  /// Quadrants: 2 x 2 dots a cell, in every font.
  case quadrants
  /// Braille: 2 x 4 dots a cell.
  case braille

  /// Dots in a cell, across and down; ASCII has one shade a cell.
  var columns: Int { self == .ascii ? 1 : 2 }
  var rows: Int {
    switch self {
    case .ascii: 1
    case .quadrants: 2
    case .braille: 4
    }
  }

  /// Characters of ASCII by the ink that they have in common fonts, none first.
  static let ramp = [UInt8](" .'`,:;~!+=xcvoajhbdqpwm#MW&%B@".utf8)

  private static let quadrantScalars: [UInt32] = [
    0x20, 0x2598, 0x259D, 0x2580, 0x2596, 0x258C, 0x259E, 0x259B,
    0x2597, 0x259A, 0x2590, 0x259C, 0x2584, 0x2599, 0x259F, 0x2588,
  ]

  /// The character that shows the dots `bits`, row by row, the lowest bit at the top left.
  func scalar(bits: Int) -> UInt32 {
    if self == .quadrants { return Self.quadrantScalars[bits & 15] }
    // Braille numbers its dots down the columns, and the fourth row came last.
    let order: [UInt32] = [0, 3, 1, 4, 2, 5, 6, 7]
    var pattern: UInt32 = 0
    for (bit, dot) in order.enumerated() where bits >> bit & 1 == 1 { pattern |= 1 << dot }
    return 0x2800 + pattern
  }
}
