import Glibc
import TestRunning
import Testing

@testable import ZoetropeProcess

/// What a signal leaves behind: whole results, a line that says how far the command came, and an end by the signal
/// itself.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct InterruptionTests {
  @Test(arguments: [("INT", SIGINT), ("TERM", SIGTERM)])
  func `playing without drawing reports the outcome`(_ name: String, _ number: Int32) throws {
    try withTool { tool in
      // Threads start with playing, when the file has been opened.
      let script = """
        { (until test $(ls /proc/$$/task | wc -l) -gt 1 || ! kill -0 $$; do :; done; kill -\(name) $$) 2>noise & \
        exec "$ZOETROPE" play cat.gif --protocol none --loops inf --trace t.json >out; }
        """
      let signal = try tool.endingSignal(of: script)
      #expect(signal == number)
      let text = String(decoding: try tool.read("out"), as: UTF8.self)
      #expect(text.contains(": presented="))
      #expect(try tool.read("t.json").first == UInt8(ascii: "{"))
    }
  }

  @Test func `without a terminal one play is the default`() throws {
    try withTool { tool in
      let result = try tool.run("play", "cat.gif", "--protocol", "none", "--late", "stretch")
      #expect(result.status == 0)
      #expect(result.text.hasPrefix("finished: presented=3 "))
    }
  }

  @Test func `extraction says how far it came, ends by the signal, and resumes`() throws {
    var gif = SampleGIF(width: 160, height: 160)
    gif.frames = (0..<100).map { (UInt8($0 % 3), 4) }
    gif.isMixed = true
    try withTool(gif) { tool in
      // The signal is sent once the first file exists, so nothing depends on how fast the tool runs.
      let script = """
        { (until test -e o/cat-0000.png || ! kill -0 $$; do :; done; kill -INT $$) 2>noise & \
        exec "$ZOETROPE" extract cat.gif -o o/ -j 1 2>err; }
        """
      // This ends the loop of a shell; an exit with status 130 would not.
      let signal = try tool.endingSignal(of: script)
      #expect(signal == SIGINT)
      let errors = String(decoding: try tool.read("err"), as: UTF8.self)
      #expect(errors.hasPrefix("zoetrope: cat.gif: interrupted, "))
      #expect(errors.hasSuffix(" of 100 frames written; continue with --resume\n"))
      #expect(try tool.list("o").allSatisfy { $0.hasSuffix(".png") })
      #expect(try tool.run("extract", "cat.gif", "-o", "o/", "--resume").status == 0)
      #expect(try tool.list("o").count == 100)
    }
  }

  /// Stands for compressing a frame, which the first signal does not interrupt.
  @Test func `a second signal of its kind ends the process wherever it is`() async {
    await #expect(processExitsWith: .signal(SIGINT)) {
      Signals.prepare()
      Signals.catchEndings()
      raise(SIGINT)
      #expect(Signals.ending == .interrupted)
      raise(SIGTERM)
      raise(SIGINT)
    }
  }

  @Test(arguments: [
    ("png", SIGHUP), ("ffconcat", SIGTERM), ("y4m", SIGHUP), ("y4m", SIGINT),
  ])
  func `an extraction that is terminated leaves no temporary file`(
    _ format: String, _ number: Int32
  ) throws {
    var gif = SampleGIF(width: 250, height: 250)
    gif.frames = (0..<100).map { (UInt8($0 % 3), 4) }
    gif.isMixed = true
    try withTool(gif) { tool in
      let script =
        "exec \(try tool.signalled(number)) extract cat.gif -o o/ --format \(format) -j 1 2>err"
      #expect(try tool.endingSignal(of: script) == number)
      let errors = String(decoding: try tool.read("err"), as: UTF8.self)
      #expect(errors.hasPrefix("zoetrope: cat.gif: interrupted, "))
      #expect(errors.hasSuffix(format == "y4m" ? "nothing was written\n" : "--resume\n"))
      #expect(try tool.list("o").allSatisfy { format != "y4m" && $0.hasSuffix(".png") })
    }
  }

  @Test func `an archive that is terminated while it waits for an input leaves no file`() throws {
    try withTool { (tool) throws in
      // The archive is created before the pipe is opened, which has no writer.
      let script = """
        mkfifo p; { (until ls -A | grep -q tmp$ || ! kill -0 $$; do :; done; kill -TERM $$) 2>noise & \
        exec "$ZOETROPE" extract p -o all.tar --format tar 2>err; }
        """
      #expect(try tool.endingSignal(of: script) == SIGTERM)
      #expect(try tool.list() == ["cat.gif", "err", "noise", "p"])
      #expect(try tool.read("err") == Array("zoetrope: p: interrupted\n".utf8))
    }
  }

  @Test(arguments: ["tar", "y4m"])
  func `an interrupted file of all frames is not said to have some, but a stream is`(
    _ format: String
  ) throws {
    var gif = SampleGIF(width: 250, height: 250)
    gif.frames = (0..<100).map { (UInt8($0 % 3), 4) }
    gif.isMixed = true
    try withTool(gif) { tool in
      let extract = "extract cat.gif --format \(format) -j 1 2>err"
      let file = "exec \(try tool.signalled(SIGINT)) \(extract) -o all.\(format)"
      // The pipe has no room for the output, and nobody reads more than its first byte. The open descriptor 3 keeps the
      // pipe from having no reader.
      let stream = """
        mkfifo p; exec 3<>p; (head -c 1 <&3 >first; kill -INT $$) & \
        exec "$ZOETROPE" \(extract) -o - >p
        """
      for (script, ending) in [
        (file, "interrupted, nothing was written\n"), (stream, " of 100 frames written\n"),
      ] {
        #expect(try tool.endingSignal(of: script) == SIGINT)
        let errors = String(decoding: try tool.read("err"), as: UTF8.self)
        #expect(errors.hasSuffix(ending), "\(script): \(errors)")
      }
      #expect(try !tool.list().contains("all.\(format)"))
    }
  }

  @Test func `the bar is removed before the line that says how far the command came`() throws {
    var gif = SampleGIF(width: 160, height: 160)
    gif.frames = (0..<1000).map { (UInt8($0 % 3), 4) }
    gif.isMixed = true
    try withTool(gif) { tool in
      let script = """
        { (until grep -q 1000 err || ! kill -0 $$; do :; done; kill -INT $$) 2>noise & \
        exec "$ZOETROPE" extract cat.gif -o o/ -j 1 --progress bar 2>err; }
        """
      let signal = try tool.endingSignal(of: script)
      #expect(signal == SIGINT)
      let errors = String(decoding: try tool.read("err"), as: UTF8.self)
      let line = try #require(errors.split(separator: "\r").last)
      #expect(line.contains("zoetrope: cat.gif: interrupted, "))
      #expect(!line.contains("/1000 frames"))
    }
  }
}
