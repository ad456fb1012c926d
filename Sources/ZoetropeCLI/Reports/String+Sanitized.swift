import ZoetropeTerminal

extension String {
  /// The text without anything that steers a terminal or reorders a line: control characters become
  /// `\xNN`, characters that set the direction of text `\u{NNNN}`.
  ///
  /// File names and metadata come from strangers; an escape sequence in them must stay text.
  var sanitized: String {
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

  /// The text with `pad` in front until it has `width` characters.
  func paddedLeft(to width: Int, with pad: Character = " ") -> String {
    String(repeating: pad, count: max(0, width - count)) + self
  }

  /// The text with spaces behind until it has `width` characters.
  func paddedRight(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}

extension Unicode.Scalar {
  /// Control characters, and what turns or hides the text round it.
  var isUnsafeToPrint: Bool { TerminalText.isControl(self) || TerminalText.isInvisible(self) }
}
