package import SystemPackage

extension String {
  /// This text with escapes in place of all characters that control a terminal, or hide or reorder text. Control
  /// characters become `\xNN`; invisible characters and direction marks become `\u{NNNN}`.
  ///
  /// File names and metadata are untrusted, so escape sequences in them must not reach the terminal.
  package var sanitized: String {
    guard unicodeScalars.contains(where: \.isUnsafeToPrint) else { return self }
    var result = ""
    for scalar in unicodeScalars {
      if scalar.isUnsafeToPrint {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        result +=
          scalar.value < 256 ? "\\x\(digits.paddedLeft(to: 2, with: "0"))" : "\\u{\(digits)}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Returns the text padded to `width` characters with leading `pad` characters.
  package func paddedLeft(to width: Int, with pad: Character = " ") -> String {
    String(repeating: pad, count: max(0, width - count)) + self
  }

  /// Returns the text padded to `width` characters with trailing spaces.
  package func paddedRight(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}

extension FilePath {
  /// This path as errors show it: in quotes, and with control characters escaped.
  package var quoted: String { string.debugDescription }
}

extension Unicode.Scalar {
  /// Whether this is a control character, or a character that can hide or reorder the text around it.
  package var isUnsafeToPrint: Bool { isControl || isInvisible }

  /// Whether this is a control character: C0, DEL or C1.
  package var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }

  /// Whether this character can hide or reorder the text around it. This is true of line and paragraph separators,
  /// direction marks, soft hyphens, zero-width characters, variation selectors, interlinear annotation characters and
  /// tags.
  package var isInvisible: Bool {
    switch value {
    case 0xAD, 0x61C, 0x180E, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFE00...0xFE0F,
      0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE0FFF:
      true
    default: false
    }
  }
}
