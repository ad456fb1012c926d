import ArgumentParser
import SystemPackage
import TestRunning
import Testing
import ZoetropeProcess

@testable import ZoetropeCLI

@Suite(.timeLimit(.minutes(10)), .computes) struct PlayerConfigurationTests {
  /// The arguments that `text` yields, or the line of the failure.
  private func arguments(_ text: String, command: [String] = ["play", "a.gif"]) -> [String] {
    do throws(CommandFailure) {
      return try ToolArguments.completed(command, isFile: { _ in true }) {
        () throws(CommandFailure) in
        try PlayerConfiguration(text, path: "/home/me/config")
      }
    } catch {
      return [error.line]
    }
  }

  @Test func `options of the command line win over those of the file`() throws {
    let text = """
      # A comment.
      protocol = sixel

        bg=#336699
      fit = "fill"
      exact
      hold = yes
      once = no
      speed=2
      """
    let found = arguments(text, command: ["play", "--protocol", "half", "a.gif"])
    #expect(
      found == [
        "play", "--protocol=sixel", "--bg=#336699", "--fit=fill", "--exact", "--hold",
        "--speed=2", "--protocol", "half", "a.gif",
      ])
    let command = try #require(try ZoetropeCommand.parseAsRoot(found) as? PlayCommand)
    #expect(command.drawing.output == ProtocolArgument(argument: "half"))
    #expect(command.screen.isExact && command.screen.fit == .fill)
    #expect(command.playing.speed == 2 && command.playing.hold && !command.playing.once)
  }

  @Test(arguments: [
    ("protocol = vga", "/home/me/config:1: The value 'vga' is invalid for '--protocol"),
    ("\n# x\nprotokol=sixel", "/home/me/config:3: Unknown option '--protokol'"),
    ("--hold", "/home/me/config:1: \"--hold\" is not an option"),
    ("speed", "/home/me/config:1: Missing value for '--speed"),
    ("hold=maybe", "/home/me/config:1: "), ("speed=0", "/home/me/config:1: --speed must be"),
    ("a.gif", "/home/me/config:1: \"a.gif\" is not an option"),
    ("frame=1", "/home/me/config:1: --frame works only on the command line"),
  ])
  func `errors name the file and the line`(_ text: String, _ start: String) {
    let found = arguments(text)
    #expect(found.count == 1 && found[0].hasPrefix(start), "\(found)")
  }

  @Test(arguments: [
    ["play", "--no-config", "a.gif"], ["play", "--help"], ["info", "a.gif"], ["--version"], [],
  ])
  func `other commands, help and --no-config do not read it`(_ command: [String]) {
    #expect(arguments("protokol=sixel", command: command) == command)
  }

  @Test func `lines may end as on Windows, after a byte order mark`() {
    #expect(
      arguments("\u{FEFF}protocol=sixel\r\n\r\n# x\r\nhold\r\n")
        == ["play", "--protocol=sixel", "--hold", "a.gif"])
    #expect(arguments("hold\r\nfoo=1")[0].hasPrefix("/home/me/config:2: "))
  }

  @Test(arguments: [
    ["play", "--place", "9x4@0,0", "a.gif"], ["play", "a.gif", "--place=9x4@0,0"],
    ["play", "--clear", "--place", "9x4@0,0"],
  ])
  func `what another program draws does not depend on it`(_ command: [String]) {
    #expect(arguments("once\ninline", command: command) == command)
  }

  @Test(arguments: ["place=9x4@0,0", "id=7", "cell=9x18", "clear"])
  func `it cannot ask for a place`(_ line: String) {
    #expect(arguments(line)[0].contains("works only on the command line"))
  }

  @Test func `an inaccessible file is not an error`() {
    #expect(PlayerConfiguration.isAbsence(.permissionDenied))
    #expect(!PlayerConfiguration.isAbsence(.ioError))
  }

  @Test func `it is read after a double dash as well`() {
    #expect(
      arguments("hold", command: ["play", "--", "--no-config"])
        == ["play", "--hold", "--", "--no-config"])
  }

  @Test func `it lies where the environment says`() {
    func location(_ variables: [String: String]) -> PlayerConfiguration.Location? {
      PlayerConfiguration.Location { variables[$0] }
    }
    #expect(location(["HOME": "/h"])?.path == "/h/.config/zoetrope/config")
    #expect(
      location(["HOME": "/h", "XDG_CONFIG_HOME": "/x"])?.path == "/x/zoetrope/config")
    #expect(location(["HOME": "/h", "XDG_CONFIG_HOME": "x"])?.path == "/h/.config/zoetrope/config")
    #expect(location(["HOME": "/h", "ZOETROPE_CONFIG": "my"])?.path == "my")
    #expect(location(["ZOETROPE_CONFIG": "my"])?.isNamed == true)
    #expect(location(["HOME": "/h", "ZOETROPE_CONFIG": ""]) == nil)
    #expect(location([:]) == nil)
  }

  @Test(arguments: [
    (["a.gif"], true), (["-"], true), (["--", "-x.gif"], true), (["--"], false), (["dir/a"], true),
    (["missing.gif", "--once"], true),
    (["--inline", "there"], true), (["there"], true), (["inof", "there"], false),
    (["info", "a.gif"], false), (["help", "play"], false), (["--version", "there"], false),
    (["--unknown"], false), (["-h"], false), (["./info"], true), ([], false),
    (["--generate-completion-script", "bash"], false),
  ])
  func `a file without a command is played`(_ arguments: [String], _ isPlayed: Bool) {
    #expect(ToolArguments.impliesPlay(arguments) { $0 == "there" } == isPlayed)
  }

  @Test func `a missing file is an error only if it was named`() throws {
    func load(_ variable: String, _ value: String) throws -> PlayerConfiguration? {
      try PlayerConfiguration.load(
        PlayerConfiguration.Location { $0 == variable ? value : nil })
    }
    #expect(try load("HOME", "/nonexistent") == nil)
    #expect(throws: CommandFailure.self) {
      try load("ZOETROPE_CONFIG", "/nonexistent/config")
    }
    #expect(throws: CommandFailure.self) { try load("ZOETROPE_CONFIG", "/") }
  }

  @Test func `a limit for the cache applies where there is a cache`() {
    func limits(_ text: String, _ options: [String] = []) -> [String] {
      arguments(text, command: ["play"] + options + ["a.gif"]).filter { $0.contains("limit") }
    }
    #expect(limits("cache-limit=1G\ncache=/tmp/c\nhold") == ["--cache-limit=1G"])
    #expect(limits("cache-limit=1G", ["--cache", "d"]) == ["--cache-limit=1G"])
    #expect(limits("cache-limit=1G") == [])
    #expect(limits("cache=/tmp/c\ncache-limit=1G", ["--cache", "none"]) == [])
    #expect(limits("cache-limit=x")[0].hasPrefix("/home/me/config:1: The value 'x' is invalid"))
  }

  @Test func `the number of plays on the command line wins, however it is given`() {
    #expect(
      arguments("once", command: ["play", "--loops", "3", "a.gif"])
        == ["play", "--loops", "3", "a.gif"])
    #expect(
      arguments("loops=3", command: ["play", "--once", "a.gif"]) == ["play", "--once", "a.gif"])
    // Of two lines, the later one wins, as if both had the same name.
    #expect(arguments("once\nloops=3") == ["play", "--loops=3", "a.gif"])
    #expect(arguments("loops=3\nonce") == ["play", "--once", "a.gif"])
  }

  @Test(arguments: [
    ["--once"], ["--loops", "3"], ["--loops=3"], ["--inline"], ["--frame", "1"], ["--frame=1"],
  ])
  func `a player that the command line makes quit does not hold`(options: [String]) {
    #expect(
      arguments("hold\nfit=fill", command: ["play"] + options + ["a.gif"])
        == ["play", "--fit=fill"] + options + ["a.gif"])
  }

  @Test(arguments: [
    ["--loops", "inf"], ["--loops=file"], ["--speed", "2"], ["--hold", "--once"],
  ])
  func `a player that is not made to quit holds`(options: [String]) throws {
    let found = arguments("hold", command: ["play"] + options + ["a.gif"])
    let command = try #require(try ZoetropeCommand.parseAsRoot(found) as? PlayCommand)
    #expect(command.playing.hold)
  }

  @Test func `how the file is played does not matter where one frame is drawn`() throws {
    let found = arguments(
      "start=2\nloops=3\nspeed=2\nreverse\nbounce\ndelay=50\ntiming=exact",
      command: ["play", "--frame", "1", "a.gif"])
    #expect(found == ["play", "--timing=exact", "--frame", "1", "a.gif"])
    #expect(try ZoetropeCommand.parseAsRoot(found) is PlayCommand)
  }
}
