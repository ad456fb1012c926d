import ArgumentParser
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCLI

/// `extract --format y4m`.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct VideoTests {
  private let gif = SampleGIF()

  /// By the formulas of BT.601, rounded.
  @Test(
    arguments: [
      ((0, 0, 0), (16, 128, 128)), ((255, 255, 255), (235, 128, 128)), ((255, 0, 0), (81, 90, 240)),
      ((0, 255, 0), (145, 54, 34)), ((0, 0, 255), (41, 240, 110)),
      ((128, 128, 128), (126, 128, 128)),
    ] as [((UInt8, UInt8, UInt8), (UInt8, UInt8, UInt8))])
  func `colours are BT.601 in limited range`(
    _ color: (UInt8, UInt8, UInt8), _ video: (UInt8, UInt8, UInt8)
  ) {
    let found = LimitedColor(RGBA(red: color.0, green: color.1, blue: color.2))
    #expect((found.luma, found.blue, found.red) == video)
  }

  @Test func `a frame is its line and three planes over the background`() {
    let half = RGBA(red: 255, green: 255, blue: 255, alpha: 128)
    let pixels = [[RGBA.black, .clear], [half, RGBA(red: 255, green: 0, blue: 0)]]
    let bitmap = Bitmap.drawn(size: PixelSize(width: 2, height: 2)) { y, bytes in
      for x in 0..<2 {
        bytes.storeBytes(of: pixels[y][x].word, toByteOffset: x * 4, as: UInt32.self)
      }
    }
    let red = LimitedColor(RGBA(red: 255, green: 0, blue: 0))
    let grey = LimitedColor(RGBA(red: 128, green: 128, blue: 128))
    #expect(
      VideoStream.frame(bitmap, over: .black) == Array("FRAME\n".utf8)
        + [16, 16, grey.luma, red.luma] + [128, 128, 128, red.blue] + [128, 128, 128, red.red])
    let white = RGBA(red: 255, green: 255, blue: 255)
    #expect(VideoStream.frame(bitmap, over: white)[6..<10] == [16, 235, 235, red.luma])
  }

  /// The colour of frame `index` in every plane, as often as it is repeated.
  private func expected(_ rate: String, _ frames: [(index: Int, count: Int)]) -> [UInt8] {
    let colors = [
      RGBA(red: 255, green: 0, blue: 0), RGBA(red: 0, green: 255, blue: 0),
      RGBA(red: 0, green: 0, blue: 255),
    ]
    var bytes = Array("YUV4MPEG2 W6 H4 F\(rate) Ip A1:1 C444 XCOLORRANGE=LIMITED\n".utf8)
    for frame in frames {
      let color = LimitedColor(colors[frame.index])
      let planes = [color.luma, color.blue, color.red].flatMap { [UInt8](repeating: $0, count: 24) }
      for _ in 0..<frame.count { bytes += Array("FRAME\n".utf8) + planes }
    }
    return bytes
  }

  @Test func `frames are repeated for exactly their times`() throws {
    try withTool { (tool: Tool) throws in
      // Shown for 40, 100 and, as browsers show 0, 100 ms.
      let piped = try tool.run(["extract", "-", "--format", "y4m", "-o", "-"], input: gif.bytes)
      #expect(piped.status == 0)
      #expect(piped.output == expected("50:1", [(0, 2), (1, 5), (2, 5)]))
      let file = try tool.run("extract", "cat.gif", "--format", "y4m", "-o", "o", "-j", "3")
      #expect(file.status == 0)
      #expect(try tool.list("o") == ["cat.y4m"])
      #expect(try tool.read("o/cat.y4m") == piped.output)
      let fast = try tool.run("extract", "cat.gif", "--format", "y4m", "-o", "f.y4m", "--fps", "25")
      #expect(fast.status == 0)
      #expect(try tool.read("f.y4m") == expected("25:1", [(0, 1), (1, 3), (2, 2)]))
      let again = try tool.run("extract", "cat.gif", "--format", "y4m", "-o", "f.y4m")
      #expect(again.status == 4)
      #expect(again.errors == "zoetrope: error: f.y4m exists; --force replaces it\n")
      let some = try tool.run(
        "extract", "cat.gif", "--format", "y4m", "-o", "f.y4m", "--force", "--frames", "1",
        "--timing", "exact")
      #expect(some.status == 0)
      #expect(try tool.read("f.y4m") == expected("10:1", [(1, 1)]))
    }
  }

  @Test(arguments: [
    "-o {index}.y4m", "-o a.png", "-o a.y4m --raw", "-o a.y4m --resume", "-o a.y4m --manifest m",
    "-o a.y4m --depth 16", "-o a.y4m --unique", "-o a.y4m --effort fast",
    "-o a.y4m --frames 2 --timing exact", "-o a.y4m --bg none", "-o a.png --bg white",
    "cat.gif -o -", "cat.gif -o a.y4m",
  ])
  func `options that a video cannot hold are rejected, and nothing is written`(_ options: String)
    throws
  {
    try withTool { (tool: Tool) throws in
      var arguments = ["extract", "cat.gif"] + options.split(separator: " ").map(String.init)
      if !options.contains("--bg white") { arguments += ["--format", "y4m"] }
      // Most are refused while they are parsed.
      guard let command = try? ZoetropeCommand.parseAsRoot(arguments) else { return }
      #expect(command is ExtractCommand)
      let result = try tool.run(arguments)
      #expect(result.status == 2)
      #expect(!result.errors.isEmpty)
      #expect(try tool.list() == ["cat.gif"])
    }
  }

  @Test func `a video of more than 64 GiB is refused, unless limits are lifted`() throws {
    var large = SampleGIF(width: 255, height: 255)
    large.frames = (0..<200).map { (UInt8($0 % 3), 255) }
    try withTool(large) { (tool: Tool) throws in
      let extract = ["extract", "cat.gif", "--format", "y4m", "--fps", "1000", "-o"]
      let refused = try tool.run(extract + ["f.y4m"])
      #expect(refused.status == 5)
      #expect(refused.errors.contains("510000 pictures of 255x255"))
      #expect(try tool.list() == ["cat.gif"])
      #expect(
        try tool.shell(
          "\"$ZOETROPE\" \((extract + ["-"]).joined(separator: " ")) --limits none | head -c 9 >f")
          == 0)
      #expect(try tool.read("f") == Array("YUV4MPEG2".utf8))
    }
  }

  @Test func `an interrupted video leaves nothing`() throws {
    var long = SampleGIF(width: 60, height: 60)
    long.frames = (0..<100).map { (UInt8($0 % 3), 100) }
    try withTool(long) { (tool: Tool) throws in
      let script = """
        mkdir o; { (until test -s o/.zoetrope-*.tmp || ! kill -0 $$; do :; done; kill -TERM $$) 2>noise & \
        exec "$ZOETROPE" extract cat.gif --format y4m -o o --fps 1000 2>errors; }
        """
      #expect(try tool.endingSignal(of: script) == 15)
      #expect(try tool.list("o").isEmpty)
      let errors = String(decoding: try tool.read("errors"), as: UTF8.self)
      #expect(errors.contains("interrupted, "))
      #expect(!errors.contains("--resume"))
    }
  }
}
