import Glibc
import SystemPackage
import TestRunning
import Testing

/// `extract` while the bytes arrive: each frame is written when it is complete, as from a whole file.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct StreamedExtractionTests {
  private static let gif = SampleGIF()

  @Test func `each frame's file is there before the next frame arrives`() throws {
    try withTool { (tool: Tool) throws in
      let fed = try FedTool(tool, "extract", "-", "-o", "o")
      for (number, piece) in Self.gif.pieces.enumerated() {
        #expect(fed.list("o").count == number)
        fed.pipe.feed(piece)
        guard number < 3 else { break }
        try #require(fed.wait { fed.list("o").contains("stdin-000\(number).png") })
      }
      // Without waiting for the end of the pipe.
      #expect(fed.end() == 0)
      #expect(fed.errors.isEmpty)
      #expect(try tool.run("extract", "cat.gif", "-o", "whole").status == 0)
      for number in 0..<3 {
        #expect(
          try tool.read("o/stdin-000\(number).png") == tool.read("whole/cat-000\(number).png"))
      }
    }
  }

  @Test(arguments: [["--max", "1"], ["--frames", "0"], ["--time", "-40ms"], ["--frames", ":1"]])
  func `reading ends with the last frame that can be selected`(selection: [String]) throws {
    try withTool { (tool: Tool) throws in
      let fed = try FedTool(tool, ["extract", "-", "-o", "o"] + selection)
      // The next frame never arrives, and the pipe stays open.
      fed.pipe.feed(Self.gif.pieces[0])
      #expect(fed.end() == 0)
      #expect(fed.list("o") == ["stdin-0000.png"])
      #expect(fed.errors.isEmpty)
    }
  }

  @Test func `a manifest describes the whole stream, whatever is selected`() throws {
    try withTool { (tool: Tool) throws in
      let fed = try FedTool(tool, "extract", "-", "-o", "o", "--max", "1", "--manifest", "m.json")
      let pieces = Self.gif.pieces
      fed.pipe.feed(pieces[0])
      try #require(fed.wait { fed.list("o") == ["stdin-0000.png"] })
      fed.pipe.feed(pieces[1] + pieces[2] + pieces[3])
      #expect(fed.end() == 0)
      #expect(try JSONLine.one(tool.read("m.json"))["frame_count"] == 3)
    }
  }

  @Test func `raw pixels go out frame by frame`() throws {
    try withTool { (tool: Tool) throws in
      let fed = try FedTool(tool, "extract", "-", "--format", "rgba", "-o", "-")
      var expected: [UInt8] = []
      for (number, piece) in Self.gif.pieces.dropLast().enumerated() {
        fed.pipe.feed(piece)
        expected += Self.gif.pixels(number)
        try #require(fed.wait { fed.output.count >= expected.count })
        #expect(fed.output == expected)
      }
      #expect(fed.finish() != nil)
    }
  }

  /// Options that are decided frame by frame, and options that need the whole file.
  @Test(arguments: [
    [], ["--frames", "0,2"], ["--frames", "1-"], ["--frames", "::2"], ["--every", "2"],
    ["--max", "1"], ["--time", "40ms-"], ["--time", "50ms"], ["--raw"], ["--size", "3x"],
    ["--depth", "16"], ["-j", "1"], ["-j", "3"], ["--frames=-1"], ["--frames", "0--2"],
    ["--fps", "25"], ["--damage", "strict"], ["--static", "include"], ["--cache", "c"],
    ["--frames", "9"], ["--frames", "0,9"], ["--time", "9s"], ["--unique"], ["--changed-only"],
  ])
  func `pixels, status and errors are those of a file`(arguments: [String]) throws {
    try withTool { (tool: Tool) throws in
      let rgba = ["--format", "rgba", "-o", "-"] + arguments
      let whole = try tool.run(["extract", "cat.gif"] + rgba)
      let piped = try tool.run(["extract", "-"] + rgba, input: Self.gif.bytes)
      #expect(piped.status == whole.status)
      #expect(
        piped.errors == whole.errors.replacing("cat.gif", with: "standard input"))
      // A file whose frames are known is refused before anything is written.
      if arguments == ["--frames", "0,9"] {
        #expect(piped.output == Self.gif.pixels(0))
      } else {
        #expect(piped.output == whole.output)
      }
    }
  }

  @Test func `a number has four digits, since the last one is not known`() throws {
    try withTool { (tool: Tool) throws in
      let arguments = ["extract", "-", "-o", "o/{index}.png", "--changed-only"]
      #expect(try tool.run(arguments, input: Self.gif.bytes).status == 0)
      #expect(try tool.list("o") == ["0000.png", "0001.png", "0002.png"])
    }
  }

  @Test(arguments: [
    "o/{stem}-{index:1}-{start_ms}-{shown_ms}.png", "o/%02d.png", "o/{index:2}/f.png",
  ])
  func `names are those of a file`(template: String) throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.run(["extract", "-", "-o", template], input: Self.gif.bytes).status == 0)
      #expect(try tool.shell("cp cat.gif stdin && mv o piped") == 0)
      #expect(try tool.run("extract", "stdin", "-o", template).status == 0)
      #expect(try tool.shell("diff -r o piped") == 0)
    }
  }

  @Test func `the manifest of a followed file is that of the file`() throws {
    try withTool { (tool: Tool) throws in
      let manifest = ["extract", "cat.gif", "-o", "o", "--force", "--manifest"]
      #expect(try tool.run(manifest + ["whole.json"]).status == 0)
      #expect(try tool.run(manifest + ["followed.json", "--follow"]).status == 0)
      #expect(try tool.read("followed.json") == tool.read("whole.json"))
    }
  }

  @Test func `a growing file is followed to its trailer`() throws {
    try withTool { (tool: Tool) throws in
      let pieces = Self.gif.pieces
      try tool.write(Array(pieces[0]), to: "grows.gif")
      let fed = try FedTool(tool, "extract", "grows.gif", "--follow", "-o", "o")
      try #require(fed.wait { fed.list("o") == ["grows-0000.png"] })
      for piece in pieces.dropFirst() {
        let file = try FileDescriptor.open(
          FilePath("\(tool.directory)/grows.gif"), .writeOnly, options: [.append])
        try file.closeAfter { _ = try file.writeAll(piece) }
      }
      #expect(fed.end() == 0)
      #expect(fed.list("o").count == 3)
    }
  }

  @Test(arguments: [[], ["--damage", "partial"]])
  func `a cut stream is a truncated file`(arguments: [String]) throws {
    var gif = SampleGIF(width: 60, height: 60)
    gif.isMixed = true
    try withTool(gif) { (tool: Tool) throws in
      let pieces = gif.pieces
      let cut = pieces[0] + pieces[1] + pieces[2].prefix(1000)
      try tool.write(Array(cut), to: "stdin")
      let fed = try FedTool(tool, "extract", "-", "-o", "o")
      fed.pipe.feed(pieces[0])
      try #require(fed.wait { fed.list("o") == ["stdin-0000.png"] })
      _ = fed.finish()
      let whole = try tool.run(
        ["extract", "stdin", "-o", "whole", "--manifest", "w.json"] + arguments)
      let piped = try tool.run(
        ["extract", "-", "-o", "piped", "--manifest", "p.json"] + arguments, input: Array(cut))
      #expect(whole.status == 1)
      #expect(piped.status == 1)
      #expect(piped.errors == whole.errors.replacing("stdin", with: "standard input"))
      #expect(try tool.list("piped").count == (arguments.isEmpty ? 2 : 3))
      #expect(try tool.shell("diff -r whole piped") == 0)
      let lines = try ["w.json", "p.json"].map { try JSONLine.one(tool.read($0)) }
      #expect(lines[0]["damage"] == lines[1]["damage"])
      #expect(lines[0]["bytes"] == lines[1]["bytes"])
    }
  }

  @Test(arguments: ["--unique", "--changed-only"])
  func `damage of a picture that is left out is reported`(_ option: String) throws {
    var gif = SampleGIF()
    gif.frames = [(0, 4), (0, 4)]
    try withTool(gif) { (tool: Tool) throws in
      // The last row of the second frame becomes the end of its codes: what is below shows.
      var bytes = gif.bytes
      bytes[bytes.count - 3 - gif.width] = 0x81
      try tool.write(bytes, to: "stdin")
      let whole = try tool.run("extract", "stdin", "-o", "w", option)
      let piped = try tool.run(["extract", "-", "-o", "p", option], input: bytes)
      #expect(whole.status == 1 && piped.status == 1)
      #expect(piped.errors == whole.errors.replacing("stdin", with: "standard input"))
      #expect(try tool.shell("diff -r w p") == 0)
    }
  }

  @Test func `frames without pixels are selected too`() throws {
    try withTool { (tool: Tool) throws in
      var bytes = Self.gif.bytes
      for index in bytes.indices.dropLast(9) where bytes[index] == 0x2c && bytes[index + 5] == 6 {
        bytes[index + 5] = 0
      }
      try tool.write(bytes, to: "stdin")
      let options = ["--raw", "--unique", "-o", "o"]
      let whole = try tool.run(["extract", "stdin"] + options)
      let piped = try tool.run(["extract", "-"] + options, input: bytes)
      #expect(piped.status == whole.status && piped.status != 2)
      #expect(piped.errors == whole.errors.replacing("stdin", with: "standard input"))
    }
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func `an interruption keeps whole frames, and resuming adds the others`(
    _ number: Int32, _ status: Int32
  ) throws {
    try withTool { (tool: Tool) throws in
      let fed = try FedTool(tool, "extract", "-", "-o", "o")
      let pieces = Self.gif.pieces
      fed.pipe.feed(pieces[0] + pieces[1].dropLast())
      try #require(fed.wait { fed.list("o") == ["stdin-0000.png"] })
      fed.send(number)
      #expect(fed.end() == status)
      #expect(
        fed.errors
          == "zoetrope: standard input: interrupted, 1 frame written; continue with --resume\n")
      let resumed = try tool.run(
        ["extract", "-", "-o", "o", "--resume", "--format", "png"], input: Self.gif.bytes)
      #expect(resumed.status == 0)
      #expect(try tool.list("o") == (0..<3).map { "stdin-000\($0).png" })
    }
  }

  @Test func `a file in the way is not replaced`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.shell("mkdir o && echo mine >o/stdin-0001.png") == 0)
      let result = try tool.run(["extract", "-", "-o", "o"], input: Self.gif.bytes)
      #expect(result.status == 4)
      #expect(result.errors.contains("o/stdin-0001.png exists"))
      #expect(try tool.read("o/stdin-0001.png") == Array("mine\n".utf8))
      #expect(try tool.list("o") == ["stdin-0000.png", "stdin-0001.png"])
    }
  }

  @Test(arguments: [("", 3), ("GIF89a", 3), ("no picture at all", 3)] as [(String, Int32)])
  func `input that is not an animation has the status of a file`(_ text: String, _ status: Int32)
    throws
  {
    try withTool { (tool: Tool) throws in
      let piped = try tool.run(
        ["extract", "-", "-o", "o", "--manifest", "-"], input: Array(text.utf8))
      #expect(piped.status == status)
      #expect(try JSONLine.one(piped.output)["error"]["code"] != .missing)
      #expect((try? tool.list("o")) == nil)
    }
  }

  @Test func `a frame is cut before its first row`() throws {
    try withTool { (tool: Tool) throws in
      let start = Array(Self.gif.pieces[0].prefix(65))
      try tool.write(start, to: "stdin")
      let whole = try tool.run("extract", "stdin", "-o", "o")
      let piped = try tool.run(["extract", "-", "-o", "o"], input: start)
      #expect(piped.status == whole.status)
      #expect(piped.errors == whole.errors.replacing("stdin", with: "standard input"))
    }
  }

  @Test func `the progress of a stream that has run dry is shown, and removed at the end`()
    throws
  {
    try withTool { (tool: Tool) throws in
      let fed = try FedTool(tool, "extract", "-", "-o", "o", "--progress", "bar")
      let pieces = Self.gif.pieces
      fed.pipe.feed(pieces[0])
      try #require(fed.wait { fed.errors.contains("\r1/1 frame  \(pieces[0].count) B received") })
      fed.pipe.feed(pieces[1] + pieces[2] + pieces[3])
      #expect(fed.end() == 0)
      #expect(fed.errors.hasSuffix("\r\u{1B}[K") || fed.errors.hasSuffix(" \r"))
    }
  }

  @Test func `progress as JSON reports arrived frames and bytes`() throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run(
        ["extract", "-", "-o", "o", "--progress", "json"], input: Self.gif.bytes)
      let last = try #require(try JSONLine.all(Array(result.errors.utf8)).last)
      #expect(last["phase"] == "done")
      #expect(last["done"] == 3)
      #expect(last["total"] == 3)
      #expect(last["frames_received"] == 3)
      #expect(last["bytes_received"] == JSONLine(integerLiteral: Self.gif.bytes.count))
    }
  }

  @Test(arguments: ["extract", "info", "play"])
  func `only one file is followed`(command: String) throws {
    try withTool { (tool: Tool) throws in
      let output = command == "extract" ? ["-o", "o"] : []
      let result = try tool.run([command, "cat.gif", "cat.gif", "--follow"] + output)
      #expect(result.status == 2)
      #expect(result.errors.contains("--follow works with one file only"))
    }
  }
}
