import Glibc
import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCLI

/// What `convert` writes, refuses and reports.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct ConvertCommandTests {
  private static let root = FixtureLibrary().root

  private func film(_ tool: Tool, _ name: String) throws -> WrittenFilm {
    try WrittenFilm(tool.read(name))
  }

  @Test func `every GIF becomes an APNG with its pixels, delays and plays`() throws {
    try withTool { (tool: Tool) throws in
      let script = """
        "$ZOETROPE" convert '\(Self.root)'/GIF/*.gif '\(Self.root)'/Demo/*.gif \
        -o 'o/{name}.png' --json >list
        """
      #expect(try tool.shell(script) == 0)
      let lines = try JSONLine.all(tool.read("list"))
      #expect(lines.count > 50)
      for line in lines {
        let source = try #require(line["file"].text)
        let output = try #require(line["output"].text)
        let before = try WrittenFilm(FixtureFile.read(source))
        let difference = try film(tool, output).difference(from: before)
        #expect(difference == nil, "\(source): \(difference ?? "")")
        #expect(line["exact"] == true, "\(source)")
        #expect(line["byte_count"].integer == (try tool.read(output).count))
        #expect(line["encoded"].integer == before.pictures.count)
      }
    }
  }

  @Test func `edits combine, and what is kept is exact`() throws {
    var gif = SampleGIF()
    gif.frames = (0..<12).map { (UInt8($0 % 3), 10) }
    gif.isMixed = true
    try withTool(gif) { (tool: Tool) throws in
      let before = try film(tool, "cat.gif")
      for output in ["a.gif", "a.png"] {
        let result = try tool.run(
          "convert", "cat.gif", "-o", output, "--frames", "2-5", "--back-and-forth", "--speed", "2",
          "--plays", "3", "--crop", "4x3+1+1")
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
        #expect(result.text.hasPrefix("cat.gif: \(output), "))
        #expect(result.text.hasSuffix(" 6 frames: 0 copied, 6 encoded; exact\n"))
        let after = try film(tool, output)
        #expect(after.size == PixelSize(width: 4, height: 3))
        #expect(after.playCount == .finite(3))
        #expect(after.delays.allSatisfy { $0.milliseconds == 50 })
        for (place, index) in [2, 3, 4, 5, 4, 3].enumerated() {
          var rows: [UInt16] = []
          for y in 1..<4 { rows += before.pictures[index][(y * 6 + 1) * 4..<(y * 6 + 5) * 4] }
          #expect(after.pictures[place] == rows, "\(output), frame \(place)")
        }
      }
      let time = try tool.run(
        "convert", "cat.gif", "-o", "t.gif", "--time", "150ms-", "--duration", "2s")
      #expect(time.status == 0)
      let cut = try film(tool, "t.gif")
      #expect(cut.pictures == Array(before.pictures[1...]))
      #expect(cut.delays.reduce(0) { $0 + $1.milliseconds } == 2000)
      let rate = try tool.run("convert", "cat.gif", "-o", "r.gif", "--fps", "5")
      #expect(rate.status == 0)
      #expect(try film(tool, "r.gif").pictures == [0, 2, 4, 6, 8, 10].map { before.pictures[$0] })
    }
  }

  @Test func `edits that only change times copy frames byte for byte`() throws {
    try withTool { (tool: Tool) throws in
      let plain = try tool.run("convert", "cat.gif", "-o", "a.gif")
      let count = try tool.read("cat.gif").count
      #expect(
        plain.text
          == "cat.gif: a.gif, GIF, 6x4, \(count) -> \(count) bytes (0 %), 3 frames: 3 copied, 0 encoded; exact\n"
      )
      #expect(try tool.read("a.gif") == tool.read("cat.gif"))
      let slow = try tool.run(
        "convert", "cat.gif", "-o", "b.gif", "--delay", "1/4", "--plays", "forever")
      #expect(slow.text.hasSuffix("3 frames: 3 copied, 0 encoded; exact\n"))
      #expect(try film(tool, "b.gif").delays.allSatisfy { $0.milliseconds == 250 })
    }
  }

  @Test func `a size is that of the pictures, and the line says so`() throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run("convert", "cat.gif", "-o", "a.png", "--size", "3x")
      #expect(result.status == 0)
      #expect(result.text.hasSuffix("; scaled\n"))
      let film = try film(tool, "a.png")
      #expect(film.size == PixelSize(width: 3, height: 2))
      let reds = [[UInt16]](repeating: [0xffff, 0, 0, 0xffff], count: 6)
      #expect(film.pictures[0] == Array(reds.joined()))
      // One colour for each frame fits.
      #expect(try tool.run("convert", "cat.gif", "-o", "b.gif", "--size", "12x").status == 0)
      let huge = try tool.run("convert", "cat.gif", "-o", "c.png", "--size", "65535x65535")
      #expect(huge.status == 5)
      #expect(try tool.list() == ["a.png", "b.gif", "cat.gif"])
    }
  }

  @Test func `a plan writes nothing and gives a reason for every frame`() throws {
    var gif = SampleGIF()
    gif.frames = (0..<5).map { (UInt8($0 % 3), 10) }
    try withTool(gif) { (tool: Tool) throws in
      let arguments = ["convert", "cat.gif", "-o", "a.gif", "--reverse", "--plan"]
      let text = try tool.run(arguments)
      #expect(text.status == 0)
      #expect(text.text.split(separator: "\n").count >= 2)
      let line = try JSONLine.one(tool.run(arguments + ["--json"]).output)
      #expect(line["schema"] == "zoetrope.conversion/1")
      #expect(line["written"] == false)
      #expect(line["byte_count"] == .null)
      #expect(line["frames"].elements.map { $0["source"].integer } == [4, 3, 2, 1, 0])
      for frame in line["frames"].elements {
        let isEncoded = frame["action"] == "encoded"
        #expect(isEncoded == (frame["reason"] != .missing))
      }
      #expect(try tool.list() == ["cat.gif"])
    }
  }

  @Test func `a plan is refused where the run would be`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.shell("cp cat.gif dog.gif && mkdir o && cp cat.gif o/cat.gif") == 0)
      for (arguments, status) in [
        ("cat.gif -o dog.gif", 4), ("cat.gif dog.gif -o o/", 4), ("cat.gif -o cat.gif", 4),
        ("cat.gif dog.gif -o . --force --speed 2", 0), ("cat.gif -o dog.gif --force", 0),
        ("cat.gif dog.gif -o {parent}.gif --force", 2), ("cat.gif -o -", 0),
      ] as [(String, Int32)] {
        let words = ["convert"] + arguments.split(separator: " ").map(String.init)
        let plan = try tool.run(words + ["--plan"])
        #expect(plan.status == status, "\(arguments): \(plan.errors)")
        #expect(plan.output.isEmpty == (status != 0))
        if status != 0 { #expect(try tool.run(words).errors == plan.errors) }
      }
      #expect(try tool.list() == ["cat.gif", "dog.gif", "o"])
      #expect(try tool.read("dog.gif") == tool.read("cat.gif"))
    }
  }

  @Test func `nothing is overwritten without force, and a file may replace its own input`() throws {
    try withTool { (tool: Tool) throws in
      let before = try tool.read("cat.gif")
      let refused = try tool.run("convert", "cat.gif", "-o", "cat.gif", "--plays", "2")
      #expect(refused.status == 4)
      #expect(refused.errors == "zoetrope: error: cat.gif exists; --force replaces it\n")
      #expect(try tool.read("cat.gif") == before)
      #expect(
        try tool.run("convert", "cat.gif", "-o", "./cat.gif", "--plays", "2", "--force").status == 0
      )
      #expect(try film(tool, "cat.gif").playCount == .finite(2))
      // Another input is read, and stays as it is.
      #expect(try tool.shell("cp cat.gif dog.gif && mkdir d && cp cat.gif d/dog.gif") == 0)
      let other = try tool.run(
        "convert", "d/dog.gif", "dog.gif", "-o", "{stem}.gif", "--force")
      #expect(other.status == 2)
      let cross = try tool.run(
        "convert", "cat.gif", "dog.gif", "-o", "d/../{stem}.gif", "--force", "-q")
      #expect(cross.status == 0)
      #expect(cross.output.isEmpty)
      #expect(try tool.shell("ln dog.gif x.gif && mkdir e && ln -s ../x.gif e/cat.gif") == 0)
      let linked = try tool.run("convert", "cat.gif", "x.gif", "-o", "e/{stem}.gif", "--force")
      #expect(linked.status == 2)
      #expect(linked.errors.contains("e/cat.gif is the same file as the input x.gif"))
    }
  }

  @Test(arguments: [
    "no.gif -o a.gif", "cat.gif no.gif -o o/ --format apng", "cat.gif -o a.gif --frames 9",
    "cat.gif -o a.gif --time 50s-", "cat.gif -o a.gif --crop 2x2+90+0", "cat.gif -o a.webp",
    "cat.gif cat.gif -o o.gif", "cat.gif -o - --json", "cat.gif -o a.gif --plays 70000",
  ])
  func `impossible requests are rejected and leave nothing behind`(_ line: String) throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run(["convert"] + line.split(separator: " ").map(String.init))
      #expect([1, 2, 3, 4].contains(result.status))
      let start = line.hasSuffix("--json") ? #"{"error":{"code":"usage""# : "zoetrope: error: "
      #expect(result.errors.hasPrefix(start))
      #expect(try tool.list().allSatisfy { $0 == "cat.gif" || $0 == "o" })
    }
  }

  @Test func `pipes in and out, and devices`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.shell(#""$ZOETROPE" convert - -o - --speed 2 <cat.gif >a.gif 2>err"#) == 0)
      #expect(
        String(decoding: try tool.read("err"), as: UTF8.self).hasPrefix(
          "standard input: standard output, GIF, "))
      #expect(try film(tool, "a.gif").delays.map(\.milliseconds) == [20, 50, 50])
      #expect(
        try tool.shell(#""$ZOETROPE" convert - -o - --format apng -q <cat.gif | cat >a.png"#) == 0)
      #expect(try film(tool, "a.png").difference(from: film(tool, "cat.gif")) == nil)
      #expect(
        try tool.shell(#""$ZOETROPE" convert cat.gif -o /dev/fd/3 --format apng -q 3>b.png"#) == 0)
      #expect(try tool.read("b.png") == tool.read("a.png"))
    }
  }

  @Test func `names with odd characters`() throws {
    try withTool { (tool: Tool) throws in
      let script = #"""
        n=$(printf 'a \377b\033\n{c}%%d'); cp cat.gif "$n.gif"; "$ZOETROPE" convert "$n.gif" -o 'o/{stem}.png' \
        >line && "$ZOETROPE" convert "$n.gif" -o 'p/{name}.{ext}' --format apng --json >json; ls o p >all
        """#
      #expect(try tool.shell(script) == 0)
      let line = try tool.read("line")
      #expect(!line.dropLast().contains { $0 < 0x20 })
      let json = try JSONLine.one(tool.read("json"))
      #expect(json["file_base64"].text != nil && json["output_base64"].text != nil)
      #expect(try tool.list("o").count == 1)
      #expect(try tool.list("p").count == 1)
    }
  }

  @Test func `a failed input does not stop the others`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write([1, 2, 3], to: "no.gif")
      let result = try tool.run(
        "convert", "no.gif", "cat.gif", "-o", "o/", "--format", "apng", "--json")
      #expect(result.status == 1)
      let lines = try JSONLine.all(result.output)
      #expect(lines.count == 2)
      #expect(lines[0]["error"]["code"] == "notAnImage")
      #expect(lines[1]["written"] == true)
      #expect(try tool.list("o") == ["cat.png"])
    }
  }

  @Test func `damage is reported, and the status reflects it`() throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run(
        "convert", "\(Self.root)/Bad/gif-cut-in-frame-1.gif", "-o", "a.png")
      #expect(result.status == 1)
      #expect(result.errors.contains("frame"))
      let film = try film(tool, "a.png")
      #expect(!film.pictures.isEmpty)
      let strict = try tool.run(
        "convert", "\(Self.root)/Bad/gif-cut-in-frame-1.gif", "-o", "b.png", "--damage", "strict")
      #expect(strict.status == 6)
      #expect(try tool.list() == ["a.png", "cat.gif"])
    }
  }

  @Test(arguments: [("lzw-bad-code", "gif"), ("crc-fdat", "png"), ("zlib-short", "png")])
  func `strict rejects damage in frames that are copied`(_ name: String, _ format: String) throws {
    try withTool { (tool: Tool) throws in
      let file = "\(Self.root)/Bad/\(name).\(format)"
      let convert = ["convert", file, "-o", "a.\(format)", "--speed", "0.5"]
      for more in [[], ["--plan"], ["--max-bytes", "9M"]] {
        let strict = try tool.run(convert + ["--damage", "strict"] + more)
        #expect(strict.status == 6 && strict.errors.contains("frame "), "\(strict.errors)")
        #expect(try tool.list() == ["cat.gif"])
      }
      // Frames that the output does not have do not count.
      let cut = try tool.run(convert + ["--damage", "strict", "--frames", "0"])
      #expect(cut.status == 0, "\(cut.errors)")
    }
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `a signal during writing leaves nothing`(_ number: Int32) throws {
    var gif = SampleGIF(width: 250, height: 250)
    gif.frames = (0..<80).map { (UInt8($0 % 3), 4) }
    gif.isMixed = true
    try withTool(gif) { (tool: Tool) throws in
      let script =
        "mkdir o; exec \(try tool.signalled(number)) convert cat.gif -o o/a.png -j 1 2>err"
      #expect(try tool.endingSignal(of: script) == number)
      #expect(
        String(decoding: try tool.read("err"), as: UTF8.self)
          == "zoetrope: cat.gif: interrupted, nothing was written\n")
      #expect(try tool.list("o").isEmpty)
    }
  }

  @Test(arguments: ["-o p", "-o - >p"])
  func `a signal while a pipe is full says that the output is incomplete`(_ output: String) throws {
    var gif = SampleGIF(width: 250, height: 250)
    gif.frames = (0..<80).map { (UInt8($0 % 3), 4) }
    gif.isMixed = true
    try withTool(gif) { (tool: Tool) throws in
      // The pipe has no room for the output, and nobody reads more than its first byte. The open descriptor 3 keeps the
      // pipe from having no reader.
      let script = """
        mkfifo p; exec 3<>p; (head -c 1 <&3 >first; kill -INT $$) & \
        exec "$ZOETROPE" convert cat.gif --plays 2 \(output) 2>err
        """
      #expect(try tool.endingSignal(of: script) == SIGINT)
      #expect(try tool.read("first") == Array("G".utf8))
      #expect(
        String(decoding: try tool.read("err"), as: UTF8.self)
          == "zoetrope: cat.gif: interrupted, the output is incomplete\n")
    }
  }

  @Test(
    arguments: [
      ("convert cat.gif --plays 2 -o -", 4), ("convert cat.gif --size 50% -o -", 4),
      ("optimize cat.gif -o -", 4), ("make f.png --delay 1s -o -", 4),
      ("extract cat.gif --format y4m -o -", 0), ("extract cat.gif -o -", 0),
      ("still cat.gif -o -", 0), ("convert cat.gif --plays 2 -o x.gif --plan", 0),
    ] as [(String, Int32)])
  func `part of an animation is not a success, but a reader may want only some frames`(
    _ command: String, _ status: Int32
  ) throws {
    try withTool { (tool: Tool) throws in
      try tool.write(PNGEncoder().encode(Bitmap(width: 3, height: 2)), to: "f.png")
      // The reader ends before anything is written: both wait for it.
      let script =
        "mkfifo gone && { : <gone & } && exec 3>gone && wait && "
        + "{ \"$ZOETROPE\" \(command) >&3 2>errors; }"
      #expect(try tool.shell(script) == status)
      let errors = String(decoding: try tool.read("errors"), as: UTF8.self)
      #expect(
        errors
          == (status == 0
            ? "" : "zoetrope: error: the program that reads the output has closed it\n"))
    }
  }

  @Test(arguments: ["convert", "optimize"])
  func `an interrupted list of files reports how many were not written`(_ command: String) throws {
    var gif = SampleGIF(width: 250, height: 250)
    gif.frames = (0..<200).map { (UInt8($0 % 3), 4) }
    gif.isMixed = true
    try withTool(gif) { (tool: Tool) throws in
      let script = """
        cp cat.gif b.gif; cp cat.gif c.gif; mkdir o
        exec \(try tool.signalled(SIGINT)) \(command) cat.gif b.gif c.gif -o o/ -j 1 2>err
        """
      #expect(try tool.endingSignal(of: script) == SIGINT)
      #expect(
        String(decoding: try tool.read("err"), as: UTF8.self)
          == "zoetrope: cat.gif: interrupted, this file and 2 more were not written\n")
      #expect(try tool.list("o").isEmpty)
    }
  }

  @Test func `a killed conversion leaves no file under a final name`() throws {
    var gif = SampleGIF(width: 250, height: 250)
    gif.frames = (0..<80).map { (UInt8($0 % 3), 4) }
    gif.isMixed = true
    try withTool(gif) { (tool: Tool) throws in
      let script =
        "mkdir o; exec \(try tool.signalled(SIGKILL)) convert cat.gif -o o/a.png -j 1 2>err"
      #expect(try tool.endingSignal(of: script) == SIGKILL)
      #expect(try tool.list("o").allSatisfy { $0.hasPrefix(".zoetrope-") })
      // The next conversion removes what this one left.
      #expect(try tool.run("convert", "cat.gif", "-o", "o/b.gif").status == 0)
      #expect(try tool.list("o") == ["b.gif"])
    }
  }

  @Test func `files in a directory keep their names and formats`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.run("convert", "cat.gif", "-o", "dog.png").status == 0)
      #expect(try tool.run("convert", "cat.gif", "dog.png", "-o", "o/", "--speed", "2").status == 0)
      #expect(try tool.list("o") == ["cat.gif", "dog.png"])
      #expect(try film(tool, "o/dog.png").delays.map(\.milliseconds) == [20, 50, 50])
      #expect(try AnimatedImage(bytes: tool.read("o/cat.gif")).format == .gif)
    }
  }

  @Test func `a PNG that is not animated stays a still picture`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write(PNGEncoder().encode(Bitmap(width: 3, height: 2)), to: "still.png")
      #expect(try tool.run("convert", "still.png", "-o", "same.png").status == 0)
      #expect(try tool.read("same.png") == tool.read("still.png"))
      #expect(try tool.run("convert", "still.png", "-o", "part.png", "--crop", "1x1").status == 0)
      #expect(try AnimatedImage(bytes: tool.read("part.png")).format == .png)
      let plan = try tool.run("convert", "still.png", "-o", "plan.png", "--plan", "--json")
      let line = try JSONLine.all(plan.output)[0]
      #expect(line["format"].text == "png" && line["loop"]["plays"].integer == 1)
    }
  }

  @Test func `a PNG that is not animated gets the plays and the delay that are asked for`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write(PNGEncoder().encode(Bitmap(width: 3, height: 2)), to: "still.png")
      let result = try tool.run(
        "convert", "still.png", "-o", "o.png", "--plays", "5", "--delay", "1s", "--json")
      let line = try JSONLine.all(result.output)[0]
      #expect(line["format"].text == "apng" && line["loop"]["plays"].integer == 5)
      let film = try film(tool, "o.png")
      #expect(film.playCount == .finite(5) && film.delays.map(\.milliseconds) == [1000])
      #expect(try AnimatedImage(bytes: tool.read("o.png")).format == .apng)
    }
  }

  @Test func `files from subdirectories keep their places`() throws {
    try withTool { (tool: Tool) throws in
      #expect(
        try tool.shell("mkdir -p in/deep && cp cat.gif in/a.gif && cp cat.gif in/deep/a.gif") == 0)
      let result = try tool.run("convert", "-r", "in", "-o", "out/", "--speed", "2")
      #expect(result.status == 0)
      #expect(try tool.read("out/a.gif") == tool.read("out/deep/a.gif"))
      #expect(result.errors.hasPrefix("2 files written; "))
      let named = try tool.run("optimize", "in/a.gif", "-o", "named/{name}")
      #expect(named.status == 0 && named.errors.isEmpty)
    }
  }

  @Test func `a damaged file is not optimised, but copied`() throws {
    try withTool { (tool: Tool) throws in
      let whole = try tool.read("cat.gif")
      try tool.write(Array(whole.dropLast(8)), to: "cut.gif")
      let result = try tool.run("optimize", "cut.gif", "-o", "cut.gif", "--force")
      #expect(result.text.hasSuffix("; damaged, left as it is\n"))
      #expect(try tool.read("cut.gif") == Array(whole.dropLast(8)))
    }
  }

  @Test(arguments: [("gif-cut-in-frame-1.gif", 80), ("apng-cut-in-frame-2.png", 240)])
  func `a damaged file that is made to fit is not called exact`(_ name: String, _ limit: Int) throws
  {
    try withTool { (tool: Tool) throws in
      try tool.write(FixtureLibrary().file("Bad/\(name)"), to: name)
      for command in ["optimize", "convert"] {
        let result = try tool.run(
          command, name, "-o", "o/{name}", "--force", "--max-bytes", "\(limit)")
        #expect(result.status == 1)
        #expect(result.errors.contains("warning: \(name): "), "\(result.errors)")
        #expect(result.text.hasSuffix("; damaged, otherwise exact\n"), "\(result.text)")
        #expect(try tool.read("o/\(name)").count <= limit)
      }
    }
  }

  @Test func `a crop that reaches beyond the canvas is reported`() throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run("convert", "cat.gif", "-o", "a.gif", "--crop", "9999x2+1+0")
      #expect(result.status == 0 && result.errors.contains("--crop reaches beyond the canvas"))
    }
  }

  @Test func `progress is lines of JSON for programs`() throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run("convert", "cat.gif", "-o", "a.png", "--progress", "json")
      #expect(result.status == 0)
      let last = try #require(try JSONLine.all(Array(result.errors.utf8)).last)
      #expect(last["phase"] == "done" && last["done"] == 3 && last["total"] == 3)
    }
  }
}
