import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeProcess
import ZoetropeTestSupport

@testable import ZoetropeCLI
@testable import ZoetropeExplain

/// The rules themselves.
@Suite(.timeLimit(.minutes(10))) struct ProgramRuleTests {
  @Test(arguments: [
    ("chromium", [100, 100, 20, 50]), ("firefox", [100, 100, 20, 50]),
    ("webkit", [100, 100, 20, 50]), ("imageio", [100, 100, 20, 50]),
    ("ffmpeg", [100, 100, 20, 50]), ("pillow", [0, 10, 20, 50]),
    ("imagemagick", [0, 10, 20, 50]), ("android", [100, 100, 20, 50]), ("gtk", [100, 20, 20, 50]),
  ])
  func `a GIF's delays of 0, 10, 20 and 50 ms are shown as the rules say`(
    _ id: String, _ shown: [Int]
  ) throws {
    let program = try #require(Programs.all.first { $0.id == id })
    let rule = try #require(program.gif.delays)
    for (centiseconds, milliseconds) in zip([0, 1, 2, 5], shown) {
      let delay = FrameDelay(centiseconds: UInt16(centiseconds))
      #expect(rule.shownDuration(of: delay) == .milliseconds(milliseconds))
    }
  }

  @Test(arguments: [
    ("chromium", 1, 24, 41_000), ("firefox", 1, 24, 41_000), ("webkit", 1, 24, 41_667),
    ("ffmpeg", 0, 10, 66_670), ("ffmpeg", 1, 3, 333_330), ("ffmpeg", 1, 1000, 1000),
    ("pillow", 0, 10, 0), ("chromium", 1, 99, 100_000),
  ])
  func `an APNG's delay is shown in each program's units`(
    _ id: String, _ numerator: Int, _ denominator: Int, _ microseconds: Int
  ) throws {
    let program = try #require(Programs.all.first { $0.id == id })
    let delay = FrameDelay(numerator: UInt32(numerator), denominator: UInt32(denominator))
    let shown = try #require(program.apng.delays).shownDuration(of: delay)
    #expect(Decimal(shown).thousandths == microseconds)
  }

  @Test func `a delay that overflows has no duration`() throws {
    let rule = try #require(Programs.ffmpeg.apng.delays)
    #expect(rule.shownDuration(of: FrameDelay(numerator: 65535, denominator: 1)) < .zero)
    #expect(
      rule.shownDuration(of: FrameDelay(numerator: 21474, denominator: 1)) == .seconds(21474))
  }

  @Test(arguments: Programs.all)
  func `every rule has a text and a source`(_ program: Program) {
    for behaviour in [program.gif, program.apng] {
      #expect(!behaviour.allRules.isEmpty)
      for rule in behaviour.allRules {
        #expect(!rule.text.isEmpty)
        #expect(rule.source.hasPrefix("https://"))
      }
      #expect(behaviour.animates == (behaviour.delays != nil))
      #expect(behaviour.animates == (behaviour.plays != nil))
    }
  }
}

