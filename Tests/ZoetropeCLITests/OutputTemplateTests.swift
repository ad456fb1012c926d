import SystemPackage
import Testing

@testable import ZoetropeCLI
@testable import ZoetropeProcess

@Suite(.timeLimit(.minutes(10))) struct OutputTemplateTests {
  private let values = OutputTemplate.Values(
    input: InputFile(path: "a/b/cat.gif"), index: 7, lastIndex: 9, timeMilliseconds: 1400,
    delayMilliseconds: 40, fileExtension: "png")

  @Test(arguments: [
    ("{stem}-{index:04}.png", "cat-0007.png"), ("%04d.png", "0007.png"), ("%d", "7"),
    ("{index}_{start_ms}_{shown_ms}.{ext}", "7_1400_40.png"), ("{{x}}%%{index}", "{x}%7"),
    ("a/{stem}/{index}", "a/cat/7"), ("{name}-{index}", "cat.gif-7"),
    ("{dir}/{parent}-{stem}", "a/b/b-cat"), ("{start_ms:06}_{shown_ms:3}", "001400_040"),
  ])
  func `placeholders are replaced`(_ template: String, _ name: String) throws {
    let parsed = try OutputTemplate(parsing: Array(template.utf8))
    #expect(String(decoding: parsed.name(values), as: UTF8.self) == name)
  }

  @Test(arguments: [
    "{", "{nope}", "{name:3}", "{stem:}", "{start_ms:21}", "{index:}", "{index:999}", "%s", "%",
    "%099d", "{index:-1}",
  ])
  func `an unknown placeholder is a usage error`(_ template: String) {
    #expect(throws: CommandFailure.self) { try OutputTemplate(parsing: Array(template.utf8)) }
  }

  @Test(
    arguments: [
      ("{index}", 9, "7"), ("{index}", 10, "07"), ("{index}", 99_999, "00007"),
      ("{index}", nil, "0007"),
      ("{index:1}", 99_999, "7"), ("{index:03}", 99_999, "007"), ("{index:06}", nil, "000007"),
      ("%d", 99_999, "7"), ("%03d", nil, "007"),
    ] as [(String, Int?, String)])
  func `a number without a width has as many digits as the last one`(
    _ template: String, _ lastIndex: Int?, _ name: String
  ) throws {
    var values = values
    values.lastIndex = lastIndex
    let parsed = try OutputTemplate(parsing: Array(template.utf8))
    #expect(String(decoding: parsed.name(values), as: UTF8.self) == name)
  }

  @Test(
    arguments: [
      (ExtractionFormat.png, 9, "o/cat-0007.png"), (.png, 10_000, "o/cat-00007.png"),
      (.png, nil, "o/cat-0007.png"), (.y4m, 9, "o/cat.y4m"), (.ffconcat, 9, "o/cat.ffconcat"),
    ] as [(ExtractionFormat, Int?, String)])
  func `files in a directory have the format's names`(
    _ format: ExtractionFormat, _ lastIndex: Int?, _ name: String
  ) {
    var values = values
    values.lastIndex = lastIndex
    let template = OutputTemplate.files(inDirectory: Array("o".utf8), for: format)
    #expect(String(decoding: template.name(values), as: UTF8.self) == name)
  }

  @Test(
    arguments: [
      ("o/list.ffconcat", "o/list-0007.png"), ("{stem}.ffconcat", "cat-0007.png"),
      ("list.txt", nil),
      ("{stem}", nil), ("o/list.{ext}", nil),
    ] as [(String, String?)])
  func `the frames of a list have its name`(_ template: String, _ name: String?) throws {
    let parsed = try OutputTemplate(parsing: Array(template.utf8))
    let found = parsed.listedFrames.map { String(decoding: $0.name(values), as: UTF8.self) }
    #expect(found == name)
  }

  @Test(
    arguments: [
      ("a.y4m", ExtractionFormat.png, "--format y4m"), ("a.ffconcat", .rgba, "--format ffconcat"),
      ("a.png", .y4m, "the output is video"), ("a.mp4", .y4m, "the output is video"),
      ("a.y4m", .ffconcat, "--format y4m"), ("a.y4m", .y4m, nil), ("a.rgba", .png, nil),
      ("a.png", .png, nil), ("a.ffconcat", .ffconcat, nil),
    ] as [(String, ExtractionFormat, String?)])
  func `a name's extension fits the format`(
    _ name: String, _ format: ExtractionFormat, _ message: String?
  ) throws {
    let template = try OutputTemplate(parsing: Array(name.utf8))
    var found: String?
    do throws(CommandFailure) { try FileEnding.check(template, format) } catch {
      found = error.message
    }
    #expect((found == nil) == (message == nil))
    if let message { #expect(found?.contains(message) == true) }
  }

  @Test func `the static image is called static`() throws {
    var values = values
    values.index = nil
    let parsed = try OutputTemplate(parsing: Array("{stem}-{index:04}".utf8))
    #expect(String(decoding: parsed.name(values), as: UTF8.self) == "cat-static")
  }

  @Test(arguments: [
    ("a/b/cat.gif", "cat"), ("cat", "cat"), (".hidden", ".hidden"), ("..", "_"), ("a/...gif", "_"),
    ("x\u{1b}[2J.gif", "x_[2J"), ("tar.gz.gif", "tar.gz"), ("/", "_"), ("..\n.gif", ".._"),
  ])
  func `a stem cannot leave the directory`(_ path: String, _ stem: String) {
    #expect(String(decoding: FileStem.of(Array(path.utf8)), as: UTF8.self) == stem)
  }

  @Test(arguments: [
    // The text in the middle is repeated until the name is too long.
    ("", "a", ".gif", 196), ("a", "é", ".gif", 195), ("", "é", "", 200), ("a", "é", "", 199),
    ("", "\u{1F600}", ".tar.gz", 196), ("a.", "b", "", 200),
  ])
  func `a name that is too long keeps its extension and whole characters`(
    _ start: String, _ text: String, _ ending: String, _ count: Int
  ) {
    let long = start + String(repeating: text, count: 300) + ending
    let name = FileStem.of(Array(long.utf8), keepingExtension: true)
    let kept = String(decoding: name, as: UTF8.self)
    let last = ending.split(separator: ".").last.map { ".\($0)" } ?? ""
    #expect(name.count == count + last.utf8.count)
    #expect(kept.hasSuffix(last) && long.hasPrefix(kept.dropLast(last.count)))
  }

  @Test func `a name in another encoding is cut at the limit`() {
    let name = [UInt8](repeating: 0x81, count: 300)
    #expect(FileStem.of(name, keepingExtension: true) == Array(name.prefix(200)))
    #expect(FileStem.of(name + Array(".gif".utf8)) == Array(name.prefix(200)))
  }

  @Test(arguments: [
    ("out", "out/{stem}-{index:04}.{ext}"), ("out/", "out/{stem}-{index:04}.{ext}"),
    ("one.png", "one.png"), ("d.d/", "d.d/{stem}-{index:04}.{ext}"), ("%d.png", "{index}.png"),
    (".frames", ".frames/{stem}-{index:04}.{ext}"),
  ])
  func `an output name is a directory, a template or one file`(
    _ argument: String, _ template: String
  ) throws {
    let destination = try OutputDestination(parsing: Array(argument.utf8)) { _ in false }
    let expected = try OutputTemplate(parsing: Array(template.utf8))
    guard case .files(let found) = destination else {
      Issue.record("\(argument) is not standard output")
      return
    }
    #expect(found.name(values) == expected.name(values))
  }

  @Test func `a dash is standard output`() throws {
    #expect(
      try OutputDestination(parsing: Array("-".utf8)) { _ in false } == .standardOutput)
  }
}
