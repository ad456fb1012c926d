import Glibc
import Testing

/// However playing ends, the terminal is as it was found.
@Suite(.timeLimit(.minutes(1))) struct PlayerEndingTests {
  private static let shown = "\u{1B}[?25h"
  private static let left = "\u{1B}[?1049l"

  private func withPlayer(
    _ arguments: [String] = [], _ body: (Pseudoterminal) throws -> Void
  ) throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(SampleGIF().bytes, to: "cat.gif")
    let terminal = try Pseudoterminal(
      Tool.program, ["play", "\(tool.directory)/cat.gif"] + arguments)
    // The last question: without an answer to it the tool would wait for its time to pass.
    try #require(terminal.waitFor("\u{1B}[c"))
    terminal.type("\u{1B}[?62;c")
    try body(terminal)
  }

  private func expectRestored(_ terminal: Pseudoterminal, status: Int32) {
    #expect(terminal.end() == status)
    #expect(terminal.isRestored)
    #expect(terminal.has(Self.shown + Self.left))
  }

  @Test(
    arguments: [("q", 0), ("\u{1B}", 0), ("\u{3}", 130), ("  ..,r]fvi?xq", 0)] as [(String, Int32)])
  func `keys end it`(_ keys: String, _ status: Int32) throws {
    try withPlayer { terminal in
      try #require(terminal.waitFor("\u{1B}[?1049h"))
      #expect(!terminal.isRestored)
      terminal.type(keys)
      expectRestored(terminal, status: status)
    }
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
  func `signals end it`(_ number: Int32) throws {
    try withPlayer { terminal in
      try #require(terminal.waitFor("\u{1B}[?1049h"))
      terminal.send(number)
      expectRestored(terminal, status: 128 + number)
    }
  }

  @Test(arguments: [SIGSEGV, SIGILL, SIGTRAP, SIGABRT, SIGBUS])
  func `fatal signals give the terminal back and then do what they do`(_ number: Int32) throws {
    try withPlayer { terminal in
      try #require(terminal.waitFor("\u{1B}[?1049h"))
      terminal.send(number)
      expectRestored(terminal, status: 128 + number)
    }
  }

  @Test func `the last play ends it when asked`() throws {
    try withPlayer(["--once"]) { expectRestored($0, status: 0) }
  }

  @Test func `one frame stays in the text`() throws {
    try withPlayer(["--frame", "1"]) { terminal in
      #expect(terminal.end() == 0)
      #expect(terminal.isRestored)
      #expect(!terminal.has("\u{1B}[?1049h"))
    }
  }

  @Test func `without a terminal one frame is written as characters`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(SampleGIF().bytes, to: "cat.gif")
    let result = try tool.run("play", "cat.gif")
    #expect(result.status == 0)
    #expect(!result.output.contains(0x1B))
    #expect(result.text.split(separator: "\n").count > 0)
    #expect(try tool.run("play", "cat.gif", "--protocol", "kitty").status == 7)
  }

  @Test func `the example plays a file`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(SampleGIF().bytes, to: "cat.gif")
    let example = Tool.program.replacing("/zoetrope", with: "/minimal-player")
    let terminal = try Pseudoterminal(example, ["\(tool.directory)/cat.gif"])
    #expect(terminal.end() == 0)
    #expect(terminal.has(Self.shown + Self.left))
  }
}
