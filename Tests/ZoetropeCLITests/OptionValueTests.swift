import ArgumentParser
import SystemPackage
import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeCLI
@testable import ZoetropePlayer
@testable import ZoetropeProcess

/// Values of options that no file and no clock can meet.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct OptionValueTests {
  /// A command line, and whether the type of its last option takes a word.
  private static let options: [(line: String, takes: @Sendable (String) -> Bool)] = [
    ("play cat.gif --protocol none --duration V", takes(TimeArgument.self)),
    ("play cat.gif --protocol none --speed V", takes(Double.self)),
    ("play cat.gif --protocol none --start V", takes(PlayStart.self)),
    ("play cat.gif --protocol none --delay V", takes(UInt32.self)),
    ("play cat.gif --protocol none --late catchup=V", takes(LateArgument.self)),
    ("play cat.gif --frame V", takes(FrameNumber.self)),
    ("play cat.gif --protocol none --timing V:V", takes(TimingArgument.self)),
    ("play cat.gif --protocol none --loops V", takes(LoopsArgument.self)),
    ("still cat.gif -o s.png --at V", takes(TimeArgument.self)),
    ("still cat.gif -o s.png --frame V", takes(FrameNumber.self)),
    ("extract cat.gif -o o/ --fps V", takes(PictureRate.self)),
    ("extract cat.gif -o o/ --time V", { TimeRange($0) != nil }),
    ("extract cat.gif -o o/ --time V-", { TimeRange($0) != nil }),
    ("extract cat.gif -o o/ --frames V", { FrameSelector($0) != nil }),
    ("extract cat.gif -o o/ --every V", takes(Int.self)),
    ("extract cat.gif -o o/ --max V", takes(Int.self)),
    ("extract cat.gif -o o/ -j V", takes(Int.self)),
    ("extract cat.gif -o o/ --size Vx", takes(SizeArgument.self)),
    ("extract cat.gif -o o/ --size VxV", takes(SizeArgument.self)),
  ]

  private static func takes<Value: ExpressibleByArgument & SendableMetatype>(
    _ type: Value.Type
  ) -> @Sendable (String) -> Bool {
    { Value(argument: $0) != nil }
  }

  private static func words(_ line: String, _ value: String) -> [String] {
    line.split(separator: " ").map { String($0.replacing("V", with: value)) }
  }

  /// Parses as the tool does, without starting it, because that costs 70 ms. Values that are refused only later give
  /// status 2, or 0 where a large number makes sense; a crash would give more than 128.
  @Test(arguments: options)
  func `senseless numbers are refused, and none causes a crash`(
    _ line: String, takes: @Sendable (String) -> Bool
  ) throws {
    try withTool { (tool: Tool) throws in
      for value in ["nan", "1e300", "-inf", "99999999999999999999", "", "-1e300"] {
        let arguments = Self.words(line, value)
        // The parser refuses what the type of the option refuses. One value shows that.
        let isTaken = takes(arguments[arguments.count - 1])
        guard isTaken || value == "nan" else { continue }
        let command = try #require(ZoetropeCommand.subcommand(named: arguments[0]))
        do {
          _ = try command.parseAsRoot(Array(arguments.dropFirst()))
        } catch {
          #expect(command.exitCode(for: error) != .success, "\(value)")
          continue
        }
        #expect(isTaken, "\(value)")
        let result = try tool.run(arguments)
        #expect(result.status == 2, "\(value)")
        #expect(!result.errors.isEmpty)
      }
      #expect(try tool.list() == ["cat.gif"])
      guard !line.contains("s.png"), !line.contains("-o o/") else { return }
      let isEndless = line.hasPrefix("play") && !line.contains("--duration")
      for value in ["9223372036854775807", "999999999", "4294967295"] {
        let result = try tool.run(
          Self.words(line, value) + (isEndless ? ["--duration", "0.05"] : ["--once"]))
        #expect([0, 2].contains(result.status), "\(value)")
      }
    }
  }

  @Test(arguments: [
    "play cat.gif --protocol none --speed nan", "play cat.gif --late catchup=1e300",
    "still cat.gif -o s.png --at -inf", "extract cat.gif -o o/ --every 1e300",
  ])
  func `the tool ends with status 2 and says why when a value is refused`(_ line: String) throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run(Self.words(line, ""))
      #expect(result.status == 2)
      #expect(!result.errors.isEmpty)
      #expect(try tool.list() == ["cat.gif"])
    }
  }

  @Test(arguments: [
    ("--plays 0", "Please provide 'forever' or a number from 1 to 2147483647."),
    ("--plays 4294967295", "Please provide 'forever' or a number from 1 to 2147483647."),
    ("--colors 257", "Please provide 'auto', 'exact' or a number from 2 to 256."),
    ("--matte blue", "Please provide 'none', 'black', 'white' or a colour such as ff8000."),
  ])
  func `a number that is refused is told the numbers that are not`(
    _ options: String, _ advice: String
  ) throws {
    try expectRefusal("convert cat.gif -o c.gif \(options)", advice)
  }

  @Test(arguments: [
    ("--size 65536x1", "with sides up to 65535"), ("--fps 1001", "(up to 1000)"),
    ("--follow --follow-timeout soon", "as in 2s"),
  ])
  func `a value that is refused is told the range or the form`(
    _ options: String, _ advice: String
  ) throws {
    try expectRefusal("extract cat.gif -o o/ \(options)", advice)
  }

  private func expectRefusal(_ command: String, _ advice: String) throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run(command.split(separator: " ").map(String.init))
      #expect(result.status == 2)
      #expect(result.errors.contains(advice), "\(result.errors)")
    }
  }

  @Test func `a colour may be written with a number sign`() {
    let color = RGBA(red: 255, green: 128, blue: 0)
    #expect(BackgroundArgument(argument: "#ff8000")?.color == color)
    #expect(BackgroundArgument(argument: "FF8000")?.color == color)
    for text in ["#", "##ff8000", "#ff800", "#fff", "#black", "ff8000#"] {
      #expect(BackgroundArgument(argument: text) == nil)
    }
  }

  @Test func `a size that does not fit in memory is refused by the limit on canvases`() throws {
    try withTool { (tool: Tool) throws in
      for command in ["still", "extract"] {
        let result = try tool.run(command, "cat.gif", "-o", "-", "--size", "65535x65535")
        #expect(result.status == 5)
        #expect(result.errors.contains("--size gives pictures of 65535x"))
      }
    }
  }

  @Test func `a short option takes its value in the same word`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.run("extract", "cat.gif", "-oout", "-j2").status == 0)
      #expect(try tool.list("out").count == 3)
      #expect(try tool.run("still", "cat.gif", "-os.png").status == 0)
      #expect(try tool.list().contains("s.png"))
    }
  }

  @Test func `a trace is refused where only one frame is written`() throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run("play", "cat.gif", "--trace", "t.json")
      #expect(result.status == 2)
      #expect(result.errors.contains("--trace requires a terminal, or --protocol none"))
      #expect(try tool.list() == ["cat.gif"])
    }
  }

  @Test func `a directory without animations is called one`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.shell("mkdir empty") == 0)
      let result = try tool.run("info", "empty")
      #expect(
        result.errors
          == "zoetrope: error: empty: no GIF or PNG files in this directory; -r also searches its "
          + "subdirectories\n")
    }
  }

  @Test func `a file in place of a directory is an error`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write([], to: "taken")
      let result = try tool.run("extract", "cat.gif", "-o", "taken/")
      #expect(result.status == 4)
      #expect(result.errors.contains("taken: Not a directory"))
    }
  }

  @Test func `write failures are reported without internal words`() {
    #expect(
      "\(WriteFailure.system(.readOnlyFileSystem, "cat-0000.png"))"
        == "cat-0000.png: Read-only file system")
    #expect("\(WriteFailure.exists("a.png"))" == "a.png exists; --force replaces it")
    #expect("\(WriteFailure.encoding("too large"))" == "too large")
  }
}
