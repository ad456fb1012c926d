import Testing

@testable import ZoetropeCLI
@testable import ZoetropeProcess

@Suite(.timeLimit(.minutes(1))) struct OutputTemplateTests {
  private let values = OutputTemplate.Values(
    name: Array("cat.gif".utf8), stem: Array("cat".utf8), index: 7, timeMilliseconds: 1400,
    delayMilliseconds: 40,
    fileExtension: "png")

  @Test(arguments: [
    ("{stem}-{index:04}.png", "cat-0007.png"), ("%04d.png", "0007.png"), ("%d", "7"),
    ("{index}_{time_ms}_{delay_ms}.{ext}", "7_1400_40.png"), ("{{x}}%%{index}", "{x}%7"),
    ("a/{stem}/{index}", "a/cat/7"), ("{name}-{index}", "cat.gif-7"),
    ("{time_ms:06}_{delay_ms:3}", "001400_040"),
  ])
  func `places are filled`(_ template: String, _ name: String) throws {
    let parsed = try OutputTemplate(parsing: Array(template.utf8))
    #expect(String(decoding: parsed.name(values), as: UTF8.self) == name)
  }

  @Test(arguments: [
    "{", "{nope}", "{name:3}", "{stem:}", "{time_ms:21}", "{index:}", "{index:999}", "%s", "%",
    "%099d", "{index:-1}",
  ])
  func `a place that is not known is a usage error`(_ template: String) {
    #expect(throws: CommandFailure.self) { try OutputTemplate(parsing: Array(template.utf8)) }
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
