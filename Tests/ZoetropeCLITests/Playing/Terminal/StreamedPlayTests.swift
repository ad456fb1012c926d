import Glibc
import SystemPackage
import TestRunning
import Testing

/// `play` while the bytes arrive.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct StreamedPlayTests {
  private static let gif = SampleGIF(frames: [(0, 4), (1, 10), (2, 4)])

  /// The player on a pipe that the test feeds.
  private func withPlayer(
    _ arguments: String = "-", _ body: (Pseudoterminal, FedPipe, Tool) throws -> Void
  ) throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    let pipe = try FedPipe(in: tool)
    let terminal = try Pseudoterminal(
      "sh", ["-c", "exec '\(Tool.program)' play \(arguments) <pipe"],
      model: TerminalModel(columns: 120), directory: tool.directory)
    try body(terminal, pipe, tool)
  }

  @Test func `the first frame shows before the second arrives, and keys come from the terminal`()
    throws
  {
    try withPlayer { terminal, pipe, _ in
      let pieces = Self.gif.pieces
      pipe.feed(pieces[0])
      try #require(terminal.waitToShow("1/1+"))
      #expect(terminal.waitToShow("\(pieces[0].count) B received"))
      terminal.type(" ")
      #expect(terminal.waitToShow("‖ standard input"))
      terminal.type(" ")
      #expect(terminal.waitToShow("▸ standard input"))
      pipe.feed(pieces[1] + pieces[2])
      #expect(terminal.waitToShow("/3+"))
      pipe.feed(pieces[3])
      // The writer is still there, but the animation is complete: it plays on.
      #expect(terminal.waitToShow("loop 2"))
      #expect(terminal.wait { !terminal.model.screen.contains("received") })
      #expect(!terminal.model.screen.contains("cut short"))
      terminal.type("q")
      #expect(terminal.end() == 0)
      #expect(terminal.isRestored)
      #expect(terminal.model.state == TerminalState())
    }
  }

  @Test func `a cut stream plays on, and the end says that it was cut`() throws {
    try withPlayer { terminal, pipe, _ in
      let pieces = Self.gif.pieces
      let bytes = pieces[0] + pieces[1] + pieces[2].prefix(20)
      pipe.feed(bytes)
      try #require(terminal.waitToShow("/2+"))
      pipe.finish()
      #expect(terminal.waitToShow("cut short"))
      #expect(terminal.waitToShow("loop 3"))
      terminal.type("q")
      #expect(terminal.end() == 0)
      #expect(terminal.has("standard input: cut short after \(bytes.count) bytes, 2 frames"))
    }
  }

  @Test(arguments: ["q", "."])
  func `keys do no harm before the first frame`(key: String) throws {
    try withPlayer { terminal, pipe, _ in
      // As far as the position of the first frame, so that the canvas is known.
      pipe.feed(Self.gif.pieces[0].prefix(Self.gif.pieces[0].count - 10))
      try #require(terminal.waitToShow("0/0+"))
      terminal.type(key)
      if key != "q" {
        #expect(terminal.wait { terminal.unread == 0 })
        terminal.type("q")
      }
      #expect(terminal.end() == 0)
      #expect(terminal.model.state == TerminalState())
    }
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `signals end a stream that has run dry`(_ number: Int32) throws {
    try withPlayer { terminal, pipe, _ in
      pipe.feed(Self.gif.pieces[0])
      try #require(terminal.waitToShow("1/1+"))
      terminal.send(number)
      #expect(terminal.end() == 128 + number)
      #expect(terminal.isRestored)
    }
  }

  @Test func `a growing file is played as it grows`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    let pieces = Self.gif.pieces
    try tool.write(Array(pieces[0]), to: "grows.gif")
    let terminal = try Pseudoterminal(
      Tool.program, ["play", "--follow", "grows.gif"], model: TerminalModel(columns: 120),
      directory: tool.directory)
    try #require(terminal.waitToShow("1/1+"))
    let file = try FileDescriptor.open(
      FilePath("\(tool.directory)/grows.gif"), .writeOnly, options: [.append])
    try file.closeAfter { _ = try file.writeAll(pieces[1] + pieces[2] + pieces[3]) }
    #expect(terminal.waitToShow("loop 2"))
    terminal.type("q")
    #expect(terminal.end() == 0)
  }

  @Test func `going back after the end shows earlier frames`() throws {
    try withPlayer("- --once --hold") { terminal, pipe, _ in
      pipe.feed(Self.gif.bytes)
      try #require(terminal.waitToShow("■ standard input"))
      #expect(terminal.waitToShow("3/3"))
      terminal.type("g")
      #expect(terminal.waitToShow("1/3"))
      terminal.type("q")
      #expect(terminal.end() == 0)
    }
  }

  @Test func `without drawing, stalls and truncation are reported`() throws {
    try withTool { (tool: Tool) throws in
      let gif = Self.gif
      let whole = try tool.run(
        ["play", "-", "--protocol", "none", "--late", "stretch"], input: gif.bytes)
      #expect(whole.status == 0)
      #expect(whole.text.hasPrefix("finished: presented=3 skipped=0 "))
      #expect(whole.text.contains(" stalls="))
      #expect(whole.errors.isEmpty)
      let cut = try tool.run(
        ["play", "-", "--protocol", "none", "--late", "stretch"],
        input: Array(gif.pieces[0] + gif.pieces[1]))
      #expect(cut.status == 0)
      #expect(cut.text.hasPrefix("finished: presented=2 "))
      #expect(cut.errors.contains("standard input: cut short after "))
    }
  }

  @Test func `without a terminal the frame is written before the next one arrives`() throws {
    try withTool { (tool: Tool) throws in
      let fed = try FedTool(tool, "play", "-")
      fed.pipe.feed(Self.gif.pieces[0])
      // The pipe stays open.
      #expect(fed.end() == 0)
      try tool.write(Self.gif.bytes, to: "cat.gif")
      #expect(fed.output == (try tool.run("play", "cat.gif").output))
    }
  }

  @Test(arguments: [["--start=-1"], ["--start", "1s"], ["--cache", "c"], ["--damage", "strict"]])
  func `options that need the whole file refuse --follow, but read a pipe`(arguments: [String])
    throws
  {
    try withTool { (tool: Tool) throws in
      let more = ["--protocol", "none", "--once", "--late", "stretch"] + arguments
      #expect(try tool.run(["play", "cat.gif", "--follow"] + more).status == 2)
      let piped = try tool.run(["play", "-"] + more, input: Self.gif.bytes)
      #expect(piped.status == 0)
      #expect(!piped.text.contains(" stalls="))
    }
  }
}
