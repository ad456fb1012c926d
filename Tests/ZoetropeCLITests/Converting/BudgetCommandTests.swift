import Glibc
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

  @Test(arguments: [
    ("convert in.gif -o o.gif", "150K", "fit"), ("optimize in.gif -o o.gif", "750K", "write"),
    ("optimize in.png -o o.png", "750K", "write"),
  ])
  func `progress names the attempt, whose frames begin again`(
    command: String, limit: String, phase: String
  ) throws {
    try withTool { (tool: Tool) throws in
      try tool.write(
        DeltaGIF.make(width: 240, height: 180, frameCount: 40, patch: 150), to: "in.gif")
      #expect(try tool.run("convert", "in.gif", "-o", "in.png").status == 0)
      let result = try tool.run(
        command.split(separator: " ").map(String.init)
          + ["--max-bytes", limit, "--progress", "json"])
      #expect(result.status == 0, "\(result.errors)")
      // Warnings are words.
      let text = result.errors.split(separator: "\n").filter { $0.hasPrefix("{") }
      let lines = try JSONLine.all(Array((text.joined(separator: "\n") + "\n").utf8))
        .filter { $0["phase"].text == phase }
      let attempts = lines.compactMap { $0["attempt"].integer }
      #expect(attempts.count == lines.count && attempts == attempts.sorted())
      #expect((attempts.last ?? 0) > 1)
      #expect(lines.allSatisfy { $0["sample"] == true || $0["sample"] == false })
      for (line, next) in zip(lines, lines.dropFirst())
      where line["attempt"].integer == next["attempt"].integer {
        #expect((line["done"].integer ?? 0) <= (next["done"].integer ?? -1))
      }
      for line in lines { #expect((line["done"].integer ?? 0) <= (line["total"].integer ?? -1)) }
    }
  }

  @Test func `metadata is given up before anything visible, and the report says so`() throws {
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

  @Test func `frames that are compressed again to fit are not called copied`() throws {
    var gif = SampleGIF(width: 60, height: 60)
    gif.frames = (0..<6).map { (UInt8($0 % 3), 4) }
    gif.isMixed = true
    try withTool(gif) { (tool: Tool) throws in
      let size = try tool.read("cat.gif").count
      func convert(_ limit: Int, _ options: String...) throws -> Tool.Outcome {
        try tool.run(
          ["convert", "cat.gif", "-o", "o.gif", "--force", "--max-bytes", "\(limit)"] + options)
      }
      #expect(try convert(size).text.hasSuffix("; exact\n"))
      #expect(try convert(size).text.contains(" 6 frames: 6 copied, 0 encoded; "))
      let fitted = try convert(size / 2)
      #expect(fitted.text.hasSuffix(" 6 frames: 0 copied, 6 encoded; exact\n"), "\(fitted.text)")
      let line = try JSONLine.one(convert(size / 2, "--json").output)
      #expect(line["copied"] == 0 && line["encoded"] == 6 && line["exact"] == true)
      let plan = try convert(size / 2, "--plan")
      #expect(
        plan.text.contains(
          "frames 0-5 are frames 0-5 of the input: encoded, since the file has to fit\n"),
        "\(plan.text)")
    }
  }

  @Test func `files that cannot fit are rejected with the limit, and nothing is written`() throws {
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

  @Test(arguments: [
    ("size", "; leave out --pin size, which excludes smaller pictures\n"),
    ("fps", "; leave out --pin fps, which excludes fewer frames\n"),
    ("size,fps", "; leave out --pin size,fps, which excludes smaller pictures and fewer frames\n"),
    ("", "but the limit is 30\n"),
  ])
  func `a file that does not fit is told what --pin excludes`(
    _ pin: String, _ advice: String
  ) throws {
    try withTool { (tool: Tool) throws in
      let file = FixtureLibrary().root + "/Demo/bouncing-ball.gif"
      let result = try tool.run(
        ["convert", file, "-o", "o.gif", "--max-bytes", "30"] + (pin.isEmpty ? [] : ["--pin", pin]))
      #expect(result.status == 8 && result.errors.hasSuffix(advice), "\(result.errors)")
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

  @Test func `stickers of many colours fit with a palette with alpha`() throws {
    try withTool { (tool: Tool) throws in
      let sink = MemorySink()
      let writer = try AnimationWriter(to: sink)
      for step in 0..<5 {
        var random = UInt64(step)
        let picture = Bitmap(width: 280, height: 32) { x, y in
          random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          let grain = Int(random >> 60)
          return RGBA(
            red: UInt8(x / 2 + grain), green: UInt8(y * 4 + grain), blue: UInt8(99 + grain),
            alpha: UInt8(min(x * 8, 255)))
        }
        try writer.append(picture, delay: FrameDelay(centiseconds: 20))
      }
      try writer.finish()
      let limit = sink.bytes.count / 3
      try tool.write(sink.bytes, to: "in.png")
      let result = try tool.run(
        "convert", "in.png", "-o", "line.png", "--for", "line-sticker", "--max-bytes", "\(limit)")
      #expect(result.status == 0 && result.text.contains("colours reduced"), "\(result.errors)")
      let file = try tool.read("line.png")
      #expect(file.count <= limit)
      let image = try AnimatedImage(bytes: file)
      #expect(image.frames.count == 5 && image.format == .apng)
      // LINE allows 1 to 4 plays that take 4 s in all; one takes 1 s here.
      #expect(image.playCount == .finite(4))
      #expect(result.text.contains(", set to 4 plays for the site"), "\(result.text)")
      let told = try tool.run(
        "convert", "in.png", "-o", "told.png", "--for", "line-sticker", "--json")
      #expect(try JSONLine.one(told.output)["departures"].elements.contains("plays"))
      let chosen = try tool.run(
        "convert", "in.png", "-o", "chosen.png", "--for", "line-sticker", "--plays", "4")
      #expect(chosen.status == 0 && !chosen.text.contains("for the site"), "\(chosen.text)")
      for (plays, speed, status) in [
        ("3", "1", 0), ("4", "2", 0), ("5", "9", 8), ("4", "0.9", 8), ("forever", "1", 8),
      ] {
        let played = try tool.run(
          "convert", "in.png", "-o", "p.png", "--for", "line-sticker", "--plays", plays, "--speed",
          speed, "--force")
        #expect(played.status == status, "\(plays)")
        if status == 8 { #expect(played.errors.contains("leave out --plays"), "\(played.errors)") }
      }
      // The colour type: iOS shows an APNG with a palette as a still.
      #expect(file[25] == 6)
      let smaller = try tool.run(
        "optimize", "in.png", "-o", "small.png", "--max-bytes", "\(limit)")
      #expect(smaller.status == 0 && smaller.text.contains("colours reduced"), "\(smaller.text)")
      // A file that cannot fit is reported as before.
      let failed = try tool.run(
        "convert", "in.png", "-o", "no.png", "--for", "line-sticker", "--max-bytes", "99")
      #expect(failed.status == 8 && failed.errors.contains("the limit is"), "\(failed.errors)")
    }
  }

  @Test func `presets for iOS store RGBA, whatever the source has`() throws {
    try withTool { (tool: Tool) throws in
      let gif = "\(FixtureLibrary().root)/Demo/bouncing-ball.gif"
      func stretched(_ size: String) -> [String] {
        ["--frames", "0-1", "--size", size, "--fit", "stretch"]
      }
      for (arguments, type) in [
        ([gif, "-o", "a.png", "--frames", "0-1"], 3),
        ([gif, "-o", "b.png", "--for", "signal-sticker"] + stretched("512x512"), 6),
        ([gif, "-o", "c.png", "--for", "imessage-small"] + stretched("300x300"), 6),
        (["c.png", "-o", "d.png", "--colors", "16"], 3),
        (["d.png", "-o", "e.png", "--for", "imessage-small"], 6),
        (["c.png", "-o", "f.png", "--for", "imessage-small"], 6),
      ] {
        let result = try tool.run(["convert"] + arguments)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try tool.read(arguments[2])[25] == type, "\(arguments)")
      }
      // A file that already meets the preset is copied.
      #expect(try tool.read("f.png") == tool.read("c.png"))
      let frames = try ["c.png", "e.png"].map { try AnimatedImage(bytes: tool.read($0)).frames }
      #expect(frames[0].map(\.delay) == frames[1].map(\.delay))
    }
  }

  @Test func `presets that no change can meet are rejected with the limit and advice`() throws {
    try withTool { (tool: Tool) throws in
      for (output, options, message) in [
        (
          "o.png", "--for line-sticker --duration 6s",
          "at most 4 s are allowed for line-sticker; shorten it with --time"
        ),
        (
          "o.png", "--for line-sticker --frames 0-2",
          "there are 3 frames, but at least 5 are required"
        ),
        (
          "o.png", "--for signal-sticker",
          "512x512 is required for signal-sticker; --size 512x512 --fit"
        ),
        (
          "o.png", "--for signal-sticker --size 30x30",
          "for signal-sticker; --size 512x512 --fit fill crops them"
        ),
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

  @Test func `frames dropped for a site are reported, and a pin that excludes it is refused`()
    throws
  {
    try withTool { (tool: Tool) throws in
      try tool.write(
        DeltaGIF.make(width: 150, height: 150, frameCount: 60, patch: 90), to: "in.gif")
      let dropped = try tool.run("convert", "in.gif", "-o", "o.gif", "--for", "slack-emoji")
      #expect(dropped.status == 0, "\(dropped.errors)")
      #expect(dropped.text.contains(" 10 frames dropped for the site, "), "\(dropped.text)")
      let json = try tool.run(
        "convert", "in.gif", "-o", "o.gif", "--for", "slack-emoji", "--force", "--json")
      let codes = try JSONLine.all(json.output)[0]["departures"].elements
      #expect(codes.contains("frames") && codes.contains("scaled"), "\(codes)")
      for (options, message) in [
        (
          "--for slack-emoji --pin fps",
          "all 60 frames must be kept, but at most 50 are allowed for slack-emoji; leave out --pin fps"
        ),
        (
          "--for discord-emoji --pin size",
          "pictures must keep their size of 150x150, but at most 128x128 is allowed for "
            + "discord-emoji; leave out --pin size"
        ),
        (
          "--for discord-emoji --pin size --size 140x140",
          "pictures must keep their size of 140x140, but at most 128x128"
        ),
      ] {
        let refused = try tool.run(
          ["convert", "in.gif", "-o", "no.gif"] + options.split(separator: " ").map(String.init))
        #expect(refused.status == 8 && refused.errors.contains(message), "\(refused.errors)")
      }
      #expect(try !tool.list(".").contains("no.gif"))
      // Pins that the limits of the site leave alone.
      for (options, frames, side) in [
        ("--for slack-emoji --pin size --size 100x100", 50, 100),
        ("--for slack-emoji --pin fps --frames 0-49", 50, 128),
        ("--for discord-emoji --pin fps", 60, 128),
      ] {
        let met = try tool.run(
          ["convert", "in.gif", "-o", "yes.gif", "--force"]
            + options.split(separator: " ").map(String.init))
        #expect(met.status == 0, "\(met.errors)")
        let image = try AnimatedImage(bytes: tool.read("yes.gif"))
        #expect(image.frames.count <= frames && image.canvasSize.width <= side, "\(options)")
        if options.contains("fps") { #expect(image.frames.count == frames) }
        if options.contains("pin size") { #expect(image.canvasSize.width == side) }
      }
    }
  }

  @Test func `an interrupted search clears its progress line`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write(
        DeltaGIF.make(width: 600, height: 600, frameCount: 100, patch: 250), to: "in.gif")
      let terminal = try Pseudoterminal(
        Tool.program, ["convert", "in.gif", "-o", "o.gif", "--max-bytes", "1M"],
        directory: tool.directory)
      try #require(terminal.waitToShow("of attempt"))
      terminal.send(SIGINT)
      #expect(terminal.end() == 128 + SIGINT)
      #expect(terminal.model.screen.contains("interrupted"))
      #expect(!terminal.model.screen.contains("of attempt"), "\(terminal.model.screen)")
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
