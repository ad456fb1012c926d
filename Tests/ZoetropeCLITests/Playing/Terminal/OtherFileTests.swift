import Glibc
import TestRunning
import Testing

/// Files that are slow to open, or can be read only once.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct OtherFileTests {
  private static let slow = SampleGIF(frames: [(0, 200), (1, 200), (2, 200)]).bytes

  /// The player on `cat.gif` and a pipe that nobody writes to, which it waits for.
  private func withWaitingPlayer(
    _ body: (Pseudoterminal, Tool) throws -> Void
  ) throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(Self.slow, to: "cat.gif")
    #expect(try tool.shell("mkfifo pipe.gif") == 0)
    let terminal = try Pseudoterminal(
      Tool.program, ["play", "cat.gif", "pipe.gif"], model: TerminalModel(columns: 120),
      directory: tool.directory)
    try #require(terminal.waitToShow("cat.gif 6x4 GIF"))
    terminal.type("n")
    try #require(terminal.waitToShow("opening pipe.gif"))
    try body(terminal, tool)
  }

  @Test(arguments: [("q", 0), ("\u{1B}", 0), ("\u{3}", 130), ("\u{1C}", 131)] as [(String, Int32)])
  func `keys end the wait for a pipe`(_ key: String, _ status: Int32) throws {
    try withWaitingPlayer { terminal, _ in
      terminal.type(key)
      #expect(terminal.end() == status)
      #expect(terminal.isRestored)
      #expect(terminal.model.state == TerminalState())
    }
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `signals end the wait for a pipe`(_ number: Int32) throws {
    try withWaitingPlayer { terminal, _ in
      terminal.send(number)
      #expect(terminal.end() == 128 + number)
      #expect(terminal.isRestored)
      #expect(terminal.model.state == TerminalState())
    }
  }

  @Test func `keys go back to the previous file, and then wait for the pipe again`() throws {
    try withWaitingPlayer { terminal, tool in
      terminal.type("N")
      try #require(terminal.waitToShow("cat.gif 6x4 GIF"))
      terminal.type("n")
      try #require(terminal.waitToShow("opening pipe.gif"))
      // Keys for the next file are kept.
      terminal.type(" ")
      #expect(try tool.shell("cat cat.gif >pipe.gif") == 0)
      #expect(terminal.waitToShow("‖ [2/2] pipe.gif 6x4 GIF"))
      terminal.type("Nn")
      #expect(terminal.waitToShow("pipe.gif 6x4 GIF"))
      terminal.type("q")
      #expect(terminal.end() == 0)
      #expect(terminal.model.state == TerminalState())
    }
  }

  @Test func `the screen is fitted while waiting for a pipe`() throws {
    try withWaitingPlayer { terminal, _ in
      terminal.resize(columns: 90, rows: 20)
      #expect(terminal.waitToShow("opening pipe.gif"))
      #expect(terminal.model.text(19).contains("opening pipe.gif"))
      terminal.type("q")
      #expect(terminal.end() == 0)
    }
  }

  @Test func `standard input is shown again when it is selected again`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(Self.slow, to: "cat.gif")
    let terminal = try Pseudoterminal(
      "sh", ["-c", "exec '\(Tool.program)' play - cat.gif <cat.gif"],
      model: TerminalModel(columns: 120), directory: tool.directory)
    try #require(terminal.waitToShow("standard input 6x4 GIF"))
    terminal.type("n")
    try #require(terminal.waitToShow("cat.gif 6x4 GIF"))
    terminal.type("N")
    #expect(terminal.waitToShow("standard input 6x4 GIF"))
    terminal.type("q")
    #expect(terminal.end() == 0)
    #expect(terminal.model.state == TerminalState())
  }

  @Test(
    arguments: [SIGALRM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGIO, SIGXCPU, SIGPWR, 34, 64])
  func `unexpected signals give the terminal back`(_ number: Int32) throws {
    let session = try PlayerSession()
    try #require(session.terminal.waitToShow("cat.gif"))
    session.terminal.send(number)
    #expect(session.terminal.end() == 128 + number)
    #expect(session.terminal.isRestored)
    #expect(session.terminal.model.state == TerminalState())
    session.tool.cleanUp()
  }

  @Test func `Ctrl and backslash ends it as SIGQUIT does`() throws {
    let session = try PlayerSession()
    try #require(session.terminal.waitToShow("cat.gif"))
    session.terminal.type("\u{1C}")
    #expect(session.terminal.end() == 131)
    #expect(session.terminal.isRestored)
    #expect(session.terminal.model.state == TerminalState())
    session.tool.cleanUp()
  }
}
