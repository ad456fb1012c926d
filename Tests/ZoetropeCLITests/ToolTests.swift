import TestRunning
import Testing
import Zoetrope

@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct ToolTests {
  private let gif = SampleGIF()

  @Test func `info shows size, frames and plays`() throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run("info", "cat.gif")
      #expect(result.status == 0)
      #expect(result.text.hasPrefix("cat.gif: GIF, 6x4, 3 frames, plays forever\n"))
      #expect(result.errors.isEmpty)
    }
  }

  @Test func `a file that is not an image ends with status 3`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write(Array("hello".utf8), to: "a\u{1b}b.gif")
      let result = try tool.run("info", "a\u{1b}b.gif")
      #expect(result.status == 3)
      #expect(result.output.isEmpty)
      #expect(result.errors.hasPrefix("zoetrope: error: a\\x1Bb.gif: "))
      let both = try tool.run("info", "cat.gif", "missing.gif")
      #expect(both.status == 1)
      #expect(both.errors.hasPrefix("zoetrope: error: missing.gif: "))
    }
  }

  @Test(arguments: [
    ["nope"], ["info"], ["extract", "cat.gif"], ["info", "--nope", "cat.gif"],
    ["extract", "cat.gif", "-o", "x", "--frames", "a"],
    ["extract", "cat.gif", "-o", "x", "--every", "0"],
    ["extract", "cat.gif", "-o", "x", "--force", "--resume"],
    ["extract", "cat.gif", "-o", "{nope}"], ["extract", "cat.gif", "-o", "one.png"],
    ["extract", "cat.gif", "-o", "out/", "--frames", "7"],
    ["extract", "cat.gif", "cat.gif", "-o", "out/"],
    ["extract", "cat.gif", "-o", "-", "--manifest", "-"],
    ["extract", "cat.gif", "-o", "out/", "--static", "only"],
    ["extract", "cat.gif", "-o", "out/", "--raw", "--size", "3x"],
    ["extract", "cat.gif", "-o", "out/", "--size", "x"],
    ["extract", "cat.gif", "-o", "out/", "--size", "0x3"],
    ["extract", "cat.gif", "-o", "out/", "--size", "3x65536"],
    ["still", "cat.gif", "-o", "a.png", "--filter", "box"],
    ["still", "cat.gif", "-o", "a.png", "--linear-light"],
  ])
  func `wrong arguments end with status 2 and write nothing`(_ arguments: [String]) throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run(arguments)
      #expect(result.status == 2)
      #expect(!result.errors.isEmpty)
      #expect(try tool.list() == ["cat.gif"])
    }
  }

  @Test(arguments: [[], ["--help"], ["info", "--help"], ["extract", "--help"], ["--version"]])
  func `help and version go to standard output`(_ arguments: [String]) throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run(arguments)
      #expect(result.status == 0)
      #expect(!result.output.isEmpty)
      #expect(result.errors.isEmpty)
    }
  }

  @Test(arguments: ["1", "2", "5"])
  func `raw pixels leave in order`(_ jobs: String) throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run(
        "extract", "cat.gif", "--format", "rgba", "-o", "-", "--jobs", jobs)
      #expect(result.status == 0)
      #expect(result.output == gif.pixels(0) + gif.pixels(1) + gif.pixels(2))
    }
  }

  @Test func `standard input is read for a dash`() throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run(
        "extract", "-", "--format", "rgba", "-o", "-", "--frames=-1", input: gif.bytes)
      #expect(result.output == gif.pixels(2))
    }
  }

  @Test func `files are written whole and never overwritten without force`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.run("extract", "cat.gif", "-o", "out").status == 0)
      let names = ["cat-0000.png", "cat-0001.png", "cat-0002.png"]
      #expect(try tool.list("out") == names)
      for (index, name) in names.enumerated() {
        let image = try AnimatedImage(bytes: tool.read("out/\(name)"))
        let frame = try #require(try FrameReader(image).next())
        let pixel = frame.bitmap[0, 0]
        #expect(
          [pixel.red, pixel.green, pixel.blue, pixel.alpha] == Array(gif.pixels(index)[..<4]))
      }
      try tool.write([1], to: "out/cat-0001.png")
      let again = try tool.run("extract", "cat.gif", "-o", "out")
      #expect(again.status == 4)
      #expect(again.errors.contains("--force"))
      #expect(try tool.read("out/cat-0001.png") == [1])
      #expect(try tool.run("extract", "cat.gif", "-o", "out", "--force").status == 0)
      #expect(try tool.read("out/cat-0001.png").count > 1)
    }
  }

  @Test func `resume keeps what is there and sweeps what dead runs left`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.run("extract", "cat.gif", "-o", "out/").status == 0)
      let whole = try tool.read("out/cat-0002.png")
      // A complete file of the same size that this run would not write: it is kept all the same.
      let other = try tool.read("out/cat-0001.png")
      try tool.write(other, to: "out/cat-0000.png")
      #expect(try tool.shell("rm out/cat-0002.png") == 0)
      try tool.write([1], to: "out/.zoetrope-999999999-0.tmp")
      let result = try tool.run(
        "extract", "cat.gif", "-o", "out/", "--resume", "--manifest", "m.json")
      #expect(result.status == 0)
      #expect(try tool.read("out/cat-0000.png") == other && other != whole)
      #expect(try tool.read("out/cat-0002.png") == whole)
      #expect(try tool.list("out") == ["cat-0000.png", "cat-0001.png", "cat-0002.png"])
      let frames = try JSONLine.one(tool.read("m.json"))["frames"]
      #expect(frames[0]["output"] == "out/cat-0000.png")
      #expect(frames[0]["output_bytes"].integer == other.count)
      #expect(frames[2]["output"] == "out/cat-0002.png")
      #expect(frames[2]["output_bytes"].integer == whole.count)
    }
  }

  @Test func `resume refuses pictures that are incomplete or have another size`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.run("extract", "cat.gif", "-o", "out/").status == 0)
      let names = try tool.list("out")
      let scaled = try tool.run(
        "extract", "cat.gif", "-o", "out/", "--resume", "--size", "50%", "--manifest", "m.json")
      #expect(scaled.status == 4)
      #expect(scaled.errors.contains("but the frames would now have"))
      let picture = try tool.read("out/\(names[1])")
      try tool.write(Array(picture.dropLast(9)), to: "out/\(names[1])")
      let cut = try tool.run("extract", "cat.gif", "-o", "out/", "--resume")
      #expect(cut.status == 4)
      #expect(cut.errors.contains("\(names[1]) is not a complete PNG file"))
      try tool.write(picture + [0, 1, 2], to: "out/\(names[1])")
      #expect(try tool.run("extract", "cat.gif", "-o", "out/", "--resume").status == 0)
      #expect(try tool.shell("rm out/\(names[1])") == 0)
      #expect(try tool.run("extract", "cat.gif", "-o", "out/", "--resume").status == 0)
      #expect(try tool.read("out/\(names[1])") == picture)
    }
  }

  @Test func `resume refuses to mix frames of a file that has been overwritten`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.run("extract", "cat.gif", "-o", "out/").status == 0)
      #expect(try tool.shell("rm out/cat-0002.png; touch -d 'next day' cat.gif") == 0)
      let result = try tool.run("extract", "cat.gif", "-o", "out/", "--resume")
      #expect(result.status == 4)
      #expect(
        result.errors.contains("out/cat-0000.png is older than cat.gif; --force replaces all"))
      #expect(try tool.list("out") == ["cat-0000.png", "cat-0001.png"])
    }
  }

  @Test func `selection, template and manifest agree`() throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run(
        "extract", "cat.gif", "-o", "f/{stem}_{start_ms}_{shown_ms}_%02d.rgba", "--format", "rgba",
        "--time", "40ms-", "--max", "1", "--manifest", "-")
      #expect(result.status == 0)
      #expect(try tool.list("f") == ["cat_40_100_01.rgba"])
      #expect(try tool.read("f/cat_40_100_01.rgba") == gif.pixels(1))
      let frames = try JSONLine.one(result.output)["frames"]
      #expect(frames.count == 1)
      #expect(frames[0]["index"] == 1)
      #expect(frames[0]["output"] == "f/cat_40_100_01.rgba")
      #expect(frames[0]["output_bytes"] == 96)
    }
  }

  @Test func `a closed pipe is a quiet end`() throws {
    try withTool { (tool: Tool) throws in
      let script =
        "(\"$ZOETROPE\" extract cat.gif --format rgba -o - 2>err; echo $? >code) | true; cat err code"
      #expect(try tool.shell("sleep 0; \(script) >all") == 0)
      let all = String(decoding: try tool.read("all"), as: UTF8.self)
      #expect(all == "0\n")
    }
  }

  @Test func `a closed pipe does not hide what failed before`() throws {
    try withTool { (tool: Tool) throws in
      // The reader ends before anything is written: both wait for it.
      let commands = [
        "extract none cat.gif --format rgba -o -", "extract none cat.gif -o o --manifest -",
        "info none cat.gif", "info --json none cat.gif", "check none cat.gif",
      ]
      for command in commands {
        let script =
          "mkfifo gone && { : <gone & } && exec 3>gone && wait && "
          + "{ \"$ZOETROPE\" \(command) >&3 2>errors; }"
        let status = try tool.shell(script)
        _ = try tool.shell("rm -rf gone o")
        #expect((1...6).contains(status), "\(command): \(status)")
        let errors = String(decoding: try tool.read("errors"), as: UTF8.self)
        #expect(!errors.contains("cat.gif"), "\(command): \(errors)")
      }
    }
  }

  @Test func `a full disk is status 4 and leaves nothing behind`() throws {
    try withTool { (tool: Tool) throws in
      // Help also reports that it could not be printed.
      #expect(try tool.shell("\"$ZOETROPE\" info --help >/dev/full 2>errors") == 4)
      let errors = String(decoding: try tool.read("errors"), as: UTF8.self)
      #expect(errors == "zoetrope: error: standard output: No space left on device\n")
      // With a file size limit of zero, the kernel refuses the first byte of every file.
      let code = try tool.shell(
        "mkdir o && (ulimit -f 0; \"$ZOETROPE\" extract cat.gif -o o 2>/dev/null)")
      #expect(code == 4)
      #expect(try tool.list("o").isEmpty)
    }
  }

  @Test func `progress as JSON ends with what was done`() throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run("extract", "cat.gif", "-o", "out/", "--progress", "json")
      let last = try #require(try JSONLine.all(Array(result.errors.utf8)).last)
      #expect(last["phase"] == "done")
      #expect(last["done"] == 3)
      #expect(last["total"] == 3)
      #expect(last["bytes"].integer ?? 0 > 0)
    }
  }

  @Test func `check says ok for a good file and where a cut one ends`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.run("check", "cat.gif").text == "cat.gif: ok, 3 frames\n")
      try tool.write(Array(gif.bytes.dropLast(12)), to: "cut.gif")
      let cut = try tool.run("check", "--json", "cut.gif")
      #expect(cut.status == 1)
      #expect(try JSONLine.one(cut.output)["status"] == "damaged")
      // All that a service asks of an upload, in one pass, with the names and values of info.
      let checked = try JSONLine.one(tool.run("check", "--json", "cat.gif").output)
      let info = try JSONLine.one(tool.run("info", "--json", "cat.gif").output)
      for name in ["format", "byte_count", "width", "height", "frame_count", "duration_ms"] {
        #expect(checked[name] != .missing && checked[name] == info[name], "\(name)")
      }
      for name in ["plays", "forever"] {
        #expect(checked[name] != .missing && checked[name] == info["loop"][name], "\(name)")
      }
      #expect(try tool.run("check", "--strict", "cut.gif").status == 6)
      #expect(try tool.run("extract", "cut.gif", "-o", "o/", "--damage", "strict").status == 6)
    }
  }

  @Test func `a still is one frame, by number, time or as the poster`() throws {
    try withTool { (tool: Tool) throws in
      for (choice, index) in [
        (["--frame", "1"], 1), (["--frame=-1"], 2), (["--at", "50ms"], 1), ([], 0),
        (["--poster", "nonblank"], 0),
      ] {
        let result = try tool.run(["still", "cat.gif", "--format", "rgba", "-o", "-"] + choice)
        #expect(result.status == 0)
        #expect(result.output == gif.pixels(index))
      }
      #expect(try tool.run("still", "cat.gif", "-o", "s/a.png").status == 0)
      #expect(try tool.run("still", "cat.gif", "-o", "s/a.png").status == 4)
      #expect(try tool.list("s") == ["a.png"])
      #expect(try tool.run("still", "cat.gif", "-o", "b.png", "--frame", "3").status == 2)
    }
  }

  @Test func `frames and stills have the requested size`() throws {
    let mixed = SampleGIF(width: 24, height: 18, isMixed: true)
    let reader = FrameReader(try AnimatedImage(bytes: mixed.bytes))
    var expected: [[UInt8]] = []
    while let frame = try reader.next() {
      let scaled = try frame.bitmap.scaled(
        to: TargetSize(width: 10), filter: .lanczos3, linearLight: true)
      #expect(scaled.size == PixelSize(width: 10, height: 8))
      var bytes: [UInt8] = []
      for y in 0..<8 {
        for x in 0..<10 {
          let pixel = scaled[x, y]
          bytes += [pixel.red, pixel.green, pixel.blue, pixel.alpha]
        }
      }
      expected.append(bytes)
    }
    let scaling = ["--size", "10x", "--filter", "lanczos3", "--linear-light"]
    try withTool { (tool: Tool) throws in
      try tool.write(mixed.bytes, to: "mixed.gif")
      let all = try tool.run(
        ["extract", "mixed.gif", "--format", "rgba", "-o", "-", "--manifest", "list.json"] + scaling
      )
      #expect(all.status == 0)
      #expect(all.output == expected.flatMap { $0 })
      let size = try JSONLine.one(tool.read("list.json"))["output_size"]
      #expect(size[0] == 10)
      #expect(size[1] == 8)
      let some = try tool.run(
        ["extract", "mixed.gif", "--format", "rgba", "-o", "-", "--frames", "0,2"] + scaling)
      #expect(some.output == expected[0] + expected[2])
      let still = try tool.run(
        ["still", "mixed.gif", "--format", "rgba", "-o", "-", "--frame", "1"] + scaling)
      #expect(still.output == expected[1])
      let box = try tool.run(
        "still", "mixed.gif", "--format", "rgba", "-o", "-", "--size", "7x7", "--fit", "fill")
      #expect(box.output.count == 7 * 7 * 4)
    }
  }

  @Test func `version names the libraries`() throws {
    try withTool { (tool: Tool) throws in
      let text = try tool.run("--version").text
      for name in ["zoetrope ", "giflib 5.", "libpng 1.6.", "libdeflate 1.", "xxHash 0.8."] {
        #expect(text.contains(name))
      }
    }
  }
}
