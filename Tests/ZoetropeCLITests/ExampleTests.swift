import Glibc
import SystemPackage
import TestRunning
import Testing
import Zoetrope

/// `Examples/Programs`, each run as its comment says. `cat.gif` is 6x4 and shows red for 40 ms, green for
/// 100 ms and blue for 100 ms.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct ExampleTests {
  private static let program = Tool.program(named: "examples")

  /// The lines that `examples` with `arguments` writes; `input` is what the shell feeds it.
  private func lines(
    _ arguments: String, in tool: Tool, input: String = "/dev/null"
  ) throws -> [String] {
    try #require(try tool.shell("'\(Self.program)' \(arguments) <\(input) >out") == 0)
    return String(decoding: try tool.read("out"), as: UTF8.self).split(separator: "\n").map(
      String.init)
  }

  private func picture(_ name: String, in tool: Tool) throws -> Bitmap {
    try FrameReader(AnimatedImage(bytes: try tool.read(name))).frame(at: 0).bitmap
  }

  private static let red = RGBA(red: 255, green: 0, blue: 0)
  private static let green = RGBA(red: 0, green: 255, blue: 0)
  private static let blue = RGBA(red: 0, green: 0, blue: 255)

  @Test func `dump-frames prints every frame`() throws {
    try withTool { (tool: Tool) throws in
      let lines = try lines("dump-frames cat.gif", in: tool)
      #expect(lines.first == "gif 6x4, 3 frames")
      #expect(lines.count == 4 && lines[1].hasPrefix("0: 4/100 s, "))
    }
  }

  @Test func `write-animation writes every second frame for twice as long`() throws {
    try withTool { (tool: Tool) throws in
      let lines = try lines("write-animation cat.gif half.png", in: tool)
      #expect(lines.first?.hasPrefix("half.png: 2 frames, ") == true)
      #expect(try self.lines("dump-frames half.png", in: tool).first == "apng 6x4, 2 frames")
    }
  }

  @Test func `poster writes the picture that is shown at a time`() throws {
    try withTool { (tool: Tool) throws in
      _ = try lines("poster cat.gif poster.png 0.05", in: tool)
      let poster = try picture("poster.png", in: tool)
      #expect(poster.size == PixelSize(width: 6, height: 4))
      #expect(poster[5, 3] == Self.green)
    }
  }

  @Test func `contact-sheet draws each frame in its place`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try lines("contact-sheet cat.gif sheet.png 6", in: tool) == ["3 frames on 12x8"])
      let sheet = try picture("sheet.png", in: tool)
      #expect(sheet[5, 3] == Self.red && sheet[6, 0] == Self.green && sheet[0, 4] == Self.blue)
      #expect(sheet[6, 4] == .clear)
    }
  }

  @Test func `even-frames writes each frame once`() throws {
    try withTool { (tool: Tool) throws in
      // At 40, 120 and 200 ms.
      #expect(try lines("even-frames cat.gif 3 frames", in: tool) == ["1 2"])
      #expect(try tool.list("frames") == ["frame-1.png", "frame-2.png"])
      let frame = try picture("frames/frame-1.png", in: tool)
      #expect(frame.size == PixelSize(width: 224, height: 224) && frame[100, 100] == Self.green)
    }
  }

  @Test func `view-model shows pictures until the animation ends`() throws {
    try withTool { (tool: Tool) throws in
      let lines = try lines("view-model cat.gif", in: tool)
      #expect(lines.last == "ended")
      #expect(lines.dropLast().allSatisfy { $0.hasSuffix(", 64x43") } && lines.count > 1)
      #expect(try self.lines("view-model none.gif", in: tool).last?.contains("none.gif") == true)
      // 64 pixels wide, it would be millions of pixels high: it opens, but does not play.
      let screen = Array("GIF89a".utf8) + [1, 0, 0xff, 0xff, 0x80, 0, 0, 0, 0, 0, 9, 9, 9]
      let frame: [UInt8] = [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3b]
      try tool.write(screen + frame, to: "thin.gif")
      let end = try self.lines("view-model thin.gif", in: tool).last
      #expect(end?.contains("limitExceeded") == true)
    }
  }

  @Test func `chat-thumbnails rejects files beyond its budget and answers the rest`() throws {
    try withTool { (tool: Tool) throws in
      let side: [UInt8] = [0xff, 0xff, 0xff, 0xff]
      let screen = Array("GIF89a".utf8) + side + [0, 0, 0]
      try tool.write(screen + [0x2c, 0, 0, 0, 0] + side + [0, 2, 0, 0x3b], to: "giant.gif")
      try tool.write(Array("hello".utf8), to: "text.gif")
      let files = "cat.gif giant.gif text.gif none.gif"
      let lines = try lines("chat-thumbnails \(files)", in: tool).sorted()
      try #require(lines.count == 4)
      #expect(lines[0].hasPrefix("cat.gif: ") && lines[0].hasSuffix(" bytes"))
      #expect(lines[1].hasPrefix("giant.gif: ") && lines[1].contains("limitExceeded"))
      #expect(lines[2].hasPrefix("none.gif: "))
      #expect(lines[3].hasPrefix("text.gif: ") && lines[3].contains("notAnImage"))
    }
  }

  @Test func `stream-frames prints frames of a pipe and how it ended`() throws {
    try withTool { (tool: Tool) throws in
      let lines = try lines("stream-frames", in: tool, input: "cat.gif")
      #expect(lines.count == 5 && lines.first == "gif 6x4")
      #expect(lines.last == "complete, 3 frames")
    }
  }

  @Test func `thumbnails decodes in its first run only`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write(SampleGIF(width: 9, height: 3).bytes, to: "dog.gif")
      let first = try lines("thumbnails store cat.gif none dog.gif", in: tool)
      let second = try lines("thumbnails store cat.gif none dog.gif", in: tool)
      try #require(first.count == 4)
      #expect(first[0] == "cat.gif: 3 frames, 128x85")
      #expect(first[1].hasPrefix("none: "))
      #expect(first[3] == "0 from disk, 2 decoded")
      #expect(second.dropLast() == first.dropLast())
      #expect(second.last == "2 from disk, 0 decoded")
    }
  }

  @Test func `with an index, remote-frame reads only a frame's bytes`() throws {
    try withTool { (tool: Tool) throws in
      let gif = SampleGIF(width: 9, height: 3).bytes
      try tool.write(gif, to: "dog.gif")
      try tool.write(ImageIndex(of: AnimatedImage(bytes: gif)).bytes, to: "dog.index")
      _ = try lines("remote-frame dog.gif 0 plain.png", in: tool)
      let lines = try lines("remote-frame dog.gif 0 frame.png dog.index", in: tool)
      #expect(lines.first == "opened: 0 reads, 0 bytes")
      #expect(lines.last?.hasPrefix("frame 0: 1 reads, ") == true)
      #expect(try tool.read("frame.png") == tool.read("plain.png"))
    }
  }

  @Test(arguments: ["q", "\u{3}", "   ++-0q", nil] as [String?])
  func `minimal-player restores the terminal, for keys and signals`(keys: String?) throws {
    try withTool { (tool: Tool) throws in
      let terminal = try Pseudoterminal(
        Self.program, ["minimal-player", "\(tool.directory)/cat.gif"])
      // Green is the second frame: it plays.
      try #require(terminal.waitFor("\u{1B}[?1049h") && terminal.waitFor("\u{1B}[48"))
      #expect(!terminal.isRestored)
      if let keys { terminal.type(keys) } else { terminal.send(SIGTERM) }
      #expect(terminal.end() == 0)
      #expect(terminal.isRestored)
      #expect(terminal.model.state == TerminalState())
    }
  }

  @Test func `wrong arguments are answered with the right ones`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.shell("'\(Self.program)' poster 2>out") == 2)
      let usage = String(decoding: try tool.read("out"), as: UTF8.self)
      #expect(usage == "usage: examples poster FILE OUTPUT [SECONDS]\n")
    }
  }

  @Test func `each example is a page long`() throws {
    let folder = FilePath(#filePath).removingLastComponent().removingLastComponent()
      .removingLastComponent().appending("Examples/Programs")
    let shell = "find '\(folder)' -name '*.swift' | xargs wc -l | awk '$2 != \"total\" && $1 >= 60'"
    try withTool { (tool: Tool) throws in
      #expect(try tool.shell("\(shell) >out && test ! -s out") == 0)
    }
  }
}
