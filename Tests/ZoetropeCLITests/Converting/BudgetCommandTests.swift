import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCLI

/// `--lossy`, `--max-bytes` and `--for`.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct BudgetCommandTests {
  private static let demo = "'\(FixtureLibrary().root)'/Demo"

  @Test func `files stay below --max-bytes, or are not written and the status is 8`() throws {
    try withTool { (tool: Tool) throws in
      let script = """
        set -e
        for file in \(Self.demo)/*.gif; do
          size=$(stat -c %s "$file")
          "$ZOETROPE" convert "$file" -o 'o/{name}' --max-bytes $((size * 2 / 3)) --quiet || test $? = 8
          name=$(basename "$file")
          test ! -e o/"$name" || test $(stat -c %s o/"$name") -le $((size * 2 / 3))
        done
        test -n "$(ls o)"
        """
      #expect(try tool.shell(script) == 0)
    }
  }

  @Test func `metadata is given up before anything that is seen, and the report tells`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write(FixtureLibrary().file("GIF/metadata.gif"), to: "in.gif")
      for (limit, departures) in [
        (600, "exact"), (400, "metadata left out"), (90, "metadata left out"),
      ] {
        let result = try tool.run(
          "convert", "in.gif", "-o", "\(limit).gif", "--max-bytes", "\(limit)")
        #expect(result.status == 0)
        let size = try tool.read("\(limit).gif").count
        #expect(size <= limit)
        #expect(result.text.contains(" -> \(size) bytes"))
        #expect(result.text.hasSuffix("; \(departures)\n"))
      }
    }
  }

  @Test func `what cannot fit is refused with the limit, and nothing is written`() throws {
    try withTool { (tool: Tool) throws in
      let script = """
        set -- \(Self.demo)/*.gif
        "$ZOETROPE" convert "$1" -o o.gif --max-bytes 30 2>err
        test $? = 8 && test ! -e o.gif && "$ZOETROPE" optimize "$1" -o o.gif --max-bytes 30 2>>err
        test $? = 8 && test ! -e o.gif
        """
      #expect(try tool.shell(script) == 0)
      let text = String(decoding: try tool.read("err"), as: UTF8.self)
      #expect(text.contains("the limit is 30"), "\(text)")
    }
  }

  @Test func `wrong limits are usage errors`() throws {
    try withTool { (tool: Tool) throws in
      for options in [
        "--max-bytes 0", "--max-bytes x", "--lossy 201", "--lossy -1", "--pin size",
        "--max-bytes 1K --pin colour", "--for myspace", "--for telegram-sticker", "--for whatsapp",
      ] {
        let script =
          "set -- \(Self.demo)/*.gif\n\"$ZOETROPE\" convert \"$1\" -o o.gif \(options) 2>err"
        #expect(try tool.shell(script) == 2, "\(options)")
      }
    }
  }

  @Test func `presets that no change can meet are refused with the limit and what helps`() throws {
    try withTool { (tool: Tool) throws in
      for (output, options, message) in [
        (
          "o.png", "--for line-sticker --duration 6s",
          "at most 4 s are allowed for line-sticker; --time"
        ),
        (
          "o.png", "--for line-sticker --frames 0-2",
          "there are 3 frames, and at least 5 are needed"
        ),
        (
          "o.png", "--for signal-sticker",
          "512x512 are needed for signal-sticker; --size 512x512 --fit"
        ),
        ("o.png", "--for signal-sticker --size 30x30", "for signal-sticker; leave out --size"),
      ] {
        let script =
          "\"$ZOETROPE\" convert \(Self.demo)/bouncing-ball.gif -o \(output) \(options) 2>err"
        #expect(try tool.shell(script) == 8, "\(options)")
        let text = String(decoding: try tool.read("err"), as: UTF8.self)
        #expect(text.contains(message), "\(text)")
      }
      let met =
        "\"$ZOETROPE\" convert \(Self.demo)/bouncing-ball.gif -o o.gif -q --for discord-emoji"
      #expect(try tool.shell(met + " && test $(stat -c %s o.gif) -le 256000") == 0)
    }
  }

  @Test func `every preset has limits, a source and a date`() {
    for preset in UploadPreset.all {
      #expect(preset.byteLimit > 0 && !preset.formats.isEmpty, "\(preset.name)")
      #expect(preset.source.hasPrefix("https://"), "\(preset.name)")
      #expect(preset.date.count == 10 && preset.date.hasPrefix("20"), "\(preset.name)")
      #expect(SiteArgument(argument: preset.name)?.preset == preset)
    }
    #expect(SiteArgument(argument: "telegram")?.preset == nil)
  }
}
