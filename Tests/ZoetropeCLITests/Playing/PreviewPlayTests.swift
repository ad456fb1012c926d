import ArgumentParser
import Glibc
import TestRunning
import Testing

@testable import ZoetropeCLI

/// `--place`: drawing in a part of a terminal that another program uses.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct PreviewPlayTests {
  private static let gif = SampleGIF(
    width: 16, height: 32, frames: [(0, 10), (1, 10), (2, 10)]
  ).bytes
  /// A still picture: no frame is in transit when the size changes, to leave traces on a terminal of another size.
  private static let still = SampleGIF(width: 16, height: 32, frames: [(1, 10)]).bytes

  private func withTool(
    _ arguments: [String], answers: TerminalModel.Answers = .modern, gif: [UInt8] = gif,
    _ body: (Pseudoterminal) throws -> Void
  ) throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(gif, to: "cat.gif")
    var model = TerminalModel(columns: 60, rows: 20)
    model.answers = answers
    try body(try Pseudoterminal(Tool.program, arguments, model: model, directory: tool.directory))
  }

  @Test(arguments: [SIGTERM, SIGHUP, SIGINT])
  func `a picture moves in its place until a signal removes it, and nothing else changes`(
    _ number: Int32
  ) throws {
    let place = ["play", "--place", "10x4@20,5", "--protocol", "half", "cat.gif"]
    try withTool(place) { terminal in
      terminal.smear()
      let before = terminal.model
      let (columns, rows) = (20..<30, 5..<9)
      var seen: Set<[String]> = []
      #expect(
        terminal.wait {
          seen.insert(terminal.model.cells[5 * 60 + 20].pen)
          return seen.count > 3
        })
      for row in 0..<20 {
        for column in 0..<60 where !(rows.contains(row) && columns.contains(column)) {
          #expect(terminal.model.cells[row * 60 + column] == before.cells[row * 60 + column])
        }
      }
      // Neither queries nor modes are sent, and echo stays on.
      #expect(terminal.isRestored)
      #expect(terminal.model.fenceCount == 0)
      #expect(!terminal.has("\u{1B}[c") && !terminal.has("\u{1B}[?") && !terminal.has("\u{1B}[6n"))
      terminal.send(number)
      #expect(terminal.end() == 128 + number)
      #expect(terminal.model.cells == before.cells)
      #expect(terminal.model.state == TerminalState())
      #expect((terminal.model.column, terminal.model.row) == (before.column, before.row))
    }
  }

  @Test func `images of kitty go with the signal`() throws {
    try withTool(["play", "--place", "10x4@20,5", "--protocol", "kitty", "cat.gif"]) { terminal in
      try #require(terminal.wait { !terminal.model.state.images.isEmpty })
      terminal.send(SIGTERM)
      #expect(terminal.end() == 143)
      #expect(terminal.model.state == TerminalState())
    }
  }

  @Test func `a terminal that goes away ends it, also between frames`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(Self.still, to: "still.gif")
    let terminal = try Pseudoterminal(
      Tool.program, ["play", "--place", "10x4@20,5", "--protocol", "half", "still.gif"],
      directory: tool.directory)
    try #require(terminal.wait { !terminal.model.cells[5 * 80 + 20].pen.isEmpty })
    terminal.hangUp()
    #expect(terminal.end() == 129)
  }

  @Test func `a place is used again after the screen has changed`() throws {
    let place = ["play", "--place", "10x4@20,5", "--protocol", "half", "cat.gif"]
    try withTool(place, gif: Self.still) { terminal in
      try #require(terminal.wait { !terminal.model.cells[5 * 60 + 20].pen.isEmpty })
      terminal.resize(columns: 25, rows: 8)
      let count = terminal.output.count
      // The place is cut, and the whole picture is drawn in what is left of it.
      #expect(terminal.wait { terminal.output.count > count && terminal.has("\u{1B}[4X") })
      terminal.send(SIGTERM)
      #expect(terminal.end() == 143)
      #expect(terminal.model.cells.allSatisfy { $0.pen.isEmpty })
    }
  }

  @Test func `nothing is drawn while the screen has no room for the place`() throws {
    let place = ["play", "--place", "10x4@20,5", "--protocol", "half", "cat.gif"]
    try withTool(place, gif: Self.still) { terminal in
      try #require(terminal.wait { !terminal.model.cells[5 * 60 + 20].pen.isEmpty })
      terminal.resize(columns: 15, rows: 4)
      try #require(terminal.settle())
      #expect(terminal.model.cells.allSatisfy { $0.pen.isEmpty })
      terminal.resize(columns: 60, rows: 20)
      #expect(terminal.wait { !terminal.model.cells[5 * 60 + 20].pen.isEmpty })
      terminal.send(SIGTERM)
      #expect(terminal.end() == 143)
    }
  }

  @Test func `clear removes the picture with its number, and no other`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(Self.still, to: "a.gif")
    var model = TerminalModel()
    model.answers = .modern
    let still = "'\(Tool.program)' still --protocol kitty --place 9x4@4,4 --id"
    let clear = "'\(Tool.program)' play --clear --protocol kitty --id 7"
    let terminal = try Pseudoterminal(
      "sh", ["-c", "\(still) 7 a.gif; \(still) 8 a.gif; \(clear)"], model: model,
      directory: tool.directory)
    #expect(terminal.end() == 0)
    #expect(terminal.model.state.images == ["16"])
    #expect(!terminal.has("\u{1B}[c"))
  }

  @Test func `clear erases the cells of the place, and no others`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(Self.still, to: "a.gif")
    let still = "'\(Tool.program)' still --protocol half --place"
    let clear = "'\(Tool.program)' still --clear --protocol half --place 9x4@4,4"
    let terminal = try Pseudoterminal(
      "sh", ["-c", "\(still) 9x4@4,4 a.gif; \(still) 9x4@30,4 a.gif; \(clear)"],
      directory: tool.directory)
    #expect(terminal.end() == 0)
    #expect(terminal.model.cells[4 * 80 + 4] == TerminalModel.Cell())
    #expect(!terminal.model.cells[4 * 80 + 30].pen.isEmpty)
    #expect(terminal.model.state == TerminalState())
  }

  @Test func `graphics go into a pipe on request, and a reader that leaves ends them`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(Self.gif, to: "cat.gif")
    let script = """
      ("$ZOETROPE" play --place 4x4@3,3 --protocol kitty --cell 8x16 cat.gif; echo $? >status) \
      2>errors | head -c 200 >out
      """
    #expect(try tool.shell(script) == 0)
    #expect(String(decoding: try tool.read("out"), as: UTF8.self).contains("\u{1B}_Ga=T,i="))
    #expect(String(decoding: try tool.read("status"), as: UTF8.self) == "0\n")
    #expect(try tool.read("errors").isEmpty)
    // A file receives one play.
    let file = try tool.run(
      "play", "--place", "4x4@3,3", "--protocol", "kitty", "--late", "stretch", "cat.gif")
    #expect(file.status == 0)
    #expect(file.text.split(separator: "a=T").count == 4)
  }

  @Test(arguments: [
    ["play", "--place", "4x4", "cat.gif"], ["play", "--place", "4x4@0,0", "cat.gif", "cat.gif"],
    ["play", "--place", "4x4@0,0", "--inline", "cat.gif"], ["play", "--id", "7", "cat.gif"],
    ["play", "--place", "4x4@0,0", "--id", "0", "cat.gif"], ["play", "--cell", "8x16", "cat.gif"],
    ["play", "--place", "4x4@0,0", "--cell", "8", "cat.gif"], ["play", "--clear", "cat.gif"],
    ["still", "--clear", "-o", "a.png"], ["still", "--protocol", "none", "cat.gif"],
    ["still", "--place", "4x4@0,0", "-o", "a.png", "cat.gif"],
    ["still", "--protocol", "half", "--place", "4x4@0,0", "cat.gif", "cat.gif"],
  ])
  func `options that contradict each other are refused`(_ arguments: [String]) throws {
    #expect(throws: (any Error).self) { try ZoetropeCommand.parseAsRoot(arguments) }
  }

  @Test(arguments: [
    "play --clear --protocol kitty", "play --clear --protocol half", "still cat.gif",
  ])
  func `previews that cannot be drawn or found are rejected`(_ line: String) throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(Self.still, to: "cat.gif")
    let outcome = try tool.run(line.split(separator: " ").map(String.init))
    #expect(outcome.status == 2 && outcome.output.isEmpty && !outcome.errors.isEmpty)
  }

  @Test(arguments: ["still cat.gif", "play --place 4x4@0,0 cat.gif", "play --clear --id 7"])
  func `a disk that is full is status 4`(_ line: String) throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(Self.still, to: "cat.gif")
    let status = try tool.shell("\"$ZOETROPE\" \(line) --protocol kitty >/dev/full 2>errors")
    #expect(status == 4)
    let errors = String(decoding: try tool.read("errors"), as: UTF8.self)
    #expect(errors == "zoetrope: error: standard output: No space left on device\n")
  }
}