/// Predictions for single files.
@Suite(.timeLimit(.minutes(10))) struct ExplanationTests {
  private func explain(_ bytes: [UInt8], _ ids: String...) throws -> [Explanation.Prediction] {
    try Explanation(
      of: AnimatedImage(bytes: bytes),
      programs: ids.compactMap { id in Programs.all.first { $0.id == id } }
    ).predictions
  }

  @Test func `nothing is predicted for a format without rules`() throws {
    #expect(FarbfeldCodec.isAdded)
    let image = try AnimatedImage(bytes: FarbfeldFilm().bytes)
    let report = ExplanationReport(
      input: InputFile("a.ff"), explanation: try Explanation(of: image, programs: Programs.all))
    #expect(
      report.text(showsRules: true) == "a.ff: FARBFELD, 12x9, 6 frames\n  no prediction\n")
  }

  @Test func `plays, durations and changed delays follow from the rules`() throws {
    var gif = SampleGIF()
    gif.loop = 2
    let predictions = try explain(
      gif.bytes, "chromium", "imageio", "ffmpeg", "pillow", "gtk")
    #expect(
      predictions.map(\.plays) == [
        .count(.finite(3)), .count(.indefinite), .count(.once), .stored(2), .count(.finite(3)),
      ])
    #expect(
      predictions.map(\.playDuration) == [240, 240, 240, 140, 240].map { .milliseconds($0) })
    #expect(
      predictions[0].changes == [
        Explanation.ChangedDelay(frame: 2, stored: .zero, shown: .milliseconds(100))
      ])
    #expect(predictions[3].changes.isEmpty)
    #expect(predictions[2].difference == .none)
    #expect(predictions[3].difference == .none)
    #expect(predictions[4].difference == .unknown)
  }

  @Test func `twelve twelfths of a second are a second`() throws {
    let spinner = FilePath(#filePath).removingLastComponent().removingLastComponent()
      .removingLastComponent().removingLastComponent().appending("Fixtures/Demo/spinner.png")
    let explanation = try Explanation(
      of: AnimatedImage(contentsOf: spinner),
      programs: Programs.all.filter { $0.id == "imageio" })
    #expect(explanation.predictions.map(\.playDuration) == [.seconds(1)])
  }

  /// As Firefox 153 shows them in its ImageDecoder; frames of two rows, clipped or not, are drawn.
  @Test(arguments: [(1, true, 1), (1, false, nil), (2, true, nil)])
  func `Firefox draws no interlaced frame of one row`(
    _ height: Int, _ isInterlaced: Bool, _ frame: Int?
  ) throws {
    var gif = SampleGIF(width: 6, height: height)
    gif.frames = [(0, 4), (1, 4)]
    var bytes = gif.bytes
    let descriptor: [UInt8] = [0x2c, 0, 0, 0, 0, 6, 0, UInt8(height), 0]
    let starts = bytes.indices.filter { bytes[$0...].starts(with: descriptor) }
    if isInterlaced { bytes[try #require(starts.last) + descriptor.count] |= 0x40 }
    let predictions = try explain(bytes, "firefox", "chromium")
    #expect(predictions[0].difference.frame == frame)
    #expect(predictions[0].difference.cause == (frame == nil ? nil : .frames))
    #expect(predictions[1].difference == .none)
  }

  /// Two frames of RGB with a transparent colour: the first covers the canvas and is disposed of.
  private func keyed(_ key: [UInt8]) -> [UInt8] {
    func bytes(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 255) } }
    func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
      let named = Array(name.utf8) + data
      return bytes(UInt32(data.count)) + named + bytes(CRC32.of(named[...]))
    }
    func stored(_ row: [UInt8]) -> [UInt8] {
      let count = UInt8(row.count)
      var sums: (UInt32, UInt32) = (1, 0)
      for byte in row { sums = (sums.0 + UInt32(byte), sums.1 + sums.0 + UInt32(byte)) }
      return [0x78, 1, 1, count, 0, ~count, 255] + row + bytes(sums.1 << 16 | sums.0)
    }
    func control(_ number: UInt32, width: UInt32, disposal: UInt8) -> [UInt8] {
      let numbers = [number, width, 1, 0, 0].flatMap(bytes)
      return chunk("fcTL", numbers + [0, 1, 0, 10, disposal, 0])
    }
    let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]
    return signature + chunk("IHDR", bytes(2) + bytes(1) + [8, 2, 0, 0, 0])
      + chunk("tRNS", key.flatMap { [0, $0] }) + chunk("acTL", bytes(2) + bytes(0))
      + control(0, width: 2, disposal: 1) + chunk("IDAT", stored([0, 255, 0, 0, 0, 255, 0]))
      + control(1, width: 1, disposal: 0) + chunk("fdAT", bytes(2) + stored([0, 9, 9, 255]))
      + chunk("IEND", [])
  }

  /// As Pillow 13 does with frames of the corpora. A key of black makes what it clears transparent.
  @Test(arguments: [([1, 2, 3], 1), ([0, 0, 0], nil)] as [([UInt8], Int?)])
  func `Pillow clears RGB with a transparent colour to black`(_ key: [UInt8], _ frame: Int?) throws
  {
    let predictions = try explain(keyed(key), "pillow", "ffmpeg", "chromium")
    #expect(predictions[0].difference.frame == frame)
    #expect(predictions[0].difference.cause == (frame == nil ? nil : .dispose))
    #expect(predictions[0].difference.detail == (frame == nil ? nil : "pixel 1,0"))
    #expect(predictions[2].difference == .none)
  }

  @Test func `nothing is predicted after damage`() throws {
    let predictions = try explain(
      Array(SampleGIF().bytes.dropLast(12)), "chromium", "ffmpeg", "pillow")
    // A program that reads ahead fails a frame earlier.
    #expect(predictions.map(\.difference.frame) == [2, 1, 1])
    for prediction in predictions {
      #expect(prediction.difference.outcome == .unpredicted)
      #expect(prediction.difference.cause == .damage)
    }
  }
}

