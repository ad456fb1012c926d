import Testing

@testable import ZoetropeTerminal

/// Text is measured in columns, as terminals lay it out.
@Suite(.timeLimit(.minutes(10)))
struct TerminalTextTests {
  @Test(arguments: [
    ("cat.gif", 7), ("ねこ.gif", 8), ("고양이", 6), ("e\u{301}te\u{301}", 3), ("🐈.gif", 6),
    ("Ｃａｔ", 6), ("\u{1112}\u{1161}\u{11AB}", 2), ("кот", 3), ("▸ 1/5", 5), ("", 0),
  ])
  func `columns are counted`(_ text: String, _ columns: Int) {
    #expect(TerminalText.columns(of: text) == columns)
    #expect(TerminalText.sanitized(text, limit: columns) == text)
  }

  @Test(arguments: [
    ("ねこのえ.gif", 7, "ねこの…"), ("ねこのえ.gif", 6, "ねこ…"), ("ねこ", 3, "ね…"), ("ねこ", 1, "…"),
    ("ねこ", 0, ""), ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
  ])
  func `a text is cut to the columns that there are`(
    _ text: String, _ limit: Int, _ shown: String
  ) {
    #expect(TerminalText.sanitized(text, limit: limit) == shown)
    #expect(TerminalText.columns(of: shown) <= limit)
  }

  @Test func `marks are not piled up without end`() {
    let pile = "a" + String(repeating: "\u{301}", count: 10_000) + "b"
    #expect(TerminalText.sanitized(pile) == "a\u{301}\u{301}\u{301}b")
    #expect(TerminalText.sanitized("\u{301}a") == "a")
  }

  @Test func `without UTF-8 only ASCII is written`() {
    #expect(TerminalText.ascii("▸ ねこ.gif │▁█… e\u{301}") == "> ??.gif |.#~ e")
    #expect(TerminalText.ascii("━━╸──") == "==>--")
    #expect(TerminalText.ascii("plain ~ text") == "plain ~ text")
  }
}
