@testable import ZoetropeTerminal

/// What a cell looks like, however it was written: a raster of 8 x 24 with two colours.
struct CellPicture: Hashable {
  /// One byte a line, the lowest bit at the left; the top left is never set.
  var lines: [UInt8]
  var clear: TerminalColor
  var set: TerminalColor

  init(_ cell: MiniTerminal.Cell) {
    lines = Self.rasters[cell.scalar] ?? Self.raster(cell.scalar)
    clear = cell.background
    set = cell.foreground
    if lines[0] & 1 == 1 {
      lines = lines.map { ~$0 }
      swap(&clear, &set)
    }
    if clear == set { lines = Array(repeating: 0, count: 24) }
    if lines.allSatisfy({ $0 == 0 }) { set = clear }
  }

  /// The rasters of all block characters, made once.
  private static let rasters: [UInt32: [UInt8]] = {
    var found: [UInt32: [UInt8]] = [:]
    for glyph in BlockGlyph.all(in: .octants) {
      found[glyph.scalar] = raster(glyph.scalar)
      if glyph.opposite != 0 { found[glyph.opposite] = raster(glyph.opposite) }
    }
    return found
  }()

  /// The ink of a block character, from the names that Unicode gives them.
  static func raster(_ scalar: UInt32) -> [UInt8] {
    func rows(_ test: (Int) -> UInt8) -> [UInt8] { (0..<24).map(test) }
    func parts(_ count: Int, _ bits: Int) -> [UInt8] {
      rows { line in
        let row = line * count / 24
        return (bits >> (2 * row) & 1 == 1 ? 0x0F : 0) | (bits >> (2 * row + 1) & 1 == 1 ? 0xF0 : 0)
      }
    }
    switch scalar {
    case 0x20: return rows { _ in 0 }
    case 0x2588: return rows { _ in 0xFF }
    case 0x2580: return rows { $0 < 12 ? 0xFF : 0 }
    case 0x2590: return rows { _ in 0xF0 }
    case 0x2594: return rows { $0 < 3 ? 0xFF : 0 }
    case 0x2595: return rows { _ in 0x80 }
    case 0x2581...0x2587: return rows { $0 >= 24 - 3 * Int(scalar - 0x2580) ? 0xFF : 0 }
    case 0x2589...0x258F: return rows { _ in UInt8((1 << (0x2590 - scalar)) - 1) }
    case 0x2596...0x259F:
      let bits = [4, 8, 1, 13, 9, 7, 11, 2, 6, 14]
      return parts(2, bits[Int(scalar - 0x2596)])
    case 0x1FB00...0x1FB3B:
      var bits = Int(scalar) - 0x1FB00 + 1
      if bits >= 21 { bits += 1 }
      if bits >= 42 { bits += 1 }
      return parts(3, bits)
    default:
      let octant = BlockGlyph.octantScalars.first { $0.value == scalar }
      return parts(4, octant?.key ?? 0xA5)
    }
  }
}

extension MiniTerminal {
  /// Whether every cell looks the same as in the other terminal.
  func looksLike(_ other: MiniTerminal) -> Bool {
    zip(cells, other.cells).allSatisfy { $0 == $1 || CellPicture($0) == CellPicture($1) }
  }

  /// The pictures of all cells.
  var pictures: [CellPicture] { cells.map { CellPicture($0) } }
}