@Suite(.timeLimit(.minutes(10))) struct ModelCanvasTests {
  @Test func `only what may have changed is compared again`() {
    func bitmap(_ width: Int, _ pixel: RGBA) -> Bitmap {
      Bitmap.drawn(size: PixelSize(width: width, height: 1)) { _, bytes in
        for x in 0..<width {
          bytes.storeBytes(of: pixel.word.littleEndian, toByteOffset: x * 4, as: UInt32.self)
        }
      }
    }
    let canvas = ModelCanvas(size: PixelSize(width: 6, height: 1), fill: 0)
    let (clear, black) = (bitmap(6, RGBA(word: 0)), bitmap(6, .black))
    #expect(canvas.firstDifference(from: clear, in: [])?.x == nil)
    // Six pixels differ. Only those are compared where the other picture changed or this one was drawn to.
    #expect(canvas.firstDifference(from: black, in: [])?.x == nil)
    let last = PixelRect(x: 5, y: 0, width: 1, height: 1)
    #expect(canvas.firstDifference(from: black, in: [last])?.x == 5)
    canvas.draw(bitmap(1, RGBA(word: 0)), at: last, blending: .source)
    canvas.fill(PixelRect(x: 2, y: 0, width: 2, height: 1), with: 0)
    #expect(canvas.firstDifference(from: black, in: [])?.x == 2)
    canvas.restore([RGBA.black.word], in: last)
    #expect(canvas.firstDifference(from: black, in: [])?.x == nil)
  }
}

