import Testing
import ZoetropeTerminal

@testable import ZoetropePlayer

@Suite(.timeLimit(.minutes(10))) struct FileListTests {
  private let list = FileList(
    entries: (1...12).map { .init(name: "file-\($0).gif", problem: $0 == 3 ? "no image" : nil) },
    current: 1)

  @Test func `it shows numbers, names, the current file and why files were skipped`() {
    let lines = list.lines(columns: 40, rows: 24)
    #expect(lines.count == 12)
    #expect(lines[0] == "   1  file-1.gif")
    #expect(lines[1] == "▸  2  file-2.gif")
    #expect(lines[2] == "   3  file-3.gif  (skipped: no image)")
    #expect(lines[11] == "  12  file-12.gif")
    #expect(list.lines(columns: 12, rows: 24).allSatisfy { TerminalText.columns(of: $0) <= 14 })
  }

  @Test func `a search selects the next name that contains the text`() {
    var list = list
    list.perform(.search, rows: 24)
    for letter in "FILE-1" { list.perform(.type(letter), rows: 24) }
    // From the selected file on: 10, 11, 12, and then 1.
    #expect(list.selection == 9)
    list.perform(.match(1), rows: 24)
    #expect(list.selection == 10)
    list.perform(.match(-1), rows: 24)
    list.perform(.match(-1), rows: 24)
    #expect(list.selection == 0)
    for letter in "x" { list.perform(.type(letter), rows: 24) }
    #expect(list.selection == 0 && list.search == "FILE-1x")
    for _ in 0..<8 { list.perform(.erase, rows: 24) }
    #expect(list.search == nil)
  }

  @Test func `the footer counts the matches`() {
    var list = list
    list.perform(.search, rows: 24)
    list.perform(.type("2"), rows: 24)
    let text = String(decoding: list.bytes(columns: 80, rows: 24, hasUTF8: true), as: UTF8.self)
    #expect(text.contains("/2  2 matches, Enter plays"))
  }

  @Test func `keys are letters while a text is typed`() {
    #expect(ListAction(KeyEvent(.character("/")), page: 10) == .search)
    #expect(ListAction(searching: KeyEvent(.character("q"))) == .type("q"))
    #expect(ListAction(searching: KeyEvent(.escape)) == .endSearch)
    #expect(ListAction(searching: KeyEvent(.enter)) == .choose)
  }

  @Test func `the selection stays in the list and on the screen`() {
    var list = list
    // Four rows are for entries.
    let rows = 6
    list.perform(.move(-5), rows: rows)
    #expect(list.selection == 0)
    list.perform(.move(5), rows: rows)
    #expect(list.selection == 5)
    #expect(
      list.lines(columns: 40, rows: rows).map { $0.dropFirst(4).prefix(8) }.last == "  file-6")
    list.perform(.moveToEnd, rows: rows)
    #expect(list.selection == 11 && list.lines(columns: 40, rows: rows).count == 4)
    list.perform(.select(row: 1), rows: rows)
    #expect(list.selection == 9)
    // The footer is no entry.
    list.perform(.select(row: 5), rows: rows)
    #expect(list.selection == 9)
    list.perform(.moveToStart, rows: rows)
    #expect(list.lines(columns: 40, rows: rows).first == "   1  file-1.gif")
  }

  @Test func `the selected row is shown in reverse`() {
    var list = list
    list.perform(.moveToEnd, rows: 6)
    let text = String(
      decoding: list.bytes(columns: 40, rows: 6, hasUTF8: true), as: UTF8.self)
    #expect(text.contains("\u{1B}[4;1H\u{1B}[7m  12  file-12.gif\u{1B}[m"))
    #expect(text.contains("\u{1B}[6;1HEnter plays"))
  }

  @Test(
    arguments: [
      (KeyEvent(.down), ListAction.move(1)), (KeyEvent(.character("k")), .move(-1)),
      (KeyEvent(.pageDown), .move(9)), (KeyEvent(.end), .moveToEnd), (KeyEvent(.enter), .choose),
      (KeyEvent(.escape), .close), (KeyEvent(.character("q")), .close), (KeyEvent(.tab), .close),
    ])
  func `keys move the selection, choose and close`(_ key: KeyEvent, _ action: ListAction) {
    #expect(ListAction(key, page: 9) == action)
  }

  @Test func `the mouse selects`() {
    #expect(ListAction(MouseEvent(.press(1), column: 4, row: 3)) == .select(row: 3))
    #expect(ListAction(MouseEvent(.wheelDown, column: 4, row: 3)) == .move(1))
    #expect(ListAction(MouseEvent(.release(1), column: 4, row: 3)) == nil)
  }
}
