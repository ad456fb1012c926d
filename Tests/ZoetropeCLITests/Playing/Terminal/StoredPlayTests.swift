import SystemPackage
import TestRunning
import Testing

/// Playing frames that lie in the table of a frame store.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct StoredPlayTests {
  /// Ctrl-Z stops nothing here, where no shell could continue the player, but the player gives the
  /// terminal back and takes it over again, with handlers for fatal signals.
  @Test(arguments: ["", "\u{1A}"])
  func `a table that is truncated while its frames are due does not end the player`(
    _ keys: String
  ) throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    let frames = (0..<10).map { (color: UInt8($0 % 3), delay: UInt8(30)) }
    try tool.write(SampleGIF(width: 200, height: 120, frames: frames).bytes, to: "cat.gif")
    var model = TerminalModel()
    model.answers = .modern
    let play = ["play", "cat.gif", "--cache", "c"]
    // Puts every frame into the table, at the size of this terminal.
    let first = try Pseudoterminal(
      Tool.program, play + ["--once", "--speed", "8"], model: model, directory: tool.directory)
    try #require(first.end() == 0)
    let terminal = try Pseudoterminal(Tool.program, play, model: model, directory: tool.directory)
    try #require(terminal.waitToShow("1/10"))
    terminal.type(keys)
    try #require(terminal.waitToShow("2/10"))
    let tables = try tool.list("c").filter { $0.hasSuffix(".frames") }
    try #require(!tables.isEmpty)
    for table in tables {
      let file = try FileDescriptor.open(FilePath("\(tool.directory)/c/\(table)"), .readWrite)
      try file.closeAfter { try file.resize(to: 4096) }
    }
    // The pixels of the frames that were found ahead are no longer there.
    #expect(terminal.waitToShow("8/10"))
    terminal.type("q")
    #expect(terminal.end() == 0)
    #expect(terminal.isRestored)
  }
}
