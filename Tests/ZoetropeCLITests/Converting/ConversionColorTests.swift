import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCLI

/// What `convert` does with colours that a GIF has no room for.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct ConversionColorTests {
  private static let root = FixtureLibrary().root

  private func film(_ tool: Tool, _ name: String) throws -> WrittenFilm {
    try WrittenFilm(tool.read(name))
  }

  @Test func `with exact colours, every APNG becomes a GIF where they fit, or nothing`() throws {
    try withTool { (tool: Tool) throws in
      let script = """
        "$ZOETROPE" convert '\(Self.root)'/APNG/*.png -o 'o/{stem}.gif' --exact-delays --colors exact --json >list 2>err
        """
      #expect(try tool.shell(script) == 1)
      var (refused, written) = (0, 0)
      for line in try JSONLine.all(tool.read("list")) {
        let source = try #require(line["file"].text)
        let before = try WrittenFilm(FixtureFile.read(source))
        guard line["error"] == .missing else {
          refused += 1
          #expect(line["error"]["code"] == "unwritable", "\(source)")
          #expect(line["error"]["message"].text?.contains("; choose an APNG (") == true)
          // Only what a GIF cannot hold is refused.
          let image = try AnimatedImage(bytes: FixtureFile.read(source))
          let isPartial = before.pictures.contains { picture in
            picture.indices.contains { $0 % 4 == 3 && (1...65534).contains(picture[$0]) }
          }
          #expect(
            isPartial || image.header.isDeep || image.playCount == .finite(0x7fff_ffff), "\(source)"
          )
          continue
        }
        written += 1
        let after = try film(tool, try #require(line["output"].text))
        #expect(after.playCount == before.playCount && after.size == before.size)
        // Delays that are not whole hundredths are rounded, and long ones take several frames.
        guard line["exact"] == true, after.pictures.count == before.pictures.count else { continue }
        for index in before.pictures.indices {
          let visible = before.pictures[index].visible
          #expect(after.pictures[index].visible == visible, "\(source), frame \(index)")
        }
      }
      #expect(refused > 10 && written > 30)
    }
  }

  @Test func `more exact colours than a GIF has are refused before anything is written`()
    throws
  {
    try withTool { (tool: Tool) throws in
      let picture = Bitmap(width: 20, height: 20) { x, y in
        RGBA(red: UInt8(x), green: UInt8(y), blue: 0)
      }
      try tool.write(PNGEncoder().encode(picture), to: "many.png")
      for output in ["o.gif", "-"] {
        let result = try tool.run(
          "convert", "many.png", "-o", output, "--format", "gif", "--colors", "exact")
        #expect(result.status == 4)
        #expect(result.output.isEmpty)
        #expect(result.errors.contains("more than the 256 colours"))
        #expect(
          result.errors.contains("; choose an APNG (a name ending in .png, or --format apng)\n"))
      }
      #expect(try tool.list() == ["cat.gif", "many.png"])
    }
  }

  @Test func `a GIF with too many colours after scaling is rejected with advice`() throws {
    try withTool { (tool: Tool) throws in
      let picture = Bitmap(width: 16, height: 16) { x, y in
        RGBA(red: UInt8(x * 16), green: UInt8(y * 16), blue: 0)
      }
      try tool.write(PNGEncoder().encode(picture), to: "many.png")
      let scaled = ["convert", "many.png", "-o", "a.gif", "--size", "300%"]
      let refused = try tool.run(scaled + ["--colors", "exact"])
      #expect(refused.status == 4)
      #expect(refused.errors.hasSuffix(", or --filter nearest, which adds no colours\n"))
      #expect(try tool.run(scaled + ["--filter", "nearest"]).status == 0)
      #expect(try film(tool, "a.gif").size == PixelSize(width: 48, height: 48))
    }
  }

  @Test func `every APNG becomes a GIF, with its colours reduced where they do not fit`() throws {
    try withTool { (tool: Tool) throws in
      let script = """
        "$ZOETROPE" convert '\(Self.root)'/APNG/*.png -o 'o/{stem}.gif' --exact-delays --json >list 2>err
        """
      _ = try tool.shell(script)
      var reduced = 0
      for line in try JSONLine.all(tool.read("list")) {
        let source = try #require(line["file"].text)
        let before = try WrittenFilm(FixtureFile.read(source))
        guard line["error"] == .missing else {
          #expect(before.playCount == .finite(0x7fff_ffff), "\(source)")
          continue
        }
        let after = try film(tool, try #require(line["output"].text))
        #expect(after.size == before.size && after.playCount == before.playCount)
        if line["departures"].elements.contains("transparency") { reduced += 1 }
      }
      #expect(reduced > 5)
    }
  }

  @Test func `a smaller GIF reports how its colours were reduced`() throws {
    try withTool { (tool: Tool) throws in
      let picture = Bitmap(width: 60, height: 40) { x, y in
        RGBA(red: UInt8(x * 4), green: UInt8(y * 6), blue: 9)
      }
      try tool.write(PNGEncoder().encode(picture), to: "many.png")
      let plan = try tool.run("convert", "many.png", "-o", "a.gif", "--size", "50%", "--plan")
      #expect(plan.text.contains("scaled, colours reduced to 256\n"))
      let result = try tool.run("convert", "many.png", "-o", "a.gif", "--size", "50%")
      #expect(result.status == 0 && result.text.hasSuffix("scaled, colours reduced to 256\n"))
      #expect(try film(tool, "a.gif").size == PixelSize(width: 30, height: 20))
      let kept = try tool.run("convert", "cat.gif", "-o", "b.gif", "--size", "200%")
      #expect(kept.text.hasSuffix("scaled, colours kept\n"))
      let few = try tool.run(
        "convert", "many.png", "-o", "c.gif", "--colors", "8", "--dither", "none", "--json")
      let line = try #require(try JSONLine.all(few.output).first)
      #expect(line["exact"] == false)
      let colors = Set(
        try film(tool, "c.gif").pictures.flatMap { samples in
          stride(from: 0, to: samples.count, by: 4).map { Array(samples[$0..<$0 + 4]) }
        })
      #expect(colors.count <= 8)
    }
  }

  @Test func `the report of a cut says that the colours of one new frame are reduced`() throws {
    try withTool { (tool: Tool) throws in
      var gif = GIFBuilder()
      gif.signature()
      gif.screen(width: 20, height: 20)
      for (place, blue) in [UInt8(0), 90, 180, 0].enumerated() {
        gif.graphicControl(GIFGraphicControl(delay: 5, disposal: 1))
        let colors = (0..<200).map { RGBA(red: UInt8($0), green: UInt8(255 - $0), blue: blue) }
        gif.frame(
          GIFFrame(
            rect: PixelRect(x: 0, y: [0, 10, 3, 15][place], width: 20, height: place < 2 ? 10 : 2),
            indices: (0..<200).prefix(place < 2 ? 200 : 40).map { UInt8($0) },
            palette: GIFPalette(colors)))
      }
      gif.trailer()
      try tool.write(gif.bytes, to: "in.gif")
      let cut = ["convert", "in.gif", "-o", "a.gif", "--frames", "1-"]
      let words = "colours reduced in 1 new frame and where copied frames change nothing\n"
      let plan = try tool.run(cut + ["--plan"])
      #expect(plan.text.contains("3 frames: 2 copied, 1 encoded; \(words)"), "\(plan.text)")
      #expect(plan.text.contains("encoded in fewer colours, since the canvas before it differs\n"))
      let planned = try JSONLine.one(tool.run(cut + ["--plan", "--json"]).output)
      #expect(planned["reduced"] == 1 && planned["frames"][0]["reduced"] == true)
      #expect(planned["frames"][1]["reduced"] == .missing)
      let written = try JSONLine.one(tool.run(cut + ["--json"]).output)
      #expect(written["exact"] == false && written["departures"].elements == ["colors"])
      #expect(written["reduced"] == 1 && written["copied"] == 2 && written["encoded"] == 1)
      let result = try tool.run(cut + ["--force"])
      #expect(result.status == 0 && result.text.hasSuffix("; \(words)"), "\(result.text)")
      let refused = try tool.run(cut + ["--force", "--colors", "exact"])
      #expect(refused.status == 4 && refused.errors.contains("more than the 256 colours"))
    }
  }

  @Test func `partly transparent pixels are thresholded with a warning, or blended`() throws {
    try withTool { (tool: Tool) throws in
      let picture = Bitmap(width: 4, height: 1) { x, _ in
        RGBA(red: 9, green: 9, blue: 9, alpha: x == 0 ? 0 : x == 1 ? 99 : 255)
      }
      try tool.write(PNGEncoder().encode(picture), to: "soft.png")
      let result = try tool.run("convert", "soft.png", "-o", "a.gif")
      #expect(result.status == 0)
      #expect(result.errors.contains("soft.png: partly transparent pixels, 25 % of the picture"))
      let alphas = [3, 7, 11, 15]
      let cut = try film(tool, "a.gif").pictures[0]
      #expect(alphas.map { cut[$0] } == [0, 0, 0xffff, 0xffff])
      let matte = try tool.run("convert", "soft.png", "-o", "b.gif", "--matte", "white", "-q")
      #expect(matte.status == 0 && matte.errors.isEmpty)
      let loud = try tool.run("convert", "soft.png", "-o", "b.gif", "--matte", "white", "--force")
      #expect(loud.errors.isEmpty && loud.text.contains("blended with the matte"))
      let blended = try film(tool, "b.gif").pictures[0]
      #expect(alphas.map { blended[$0] } == [0, 0xffff, 0xffff, 0xffff])
      #expect(blended[4] > 0x8000)
    }
  }

  @Test(arguments: [
    "--colors 1", "--colors 257", "--colors many", "--dither blue", "--matte none",
    "--colors exact --dither none",
  ])
  func `wrong values of colour options are usage errors`(_ options: String) throws {
    try withTool { (tool: Tool) throws in
      let words = options.split(separator: " ").map(String.init)
      #expect(try tool.run(["convert", "cat.gif", "-o", "a.gif"] + words).status == 2)
    }
  }
}
