import SystemPackage
import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeCLI

/// `extract --format ffconcat`.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct ConcatListTests {
  @Test func `thirds of a second add up, and the last file comes twice`() {
    let delay = FrameDelay(numerator: 1, denominator: 30)
    var list = ConcatList(delays: [delay, delay, delay], policy: .exact, in: "/o")
    for name in ["o/a.png", "o/it's.png", "o/it's.png"] {
      list.add(FilePath(name), for: .seconds(1) / 30)
    }
    #expect(
      String(decoding: list.bytes, as: UTF8.self) == """
        ffconcat version 1.0
        file 'a.png'
        option framerate 990/1
        duration 0.033333
        file './it'\\''s.png'
        option framerate 990/1
        duration 0.066667
        file './it'\\''s.png'
        option framerate 990/1

        """)
  }

  @Test(arguments: [
    ("a:b.png", "./a:b.png"), (".a.png", "./.a.png"), ("a b.png", "./a b.png"),
    ("a_b-0.1.png", "a_b-0.1.png"),
  ])
  func `no name begins with a protocol`(_ name: String, _ path: String) {
    var list = ConcatList(delays: [FrameDelay(centiseconds: 4)], policy: .exact, in: "/o")
    list.add(FilePath(name), for: .milliseconds(40))
    #expect(String(decoding: list.bytes, as: UTF8.self).contains("file '\(path)'\n"))
  }

  @Test(arguments: [
    ("a%d.png", true), ("a%04d-0.png", true), ("%%d", true), ("a%.png", false), ("a%", false),
    ("%4x", false), ("ad", false),
  ])
  func `ffmpeg reads some names as an image sequence`(_ name: String, _ isSequence: Bool) throws {
    #expect(ConcatList.isSequence(Array(name.utf8)) == isSequence)
  }

  @Test(arguments: [("/o", "a%d.png", true), ("/o/%03d", "a.png", true), ("/o/%", "a.png", false)])
  func `a list marks such a name, or that of its directory, as a single file`(
    _ directory: String, _ name: String, _ isSaid: Bool
  ) {
    var list = ConcatList(
      delays: [FrameDelay(centiseconds: 4)], policy: .exact, in: FilePath(directory))
    list.add(FilePath(name), for: .milliseconds(40))
    let text = String(decoding: list.bytes, as: UTF8.self)
    #expect(text.contains("option pattern_type none\n") == isSaid)
  }

  @Test func `a frame that is shown for no time is left out`() {
    let delays = [UInt16(4), 0, 7].map { FrameDelay(centiseconds: $0) }
    var list = ConcatList(delays: delays, policy: .exact, in: "/o")
    for (name, delay) in zip(["a.png", "b.png", "c.png"], delays) {
      list.add(FilePath(name), for: delay.duration)
    }
    let text = String(decoding: list.bytes, as: UTF8.self)
    #expect(!text.contains("b.png"))
    #expect(text.contains("option framerate 1000/1\nduration 0.070000\nfile 'c.png'"))
  }

  @Test func `files and their list are written, and --resume writes the list anew`() throws {
    var gif = SampleGIF()
    gif.frames = [(0, 4), (1, 10), (1, 3), (0, 4)]
    try withTool(gif) { (tool: Tool) throws in
      let extract = ["extract", "cat.gif", "--format", "ffconcat", "-o"]
      #expect(try tool.run(extract + ["o", "--unique"]).status == 0)
      #expect(try tool.list("o") == ["cat-0000.png", "cat-0001.png", "cat.ffconcat"])
      let text = String(decoding: try tool.read("o/cat.ffconcat"), as: UTF8.self)
      let lines = text.split(separator: "\n").filter { !$0.hasPrefix("option") }
      #expect(
        lines == [
          "ffconcat version 1.0", "file 'cat-0000.png'", "duration 0.040000",
          "file 'cat-0001.png'", "duration 0.130000", "file 'cat-0000.png'", "duration 0.040000",
          "file 'cat-0000.png'",
        ])
      #expect(try tool.run(extract + ["o"]).status == 4)
      #expect(try tool.run(extract + ["o", "--resume"]).status == 0)
      #expect(try tool.list("o").count == 5)
      #expect(try tool.read("o/cat.ffconcat").count > text.utf8.count)
      // A file that is not a list is kept.
      try tool.write([1], to: "mine.ffconcat")
      let refused = try tool.run(extract + ["mine.ffconcat", "--resume"])
      #expect(refused.status == 4)
      #expect(refused.errors.contains("mine.ffconcat exists and is not a list of frames"))
      #expect(try tool.read("mine.ffconcat") == [1])
      #expect(try tool.run(extract + ["-"]).status == 2)
      #expect(try tool.run(extract + ["a.txt"]).status == 2)
    }
  }
}