/// How ImageMagick treats blocks that other programs do not relate to frames.
@Suite(.timeLimit(.minutes(10))) struct ImageMagickTests {
  private func predict(_ bytes: [UInt8]) throws -> Explanation.Prediction {
    try Explanation(
      of: AnimatedImage(bytes: bytes), programs: [Programs.imageMagick]
    ).predictions[0]
  }

  /// A screen of 2x1 with two colours, then `blocks`.
  private func gif(_ blocks: [UInt8]...) -> [UInt8] {
    let screen: [UInt8] = [2, 0, 1, 0, 0x80, 1, 0]
    let palette: [UInt8] = [0, 0, 0, 255, 0, 0]
    return Array("GIF89a".utf8) + screen + palette + blocks.flatMap { $0 } + [0x3b]
  }

  /// A pixel of colour 0 at `x`.
  private func pixel(at x: UInt8, palette: [UInt8] = []) -> [UInt8] {
    [0x2c, x, 0, 0, 0, 1, 0, 1, 0, palette.isEmpty ? 0 : 0x80] + palette + [2, 2, 0x44, 0x01, 0]
  }

  private let control: [UInt8] = [0x21, 0xf9, 4, 2 << 2, 7, 0, 0, 0]
  private let transparentControl: [UInt8] = [0x21, 0xf9, 4, 1, 7, 0, 1, 0]

  @Test func `a frame without a control extension has the delay and method of the one before`()
    throws
  {
    let prediction = try predict(
      gif(transparentControl, pixel(at: 0), control, pixel(at: 0), pixel(at: 1), pixel(at: 0)))
    #expect(prediction.durations == Array(repeating: .milliseconds(70), count: 4))
    #expect(prediction.changes.map(\.frame) == [2, 3])
    // The third frame is cleared here and kept elsewhere.
    #expect(prediction.difference.frame == 3)
    #expect(prediction.difference.cause == .dispose)
    #expect(prediction.effectiveRules.map(\.subject) == [.delays, .dispose])
  }

  @Test func `only a NETSCAPE2_0 block before the first frame is a loop count`() throws {
    func loop(_ name: String) -> [UInt8] { [0x21, 0xff, 11] + Array(name.utf8) + [3, 1, 4, 0, 0] }
    let known = try predict(gif(loop("NETSCAPE2.0"), transparentControl, pixel(at: 0)))
    #expect(known.plays == .count(.finite(5)))
    #expect(known.effectiveRules.isEmpty)
    let other = try predict(gif(loop("ANIMEXTS1.0"), transparentControl, pixel(at: 0)))
    #expect(other.plays == .count(.once))
    #expect(other.effectiveRules.map(\.subject) == [.plays])
  }

  @Test func `an opaque canvas begins in the background colour, or in white`() throws {
    for palette in [[], [0, 0, 0, 9, 9, 9]] as [[UInt8]] {
      let difference = try predict(gif(pixel(at: 0, palette: palette))).difference
      #expect(difference.frame == 0)
      #expect(difference.cause == .canvas)
      #expect(difference.detail == "pixel 1,0")
    }
  }

  @Test(arguments: [(UInt8(3), PlayCount.finite(4)), (UInt8(0), PlayCount.indefinite)])
  func `a loop count after the first frame is ignored`(count: UInt8, plays: PlayCount) throws {
    func loop(_ count: UInt8) -> [UInt8] {
      [0x21, 0xff, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, count, 0, 0]
    }
    let prediction = try predict(
      gif(loop(count), control, pixel(at: 0), loop(5), control, pixel(at: 1)))
    #expect(prediction.plays == .count(plays))
    #expect(prediction.losesPlays)
  }

  @Test func `a truncated frame anywhere leaves no frames`() throws {
    let bytes = gif(transparentControl, pixel(at: 0), transparentControl, pixel(at: 0))
    let prediction = try predict(Array(bytes.dropLast(4)))
    let difference = prediction.difference
    #expect(difference.isTotal && prediction.playDuration == nil && prediction.plays == nil)
    #expect(difference.outcome == .differs)
    #expect(difference.frame == 0)
    #expect(difference.cause == .frames)
  }
}

