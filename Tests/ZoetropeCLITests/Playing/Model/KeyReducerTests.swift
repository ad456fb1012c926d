import Testing
import ZoetropeTerminal

@testable import ZoetropePlayer

@Suite(.timeLimit(.minutes(10))) struct KeyReducerTests {
  /// The actions for the bytes of a terminal's input.
  private func actions(_ input: String) -> [PlayerAction] {
    var decoder = InputDecoder()
    var keys = KeyReducer()
    return (decoder.feed(Array(input.utf8)) + decoder.flush()).compactMap { event in
      guard case .key(let key) = event else { return nil }
      return keys.action(for: key)
    }
  }

  private static let meanings: [(String, [PlayerAction])] = [
    (" ", [PlayerAction.togglePause]), (".,", [.step(1), .step(-1)]), ("12g", [.seekToFrame(11)]),
    ("g", [.seekToFrame(0)]), ("G", [.seekToEnd]), ("10G", [.seekToFrame(9)]),
    ("3.", [.step(3)]), ("0", [.zoom(0)]), ("\u{1B}[C", [.seek(by: .seconds(1))]),
    ("\u{1B}[1;2D", [.seek(by: .milliseconds(-100))]), ("\u{3}", [.interrupt]),
    ("\u{1A}", [.suspend]), ("\u{C}", [.repaint]), ("q\u{1B}", [.quit, .quit]),
    ("rbLfcv", [.reverse, .bounce, .cycleLoops, .cycleFit, .cycleBackdrop, .cycleMode]),
    ("7x.", [.step(1)]), ("plh", [.togglePause, .step(1), .step(-1)]),
    ("][}{", [.scaleSpeed(1.1), .scaleSpeed(1 / 1.1), .scaleSpeed(2), .scaleSpeed(0.5)]),
    ("\u{7F}+=-", [.resetSpeed, .zoom(1.25), .zoom(1.25), .zoom(0.8)]),
    ("io?", [.toggleInfo, .toggleInfo, .toggleHelp]),
    ("n>\r\u{1B}[6~", [.nextFile, .nextFile, .nextFile, .nextFile]),
    ("N<\u{1B}[5~", [.previousFile, .previousFile, .previousFile]),
    ("adDmt", [.markSection, .toggleOutline, .toggleStored, .toggleMotion, .toggleTimeline]),
    ("sS", [.saveFrame, .saveSection]), ("\u{1B}[H\u{1B}[F", [.seekToFrame(0), .seekToEnd]),
    ("\t\u{1B}[19~", [.showList, .showList]), ("1g", [.seekToFrame(0)]),
    ("\u{1B}[1;3D\u{1B}[1;5C", [.pan(x: -0.125, y: 0), .pan(x: 0.125, y: 0)]),
    ("\u{1B}[1;3A\u{1B}[1;3B", [.pan(x: 0, y: -0.125), .pan(x: 0, y: 0.125)]),
    ("\u{1B}h\u{1B}l", [.pan(x: -0.125, y: 0), .pan(x: 0.125, y: 0)]),
    ("\u{1B}k\u{1B}j", [.pan(x: 0, y: -0.125), .pan(x: 0, y: 0.125)]),
    ("\u{1B}[A\u{1B}[B", [.seek(by: .seconds(5)), .seek(by: .seconds(-5))]),
  ]

  @Test(arguments: meanings)
  func `keys mean what the help page says`(_ input: String, _ expected: [PlayerAction]) {
    #expect(actions(input) == expected)
  }

  @Test func `a number of any length is accepted`() {
    #expect(actions("99999999999999999999999g") == [.seekToFrame(99_999_998)])
  }
}
