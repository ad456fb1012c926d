import TestRunning
import Testing

/// What `play` does where there is no terminal: one frame, or a message, and never escapes.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct PlayWithoutTerminalTests {
  @Test func `one frame of each file is written as characters`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(SampleGIF().bytes, to: "a.gif")
    try tool.write(SampleGIF().bytes, to: "b.gif")
    let one = try tool.run("play", "a.gif")
    #expect(one.status == 0)
    #expect(!one.output.contains(0x1B))
    #expect(one.text.split(separator: "\n").count > 3)
    let two = try tool.run("play", "a.gif", "b.gif")
    #expect(two.status == 0)
    #expect(two.output.count == 2 * one.output.count)
    #expect(try tool.run("play", "a.gif", "nothing.gif").status == 1)
    #expect(try tool.run(["play", "-"], input: SampleGIF().bytes).output == one.output)
    let graphics = try tool.run("play", "a.gif", "--protocol", "kitty")
    #expect(graphics.status == 7)
    #expect(graphics.output.isEmpty)
  }

  @Test func `a reader that goes away does not hide failures`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(SampleGIF().bytes, to: "a.gif")
    let script = "(\"$ZOETROPE\" play no.gif a.gif; echo $? >status) 2>errors | true"
    #expect(try tool.shell(script) == 0)
    #expect(String(decoding: try tool.read("status"), as: UTF8.self) == "1\n")
    #expect(String(decoding: try tool.read("errors"), as: UTF8.self).contains("no.gif"))
  }

  @Test func `a file that is named twice and fails counts twice`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(Array("no picture".utf8), to: "bad.gif")
    let single = try tool.run("play", "bad.gif").status
    #expect(single != 0 && single != 1)
    #expect(try tool.run("play", "bad.gif", "bad.gif").status == single)
  }

  @Test func `a reader that goes away is a quiet end`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(SampleGIF().bytes, to: "a.gif")
    let script = "(\"$ZOETROPE\" play a.gif; echo $? >status) 2>errors | true"
    #expect(try tool.shell(script) == 0)
    let status = try tool.read("status")
    #expect(String(decoding: status, as: UTF8.self) == "0\n")
    let errors = try tool.read("errors")
    #expect(errors.isEmpty)
  }
}
