internal import ZoetropeFrames

extension [UInt8] {
  /// Appends the characters of an ASCII literal.
  @inline(__always)
  mutating func append(ascii text: StaticString) { append(copying: text) }

  /// Appends `text` in UTF-8.
  mutating func append(text: String) { append(contentsOf: text.utf8) }

  /// Appends a non-negative number in decimal.
  @inline(__always)
  mutating func append(decimal value: Int) {
    if value < 10 {
      append(48 &+ UInt8(truncatingIfNeeded: value))
    } else if value < 100 {
      append(48 &+ UInt8(truncatingIfNeeded: value / 10))
      append(48 &+ UInt8(truncatingIfNeeded: value % 10))
    } else if value < 1000 {
      append(48 &+ UInt8(truncatingIfNeeded: value / 100))
      append(48 &+ UInt8(truncatingIfNeeded: value / 10 % 10))
      append(48 &+ UInt8(truncatingIfNeeded: value % 10))
    } else {
      append(contentsOf: String(value).utf8)
    }
  }

  /// Appends one character in UTF-8.
  @inline(__always)
  mutating func append(scalar value: UInt32) {
    if value < 0x80 {
      append(UInt8(truncatingIfNeeded: value))
      return
    }
    if value < 0x800 {
      append(0xC0 | UInt8(truncatingIfNeeded: value >> 6))
    } else {
      if value < 0x10000 {
        append(0xE0 | UInt8(truncatingIfNeeded: value >> 12))
      } else {
        append(0xF0 | UInt8(truncatingIfNeeded: value >> 18))
        append(0x80 | UInt8(truncatingIfNeeded: value >> 12 & 63))
      }
      append(0x80 | UInt8(truncatingIfNeeded: value >> 6 & 63))
    }
    append(0x80 | UInt8(truncatingIfNeeded: value & 63))
  }
}
