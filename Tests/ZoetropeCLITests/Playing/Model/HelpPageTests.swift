import Testing
import ZoetropeTerminal

@testable import ZoetropePlayer

@Suite(.timeLimit(.minutes(10))) struct HelpPageTests {
  @Test func `a screen of 80 by 24 shows everything at once, and says how to leave`() {
    let pages = HelpPage.pages(columns: 80, rows: 24)
    #expect(pages.count == 1)
    let text = pages[0].joined(separator: "\n")
    for section in HelpPage.sections {
      #expect(text.contains(section.title.uppercased()))
      for entry in section.entries { #expect(text.contains("\(entry.text)"), "\(entry.keys)") }
    }
    #expect(HelpPage.footer(page: 0, of: 1) == "any key closes this page")
    let bytes = HelpPage.bytes(page: 0, columns: 80, rows: 24)
    #expect(String(decoding: bytes, as: UTF8.self).contains("\u{1B}[24;1Hany key closes"))
  }

  @Test(arguments: [(80, 24), (60, 14), (40, 10), (20, 5), (200, 60), (1, 1)])
  func `every key is on some page, and nothing is wider than the screen`(
    _ columns: Int, _ rows: Int
  ) {
    let pages = HelpPage.pages(columns: columns, rows: rows)
    for line in pages.joined() { #expect(TerminalText.columns(of: line) <= columns) }
    for page in pages { #expect(page.count <= max(rows - 2, 1)) }
    if columns >= 40 {
      let text = pages.joined().joined(separator: "\n")
      for entry in HelpPage.sections.flatMap(\.entries) {
        #expect(text.contains(entry.keys) && text.contains(entry.text), "\(entry.keys)")
      }
    }
  }

  @Test func `columns do not run into each other`() {
    for entry in HelpPage.sections.flatMap(\.entries) {
      #expect(entry.keys.count <= 14 && entry.text.count <= 23, "\(entry.keys)")
    }
  }

  @Test func `a small screen goes from page to page`() {
    #expect(HelpPage.pages(columns: 80, rows: 10).count > 1)
    #expect(HelpPage.footer(page: 0, of: 3) == "Esc closes, any other key: page 2 of 3")
  }
}
