import TestRunning
import Testing

/// The mouse, the configuration file and the list of files on a terminal.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct PlayerMouseTests {
  private static let slow = SampleGIF(
    frames: [(0, 200), (1, 200), (2, 200), (0, 200), (1, 200)]
  ).bytes

  @Test func `the mouse is reported while playing, seeks, zooms and is given back`() throws {
    let session = try PlayerSession(files: ["cat.gif": Self.slow], columns: 100, rows: 24)
    try #require(session.terminal.waitToShow("1/5"))
    #expect(session.terminal.model.state.mouseModes == ["?1002", "?1006"])
    try #require(session.type(" ", expecting: "‖"))
    // Rows and columns are counted from 1: the bar is in row 23.
    #expect(session.type("\u{1B}[<0;50;23M", expecting: "3/5"))
    #expect(session.type("\u{1B}[<64;10;10M", expecting: "zoom 125 %"))
    // The larger picture has another place, and the bar is still there.
    #expect(session.terminal.wait { session.terminal.model.text(22).hasPrefix("━━━━") })
    // The shell gets the mouse back while the player is suspended, and at the end.
    #expect(session.quit() == 0)
    #expect(session.terminal.model.state == TerminalState())
  }

  @Test(arguments: [["--inline", "--once"], ["--frame", "1"], ["--no-mouse"]])
  func `the mouse is left alone where nobody plays with it`(_ arguments: [String]) throws {
    let session = try PlayerSession(arguments)
    if arguments == ["--no-mouse"] {
      try #require(session.terminal.waitToShow("cat.gif"))
      session.terminal.type("q")
    }
    #expect(session.terminal.end() == 0)
    #expect(!session.terminal.has("\u{1B}[?100"))
    session.tool.cleanUp()
  }

  @Test func `a file is played with the options of the configuration`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(Self.slow, to: "cat.gif")
    try tool.write(Array("# mine\nprotocol=braille\nspeed = 2\n".utf8), to: "config")
    let terminal = try Pseudoterminal(
      Tool.program, ["cat.gif", "--speed", "4"], model: TerminalModel(columns: 120),
      environment: ["TERM=xterm-256color", "ZOETROPE_CONFIG=config"], directory: tool.directory)
    try #require(terminal.waitToShow("| braille"))
    #expect(terminal.waitToShow("4.00x"))
    terminal.type("q")
    #expect(terminal.end() == 0)
  }

  @Test func `a skipped file is reported, and the last file stays`() throws {
    let session = try PlayerSession(
      ["--loops", "inf"],
      files: ["a.gif": Self.slow, "b.gif": Array("none".utf8), "c.gif": Array("none".utf8)])
    let terminal = session.terminal
    try #require(terminal.waitToShow("[1/3]"))
    try #require(session.type("3g ", expecting: "‖", "3/5"))
    terminal.type("n")
    #expect(terminal.waitFor("skipped 2 files: b.gif: "))
    #expect(session.type("i", expecting: "‖", "3/5"))
    terminal.type("\t")
    #expect(terminal.waitToShow("b.gif  (skipped: "))
    #expect(terminal.waitToShow("▸ 1  a.gif"))
    terminal.type("\u{1B}")
    #expect(terminal.waitToShow("‖ [1/3]"))
    terminal.type("q")
    // Both are reported when the terminal has been given back.
    #expect(terminal.end() == 1)
    #expect(terminal.model.screen.contains("zoetrope: error: b.gif: "))
    #expect(terminal.model.screen.contains("zoetrope: error: c.gif: "))
    #expect(terminal.model.state == TerminalState())
    session.tool.cleanUp()
  }
}
