internal import ZoetropeFrames

/// The way in which graphics pass through a multiplexer that does not understand them.
package enum Passthrough: String, Sendable, Hashable, CaseIterable {
  /// Sequences are written unchanged.
  case none
  /// Sequences are wrapped for tmux, whose option `allow-passthrough` must be on.
  case tmux
  /// Sequences are wrapped for GNU screen, in pieces of a size that it accepts.
  case screen

  /// Appends one control sequence, wrapped for the multiplexer.
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
      // GNU screen ends a piece at the first ESC \. If the sequence itself contains ESC \, it is split between these
      // two bytes.
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

  /// Appends the sequence with which a terminal deletes an image of kitty's protocol, wrapped for the multiplexer.
  package func appendDeletion(ofImage id: Int, to output: inout [UInt8]) {
    append(Array("\u{1B}_Ga=d,d=I,q=2,i=\(id)\u{1B}\\".utf8), to: &output)
  }
}
