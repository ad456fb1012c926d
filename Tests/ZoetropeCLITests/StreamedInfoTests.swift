import Glibc
import SystemPackage
import TestRunning
import Testing

/// `info` while the bytes arrive: what is known so far, and the report of the whole at the end.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct StreamedInfoTests {
  private static let gif = SampleGIF()

  @Test func `a line for each change, then the report of the whole file`() throws {
    try withTool { (tool: Tool) throws in
      let fed = try FedTool(tool, "info", "-", "--follow", "--json")
      for (number, piece) in Self.gif.pieces.enumerated() {
        fed.pipe.feed(piece)
        guard number < 3 else { break }
        try #require(
          fed.wait { (try? fed.lines())?.last?["frame_count"].integer == number + 1 })
      }
      #expect(fed.end() == 0)
      let all = try fed.lines()
      for line in all.dropLast() {
        #expect(line["schema"] == "zoetrope.arrival/2")
        #expect(line["width"] == 6)
        #expect(line["announced_frames"] == .null)
      }
      let counts = all.map { $0["frame_count"].integer ?? -1 }
      #expect(counts == counts.sorted())
      let durations = Set(all.dropLast().map { $0["duration_ms"]["stored"].integer ?? -1 })
      // 40 ms, 100 ms and 0 ms, perhaps after a line without a frame.
      #expect(durations.subtracting([0]) == [40, 140])
      let whole = try JSONLine.one(tool.run("info", "cat.gif", "--json").output)
      for key in ["schema", "bytes", "frame_count", "loop", "duration_ms", "damage", "frames"] {
        #expect(all.last?[key] == whole[key])
      }
    }
  }

  @Test func `a followed file is reported when it is complete`() throws {
    try withTool { (tool: Tool) throws in
      #expect(
        try tool.run("info", "cat.gif", "--follow", "--frames").output
          == tool.run("info", "cat.gif", "--frames").output)
      try tool.write(Array("not a picture".utf8), to: "bad.gif")
      let bad = try tool.run("info", "bad.gif", "--follow", "--json")
      #expect(bad.status == 3)
      #expect(bad.output == (try tool.run("info", "bad.gif", "--json").output))
    }
  }

  @Test func `a followed file whose writer died is complete after the given time`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(Array(SampleGIF().bytes.dropLast(20)), to: "cut.gif")
    let follow = ["--follow", "--follow-timeout", "50ms"]
    let info = try tool.run(["info", "--json", "cut.gif"] + follow)
    let whole = try JSONLine.one(tool.run("info", "--json", "cut.gif").output)
    let last = try #require(JSONLine.all(info.output).last)
    #expect(last["frame_count"] == whole["frame_count"] && last["damage"] == whole["damage"])
    let extracted = try tool.run(["extract", "cut.gif", "-o", "o/", "-q"] + follow)
    #expect(try extracted.status == tool.run("extract", "cut.gif", "-o", "w/", "-q").status)
    #expect(try tool.shell("diff -r o w") == 0)
    #expect(try tool.run("info", "cut.gif", "--follow-timeout", "1s").status == 2)
  }

  @Test func `a pipe that stays silent is complete after the given time`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(Array(SampleGIF().bytes.dropLast(20)), to: "cut.gif")
    let info =
      "timeout 120 \"$ZOETROPE\" info --format '{frames} {byte_count}' --follow "
      + "--follow-timeout 50ms"
    // The open descriptor 3 keeps the pipe from ending.
    let silent = "mkfifo p; exec 3<>p; cat cut.gif >&3; \(info) p >piped"
    #expect(try tool.shell("\(silent); \(info) cut.gif >whole; cmp piped whole") == 0)
    #expect(try !tool.read("piped").isEmpty)
    // A pipe that never had a writer.
    #expect(try tool.shell("mkfifo q; \(info) q 2>errors") == 3)
  }

  @Test(arguments: [[], ["--protocol", "none"]])
  func `the time of playing ends waiting for a file that does not grow`(_ words: [String]) throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    // Without a canvas, and with one but no frame.
    for count in [9, 50] {
      try tool.write(Array(SampleGIF().bytes.prefix(count)), to: "start.gif")
      let result = try tool.run(
        ["play", "--follow", "--duration", "100ms", "start.gif"] + words)
      #expect(result.status == 3, "\(count)")
    }
  }

  @Test(arguments: [9, 50])
  func `the time of playing ends waiting on a terminal too`(_ count: Int) throws {
    let session = try PlayerSession(
      ["--follow", "--duration", "100ms"],
      files: ["start.gif": Array(SampleGIF().bytes.prefix(count))])
    defer { session.tool.cleanUp() }
    #expect(session.terminal.end() == 3)
    #expect(session.terminal.has("no frame arrived before --duration ended"))
    #expect(session.terminal.isRestored)
    #expect(session.terminal.model.state == TerminalState())
  }

  @Test func `standard input without follow stays one object`() throws {
    try withTool { (tool: Tool) throws in
      let line = try JSONLine.one(
        tool.run(["info", "-", "--json"], input: Self.gif.bytes).output)
      #expect(line["frame_count"] == 3)
    }
  }

  @Test func `an interruption reports what is known`() throws {
    try withTool { (tool: Tool) throws in
      let fed = try FedTool(tool, "info", "-", "--follow", "--json")
      fed.pipe.feed(Self.gif.pieces[0])
      try #require(
        fed.wait { (try? fed.lines())?.last?["frame_count"].integer == 1 })
      fed.send(SIGINT)
      #expect(fed.end() == 130)
      let report = try #require(try JSONLine.all(fed.output).last)
      #expect(report["schema"] == "zoetrope.animation/3")
      #expect(report["frame_count"] == 1)
      #expect(report["error"]["code"] == "interrupted")
    }
  }

  @Test func `a terminal shows what has arrived, and then the report alone`() throws {
    try withTool { (tool: Tool) throws in
      let pipe = try FedPipe(in: tool)
      let terminal = try Pseudoterminal(
        "sh", ["-c", "exec '\(Tool.program)' info - <pipe"], directory: tool.directory)
      let pieces = Self.gif.pieces
      pipe.feed(pieces[0] + pieces[1])
      try #require(terminal.waitToShow("2 frames"))
      #expect(terminal.model.screen.contains("\((pieces[0] + pieces[1]).count) B received"))
      pipe.feed(pieces[2] + pieces[3])
      #expect(terminal.waitToShow("3 frames, plays forever"))
      #expect(terminal.end() == 0)
      #expect(!terminal.model.screen.contains("received"))
    }
  }
}
