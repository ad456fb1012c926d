import TestRunning
import Testing

/// Outputs that are no plain files are written to directly.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct OutputKindTests {
  private static let outputs = [
    "still cat.gif --format rgba -o PLACE", "still cat.gif --format rgba -o PLACE --force",
    "extract cat.gif --format rgba --max 1 -o PLACE --force",
    "extract cat.gif --format rgba --max 1 -o PLACE --resume",
    "extract cat.gif -o o --manifest PLACE",
    "extract cat.gif -o o --manifest PLACE --force",
    "play cat.gif --protocol none --speed 50 --trace PLACE",
    "play cat.gif --protocol none --speed 50 --trace PLACE --force",
  ]

  @Test(arguments: outputs)
  func `a pipe is written and stays a pipe`(_ line: String) throws {
    try withTool { (tool: Tool) throws in
      let arguments = line.replacing("PLACE", with: "pipe")
      let script = """
        mkfifo pipe && { timeout 120 cat pipe >got & } ; timeout 120 "$ZOETROPE" \(arguments) >out \
        && wait && test -p pipe && test -s got
        """
      let status = try tool.shell(script)
      #expect(status == 0)
      if line.contains("rgba") {
        #expect(try tool.read("got") == SampleGIF().pixels(0))
      }
    }
  }

  @Test(arguments: outputs)
  func `a device is written and stays a device`(_ line: String) throws {
    try withTool { (tool: Tool) throws in
      // A terminal of the test's own: whoever runs it may have one, and may not make other devices.
      let arguments = line.replacing("PLACE", with: "device").split(separator: " ").map(String.init)
      let device = try Pseudoterminal(
        "/bin/sh",
        ["-c", #"stty raw; ln -s "$(tty)" device; exec "$0" "$@" >out 2>err"#, Tool.program]
          + arguments, directory: tool.directory)
      #expect(device.end() == 0)
      #expect(try tool.shell("test -L device && test -z \"$(ls -A | grep tmp$)\"") == 0)
      let isWritten =
        line.contains("rgba")
        ? device.output == SampleGIF().pixels(0)
        : device.output.first == UInt8(ascii: "{")
      #expect(isWritten)
    }
  }

  @Test func `a descriptor is written at its current position`() throws {
    try withTool { (tool: Tool) throws in
      let extract = "\"$ZOETROPE\" extract cat.gif --format rgba"
      let status = try tool.shell(
        "{ \(extract) -o /dev/stdout && \(extract) -o /dev/fd/1; } >twice")
      #expect(status == 0)
      let three = SampleGIF().pixels(0) + SampleGIF().pixels(1) + SampleGIF().pixels(2)
      #expect(try tool.read("twice") == three + three)
      #expect(try tool.shell("\(extract) -o /dev/fd/5 5>five && cmp -n 288 five twice") == 0)
      #expect(try tool.shell("\(extract) -o /dev/fd/77 2>err") == 4)
    }
  }

  @Test func `the target of a link is written`() throws {
    try withTool { (tool: Tool) throws in
      let still = "\"$ZOETROPE\" still cat.gif --format rgba"
      let status = try tool.shell("mkdir d && echo old >d/t && ln -s d/t l && ln -s l ll")
      #expect(status == 0)
      #expect(try tool.shell("\(still) -o ll 2>err") == 4)
      #expect(try tool.shell("\(still) -o ll --force && test -L l && test -L ll") == 0)
      #expect(try tool.read("d/t") == SampleGIF().pixels(0))
      #expect(try tool.list("d") == ["t"])
      // A dangling link creates its target.
      #expect(try tool.shell("ln -s d/new n && \(still) -o n --force && test -L n") == 0)
      #expect(try tool.read("d/new") == SampleGIF().pixels(0))
    }
  }

  @Test func `a signal ends the wait for a reader of a pipe`() throws {
    try withTool { (tool: Tool) throws in
      let script =
        "mkfifo pipe && timeout -k 120 -s INT 1 \"$ZOETROPE\" extract cat.gif -o pipe 2>err"
      let status = try tool.shell(script)
      #expect(status == 124)
      #expect(try tool.shell("test -p pipe") == 0)
    }
  }

  @Test func `a trace replaces a file only when forced`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write([1], to: "t.json")
      let arguments = [
        "play", "cat.gif", "--protocol", "none", "--speed", "50", "--trace", "t.json",
      ]
      let refused = try tool.run(arguments)
      #expect(refused.status == 4)
      #expect(refused.output.isEmpty)
      #expect(refused.errors == "zoetrope: error: t.json exists; --force replaces it\n")
      #expect(try tool.read("t.json") == [1])
      #expect(try tool.run(arguments + ["--force"]).status == 0)
      #expect(try tool.read("t.json").count > 100)
    }
  }
}
