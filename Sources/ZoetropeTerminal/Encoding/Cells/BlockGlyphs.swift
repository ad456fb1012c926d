/// Which characters cells are drawn with.
public enum CellGlyphs: String, Sendable, Hashable, CaseIterable {
  /// `▀`, `▄`, `█` and space: two exact colours a cell.
  case half
  /// Quadrants and eighth blocks, which every font has.
  case fine
  /// ``fine`` and the sextants of Unicode 13.
  case sextants
  /// ``sextants`` and the octants of Unicode 16.
  case octants
}

/// One way to split a cell in two: the glyph that draws the split, and the one that draws its
/// opposite, if there is one.
struct BlockGlyph: Sendable, Hashable {
  /// The character whose ink covers the first part.
  let scalar: UInt32
  /// The character whose ink covers the other part; 0 when there is none.
  let opposite: UInt32
  /// How the ink's light is added up.
  let shape: Shape

  enum Shape: Sendable, Hashable {
    /// The whole cell in one colour.
    case whole
    /// So many eighths from the bottom.
    case lower(Int)
    /// So many eighths from the left.
    case left(Int)
    /// Parts of a raster two wide and `rows` high, row by row, the lowest bit at the top left.
    case parts(rows: Int, bits: Int)
  }

  /// The share of the cell that the ink covers.
  var area: Float {
    switch shape {
    case .whole: 0
    case .lower(let eighths), .left(let eighths): Float(eighths) / 8
    case .parts(let rows, let bits): Float(bits.nonzeroBitCount) / Float(rows * 2)
    }
  }

  private static let sets = Dictionary(
    uniqueKeysWithValues: CellGlyphs.allCases.map { ($0, list(of: $0)) })

  /// The splits of a glyph set, no split and its opposite twice; the first is ``Shape/whole``.
  static func all(in set: CellGlyphs) -> [BlockGlyph] { sets[set] ?? [] }

  private static func list(of set: CellGlyphs) -> [BlockGlyph] {
    var glyphs = [BlockGlyph(scalar: 0x20, opposite: 0x2588, shape: .whole)]
    glyphs.append(BlockGlyph(scalar: 0x2584, opposite: 0x2580, shape: .lower(4)))
    if set == .half { return glyphs }
    glyphs.append(BlockGlyph(scalar: 0x258C, opposite: 0x2590, shape: .left(4)))
    let quadrants: [(UInt32, UInt32, Int)] = [
      (0x2598, 0x259F, 1), (0x259D, 0x2599, 2), (0x2596, 0x259C, 4), (0x259A, 0x259E, 9),
      (0x259B, 0x2597, 7),
    ]
    for (scalar, opposite, bits) in quadrants {
      glyphs.append(
        BlockGlyph(scalar: scalar, opposite: opposite, shape: .parts(rows: 2, bits: bits)))
    }
    for eighths in 1...7 where eighths != 4 {
      glyphs.append(
        BlockGlyph(
          scalar: 0x2580 + UInt32(eighths), opposite: eighths == 7 ? 0x2594 : 0,
          shape: .lower(eighths)))
      glyphs.append(
        BlockGlyph(
          scalar: 0x2590 - UInt32(eighths), opposite: eighths == 7 ? 0x2595 : 0,
          shape: .left(eighths)))
    }
    if set == .fine { return glyphs }
    for bits in 1...31 where bits != 21 {
      glyphs.append(
        BlockGlyph(
          scalar: sextant(bits), opposite: sextant(63 - bits), shape: .parts(rows: 3, bits: bits)))
    }
    if set == .sextants { return glyphs }
    let octants = octantScalars
    for bits in 1...127 {
      guard let scalar = octants[bits], let opposite = octants[255 - bits] else { continue }
      glyphs.append(
        BlockGlyph(scalar: scalar, opposite: opposite, shape: .parts(rows: 4, bits: bits)))
    }
    return glyphs
  }

  /// Where ``CellSampler`` cuts cells for this set, in 24ths of the height.
  static func bandCuts(for set: CellGlyphs) -> [Int] {
    switch set {
    case .half: [0, 12, 24]
    case .fine: [0, 3, 6, 9, 12, 15, 18, 21, 24]
    case .sextants, .octants: [0, 3, 6, 8, 9, 12, 15, 16, 18, 21, 24]
    }
  }

  /// The sextants 1 to 62 without the half blocks, which Unicode leaves out of their row.
  private static func sextant(_ bits: Int) -> UInt32 {
    UInt32(0x1FB00 + bits - 1 - (bits > 21 ? 1 : 0) - (bits > 42 ? 1 : 0))
  }

  /// The characters that draw eight parts and nothing simpler does, by their bits.
  static let octantScalars: [Int: UInt32] = {
    // Quadrants, halves and quarters were characters before the octants came, and their row of
    // Unicode skips them; the middle and corner quarters lie elsewhere.
    var known: Set<Int> = [0b11, 0b11_1111, 0b1100_0000, 0b1111_1100]
    for quadrants in 0..<16 {
      var bits = 0
      for part in 0..<4 where quadrants >> part & 1 == 1 {
        bits |= 0b101 << (part >> 1 * 4 + part & 1)
      }
      known.insert(bits)
    }
    var scalars: [Int: UInt32] = [
      1: 0x1CEA8, 2: 0x1CEAB, 64: 0x1CEA3, 128: 0x1CEA0, 20: 0x1FBE6, 40: 0x1FBE7,
    ]
    var next: UInt32 = 0x1CD00
    for bits in 0...255 where !known.contains(bits) && scalars[bits] == nil {
      scalars[bits] = next
      next += 1
    }
    return scalars
  }()
}
