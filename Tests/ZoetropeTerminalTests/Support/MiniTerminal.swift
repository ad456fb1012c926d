import Zoetrope

@testable import ZoetropeTerminal

/// A terminal small enough to verify by reading it: it applies bytes and keeps what is shown.
struct MiniTerminal {
  struct Cell: Hashable {
    var scalar: UInt32 = 0x20
    var foreground = TerminalColor.default
    var background = TerminalColor.default
  }

  let columns: Int
  let rows: Int
  var cells: [Cell]
  var x = 0
  var y = 0
  var isWrapPending = false
  var foreground = TerminalColor.default
  var background = TerminalColor.default
  /// Times that the screen scrolled or a line wrapped: neither may ever happen.
  var accidents = 0
  var paintedCount = 0
  var isSynchronized = false
  /// Strings: APC, DCS and OSC with the cell that the cursor was in.
  var strings: [(kind: UInt8, body: [UInt8], column: Int, row: Int)] = []

  init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
    cells = Array(repeating: Cell(), count: columns * rows)
  }

  subscript(column: Int, row: Int) -> Cell { cells[row * columns + column] }

  mutating func apply(_ bytes: [UInt8]) {
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      switch byte {
      case 0x1B: index = escape(bytes, index + 1)
      case 13:
        x = 0
        isWrapPending = false
        index += 1
      case 10:
        if y + 1 < rows { y += 1 } else { accidents += 1 }
        isWrapPending = false
        index += 1
      default:
        let length = byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
        let text = String(decoding: bytes[index..<index + length], as: UTF8.self)
        for scalar in text.unicodeScalars { put(scalar.value) }
        index += length
      }
    }
  }

  private mutating func put(_ scalar: UInt32) {
    if (0x300..<0x1000).contains(scalar) { return }
    if isWrapPending { accidents += 1 }
    cells[y * columns + x] = Cell(
      scalar: scalar, foreground: foreground, background: background)
    paintedCount += 1
    if x + 1 < columns { x += 1 } else { isWrapPending = true }
  }

  private mutating func escape(_ bytes: [UInt8], _ start: Int) -> Int {
    let kind = bytes[start]
    var index = start + 1
    if kind == 0x5B {
      while !(0x40...0x7E).contains(bytes[index]) { index += 1 }
      control(bytes[start + 1..<index], bytes[index])
      return index + 1
    }
    if [0x50, 0x5D, 0x5F].contains(kind) {
      while bytes[index] != 7, !(bytes[index] == 0x5C && bytes[index - 1] == 0x1B) { index += 1 }
      let end = bytes[index] == 7 ? index : index - 1
      strings.append((kind, Array(bytes[start + 1..<end]), x, y))
      return index + 1
    }
    return start + 1
  }

  private mutating func control(_ body: ArraySlice<UInt8>, _ final: UInt8) {
    let text = String(decoding: body, as: UTF8.self)
    if text == "?2026" {
      isSynchronized = final == UInt8(ascii: "h")
      return
    }
    let numbers = text.split(separator: ";", omittingEmptySubsequences: false).map {
      Int($0) ?? 0
    }
    let first = max(numbers.first ?? 1, 1)
    switch final {
    case UInt8(ascii: "H"):
      y = min(first, rows) - 1
      x = min(max(numbers.count > 1 ? numbers[1] : 1, 1), columns) - 1
      isWrapPending = false
    case UInt8(ascii: "C"):
      x = min(x + first, columns - 1)
      isWrapPending = false
    case UInt8(ascii: "m"): rendition(numbers)
    default: break
    }
  }

  private mutating func rendition(_ numbers: [Int]) {
    var index = 0
    while index < numbers.count {
      let value = numbers[index]
      switch value {
      case 0:
        foreground = .default
        background = .default
      case 38, 48:
        var color = TerminalColor.default
        if numbers[index + 1] == 2 {
          color = TerminalColor(
            red: UInt8(numbers[index + 2]), green: UInt8(numbers[index + 3]),
            blue: UInt8(numbers[index + 4]))
          index += 4
        } else {
          color = .indexed(UInt8(numbers[index + 2]))
          index += 2
        }
        if value == 38 { foreground = color } else { background = color }
      case 39: foreground = .default
      case 49: background = .default
      case 30...37: foreground = .basic(UInt8(value - 30))
      case 90...97: foreground = .basic(UInt8(value - 82))
      case 40...47: background = .basic(UInt8(value - 40))
      case 100...107: background = .basic(UInt8(value - 92))
      default: break
      }
      index += 1
    }
  }
}
