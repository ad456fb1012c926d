import TestRunning
import Testing
import Zoetrope

/// `zoetrope play --protocol none`, the simplest user of the scheduler.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct PlayWithoutDrawingTests {
  /// Plays three frames without drawing; time runs fast, and no stall of the machine skips a frame.
  private func play(_ arguments: [String]) throws -> Tool.Outcome {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(SampleGIF().bytes, to: "cat.gif")
    return try tool.run(
      ["play", "--protocol", "none", "--speed", "20", "--late", "stretch"] + arguments + ["cat.gif"]
    )
  }

  @Test(arguments: [
    (["--loops", "1"], [0, 1, 2]), (["--once"], [0, 1, 2]),
    (["--loops", "2"], [0, 1, 2, 0, 1, 2]), (["--loops", "1", "--start", "1"], [1, 2]),
    (["--loops", "1", "--reverse"], [2, 1, 0]),
    (["--loops", "2", "--bounce"], [0, 1, 2, 1, 0]),
    (["--loops", "1", "--late", "catchup=4"], [0, 1, 2]), (["--no-motion"], [0]),
  ])
  func `the trace lists the frames that were played`(arguments: [String], frames: [Int]) throws {
    let result = try play(arguments + ["--trace", "-"])
    #expect(result.status == 0)
    #expect(result.errors.isEmpty)
    let trace = try PlaybackTrace(json: result.text)
    #expect(trace.entries.map(\.index) == frames)
    #expect(trace.entries.allSatisfy { $0.lateness >= 0 && $0.yielded >= $0.decoded })
  }

  @Test func `a fixed delay replaces every frame's`() throws {
    let result = try play(
      ["--loops", "1", "--delay", "40", "--late", "catchup=2", "--trace", "-"])
    let deadlines = try PlaybackTrace(json: result.text).entries.map(\.deadline)
    // 40 ms at twenty times the speed.
    #expect(zip(deadlines, deadlines.dropFirst()).map { $1 - $0 } == [2_000_000, 2_000_000])
  }

  @Test func `--shuffle plays every file once, in another order`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    // Files that cannot be opened are reported in the order in which they are played.
    let names = (10..<50).map { "\($0).gif" }
    for name in names { try tool.write(Array("text".utf8), to: name) }
    let play = { (arguments: [String]) in
      let result = try tool.run(["play", "--protocol", "none"] + arguments + names)
      return result.errors.split(separator: "\n").compactMap { line in
        names.first { line.contains(" \($0): ") }
      }
    }
    #expect(try play([]) == names)
    let shuffled = try play(["--shuffle"])
    #expect(shuffled.sorted() == names)
    #expect(shuffled != names)
  }

  @Test func `the outcome is reported in one line`() throws {
    let result = try play(["--loops", "3"])
    #expect(result.status == 0)
    #expect(result.text.hasPrefix("finished: presented=9 skipped=0 "))
  }

  @Test func `the limit of wall-clock time ends an endless animation`() throws {
    let result = try play(["--loops", "inf", "--duration", "0.05"])
    #expect(result.status == 0)
    #expect(result.text.hasPrefix("stopped: presented="))
  }

  @Test(arguments: [
    "--protocol none --start", "--protocol none --frame", "--place 9x4@0,0 --start", "--start",
    "--frame",
  ])
  func `a start that does not exist is reported with the number that was given`(
    options: String
  ) throws {
    try withTool { (tool: Tool) throws in
      for number in [3, -4, -99] {
        let words = options.split(separator: " ").map(String.init)
        let result = try tool.run(["play", "cat.gif"] + words + ["\(number)"])
        #expect(result.status == 2 && result.output.isEmpty, "\(result.errors)")
        #expect(
          result.errors
            == "zoetrope: error: cat.gif: frame \(number) does not exist; there are 3 frames\n")
      }
    }
  }

  @Test func `a frame that a pipe does not have is reported as for a file`() throws {
    try withTool { (tool: Tool) throws in
      let piped = try tool.run(
        "play", "-", "--frame", "99", "--protocol", "none", input: SampleGIF().bytes)
      #expect(piped.status == 2)
      #expect(
        piped.errors
          == "zoetrope: error: standard input: frame 99 does not exist; there are 3 frames\n")
    }
  }

  @Test(arguments: [["--speed", "0"], ["--late", "never"], ["--loops", "0"]])
  func `senseless options are rejected`(arguments: [String]) throws {
    let result = try play(arguments)
    #expect(result.status != 0)
    #expect(result.output.isEmpty)
    #expect(!result.errors.isEmpty)
  }
}
