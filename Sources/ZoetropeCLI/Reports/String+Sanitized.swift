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
  /// C0, DEL, C1, and the characters that turn or hide the text round them.
  var isUnsafeToPrint: Bool {
    switch value {
    case 0..<0x20, 0x7f..<0xa0, 0x200b...0x200f, 0x2028...0x202e, 0x2060...0x206f, 0xfeff,
      0xfff9...0xfffb, 0xe0000...0xe007f:
      true
    default: false
    }
  }
}
