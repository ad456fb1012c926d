import TestRunning
import Testing
import ZoetropeTerminal

@testable import ZoetropePlayer

/// What the screen shows, whatever happens to it.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct PlayerScreenTests {
  /// Frames in which every few pixels are another colour: a picture that costs bytes.
  private static func busy(frames: Int, delay: UInt8) -> [UInt8] {
    SampleGIF(
      width: 80, height: 60, frames: (0..<frames).map { (UInt8($0 % 4), delay) }, isMixed: true
    ).bytes
  }

  @Test(arguments: [(50, 15), (100, 40), (20, 5), (119, 23), (10, 2)])
  func `a new size is fitted at once`(_ columns: Int, _ rows: Int) throws {
    let session = try PlayerSession(
      ["--protocol", "half", "--exact"],
      files: ["cat.gif": Self.busy(frames: 4, delay: 20)])
    let terminal = session.terminal
    try #require(terminal.waitToShow("cat.gif"))
    // Paused, since a frame that is on its way to a terminal of another size leaves its traces there.
    try #require(session.type(" ", expecting: "‖"))
    for (columns, rows) in [(columns, rows), (80, 24), (columns, rows)] {
      // The status line follows a change by up to a quarter of a second. If it were written for 24 rows while the
      // terminal becomes 5 rows high, it would scroll the screen.
      try #require(terminal.settle(500))
      terminal.resize(columns: columns, rows: rows)
      // The whole screen is drawn anew, and its last row is the status line's again.
      let count = terminal.output.count
      let fences = terminal.model.fenceCount
      try #require(
        terminal.wait {
          terminal.model.fenceCount > fences
            && terminal.output[count...].contains(UInt8(ascii: "J"))
            && terminal.model.cells.contains { !$0.pen.isEmpty }
        })
    }
    // Frames are drawn at this size from here on.
    let fences = terminal.model.fenceCount
    terminal.type(" ")
    try #require(terminal.wait { terminal.model.fenceCount > fences + 4 })
    terminal.type(" ")
    // After a pause there is no more output, and the screen equals a full repaint.
    try #require(terminal.settle(700))
    let shown = terminal.model.looks
    let count = terminal.output.count
    terminal.type("\u{C}")
    #expect(
      terminal.wait {
        terminal.output[count...].contains(UInt8(ascii: "J")) && terminal.model.looks == shown
      })
    #expect(shown.contains { $0 != ["ground", "ground"] })
    #expect(terminal.model.scrollCount == 0)
    #expect(terminal.model.wrapCount == 0)
    #expect(session.quit() == 0)
    #expect(terminal.model.state == TerminalState())
  }

  @Test func `a slow link leaves frames out`() throws {
    // 3 s of frames that are written in a moment and take a tenth of a second on the way.
    let session = try PlayerSession(
      ["--once", "--no-status", "--protocol", "half"],
      files: ["cat.gif": Self.busy(frames: 75, delay: 4)], columns: 80)
    let terminal = session.terminal
    terminal.slowDown(to: 60_000)
    let started = ContinuousClock.now
    #expect(terminal.end() == 0)
    #expect(started.duration(to: .now) > .milliseconds(2900))
    #expect((1..<60).contains(terminal.model.fenceCount))
    #expect(terminal.model.state == TerminalState())
    session.tool.cleanUp()
  }

  @Test(arguments: ["q", "\u{3}"])
  func `a slow link does not delay the end`(_ key: String) throws {
    let session = try PlayerSession(
      ["--protocol", "half"], files: ["cat.gif": Self.busy(frames: 75, delay: 4)], columns: 80)
    let terminal = session.terminal
    try #require(terminal.waitToShow("cat.gif"))
    terminal.slowDown(to: 60_000)
    let fences = terminal.model.fenceCount
    try #require(terminal.wait { terminal.model.fenceCount > fences + 3 })
    terminal.type(key)
    let typed = terminal.output.count
    // On a busy machine it may get the key late, and keep drawing until then.
    try #require(terminal.wait { terminal.isInputTaken })
    let taken = terminal.output.count
    #expect(terminal.end() == (key == "q" ? 0 : 130))
    // What the link takes in a minute, and then in two seconds; the film has no end.
    #expect(taken - typed < 60 * 60_000)
    #expect(terminal.output.count - taken < 120_000)
    #expect(terminal.isRestored)
    #expect(terminal.model.state == TerminalState())
    // No answer to a query reaches the shell's input.
    #expect(terminal.unread == 0)
    session.tool.cleanUp()
  }

  @Test func `a late answer is not a key, and does not reach the shell`() throws {
    let session = try PlayerSession(answers: .none)
    let terminal = session.terminal
    try #require(terminal.wait { terminal.model.state.isAlternate })
    terminal.type("\u{1B}[?2026;2$y\u{1B}[?62;c")
    try #require(terminal.waitToShow("cat.gif"))
    #expect(session.quit() == 0)
    #expect(terminal.unread == 0)
  }

  @Test func `answers on the way are waited for, and not for long`() {
    let now = ContinuousClock.now
    var awaited = AwaitedAnswers(probeEnd: now + .milliseconds(300), frameCount: 2)
    #expect(awaited.deadline(at: now) == now + .milliseconds(300))
    #expect(awaited.deadline(at: now + .seconds(1)) == now + .milliseconds(1100))
    awaited.take([.reply(TerminalReply(.attributes([62]))), .reply(.ready), .reply(.other)])
    #expect(awaited.deadline(at: now) == now + .milliseconds(100))
    // A terminal far away has twice as long as its answers take, up to a limit.
    awaited.latency = .milliseconds(150)
    #expect(awaited.deadline(at: now) == now + .milliseconds(300))
    awaited.latency = .seconds(1)
    #expect(awaited.deadline(at: now) == now + .milliseconds(400))
    awaited.take([.reply(.ready)])
    #expect(awaited.deadline(at: now) == nil)
  }

  @Test func `the picture stays in the text when it is inline`() throws {
    let session = try PlayerSession(["--inline", "--once", "--protocol", "half"])
    let terminal = session.terminal
    #expect(terminal.end() == 0)
    #expect(!terminal.has("\u{1B}[?1049h"))
    #expect(terminal.model.state == TerminalState())
    #expect(terminal.model.cells.contains { !$0.pen.isEmpty })
    // The shell continues below it.
    let last = terminal.model.cells.lastIndex { !$0.pen.isEmpty } ?? 0
    #expect(terminal.model.row > last / terminal.model.columns)
    session.tool.cleanUp()
  }

  @Test func `the shell continues below an inline picture on a smaller screen`() throws {
    let session = try PlayerSession(
      ["--inline", "--loops", "inf", "--protocol", "half"], columns: 80, rows: 24)
    let terminal = session.terminal
    try #require(terminal.wait { terminal.model.cells.contains { !$0.pen.isEmpty } })
    terminal.resize(columns: 40, rows: 10)
    // Erased from its first row on, and drawn anew.
    try #require(terminal.waitFor("\u{1B}[1H\u{1B}[J"))
    #expect(session.quit() == 0)
    let last = terminal.model.cells.lastIndex { !$0.pen.isEmpty } ?? 0
    #expect(last > 0 && terminal.model.row > last / terminal.model.columns)
  }

  @Test func `names cannot give the terminal orders`() throws {
    let name = "a\u{1B}[2J\u{7}\u{9B}31mb\u{202E}.gif"
    let session = try PlayerSession(files: [name: SampleGIF().bytes])
    try #require(session.terminal.waitToShow("6x4 GIF"))
    #expect(session.quit() == 0)
    #expect(!session.terminal.has("\u{1B}[2J\u{7}"))
    #expect(!session.terminal.has("\u{9B}"))
    #expect(session.terminal.model.strays.isEmpty)
  }

  @Test func `standard input is played while keys come from the terminal`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(SampleGIF().bytes, to: "cat.gif")
    let terminal = try Pseudoterminal(
      "sh", ["-c", "cat cat.gif | \"$0\" play -; echo status-$?", Tool.program],
      directory: tool.directory)
    try #require(terminal.waitToShow("standard input"))
    terminal.type("q")
    #expect(terminal.end() == 0)
    #expect(terminal.model.screen.contains("status-0"))
    #expect(terminal.isRestored)
    #expect(terminal.model.state == TerminalState())
  }

  @Test(arguments: [["NO_COLOR=1", "TERM=xterm-256color"], ["TERM=dumb"]])
  func `colours are left out where they are not wanted`(_ environment: [String]) throws {
    let session = try PlayerSession(
      ["--once"], columns: 80, environment: environment)
    #expect(session.terminal.end() == 0)
    #expect(session.terminal.model.cells.allSatisfy { $0.pen.isEmpty })
    if environment == ["TERM=dumb"] { #expect(!session.terminal.has("\u{1B}")) }
    #expect(session.terminal.model.state == TerminalState())
    session.tool.cleanUp()
  }
}
