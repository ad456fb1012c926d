internal import ZoetropeFrames

/// Makes text from files safe to write to a terminal, and measures its width.
package enum TerminalText {
  /// Returns `text` without any characters that a terminal could interpret, and at most `limit` columns wide.
  ///
  /// Control characters (C0, DEL and C1, and thus all escape sequences) become U+FFFD. Characters that change the
  /// direction of text or have no width are removed, except for up to three combining marks per character. Text that is
  /// too long is truncated with `…`.
  package static func sanitized(_ text: String, limit: Int = 256) -> String {
    var result: [Unicode.Scalar] = []
    var columns = 0
    var markCount = 0
    for scalar in text.unicodeScalars {
      guard !scalar.isInvisible else { continue }
      let shown = scalar.isControl ? "\u{FFFD}" : scalar
      let width = width(of: shown)
      if width == 0 {
        if !result.isEmpty, markCount < 3 {
          markCount += 1
          result.append(shown)
        }
        continue
      }
      if columns + width > limit {
        while columns >= limit, let last = result.popLast() { columns -= Self.width(of: last) }
        if limit > 0 { result.append("\u{2026}") }
        break
      }
      markCount = 0
      result.append(shown)
      columns += width
    }
    return String(String.UnicodeScalarView(result))
  }

  /// Returns the number of columns that `text` takes in a terminal.
  package static func columns(of text: String) -> Int {
    text.unicodeScalars.reduce(0) { $0 + width(of: $1) }
  }

  /// Returns `text` in ASCII, for a terminal without UTF-8. Every character outside ASCII becomes a similar ASCII
  /// character or `?`, or is removed if it has no width.
  package static func ascii(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars where width(of: scalar) > 0 {
      let other: Unicode.Scalar? =
        switch scalar {
        case "\u{25B8}", "\u{2578}": ">"
        case "\u{25C2}": "<"
        case "\u{25A0}", "\u{2588}": "#"
        case "\u{2016}", "\u{2501}": "="
        case "\u{2500}": "-"
        case "\u{2502}": "|"
        case "\u{2026}": "~"
        case "\u{2581}"..."\u{2583}": "."
        case "\u{2584}"..."\u{2587}": ":"
        default: scalar.isASCII ? scalar : nil
        }
      result.unicodeScalars.append(other ?? "?")
    }
    return result
  }

  /// Returns the number of columns that a character takes: 2 for wide East Asian characters and emoji, 0 for characters
  /// that add no width, such as combining marks, and 1 for all others.
  private static func width(of scalar: Unicode.Scalar) -> Int {
    // All characters below the combining marks, such as Latin letters, take one column.
    if scalar.value < 0x300 { return 1 }
    let properties = scalar.properties
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    if properties.isEmojiPresentation { return 2 }
    return switch scalar.value {
    // Hangul vowels and final consonants combine with the preceding syllable.
    case 0x1160...0x11FF, 0xD7B0...0xD7FF: 0
    case 0x1100...0x115F, 0x2329, 0x232A, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F,
      0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60,
      0xFFE0...0xFFE6, 0x16FE0...0x18D8F, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265,
      0x20000...0x3FFFD:
      2
    default: 1
    }
  }
}
