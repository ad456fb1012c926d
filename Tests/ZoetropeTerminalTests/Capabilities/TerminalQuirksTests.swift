import Testing

@testable import ZoetropeTerminal

@Suite(.timeLimit(.minutes(10)))
struct TerminalQuirksTests {
  /// What follows from a name alone, as XTVERSION or the environment gives it.
  struct Expectation: Sendable, CustomTestStringConvertible {
    let name: String
    var iTerm2 = false
    var sextants = false
    var octants = false
    var fullColor = true
    var edits = false
    var misreports = false
    var keepsRegisters = false
    var testDescription: String { name }
  }

  @Test(
    arguments: [
      Expectation(name: "kitty(0.26.5)", sextants: true, edits: true),
      Expectation(name: "ghostty 1.1.0", sextants: true, octants: true, misreports: true),
      Expectation(name: "foot(1.13.1)", sextants: true, keepsRegisters: true),
      Expectation(name: "WezTerm 20240203-110809", iTerm2: true, sextants: true),
      Expectation(name: "iTerm2 3.5.14", iTerm2: true),
      Expectation(name: "iTerm.app 3.5.14", iTerm2: true),
      Expectation(name: "contour 0.4.3", sextants: true),
      Expectation(name: "mintty 3.7.0", iTerm2: true),
      Expectation(name: "Konsole 22.12.3"), Expectation(name: "alacritty"),
      Expectation(name: "vscode 1.90.0"),
      Expectation(name: "XTerm(379)", fullColor: false),
      Expectation(name: "tmux 3.3a", fullColor: true),
      // A name that only begins like one of the table is another terminal.
      Expectation(name: "kittyhawk 1.0", fullColor: false), Expectation(name: "", fullColor: false),
    ])
  func `the terminal's name reveals properties that no query does`(_ wanted: Expectation) {
    let found = TerminalQuirks(name: wanted.name)
    #expect(found.hasITerm2Images == wanted.iTerm2)
    #expect(found.drawsSextants == wanted.sextants)
    #expect(found.drawsOctants == wanted.octants)
    #expect(found.isFullColor == wanted.fullColor)
    #expect(found.hasKittyEdits == wanted.edits)
    #expect(found.misreportsKittyEdits == wanted.misreports)
    #expect(found.keepsSixelRegisters == wanted.keepsRegisters)
  }

  @Test(
    arguments: [
      (0, false, false), (1, false, true), (2, true, false), (3, false, false), (4, false, false),
    ])
  func `sixel colours are kept only in foot, and only if it says so`(
    _ state: Int, _ keeps: Bool, _ can: Bool
  ) {
    var foot = TerminalCapabilities()
    foot.apply([.mode(1070, state: state), .version("foot(1.13.1)")])
    #expect(foot.keepsSixelRegisters == keeps && foot.canKeepSixelRegisters == can)
    // In xterm, a new colour would also change the pictures on the screen.
    var xterm = TerminalCapabilities()
    xterm.apply([.version("XTerm(379)"), .mode(1070, state: state)])
    #expect(!xterm.keepsSixelRegisters && !xterm.canKeepSixelRegisters)
  }
}
