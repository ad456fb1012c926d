/// Makes text from files safe to write to a terminal.
public enum TerminalText {
  /// `text` without anything that a terminal could take for a command, at most `limit` characters.
  ///
  /// Control characters (C0, DEL and C1, so escape sequences too) become U+FFFD; characters that
  /// turn the direction of writing or have no width are left out; a longer text ends in `…`.
  public static func sanitized(_ text: String, limit: Int = 256) -> String {
    var result = String.UnicodeScalarView()
    var count = 0
    for scalar in text.unicodeScalars {
      guard !isInvisible(scalar) else { continue }
      if count == limit {
        if limit > 0 { result.removeLast() }
        result.append("\u{2026}")
        break
      }
      result.append(isControl(scalar) ? "\u{FFFD}" : scalar)
      count += 1
    }
    return String(result)
  }

  /// C0, DEL and C1.
  package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
  }

  /// Line and paragraph separators, direction marks, zero-width characters, tags, and places that
  /// are no characters: they can hide or reorder what stands beside them.
  package static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0xAD, 0x61C, 0x180E, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFE00...0xFE0F,
      0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE0FFF:
      true
    default: false
    }
  }
}