/// The command.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct ExplainCommandTests {
  private static let fixtures = FilePath(#filePath).removingLastComponent()
    .removingLastComponent().removingLastComponent().removingLastComponent()
    .appending("Fixtures")

  @Test func `a table names programs, and -v adds the rules that had an effect`() throws {
    try withTool { (tool: Tool) throws in
      let table = try tool.run("explain", "cat.gif", "--as", "chromium,ffmpeg,gtk")
      let result = try tool.run("explain", "-v", "cat.gif", "--as", "chromium,ffmpeg,gtk")
      #expect(table.text.split(separator: "\n").count == 5 && result.text.hasPrefix(table.text))
      #expect(result.status == 0)
      #expect(result.errors.isEmpty)
      let lines = result.text.split(separator: "\n").map(String.init)
      #expect(lines.first == "cat.gif: GIF, 6x4, 3 frames")
      #expect(
        lines.dropFirst().prefix(4).map {
          $0.split(separator: " ").first.map(String.init)
        } == ["program", "chromium", "ffmpeg", "gtk"])
      #expect(lines[2] == "  chromium  forever  240 ms    1 delay: 0 to 100 ms  none")
      #expect(lines[3].contains("once"))
      #expect(lines[4].hasSuffix("none known"))
      #expect(result.text.contains("ffmpeg, delays: less than 20 ms is shown as 100 ms"))
      #expect(result.text.contains("[measured, 5.1]\n    https://"))
      #expect(result.text.contains("gtk, delays: 0 is shown as 100 ms, 10 ms as 20 ms [reported]"))
      #expect(!result.text.contains("firefox"))
    }
  }

  @Test func `JSON has an object a line, failures in their places`() throws {
    try withTool { (tool: Tool) throws in
      let hidden = Self.fixtures.appending("APNG/static-hidden.png").string
      let result = try tool.run("explain", "--json", "cat.gif", "none", hidden)
      #expect(result.status == 1)
      let lines = try JSONLine.all(result.output)
      #expect(lines.map { $0["schema"] } == Array(repeating: "zoetrope.explain/2", count: 3))
      #expect(lines[1]["error"]["code"] == "io")
      let programs = lines[0]["programs"].elements
      #expect(programs.map { $0["id"].text } == Programs.all.map(\.id))
      #expect(programs[0]["plays"] == .null)
      #expect(programs[0]["forever"] == true)
      #expect(programs[0]["duration_ms"] == 240)
      #expect(programs[0]["changed_delays"].count == 1)
      #expect(programs[0]["changed_delays"][0]["frame"] == 2)
      #expect(programs[0]["changed_delays"][0]["shown_ms"] == 100)
      #expect(programs[0]["difference"]["outcome"] == "none")
      let delays = programs[0]["rules"].elements.filter { $0["subject"] == "delays" }
      #expect(delays.first?["applies"] == true)
      #expect(delays.first?["evidence"] == "reported")
      let byID = Dictionary(
        uniqueKeysWithValues: lines[2]["programs"].elements.map { ($0["id"].text ?? "", $0) })
      #expect(byID["android"]?["animates"] == false)
      #expect(byID["android"]?["difference"]["frame"] == 0)
      #expect(byID["android"]?["difference"]["cause"] == "format")
      #expect(byID["pillow"]?["difference"]["cause"] == "frames")
      #expect(byID["pillow"]?["stored_loop"].integer != nil)
    }
  }

  @Test func `Chromium's colour for an index past the palette is reported`() throws {
    try withTool { (tool: Tool) throws in
      let file = Self.fixtures.appending("Bad/png-palette-index.png").string
      let json = try JSONLine.one(tool.run("explain", "--json", "--as", "chromium", file).output)
      let difference = json["programs"][0]["difference"]
      #expect(difference["outcome"] == "differs" && difference["cause"] == "colour")
    }
  }

  /// As Pillow 13 does with 21 files of the corpora.
  @Test func `a chunk with a wrong checksum makes a file unreadable to Pillow`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.shell("cp '\(Self.fixtures)/APNG/static-hidden.png' whole.png") == 0)
      var bytes = try tool.read("whole.png")
      // Behind the signature and IHDR.
      bytes.insert(contentsOf: [0, 0, 0, 0] + Array("bKGE".utf8) + [1, 2, 3, 4], at: 33)
      try tool.write(bytes, to: "bent.png")
      let explain = ["explain", "--as", "pillow", "bent.png"]
      let json = try JSONLine.one(tool.run(explain + ["--json"]).output)
      let program = json["programs"][0]
      #expect(program["difference"]["detail"] == "the checksum of bKGE")
      #expect(program["duration_ms"] == .null)
      #expect(try tool.run(explain).text.contains("shows nothing: frames"))
    }
  }

  @Test func `programs complete after a comma too`() {
    #expect(ProgramsArgument.completions(of: "chr") == Programs.all.map(\.id))
    let more = ProgramsArgument.completions(of: "gtk,pillow,f")
    #expect(more.count == Programs.all.count - 2)
    #expect(more.contains("gtk,pillow,firefox"))
  }

  @Test(arguments: ["", "chrome", "chromium,", "chromium;gtk"])
  func `unknown programs are refused`(_ names: String) throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.run("explain", "cat.gif", "--as", names).status == 2)
    }
  }

  @Test func `a profile changes colours where programs convert them`() throws {
    try withTool { (tool: Tool) throws in
      let file = Self.fixtures.appending("APNG/metadata.png").string
      let info = try JSONLine.one(tool.run("info", "--json", file).output)
      try #require(info["color"]["icc_bytes"].integer ?? 0 > 0 || info["color"]["gamma"] != .null)
      let line = try JSONLine.one(
        tool.run("explain", "--json", "--as", "firefox,ffmpeg", file).output)
      #expect(line["programs"][0]["difference"]["cause"] == "colour")
      #expect(line["programs"][1]["difference"]["cause"] != "colour")
    }
  }
}
