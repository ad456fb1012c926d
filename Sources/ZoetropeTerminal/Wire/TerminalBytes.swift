internal import ZoetropeFrames

extension [UInt8] {
  /// Appends the characters of an ASCII literal.
  @inline(__always)
  mutating func append(ascii text: StaticString) { append(copying: text) }

  /// Appends the UTF-8 of `text`.
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

  /// Appends one character.
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

/// How graphics pass through a multiplexer that does not understand them.
package enum Passthrough: String, Sendable, Hashable, CaseIterable {
  /// Written unchanged.
  case none
  /// Wrapped for tmux, which must have `allow-passthrough` on.
  case tmux
  /// Wrapped for GNU screen, in pieces of a size that it accepts.
  case screen

  /// Appends one control sequence, wrapped.
  package func append(_ sequence: [UInt8], to output: inout [UInt8]) {
    switch self {
    case .none:
      output += sequence
    case .tmux:
      output.append(ascii: "\u{1B}Ptmux;")
      for byte in sequence {
        if byte == 0x1B { output.append(0x1B) }
        output.append(byte)
      }
      output.append(ascii: "\u{1B}\\")
    case .screen:
      // A piece ends at the first ESC \, so one inside the sequence is split between its two bytes.
      var start = 0
      while start < sequence.count {
        var end = min(start + 500, sequence.count)
        var index = start
        while index + 1 < end {
          if sequence[index] == 0x1B, sequence[index + 1] == 0x5C {
            end = index + 1
            break
          }
          index += 1
        }
        if end < sequence.count, end - start > 1, sequence[end - 1] == 0x1B,
          sequence[end] != 0x5C
        {
          end -= 1
        }
        output.append(ascii: "\u{1B}P")
        output += sequence[start..<end]
        output.append(ascii: "\u{1B}\\")
        start = end
      }
    }
  }
}
