import TestRunning
import Testing

/// `still` with several files, written or drawn.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct StillFilesTests {
  /// A picture of 2 x `rows` cells in one colour.
  private static func block(_ color: UInt8, rows: Int) -> [UInt8] {
    SampleGIF(width: 16, height: 16 * rows, frames: [(color, 10)]).bytes
  }

  private func withFiles(_ body: (Tool) throws -> Void) throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(Self.block(0, rows: 1), to: "a.gif")
    try tool.write(Self.block(1, rows: 2), to: "b.gif")
    try tool.write(Self.block(2, rows: 3), to: "b.png")
    try body(tool)
  }

  @Test func `each file gets a picture under its name`() throws {
    try withFiles { tool in
      #expect(try tool.run("still", "a.gif", "b.gif", "b.png", "-o", "d/{name}.png").status == 0)
      #expect(try tool.list("d") == ["a.gif.png", "b.gif.png", "b.png.png"])
      #expect(try tool.run("still", "a.gif", "b.gif", "-o", "e/").status == 0)
      #expect(try tool.list("e") == ["a-0000.png", "b-0000.png"])
      let pipe = try tool.run("still", "a.gif", "b.gif", "--format", "rgba", "-o", "-")
      #expect(pipe.status == 0 && pipe.output.count == 16 * 16 * 3 * 4)
    }
  }

  @Test func `ambiguous names are rejected before anything is written`() throws {
    try withFiles { tool in
      for output in ["one.png", "{index}.png", "{stem}.png", "."] {
        let outcome = try tool.run("still", "a.gif", "b.gif", "b.png", "-o", output)
        #expect(outcome.status == 2)
      }
      #expect(try tool.list() == ["a.gif", "b.gif", "b.png"])
    }
  }

  @Test func `a file that fails does not stop the others, output that fails does`() throws {
    try withFiles { tool in
      let some = try tool.run("still", "a.gif", "no.gif", "b.gif", "-o", "d/{name}.png")
      #expect(some.status == 1 && some.errors.contains("no.gif"))
      #expect(try tool.list("d") == ["a.gif.png", "b.gif.png"])
      let taken = try tool.run("still", "b.png", "a.gif", "b.gif", "-o", "d/{name}.png")
      #expect(taken.status == 4)
      #expect(try tool.list("d") == ["a.gif.png", "b.gif.png", "b.png.png"])
      #expect(try tool.run("still", "no.gif", "none.gif", "-o", "d/").status == 3)
    }
  }

  @Test func `a reader that has gone away does not hide a file that failed`() throws {
    try withFiles { (tool: Tool) throws in
      let script = """
        mkfifo gone; \
        { read -r _ <gone; "$ZOETROPE" still no.gif a.gif --format rgba -o - 2>errors; echo $? >status; } \
        | { exec <&-; echo >gone; }
        """
      #expect(try tool.shell(script) == 0)
      #expect(try tool.read("status") == Array("1\n".utf8))
    }
  }

  @Test(arguments: ["still", "extract", "sheet", "convert", "optimize"])
  func `a terminal does not get binary data`(command: String) throws {
    try withFiles { tool in
      var words = [command, "a.gif", "-o", "-"]
      if command == "convert" { words += ["--format", "apng"] }
      let terminal = try Pseudoterminal(Tool.program, words, directory: tool.directory)
      #expect(terminal.end() == 2)
      #expect(terminal.has("standard output is a terminal; redirect it"))
    }
  }

  @Test func `without an output they are drawn below each other, each in its own height`() throws {
    try withFiles { tool in
      let terminal = try Pseudoterminal(
        Tool.program, ["still", "--protocol", "half", "a.gif", "b.gif", "b.png"],
        directory: tool.directory)
      #expect(terminal.end() == 0)
      let model = terminal.model
      let drawn = (0..<8).map { model.cells[$0 * 80].pen.joined() }
      #expect(!drawn[0].isEmpty && !drawn[1].isEmpty && !drawn[3].isEmpty && drawn[6].isEmpty)
      #expect(drawn == [drawn[0], drawn[1], drawn[1], drawn[3], drawn[3], drawn[3], "", ""])
      #expect(Set(drawn).count == 4)
      #expect((0..<8).allSatisfy { model.cells[$0 * 80 + 2].pen.isEmpty })
      // The terminal is queried for its colours, even if the protocol is named.
      #expect(terminal.has("\u{1B}[c"))
      #expect((model.column, model.row) == (0, 6))
      #expect(model.state == TerminalState())
    }
  }

  @Test(arguments: [
    ["still"], ["still", "--colors", "full"], ["play", "--inline", "--once"],
    ["play", "--frame", "0"],
  ])
  func `a picture that scrolls the screen leaves the cells beside it alone`(
    _ words: [String]
  ) throws {
    try withFiles { tool in
      // Erased and scrolled-in cells have the background that is set, as in xterm and tmux.
      var model = TerminalModel(columns: 40, rows: 12)
      model.apply([UInt8](repeating: 10, count: 11))
      let terminal = try Pseudoterminal(
        Tool.program, words + ["--protocol", "half", "b.png"], model: model,
        directory: tool.directory)
      #expect(terminal.end() == 0)
      let cells = terminal.model.cells
      let drawn = cells.indices.filter { !cells[$0].pen.isEmpty }
      #expect(!drawn.isEmpty)
      let last = drawn.map { $0 % 40 }.max() ?? 0
      #expect(last < 39)
      let rows = Set(drawn.map { $0 / 40 })
      #expect(drawn.count == rows.count * (last + 1))
    }
  }

  @Test func `each line of a picture in a pipe resets its colours`() throws {
    try withFiles { tool in
      for words in [["still", "--protocol", "half"], ["play", "--protocol", "half"]] {
        let outcome = try tool.run(words + ["--colors", "full", "b.png"])
        let lines = outcome.text.split(separator: "\n")
        #expect(lines.count > 1)
        #expect(lines.allSatisfy { $0.hasSuffix("\u{1B}[m") }, "\(words)")
      }
    }
  }

  @Test func `characters in a pipe are lines no larger than the place`() throws {
    try withFiles { tool in
      let outcome = try tool.run(
        "still", "--protocol", "ascii", "--colors", "none",
        "--place", "1x2", "b.png")
      #expect(outcome.status == 0)
      #expect(outcome.text.split(separator: "\n", omittingEmptySubsequences: false).count == 3)
      #expect(!outcome.output.contains(13) && !outcome.output.contains(0x1B))
    }
  }

  @Test func `more files than can be open at once have pictures, and a sheet`() throws {
    try withFiles { tool in
      let script = """
        mkdir many; for i in $(seq 40); do cp a.gif many/$i.gif; done; ulimit -n 24
        "$ZOETROPE" still many/*.gif -o d/ && "$ZOETROPE" sheet many/*.gif -o sheet.png --quiet
        """
      #expect(try tool.shell(script) == 0)
      #expect(try tool.list("d").count == 40)
      let names = try tool.list()
      #expect(names.contains("sheet.png"))
    }
  }
}
