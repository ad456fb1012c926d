import SystemPackage
import Testing
import Zoetrope

@testable import ZoetropeCLI
@testable import ZoetropeProcess

@Suite(.timeLimit(.minutes(10))) struct ReportTests {
  @Test func `JSON text is escaped and commas stand between fields only`() {
    var json = JSONWriter()
    json.object {
      $0.field("a", "q\"\\\n\u{1b}\u{9b}é")
      $0.field("b", Int?.none)
      $0.field("c", [1, 2])
      $0.object("d") { _ in }
      $0.array("e") {
        $0.object { $0.field("f", true) }
        $0.object { $0.field("g", Decimal(thousandths: 33_330)) }
      }
    }
    #expect(
      String(decoding: json.bytes, as: UTF8.self)
        == #"{"a":"q\"\\\n\u001b\u009bé","b":null,"c":[1,2],"d":{},"e":[{"f":true},{"g":33.33}]}"#)
  }

  @Test(arguments: [
    ("plain é 猫", "plain é 猫"), ("a\u{1b}[31mb", #"a\x1B[31mb"#), ("a\nb", #"a\x0Ab"#),
    ("x\u{202e}gpj", #"x\u{202E}gpj"#), ("a\u{61c}b", #"a\u{61C}b"#), ("a\u{ad}b", #"a\xADb"#),
    ("\u{9b}2J", #"\x9B2J"#),
  ])
  func `text from a file cannot steer a terminal`(_ text: String, _ shown: String) {
    #expect(text.sanitized == shown)
  }

  @Test(arguments: [
    (FrameDelay(numerator: 1, denominator: 30), "33.333"), (FrameDelay(centiseconds: 4), "40"),
    (FrameDelay(numerator: 1, denominator: 1000), "1"),
    (FrameDelay(numerator: 65535, denominator: 7), "9362142.857"),
  ])
  func `delays are printed in milliseconds`(_ delay: FrameDelay, _ text: String) {
    #expect(Decimal(delay).description == text)
  }

  @Test func `a printed time, passed back as an argument, is not before the real one`() {
    // 16/561 s is 28520.4991 µs, and printed as 28520 µs.
    for (numerator, denominator) in [(16, 561), (14, 613), (44, 577), (25, 739), (1, 3), (1, 7)] {
      let start = Duration.seconds(numerator) / denominator
      let printed = Duration.microseconds(start.roundedMicroseconds)
      #expect(printed + .printingLoss >= start)
      #expect(printed + .printingLoss < start + .microseconds(1))
    }
  }

  @Test(arguments: [7, 12, 24, 30, 60, 128])
  func `times are rounded to the nearest, and add up`(perSecond: UInt32) throws {
    let delay = FrameDelay(numerator: 1, denominator: perSecond)
    let frames = (0..<34).map {
      FrameControl(index: $0, rect: PixelRect(x: 0, y: 0, width: 1, height: 1), delay: delay)
    }
    let starts = frames.starts(.exact) + [frames.duration(.exact)]
    for (index, start) in starts.enumerated() {
      let exact = Double(index) * 1_000_000 / Double(perSecond)
      #expect(abs(Double(start.thousandths) - exact) <= 0.501)
    }
    let shown = zip(starts, starts.dropFirst()).map { $1 - $0 }
    #expect(shown.reduce(Decimal(thousandths: 0), +) == frames.duration(.exact))
    let microseconds = 1_000_000 / Double(perSecond)
    #expect(abs(Double(Decimal(delay).thousandths) - microseconds) <= 0.501)
  }

  @Test func `each frame of a report is shown until the next one starts`() throws {
    // Twelve twelfths of a second.
    let spinner = FilePath(#filePath).removingLastComponent().removingLastComponent()
      .removingLastComponent().appending("Fixtures/Demo/spinner.png")
    let image = try AnimatedImage(contentsOf: spinner)
    var writer = JSONWriter()
    AnimationReport(input: InputFile("spinner.png"), image: image, policy: .browser)
      .write(to: &writer)
    let json = try JSONLine.one(writer.bytes + [0x0a])
    #expect(Set(json["frames"].elements.map { $0["stored_ms"].real }) == [83.333])
    var now = 0.0
    for frame in json["frames"].elements {
      #expect(abs((frame["start_ms"].real ?? -1) - now) < 1e-6)
      now += frame["shown_ms"].real ?? -1
    }
    #expect(abs((json["duration_ms"]["shown"].real ?? -1) - now) < 1e-6)
  }

  @Test func `a bar fills in eighths and leaves the last column free`() throws {
    let half = ProgressBar(done: 5, total: 10, bytes: 1_250_000, elapsed: .seconds(2))
    let line = try #require(half.line(width: 80))
    #expect(line.contains("5/10 frames  1.2 MB  2 s left"))
    #expect(line.filter { $0 == "█" }.count == 20)
    for width in 20...200 { #expect((half.line(width: width) ?? "").count < width) }
    #expect(half.line(width: 19) == nil)
  }

  @Test func `a bar names the attempt to meet a byte budget`() throws {
    let third = ProgressBar(
      done: 5, total: 10, bytes: 1_250_000, elapsed: .seconds(2), attempt: 3)
    let line = try #require(third.line(width: 80))
    #expect(line.hasSuffix("5/10 frames of attempt 3  1.2 MB"))
    for width in 20...200 { #expect((third.line(width: width) ?? "").count < width) }
    var sample = third
    sample.isSample = true
    #expect(sample.line(width: 80)?.contains(" of attempt 3 (a sample)  1.2 MB") == true)
    for width in 20...200 { #expect((sample.line(width: width) ?? "").count < width) }
  }

  @Test func `one status speaks for several inputs`() {
    #expect(ExitStatus.combined([]) == .success)
    #expect(ExitStatus.combined([.undecodable, .undecodable]) == .undecodable)
    #expect(ExitStatus.combined([.success, .undecodable]) == .partial)
    for statuses in [[ExitStatus.limit, .undecodable], [.undecodable, .limit]] {
      #expect(ExitStatus.combined(statuses) == .partial)
    }
  }

  @Test(arguments: [
    (".zoetrope-1f3a9c0077.tmp", true), (".zoetrope-12-3.tmp", true), (".zoetrope-.tmp", false),
    ("zoetrope-12.tmp", false), (".zoetrope-12.png", false), (".zoetrope-mine.tmp", false),
  ])
  func `only names that this tool gives are temporary files`(_ name: String, _ isOurs: Bool) {
    #expect(TemporaryFile.isTemporary(name) == isOurs)
  }

  @Test(arguments: [
    (9_999, nil), (12_500, "12.5 s"), (2_000_000, "33 min 20 s"), (7_505_000, "2 h 5 min 5 s"),
  ])
  func `long times are also printed in minutes`(_ milliseconds: Int, _ words: String?) {
    #expect(Decimal(thousandths: milliseconds * 1000).minutesAndSeconds == words)
  }
}
