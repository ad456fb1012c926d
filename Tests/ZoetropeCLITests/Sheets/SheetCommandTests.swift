import Glibc
import SystemPackage
import TestRunning
import Testing
import Zoetrope

@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct SheetCommandTests {
  private static let red = RGBA(red: 255, green: 0, blue: 0)
  private static let green = RGBA(red: 0, green: 255, blue: 0)
  private static let blue = RGBA(red: 0, green: 0, blue: 255)

  /// The picture in the PNG file `name`.
  private func picture(_ tool: Tool, _ name: String) throws -> Bitmap {
    try FrameReader(AnimatedImage(bytes: try tool.read(name))).frame(at: 0).bitmap
  }

  @Test func `frames lie side by side, as the atlas says`() throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run(
        "sheet", "cat.gif", "-o", "s.png", "--columns", "2", "--padding", "1", "--atlas", "s.json")
      #expect(result.status == 0)
      #expect(result.errors.isEmpty)
      #expect(try tool.list() == ["cat.gif", "s.json", "s.png"])
      let sheet = try picture(tool, "s.png")
      #expect(sheet.size == PixelSize(width: 2 * 7 + 1, height: 2 * 5 + 1))
      let atlas = try JSONLine.one(tool.read("s.json"))
      #expect(atlas["meta"]["image"] == "s.png")
      #expect(atlas["meta"]["size"]["w"] == 15)
      #expect(atlas["meta"]["size"]["h"] == 11)
      #expect(atlas["meta"]["frameTags"][0]["name"] == "cat")
      #expect(atlas["meta"]["frameTags"][0]["to"] == 2)
      for (index, color) in [Self.red, Self.green, Self.blue].enumerated() {
        let sprite = atlas["frames"]["cat-000\(index).png"]
        #expect(sprite["duration"].integer == [40, 100, 100][index])
        #expect(sprite["rotated"] == false)
        #expect(sprite["sourceSize"]["w"] == 6)
        let frame = sprite["frame"]
        #expect(frame["w"] == 6)
        #expect(frame["h"] == 4)
        let x = try #require(frame["x"].integer)
        let y = try #require(frame["y"].integer)
        for corner in [(x, y), (x + 5, y + 3)] { #expect(sheet[corner.0, corner.1] == color) }
        #expect(sheet[x - 1, y].alpha == 0)
        #expect(sheet[x, y + 4].alpha == 0)
      }
    }
  }

  @Test func `several inputs have a row each, and an atlas can be an array`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write(SampleGIF(width: 2, height: 2, frames: [(2, 5)]).bytes, to: "dot.gif")
      let result = try tool.run(
        "sheet", "cat.gif", "dot.gif", "cat.gif", "-o", "s.png", "--bg", "ff0080", "--atlas", "-",
        "--atlas-shape", "array", "--timing", "exact")
      #expect(result.status == 0)
      let sheet = try picture(tool, "s.png")
      #expect(sheet.size == PixelSize(width: 18, height: 12))
      // Smaller frames stand in the middle of their cells.
      #expect(sheet[1, 5] == RGBA(red: 255, green: 0, blue: 128))
      #expect(sheet[2, 5] == Self.blue)
      #expect(sheet[12, 8] == Self.blue)
      #expect(sheet[12, 4] == RGBA(red: 255, green: 0, blue: 128))
      let frames = try JSONLine.one(result.output)["frames"].elements
      #expect(
        frames.map { $0["filename"].text } == [
          "cat-1-0000.png", "cat-1-0001.png", "cat-1-0002.png", "dot-2-0000.png",
          "cat-3-0000.png", "cat-3-0001.png", "cat-3-0002.png",
        ])
      #expect(frames.map { $0["duration"].integer } == [40, 100, 0, 50, 40, 100, 0])
    }
  }

  @Test func `labels stand below their frames`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.run("sheet", "cat.gif", "-o", "s.png", "--label", "time").status == 0)
      let sheet = try picture(tool, "s.png")
      // Two columns as wide as "0.04s" and a gap.
      #expect(sheet.size == PixelSize(width: 2 * 32, height: 2 * 14))
      let white = RGBA(red: 255, green: 255, blue: 255)
      // The "0" of the first label, "0.00s", in the middle of its cell, with an outline.
      #expect(sheet[1 + 1, 6] == .black && sheet[1, 7] == .black)
      #expect(sheet[1 + 1, 7] == white && sheet[1 + 1, 5] == white && sheet[0, 7] == white)
      #expect(sheet[1 + 1, 4].alpha == 0)
      // Every pixel of a label has its outline, and nothing else is white.
      var count = 0
      for y in 4..<14 {
        for x in 0..<32 {
          let near = (max(y - 1, 0)...min(y + 1, 13)).flatMap { y in
            (max(x - 1, 0)...min(x + 1, 31)).map { sheet[$0, y] }
          }
          if sheet[x, y] == .black { count += 1 }
          #expect((sheet[x, y].alpha != 0) == near.contains(.black))
        }
      }
      #expect(count > 40)
    }
  }

  @Test func `labels on a background have no outline`() throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run(
        "sheet", "cat.gif", "-o", "s.png", "--label", "index", "--bg", "336699")
      #expect(result.status == 0)
      let sheet = try picture(tool, "s.png")
      var colors: Set<RGBA> = []
      for y in sheet.height - 7..<sheet.height {
        for x in 0..<sheet.width { colors.insert(sheet[x, y]) }
      }
      #expect(
        colors == [RGBA(red: 255, green: 255, blue: 255), RGBA(red: 0x33, green: 0x66, blue: 0x99)])
    }
  }

  @Test func `frames are chosen and scaled before they are laid out`() throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run(
        "sheet", "cat.gif", "-o", "-", "--frames", "1-", "--size", "3x", "--columns", "9")
      #expect(result.status == 0)
      try tool.write(result.output, to: "s.png")
      let sheet = try picture(tool, "s.png")
      #expect(sheet.size == PixelSize(width: 6, height: 2))
      #expect(sheet[0, 0] == Self.green)
      #expect(sheet[3, 0] == Self.blue)
      var gif = SampleGIF()
      gif.frames = [(0, 4), (0, 4), (1, 4), (0, 4), (1, 4)]
      try tool.write(gif.bytes, to: "twice.gif")
      let distinct = try tool.run(
        "sheet", "twice.gif", "-o", "d.png", "--distinct", "4", "--columns", "4")
      #expect(distinct.status == 0)
      let two = try picture(tool, "d.png")
      #expect(two.size == PixelSize(width: 12, height: 4))
      #expect(two[0, 0] == Self.red)
      #expect(two[6, 0] == Self.green)
    }
  }

  @Test func `nothing is replaced without force, and inputs never are`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write([1, 2], to: "mine.png")
      let kept = try tool.run("sheet", "cat.gif", "-o", "s.png", "--atlas", "mine.png")
      #expect(kept.status == 4)
      #expect(kept.errors == "zoetrope: error: mine.png exists; --force replaces it\n")
      #expect(try tool.list() == ["cat.gif", "mine.png"])
      #expect(try tool.read("mine.png") == [1, 2])
      let forced = try tool.run("sheet", "cat.gif", "-o", "mine.png", "--force")
      #expect(forced.status == 0)
      #expect(try picture(tool, "mine.png").size.area > 0)
      #expect(try tool.run("sheet", "mine.png", "-o", "mine.png", "--force").status == 2)
      #expect(
        try tool.run("sheet", "cat.gif", "-o", "t.png", "--atlas", "./t.png").status == 2)
      #expect(try tool.run("sheet", "cat.gif", "-o", "t.gif").status == 2)
      #expect(try tool.list() == ["cat.gif", "mine.png"])
    }
  }

  @Test func `an input that cannot be opened is left out`() throws {
    try withTool { (tool: Tool) throws in
      let some = try tool.run("sheet", "none", "cat.gif", "-o", "s.png")
      #expect(some.status == 1)
      #expect(some.errors.hasPrefix("zoetrope: error: none: "))
      #expect(try picture(tool, "s.png").size == PixelSize(width: 12, height: 8))
      #expect(try tool.run("sheet", "none", "-o", "t.png").status == 3)
      try tool.write(Array(SampleGIF().bytes.dropLast(12)), to: "cut.gif")
      #expect(try tool.run("sheet", "cut.gif", "-o", "u.png").status == 1)
      let strict = try tool.run("sheet", "cut.gif", "-o", "v.png", "--damage", "strict")
      #expect(strict.status == 6)
      #expect(try tool.list() == ["cat.gif", "cut.gif", "s.png", "u.png"])
    }
  }

  @Test func `the most different of many dots on a large canvas are found`() throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    var gif = Array("GIF89a".utf8) + [0, 16, 0, 16, 0x80, 0, 0, 255, 255, 255, 0, 0, 0]
    for index in 0..<500 {
      let (column, row) = (UInt8(index % 16), UInt8(index / 16 % 16))
      if index % 125 == 60 {
        // 256 x 256 pixels, in codes of one byte.
        let block = [253] + (0..<253).map { $0 % 64 == 0 ? 0x80 : UInt8(1) }
        gif += [0x2c, 0, column, 0, row, 0, 1, 0, 1, 0, 7]
        gif += (0..<264).flatMap { _ in block } + [1, 0x81, 0]
      } else {
        gif += [0x2c, 0, column, 0, row, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
      }
    }
    try tool.write(gif + [0x3b], to: "dots.gif")
    let sheet = ["sheet", "dots.gif", "--distinct", "5", "--size", "64x64", "-o", "dots.png"]
    let atlas = try JSONLine.one(
      tool.run(sheet + ["--atlas", "-", "--atlas-shape", "array"]).output)
    // The first, and those that show more than a dot.
    let names = atlas["frames"].elements.map { $0["filename"].text ?? "" }
    let expected = ["0000", "0060", "0185", "0310", "0435"]
    #expect(names == expected.map { "dots-\($0).png" })
  }

  @Test func `a sheet is no larger than a canvas may be`() throws {
    try withTool { (tool: Tool) throws in
      let arguments = ["sheet", "cat.gif", "-o", "s.png", "--limits", "strict"]
      let result = try tool.run(arguments + ["--size", "3000x2000"])
      #expect(result.status == 5)
      #expect(result.errors.contains("the limit is 16777216 pixels"))
      #expect(try tool.list() == ["cat.gif"])
      #expect(try tool.run(arguments + ["--size", "30x"]).status == 0)
    }
  }

  @Test(arguments: [
    "--columns 0", "--padding -1", "--distinct 0", "--distinct 1001", "--bg red", "--label both",
    "--atlas-shape array", "--frames 9", "--every 0",
  ])
  func `wrong options are refused`(_ line: String) throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.shell("\"$ZOETROPE\" sheet cat.gif -o s.png \(line) 2>noise") == 2)
      #expect(try !tool.list().contains("s.png"))
    }
  }

  @Test func `a sheet whose atlas cannot be written is not kept`() throws {
    try withTool { (tool: Tool) throws in
      let failed = try tool.run("sheet", "cat.gif", "-o", "s.png", "--atlas", "/dev/full")
      #expect(failed.status == 4)
      #expect(try !tool.list().contains("s.png"))
      #expect(try tool.run("sheet", "cat.gif", "-o", "s.png", "--atlas", "a.json").status == 0)
      #expect(try tool.shell("\"$ZOETROPE\" sheet cat.gif -o t.png --atlas - | true") == 0)
      #expect(try tool.list().contains("t.png"))
      // A sheet that was replaced cannot be restored, so the new one stays.
      let forced = try tool.run(
        "sheet", "cat.gif", "-o", "s.png", "--atlas", "/dev/full", "--force")
      #expect(forced.status == 4)
      #expect(try tool.list().contains("s.png"))
    }
  }

  @Test func `an interruption leaves no file`() throws {
    var gif = SampleGIF(width: 250, height: 250)
    gif.frames = (0..<100).map { (UInt8($0 % 3), 4) }
    gif.isMixed = true
    try withTool(gif) { (tool: Tool) throws in
      // The second input comes when the signal has been sent: nothing depends on how fast it runs.
      let script = """
        mkfifo in && { (exec 3>in; kill -INT $$; cat cat.gif >&3) 2>noise & \
        exec "$ZOETROPE" sheet cat.gif in -o s.png --limits none 2>err; }
        """
      #expect(try tool.endingSignal(of: script) == SIGINT)
      #expect(try !tool.list().contains { $0.hasSuffix(".png") || $0.hasSuffix(".tmp") })
    }
  }
}
