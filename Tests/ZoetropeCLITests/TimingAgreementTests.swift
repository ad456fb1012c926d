import TestRunning
import Testing

/// One policy for every time, and statuses that do not depend on order.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct TimingAgreementTests {
  /// Browsers show each of these for 100 ms; stored, they take no time at all.
  private var still: SampleGIF {
    var gif = SampleGIF()
    gif.frames = [(0, 0), (1, 0), (2, 0)]
    return gif
  }

  @Test func `every option that names a time means what a browser shows`() throws {
    try withTool(still) { (tool: Tool) throws in
      let rgba = ["--format", "rgba", "-o", "-"]
      let at = try tool.run(["still", "cat.gif", "--at", "150ms"] + rgba)
      #expect(at.output == still.pixels(1))
      let time = try tool.run(["extract", "cat.gif", "--time", "100ms-200ms"] + rgba)
      #expect(time.output == still.pixels(1))
      let rate = try tool.run(["extract", "cat.gif", "--fps", "10"] + rgba)
      #expect(rate.output == still.pixels(0) + still.pixels(1) + still.pixels(2))
      let start = try tool.run(
        "play", "cat.gif", "--protocol", "none", "--start", "150ms", "--once", "--trace", "-",
        "--speed", "20")
      #expect(start.text.split(separator: "\n").dropFirst().first?.contains(#""index":1"#) == true)
      #expect(
        try tool.run("extract", "cat.gif", "-o", "o/{start_ms:04}-{shown_ms}.png").status == 0)
      #expect(try tool.list("o") == ["0000-100.png", "0100-100.png", "0200-100.png"])
      #expect(
        try tool.run("still", "cat.gif", "--frame", "2", "-o", "s-{start_ms}.png").status == 0)
      #expect(try tool.list().contains("s-200.png"))
      let list = try JSONLine.one(
        tool.run("extract", "cat.gif", "-o", "m/", "--manifest", "-").output)
      #expect(list["frames"].elements.map { $0["start_ms"].integer } == [0, 100, 200])
    }
  }

  @Test func `every command takes the policy`() throws {
    try withTool(still) { (tool: Tool) throws in
      let timing = ["--timing", "20:50", "--format", "rgba", "-o", "-"]
      #expect(
        try tool.run(["still", "cat.gif", "--at", "60ms"] + timing).output == still.pixels(1))
      #expect(
        try tool.run(["extract", "cat.gif", "--time", "60ms"] + timing).output == still.pixels(1))
      #expect(try tool.run(["extract", "cat.gif", "--fps", "20"] + timing).output.count == 288)
      let exact = try tool.run(
        "extract", "cat.gif", "--time", "60ms", "--timing", "exact", "-o", "-")
      #expect(exact.status == 2)
      #expect(exact.errors.contains("a play takes 0 ms with exact timing"))
    }
  }

  @Test(arguments: ["info", "check", "extract -o o/ --force"])
  func `the status of several files does not depend on their order`(_ command: String) throws {
    try withTool { (tool: Tool) throws in
      var huge = SampleGIF().bytes
      huge.replaceSubrange(6..<10, with: [255, 255, 255, 255])
      try tool.write(huge, to: "huge.gif")
      try tool.write([1, 2, 3], to: "no.gif")
      let words = command.split(separator: " ").map(String.init)
      #expect(try tool.run(words + ["huge.gif", "no.gif"]).status == 1)
      #expect(try tool.run(words + ["no.gif", "huge.gif"]).status == 1)
      #expect(try tool.run(words + ["no.gif", "none"]).status == 3)
      let limit = try tool.run(words + ["huge.gif"])
      #expect(limit.status == 5)
      // Advice comes last: the limits are not at that byte.
      #expect(
        limit.errors.hasSuffix(", byte 6; --limits none removes the limits\n"), "\(limit.errors)")
    }
  }
}
