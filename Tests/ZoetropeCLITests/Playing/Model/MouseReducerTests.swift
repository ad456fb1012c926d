import Testing
import ZoetropeTerminal

@testable import ZoetropePlayer

@Suite(.timeLimit(.minutes(10))) struct MouseReducerTests {
  /// The actions for a terminal's reports, on a screen of 80 columns with a bar in row 22.
  private func actions(_ input: String, barRow: Int? = 22) -> [PlayerAction] {
    var decoder = InputDecoder()
    var mouse = MouseReducer()
    return decoder.feed(Array(input.utf8)).compactMap { event in
      guard case .mouse(let event) = event else { return nil }
      return mouse.action(for: event, barRow: barRow, columns: 80)
    }
  }

  @Test func `a click on the bar seeks, and a drag goes on wherever the pointer is`() {
    #expect(
      actions("\u{1B}[<0;41;23M\u{1B}[<32;80;5M\u{1B}[<0;80;5m\u{1B}[<32;1;23M")
        == [.seekToPart(40.5 / 80), .seekToPart(79.5 / 80)])
  }

  @Test func `a drag on the picture moves it by cells`() {
    #expect(
      actions("\u{1B}[<0;10;10M\u{1B}[<32;13;9M\u{1B}[<32;13;9M\u{1B}[<32;12;9M\u{1B}[<0;12;9m")
        == [.drag(columns: 3, rows: -1), .drag(columns: -1, rows: 0)])
    // Without a bar its row belongs to the picture.
    #expect(
      actions("\u{1B}[<0;1;23M\u{1B}[<32;2;23M", barRow: nil) == [.drag(columns: 1, rows: 0)])
  }

  @Test func `the wheel zooms at the pointer, and seeks on the bar`() {
    #expect(
      actions("\u{1B}[<64;5;6M\u{1B}[<65;5;6M")
        == [.zoomAt(1.25, column: 4, row: 5), .zoomAt(0.8, column: 4, row: 5)])
    #expect(
      actions("\u{1B}[<64;5;23M\u{1B}[<65;5;23M\u{1B}[<66;5;6M\u{1B}[<67;5;6M")
        == [
          .seek(by: .seconds(1)), .seek(by: .seconds(-1)), .seek(by: .seconds(-1)),
          .seek(by: .seconds(1)),
        ])
  }

  @Test func `the right button pauses, and nothing else has a meaning`() {
    #expect(actions("\u{1B}[<2;5;6M\u{1B}[<2;5;6m") == [.togglePause])
    #expect(actions("\u{1B}[<1;5;6M\u{1B}[<35;5;6M\u{1B}[<128;5;6M\u{1B}[<32;9;9M").isEmpty)
  }
}
