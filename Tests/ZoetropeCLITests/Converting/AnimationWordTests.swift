import ArgumentParser
import TestRunning
import Testing
import Zoetrope
import ZoetropeProcess

@testable import ZoetropeCLI

/// The words, names and lists that `convert` and `make` read.
@Suite(.timeLimit(.minutes(10)), .computes) struct AnimationWordTests {
  @Test func `a delay is a time or a fraction of a second, in lowest terms`() {
    let delays: [(String, UInt32, UInt32)] = [
      ("100ms", 1, 10), ("0.04s", 1, 25), ("2s", 2, 1), ("1/30", 1, 30), ("2/60", 1, 30),
      ("1001/30000", 1001, 30000), ("0", 0, 1), ("33.3ms", 333, 10000), ("0/7", 0, 1),
      ("4294967295/1", 4_294_967_295, 1),
    ]
    for (text, numerator, denominator) in delays {
      #expect(
        DelayArgument(text)?.delay == FrameDelay(numerator: numerator, denominator: denominator),
        "\(text)")
    }
    for text in [
      "", "x", "2", "40", "0.04", "-1", "1/0", "1/", "/3", "1/2/3", "4294967296/1", "+1/2", "1e3",
      "١/٢",
    ] {
      #expect(DelayArgument(text) == nil, "\(text)")
    }
  }

  @Test func `a rate gives the exact time of a picture`() throws {
    for (text, numerator, denominator) in [
      ("25", 1, 25), ("29.97", 100, 2997), ("30000/1001", 1001, 30000), ("0.5", 2, 1),
    ] as [(String, UInt32, UInt32)] {
      let rate = try #require(PictureRate(text))
      #expect(
        DelayArgument(rate)?.delay == FrameDelay(numerator: numerator, denominator: denominator))
    }
  }

  @Test func `a crop is a size and a place`() {
    #expect(
      CropArgument(argument: "320x200+10+20")?.rect
        == PixelRect(x: 10, y: 20, width: 320, height: 200))
    #expect(CropArgument(argument: "3x2")?.rect == PixelRect(x: 0, y: 0, width: 3, height: 2))
    for text in [
      "", "3", "3x", "x3", "0x3", "3x2+1", "3x2+1+2+3", "3x2-1+0", "3x2+a+b", "9999999999x1",
      "+1+2",
    ] {
      #expect(CropArgument(argument: text) == nil, "\(text)")
    }
  }

  @Test func `a size is in pixels or a percentage`() {
    func size(_ text: String) -> PixelSize? {
      SizeArgument(argument: text)?.target.size(of: PixelSize(width: 40, height: 31), fit: .fit)
    }
    #expect(size("20x") == PixelSize(width: 20, height: 16))
    #expect(size("50%") == PixelSize(width: 20, height: 16))
    #expect(size("12.5%") == PixelSize(width: 5, height: 4))
    #expect(size("0.01%") == PixelSize(width: 1, height: 1))
    #expect(size("250%") == PixelSize(width: 100, height: 78))
    for text in ["%", "0%", "-5%", "+5%", "x%", "50", "1e3x%", "nan%", "5%x", "100001%", "0x1p3%"] {
      #expect(SizeArgument(argument: text) == nil, "\(text)")
    }
  }

  @Test func `plays are a number from 1 up, or forever`() {
    #expect(PlaysArgument(argument: "forever")?.count == .indefinite)
    #expect(PlaysArgument(argument: "1")?.count == .once)
    #expect(PlaysArgument(argument: "2147483647")?.count == .finite(2_147_483_647))
    for text in ["0", "-1", "inf", "", "2147483648"] {
      #expect(PlaysArgument(argument: text) == nil, "\(text)")
    }
  }

  @Test func `numbers in names are compared as numbers`() {
    let names = [
      "a.png", "f.png", "f0.png", "f00.png", "f1.png", "f01.png", "f001.png", "f2.png", "f9.png",
      "f10.png", "f10a.png",
      "f10a2.png", "f10a10.png", "f99999999999999999999.png", "f100000000000000000000.png",
      "g1.png",
    ]
    func order(_ names: [String]) -> [String] {
      names.map { Array($0.utf8) }.sorted(by: NaturalOrder.isOrdered).map {
        String(decoding: $0, as: UTF8.self)
      }
    }
    #expect(
      order(names.reversed()).filter { !$0.hasPrefix("f0") } == names.filter { !$0.hasPrefix("f0") }
    )
    // An order: no name comes before itself, and not both of two names before each other.
    for first in names {
      for second in names {
        let (a, b) = (Array(first.utf8), Array(second.utf8))
        #expect(NaturalOrder.isOrdered(a, b) != NaturalOrder.isOrdered(b, a) || first == second)
      }
      #expect(!NaturalOrder.isOrdered(Array(first.utf8), Array(first.utf8)))
    }
  }

  @Test func `a list of delays has one on each line`() throws {
    let text = "# times\n100ms\n\n  1/30  # a third\r\n0.5s"
    let delays = try DelayList.delays(in: Array(text.utf8), name: "d")
    #expect(delays.map(\.numerator) == [1, 1, 1])
    #expect(delays.map(\.denominator) == [10, 30, 2])
    #expect(try DelayList.delays(in: [], name: "d").isEmpty)
    let marked: [UInt8] = [0xef, 0xbb, 0xbf] + Array("100ms\r\n0.5s".utf8)
    #expect(try DelayList.delays(in: marked, name: "d").count == 2)
    let failure = #expect(throws: CommandFailure.self) {
      try DelayList.delays(in: Array("1/30\n 40  ms # each\r\n".utf8), name: "d.txt")
    }
    #expect(
      failure?.message
        == "d.txt, line 2: a delay is written as 100ms, 0.1s or 1/30, not 40 ms")
    for text in ["100ms 200ms", "fast", "1\n2\nx", "\u{0}"] {
      let failure = #expect(throws: CommandFailure.self) {
        try DelayList.delays(in: Array(text.utf8), name: "d.txt")
      }
      #expect(failure?.status == .usage && failure?.message.hasPrefix("d.txt, line ") == true)
    }
  }

  @Test func `the format is what the name says, unless it is chosen`() throws {
    func format(
      _ name: String, _ choice: AnimationFormat? = nil
    ) throws(CommandFailure) -> AnimationFormat? {
      try AnimationDestination(name, format: choice).formats[0]
    }
    #expect(try format("a.gif") == .gif)
    #expect(try format("a.GIF") == .gif)
    #expect(try format("b/a.png") == .apng)
    #expect(try format("a.apng") == .apng)
    #expect(try format("a.gif.png") == .apng)
    #expect(try format("a", .gif) == .gif)
    #expect(try format("a.sticker", .apng) == .apng)
    #expect(try format("-") == nil)
    #expect(try format("-", .gif) == .gif)
    for (name, choice) in [
      ("a", nil), ("a.b/c", nil), ("a.webp", nil), ("a.gif", .apng), ("a.png", .gif), ("", nil),
      ("d/", .gif), (".", .gif),
    ] as [(String, AnimationFormat?)] {
      #expect(throws: CommandFailure.self, "\(name)") { try format(name, choice) }
    }
  }

  @Test func `outputs of several files are called by a template or lie in a directory`() throws {
    let inputs = [InputFile("x/a.gif"), InputFile("b.png")]
    func places(_ name: String, _ choice: AnimationFormat? = nil) throws -> [String] {
      let destination = try AnimationDestination(name, for: inputs, format: choice)
      return inputs.indices.map { destination.name(of: $0).text }
    }
    #expect(try places("o/{stem}.png") == ["o/a.png", "o/b.png"])
    #expect(try places("{name}.{ext}", .apng) == ["a.gif.png", "b.png.png"])
    #expect(try places("o/", .gif) == ["o/a.gif", "o/b.gif"])
    #expect(try places("o/") == ["o/a.gif", "o/b.png"])
    #expect(try AnimationDestination("o/", for: inputs, format: nil).formats == [.gif, .apng])
    #expect(try places("{stem}{stem}.gif") == ["aa.gif", "bb.gif"])
    #expect(try places("{stem}.{ext}") == ["a.gif", "b.png"])
    let other = try AnimationDestination("o/{stem}.{ext}", for: [InputFile("c.apng")], format: nil)
    #expect(other.name(of: 0).text == "o/c.apng" && other.formats == [.apng])
    for name in ["o.gif", "-", "/dev/null", "{stem}-{index}.gif", "%d.gif"] {
      #expect(throws: CommandFailure.self, "\(name)") { try places(name) }
    }
  }

  @Test func `edits apply in a fixed order, whatever the order of the options`() throws {
    let words = [
      "a.gif", "-o", "b.gif", "--plays", "3", "--crop", "2x2", "--fps", "10", "--speed", "2",
      "--back-and-forth", "--reverse", "--frames", "1-,0",
    ]
    let command = try ConvertCommand.parse(words)
    let edits = try command.request.edits.edits(count: 4)
    #expect(
      edits == [
        .frames(at: [0, 1, 2, 3]), .reverse, .backAndForth, .speed(2), .framesPerSecond(10),
        .crop(PixelRect(x: 0, y: 0, width: 2, height: 2)), .playCount(.finite(3)),
      ])
    let time = try ConvertCommand.parse(["a.gif", "-ob.gif", "--time", "-2s"]).request.edits
    #expect(try time.edits(count: 1) == [.time(.zero..<(.seconds(2)))])
    #expect(throws: FrameSelector.MissingFrame.self) {
      try ConvertCommand.parse(["a.gif", "-ob.gif", "--frames", "9"]).request.edits.edits(count: 9)
    }
  }

  @Test(arguments: [
    "--frames 1 --time 1s-", "--time 1s", "--speed 2 --duration 1s", "--delay 1/3 --speed 2",
    "--speed 0", "--speed nan", "--speed 1001", "--duration 0", "--plays 0", "--crop 0x1", "-j 0",
    "--effort hard", "--format webp", "--fit fill", "--frames 3-1",
  ])
  func `senseless options are refused before a file is opened`(_ line: String) {
    #expect(throws: (any Error).self) {
      try ConvertCommand.parse(
        ["a.gif", "-o", "b.gif"] + line.split(separator: " ").map(String.init))
    }
  }

  @Test(arguments: [
    "--fps 3 --delay 1s", "--delay 1s --delays f", "--fps 0", "--delay x", "--delays", "--order z",
  ])
  func `times of pictures are set in one way only`(_ line: String) {
    #expect(throws: (any Error).self) {
      try MakeCommand.parse(["a.png", "-o", "b.png"] + line.split(separator: " ").map(String.init))
    }
  }

  @Test func `concatenated PNG files are separated`() throws {
    let first = try PNGEncoder().encode(Bitmap(width: 2, height: 1))
    let second = try PNGEncoder().encode(Bitmap(width: 30, height: 20))
    func pictures(_ bytes: [UInt8]) -> [[UInt8]] { PNGSequence.pictures(in: bytes).map(Array.init) }
    #expect(pictures(first + second + first) == [first, second, first])
    #expect(pictures([]).isEmpty)
    // A truncated picture, and bytes that are not a picture, count as one that cannot be read.
    #expect(pictures(first + second.dropLast(3)) == [first, second.dropLast(3)])
    #expect(pictures(first + [1, 2, 3]) == [first, [1, 2, 3]])
    let huge = Array(first.prefix(8)) + [0xff, 0xff, 0xff, 0xff] + Array("IENDabcd".utf8)
    #expect(pictures(huge) == [huge])
  }
}
