import Glibc
import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCLI

/// What `make` writes.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct MakeCommandTests {
  private static let library = FixtureLibrary()

  private static let paths: [String] = ["Demo", "GIF", "APNG"].flatMap { folder in
    ((try? FixtureFile.list("\(library.root)/\(folder)")) ?? []).sorted().map { "\(folder)/\($0)" }
  }

  @Test(arguments: paths)
  func `extract and make are each other's inverse`(_ path: String) throws {
    let bytes = try Self.library.file(path)
    let isDeep = try AnimatedImage(bytes: bytes).header.isDeep
    let tool = try Tool()
    defer { tool.cleanUp() }
    try tool.write(bytes, to: "in")
    let extracted = try tool.run(
      "extract", "in", "-o", "f/", "--static", "include", "--manifest", "m.json", "--depth",
      isDeep ? "16" : "8")
    try #require(extracted.status == 0)
    let made = try tool.run("make", "m.json", "-o", "out.png", "--hidden-colors")
    #expect(made.status == 0, "\(made.errors)")
    let (before, after) = (try WrittenFilm(bytes), try WrittenFilm(tool.read("out.png")))
    let difference = after.difference(from: before)
    #expect(difference == nil, "\(path): \(difference ?? "")")
    #expect(after.pictures == before.pictures, "\(path): hidden colours")
  }

  @Test func `pictures that were left out of an extraction come back`() throws {
    var gif = SampleGIF()
    gif.frames = [(0, 4), (1, 5), (1, 6), (0, 7), (2, 8)]
    for option in ["--unique", "--changed-only"] {
      try withTool(gif) { (tool: Tool) throws in
        #expect(
          try tool.run("extract", "cat.gif", "-o", "f/", option, "--manifest", "m.json").status == 0
        )
        #expect(try tool.list("f").count < 5)
        let result = try tool.run("make", "m.json", "-o", "again.gif")
        #expect(result.status == 0)
        #expect(result.text.hasPrefix("again.gif, GIF, 6x4, "))
        #expect(result.text.hasSuffix(" 5 frames: 5 encoded; exact\n"))
        let before = try WrittenFilm(tool.read("cat.gif"))
        #expect(try WrittenFilm(tool.read("again.gif")).difference(from: before) == nil)
      }
    }
  }

  @Test func `an animation that is too short for a GIF is longer, and the report says so`() throws {
    try withPictures([1, 2, 3]) { (tool: Tool) throws in
      let result = try tool.run(
        "make", "f1.png", "f2.png", "f3.png", "-o", "a.gif", "--duration", "3ms")
      #expect(result.status == 0, "\(result.errors)")
      #expect(
        result.text.hasSuffix(
          "2 frames dropped as too short to be shown, total duration longer\n"))
    }
  }

  @Test func `frames share a duration`() throws {
    try withPictures([1, 2, 3]) { (tool: Tool) throws in
      for (name, format) in [
        ("a.png", "exact"), ("a.gif", "delays rounded, total duration kept to within 5 ms"),
      ] {
        let result = try tool.run(
          "make", "f1.png", "f2.png", "f3.png", "-o", name, "--duration", "1s")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text.contains(format))
        let durations = try tool.run("info", name, "--format", "{duration_ms}").text
        #expect(durations == "1000\n")
      }
      for option in ["--fps=3", "--delay=1/3"] {
        let result = try tool.run("make", "f1.png", "-o", "b.png", "--duration", "1s", option)
        #expect(result.status == 2)
        #expect(result.errors.contains("cannot be combined"))
      }
      #expect(try tool.run("make", "f1.png", "-o", "b.png", "--duration", "0s").status == 2)
    }
  }

  /// Pictures of one pixel each: `f1.png` is red 1, and so on.
  private func withPictures(_ numbers: [Int], _ body: (Tool) throws -> Void) throws {
    try withTool { (tool: Tool) throws in
      for number in numbers {
        let picture = Bitmap(width: 1, height: 1) { _, _ in
          RGBA(red: UInt8(number), green: 0, blue: 0)
        }
        try tool.write(PNGEncoder().encode(picture), to: "f\(number).png")
      }
      try body(tool)
    }
  }

  private func reds(_ tool: Tool, _ name: String) throws -> [UInt16] {
    try WrittenFilm(tool.read(name)).pictures.map { $0[0] / 257 }
  }

  @Test func `pictures come in natural order, or in that of the arguments`() throws {
    try withPictures([1, 2, 10]) { (tool: Tool) throws in
      let files = ["f1.png", "f10.png", "f2.png"]
      #expect(try tool.run(["make"] + files + ["-o", "a.png", "--fps", "10"]).status == 0)
      #expect(try reds(tool, "a.png") == [1, 2, 10])
      #expect(
        try tool.run(["make"] + files + ["-o", "b.png", "--fps", "10", "--order", "given"]).status
          == 0)
      #expect(try reds(tool, "b.png") == [1, 10, 2])
      try tool.write(Array("f10.png\nf1.png\n".utf8), to: "list")
      let listed = ["make", "--files-from", "list", "--fps", "10"]
      #expect(try tool.run(listed + ["-o", "l.png"]).status == 0)
      #expect(try reds(tool, "l.png") == [10, 1])
      #expect(try tool.run(listed + ["f2.png", "-o", "n.png", "--order", "natural"]).status == 0)
      #expect(try reds(tool, "n.png") == [1, 2, 10])
      #expect(try tool.shell("mkdir d && mv f*.png d && echo x >d/x.txt") == 0)
      #expect(try tool.run("make", "d", "-o", "c.png", "--fps", "10").status == 0)
      #expect(try tool.read("c.png") == tool.read("a.png"))
      // Names need not be UTF-8.
      #expect(try tool.shell("mv d/f1.png \"$(printf 'd/f1\\377.PNG')\"") == 0)
      #expect(try tool.run("make", "d", "-o", "e.png", "--fps", "10").status == 0)
      #expect(try tool.read("e.png") == tool.read("a.png"))
    }
  }

  @Test func `delays are exact, one for all or one for each`() throws {
    try withPictures([1, 2, 3]) { (tool: Tool) throws in
      func delays(_ options: String...) throws -> [FrameDelay] {
        let files = ["f1.png", "f2.png", "f3.png"]
        let result = try tool.run(["make"] + files + ["-o", "a.png", "--force"] + options)
        #expect(result.status == 0, "\(options)")
        return try WrittenFilm(tool.read("a.png")).delays
      }
      #expect(
        try delays("--fps", "30000/1001").allSatisfy {
          $0.numerator == 1001 && $0.denominator == 30000
        })
      #expect(try delays("--delay", "1/3").allSatisfy { $0.numerator == 1 && $0.denominator == 3 })
      try tool.write(Array("40ms\n1/7\n2s\n".utf8), to: "d.txt")
      #expect(try delays("--delays", "d.txt").map(\.milliseconds) == [40, 142, 2000])
      try tool.write(Array("40ms\n".utf8), to: "d.txt")
      let result = try tool.run(
        "make", "f1.png", "f2.png", "-o", "b.png", "--delays", "d.txt")
      #expect(result.status == 2)
      #expect(result.errors == "zoetrope: error: d.txt lists 1 delay for 2 frames\n")
    }
  }

  @Test func `a GIF has hundredths of a second without drift`() throws {
    try withPictures(Array(1...100)) { (tool: Tool) throws in
      try tool.write(Array("f10.png\nf1.png\n".utf8), to: "list")
      let listed = ["make", "--files-from", "list", "--fps", "10"]
      #expect(try tool.run(listed + ["-o", "l.png"]).status == 0)
      #expect(try reds(tool, "l.png") == [10, 1])
      #expect(try tool.run(listed + ["f2.png", "-o", "n.png", "--order", "natural"]).status == 0)
      #expect(try reds(tool, "n.png") == [1, 2, 10])
      #expect(try tool.shell("mkdir d && mv f*.png d") == 0)
      let result = try tool.run("make", "d/", "-o", "a.gif", "--fps", "30", "--plays", "2")
      #expect(result.status == 0)
      #expect(
        result.text.hasSuffix(
          "100 frames: 100 encoded; delays rounded, total duration kept to within 5 ms\n"))
      let film = try WrittenFilm(tool.read("a.gif"))
      #expect(film.playCount == .finite(2))
      #expect(film.delays.reduce(0) { $0 + $1.milliseconds } == 3330)
      #expect(film.delays.allSatisfy { (30...40).contains($0.milliseconds) })
      #expect(film.pictures.map { $0[0] / 257 } == Array(1...100))
    }
  }

  @Test func `a poster is not a frame`() throws {
    try withPictures([1, 2, 9]) { (tool: Tool) throws in
      let result = try tool.run(
        "make", "f1.png", "f2.png", "-o", "a.png", "--fps", "5", "--poster", "f9.png")
      #expect(result.status == 0)
      let film = try WrittenFilm(tool.read("a.png"))
      #expect(film.pictures.count == 2)
      #expect(film.poster == [9 * 257, 0, 0, 0xffff])
      #expect(
        try tool.run("make", "f1.png", "-o", "a.gif", "--fps", "5", "--poster", "f9.png").status
          == 2)
    }
  }

  @Test func `a picture with one frame and a static image is refused for the static image`() throws
  {
    try withPictures([1, 9]) { (tool: Tool) throws in
      let made = try tool.run(
        "make", "f1.png", "-o", "a.png", "--fps", "5", "--poster", "f9.png")
      try #require(made.status == 0, "\(made.errors)")
      let refused = try tool.run("make", "a.png", "-o", "b.png", "--fps", "5")
      #expect(refused.status == 2)
      #expect(
        refused.errors.contains("a.png: the file has a static image besides its frame; "),
        "\(refused.errors)")
      // The advice leads to two pictures.
      #expect(
        try tool.run("extract", "a.png", "-o", "d/", "--static", "include").status == 0)
      #expect(try tool.list("d").count == 2)
    }
  }

  @Test func `the poster of a manifest is not overwritten`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write(Self.library.file("APNG/static-hidden.png"), to: "in.png")
      let extracted = try tool.run(
        "extract", "in.png", "-o", "f/", "--static", "include", "--manifest", "m.json")
      try #require(extracted.status == 0)
      let poster = try tool.read("f/in-static.png")
      let result = try tool.run("make", "m.json", "-o", "f/in-static.png", "--force")
      #expect(result.status == 2)
      #expect(result.errors.contains("f/in-static.png is an input and would be overwritten"))
      #expect(try tool.read("f/in-static.png") == poster)
    }
  }

  @Test func `concatenated pictures are read from a pipe`() throws {
    try withTool { (tool: Tool) throws in
      let script = """
        "$ZOETROPE" extract cat.gif -o - | "$ZOETROPE" make - -o - --delay 1/8 -q >a.png
        """
      #expect(try tool.shell(script) == 0)
      let film = try WrittenFilm(tool.read("a.png"))
      #expect(film.pictures == (try WrittenFilm(tool.read("cat.gif")).pictures))
      #expect(film.delays.allSatisfy { $0.milliseconds == 125 })
    }
  }

  @Test(arguments: [
    ("f1.png f2.png -o a.png", "the frames need delays"),
    (
      "f1.png big.png -o a.png --fps 5",
      "big.png is 2x1 and f1.png is 1x1; all frames must have the same size"
    ),
    ("f1.png no.png -o a.png --fps 5", "no.png: "),
    ("f1.png cat.gif -o a.png --fps 5", "cat.gif: the file has 3 frames"),
    ("f1.png bad.png -o a.png --fps 5", "bad.png: "),
    ("f1.png f2.png -o f1.png --fps 5 --force", "f1.png is an input and would be overwritten"),
    ("d -o a.png --fps 5", "d has no .png files"),
    ("f1.png - -o a.png --fps 5", "standard input cannot be combined with other files"),
    ("m.json f1.png -o a.png", "m.json is a manifest"),
    ("gone.json -o a.png", "gone-0.png: "),
    ("f1.png f2.png -o old.png --fps 5", "old.png exists; --force replaces it"),
    ("f1.png f2.png -o a --fps 5", "the name of the output has no extension; choose --format gif"),
    ("f1.png f2.png -o a.png --delays none.txt", "none.txt: "),
    (
      "clear.png f1.png -o a.gif --fps 5 --colors exact",
      "a GIF cannot store partly transparent pixels"
    ),
  ])
  func `animations that cannot be made are rejected and leave nothing behind`(
    _ line: String, _ message: String
  ) throws {
    try withPictures([1, 2]) { (tool: Tool) throws in
      try tool.write(PNGEncoder().encode(Bitmap(width: 2, height: 1)), to: "big.png")
      let clear = Bitmap(width: 1, height: 1) { _, _ in RGBA(red: 9, green: 9, blue: 9, alpha: 99) }
      try tool.write(PNGEncoder().encode(clear), to: "clear.png")
      try tool.write(Array(try tool.read("f1.png").dropLast(30)), to: "bad.png")
      try tool.write([1], to: "old.png")
      #expect(
        try tool.shell("mkdir d; \"$ZOETROPE\" extract cat.gif -o d2/ --manifest m.json") == 0)
      #expect(try tool.shell("sed s,d2/cat-000,gone-, m.json >gone.json") == 0)
      let before = try tool.list()
      let result = try tool.run(["make"] + line.split(separator: " ").map(String.init))
      #expect([2, 3, 4].contains(result.status))
      #expect(result.errors.contains(message), "\(result.errors)")
      #expect(try tool.list() == before)
    }
  }

  @Test func `on request, the decoded rows of a damaged picture are kept`() throws {
    try withTool { (tool: Tool) throws in
      let whole = Bitmap(width: 64, height: 64) { x, y in
        RGBA(red: UInt8(x * 4), green: UInt8(y * 4), blue: UInt8(x * y % 251), alpha: 255)
      }
      let bytes = try PNGEncoder().encode(whole)
      try tool.write(bytes, to: "1.png")
      try tool.write(Array(bytes.prefix(bytes.count / 2)), to: "2.png")
      let refused = try tool.run("make", "1.png", "2.png", "-o", "a.png", "--fps", "5")
      #expect(refused.status == 3 && refused.errors.contains("2.png: "))
      let kept = try tool.run(
        "make", "1.png", "2.png", "-o", "a.png", "--fps", "5", "--damage", "partial")
      #expect(kept.status == 1 && kept.errors.contains("warning: 2.png: "), "\(kept.errors)")
      #expect(kept.text.hasSuffix("; damaged, otherwise exact\n"), "\(kept.text)")
      let pictures = try WrittenFilm(tool.read("a.png")).pictures
      let line = try tool.run(
        "make", "1.png", "2.png", "-o", "b.png", "--fps", "5", "--damage", "partial", "--json")
      let damage = try JSONLine.one(line.output)["damage"].elements
      #expect(line.status == 1 && damage.count == 1 && damage.first?["frame"] == 1)
      #expect(!kept.errors.contains(", frame"), "\(kept.errors)")
      // A delay that takes two frames of a GIF does not double the damage.
      let long = try tool.run(
        "make", "2.png", "-o", "a.gif", "--delay", "700s", "--damage", "partial")
      #expect(long.status == 1 && long.errors.split(separator: "2.png: ").count == 2)
      for (name, file, count) in [
        ("crc", "crc-plte.png", Int.max), ("gap", "apng-sequence-gap-frame-1.png", .max),
        ("cut", "apng-cut-in-first-fdat.png", .max), ("one", "gif-cut-in-frame-1.gif", 63),
      ] {
        try tool.write(Array(FixtureLibrary().file("Bad/\(file)").prefix(count)), to: name)
      }
      for pictures in ["1.png --poster 2.png", "crc", "gap", "cut", "one"] {
        let refused = try tool.run(
          ["make"] + pictures.split(separator: " ").map(String.init)
            + ["-o", "no.png", "--fps", "5", "--damage", "partial"])
        #expect(refused.status == 3, "\(pictures): \(refused.errors)")
      }
      try #require(pictures.count == 2)
      let rowCount = 4 * whole.width
      #expect(pictures[0].prefix(rowCount) == pictures[1].prefix(rowCount))
      #expect(pictures[0].suffix(rowCount) != pictures[1].suffix(rowCount))
    }
  }

  @Test func `a refusal of a damaged picture says where the damage is`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write(Self.library.file("Bad/gif-cut-in-frame-0.gif"), to: "cut.gif")
      let result = try tool.run("make", "cut.gif", "-o", "a.gif", "--fps", "5")
      #expect(result.status == 3)
      #expect(
        result.errors
          == "zoetrope: error: cut.gif: the data ends after 11 of 16 pixels, byte 47\n")
      let line = try tool.run("make", "cut.gif", "-o", "a.gif", "--fps", "5", "--json")
      #expect(line.errors.contains("\"byte_offset\":47,"), "\(line.errors)")
    }
  }

  @Test func `a picture that vanishes before it is read again is named`() throws {
    try withTool { (tool: Tool) throws in
      let still = try tool.run("still", "cat.gif", "-o", "0.png", "--size", "3000x2000")
      try #require(still.status == 0, "\(still.errors)")
      // Between the two passes over the pictures, leftovers of dead runs are removed from the directory of the output,
      // and so is a picture with such a name. It is read again, because only the first picture is kept, and the last.
      let leftover = "o/.zoetrope-1.tmp"
      #expect(try tool.shell("cp 0.png 2.png && mkdir o && cp 0.png \(leftover)") == 0)
      let result = try tool.run(
        "make", "0.png", leftover, "2.png", "-o", "o/a.png", "--order", "given", "--fps", "5",
        "--effort", "fast")
      #expect(result.status == 3)
      #expect(
        result.errors == "zoetrope: error: \(leftover): No such file or directory\n")
      #expect(try tool.list("o").isEmpty)
    }
  }

  @Test func `names with odd characters survive the manifest`() throws {
    try withTool { (tool: Tool) throws in
      let script = #"""
        n=$(printf 'a \377b"{'); cp cat.gif "$n.gif"; "$ZOETROPE" extract "$n.gif" -o 'o/{stem}-{index}.png' \
        --manifest m.json && "$ZOETROPE" make m.json -o again.gif --json >line
        """#
      #expect(try tool.shell(script) == 0)
      let film = try WrittenFilm(tool.read("again.gif"))
      #expect(film.difference(from: try WrittenFilm(tool.read("cat.gif"))) == nil)
      let line = try JSONLine.one(tool.read("line"))
      #expect(line["file"] == .missing && line["frame_count"] == 3)
    }
  }

  @Test func `damaged pixels are reported for the file that has them`() throws {
    try withTool { (tool: Tool) throws in
      _ = try tool.shell("\"$ZOETROPE\" extract cat.gif -o ./ --format png")
      var bytes = try tool.read("cat-0002.png")
      let place = try #require(bytes.firstRange(of: Array("IDAT".utf8))).upperBound
      bytes[place + 4] ^= 0xff
      try tool.write(bytes, to: "bad.png")
      let result = try tool.run(
        "make", "cat-0000.png", "cat-0001.png", "bad.png", "--order", "given", "-o", "m.png",
        "--fps", "10")
      #expect(result.status != 0)
      #expect(result.errors.contains("bad.png: "), "\(result.errors)")
      #expect(!result.errors.contains("cat-0000.png"), "\(result.errors)")
    }
  }
}
