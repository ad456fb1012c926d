import Testing
import ZoetropeTerminal

@testable import ZoetropeCLI

@Suite(.timeLimit(.minutes(1))) struct KeyReducerTests {
  /// The actions that the bytes of a terminal's input come to.
  private func actions(_ input: String) -> [PlayerAction] {
    var decoder = InputDecoder()
    var keys = KeyReducer()
    return (decoder.feed(Array(input.utf8)) + decoder.flush()).compactMap { event in
      guard case .key(let key) = event else { return nil }
      return keys.action(for: key)
    }
  }

  @Test(arguments: [
    (" ", [PlayerAction.togglePause]), (".,", [.step(1), .step(-1)]), ("12g", [.seekToFrame(12)]),
    ("g", [.seekToFrame(0)]), ("G", [.seekToEnd]), ("10G", [.seekToFrame(10)]),
    ("3.", [.step(3)]), ("0", [.zoom(0)]), ("\u{1B}[C", [.seek(by: .seconds(1))]),
    ("\u{1B}[1;2D", [.seek(by: .milliseconds(-100))]), ("\u{3}", [.interrupt]),
    ("\u{1A}", [.suspend]), ("\u{C}", [.repaint]), ("q\u{1B}", [.quit, .quit]),
    ("rbLfcv", [.reverse, .bounce, .cycleLoops, .cycleFit, .cycleBackdrop, .cycleMode]),
    ("7x.", [.step(1)]),
  ])
  func `keys mean what the help page says`(_ input: String, _ expected: [PlayerAction]) {
    #expect(actions(input) == expected)
  }

  @Test func `a number of any length is taken`() {
    #expect(actions("99999999999999999999999g") == [.seekToFrame(99_999_999)])
  }
}
