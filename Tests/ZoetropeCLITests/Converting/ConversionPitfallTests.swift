import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCLI

/// Options that seem to do what was asked, but did something else: times from reports, rates, sites and colours.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct ConversionPitfallTests {
  /// Gives `body` the tool and the APNG `in.png`, whose `count` frames are shown for `delay` each. The red value of a
  /// frame is its number.
  private func withFilm(
    _ delay: FrameDelay, count: Int, side: Int = 1, _ body: (Tool) throws -> Void
  ) throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    let sink = MemorySink()
    let writer = try AnimationWriter(to: sink)
    for number in 0..<count {
      try writer.append(
        Bitmap(width: side, height: side) { _, _ in
          RGBA(red: UInt8(number), green: 0, blue: 0)
        }, delay: delay)
    }
    try writer.finish()
    try tool.write(sink.bytes, to: "in.png")
    try body(tool)
  }

  // MARK: Times

  @Test(arguments: [3, 7, 24, 30] as [UInt32])
  func `times from a report select the frames between them`(perSecond: UInt32) throws {
    try withFilm(FrameDelay(numerator: 1, denominator: perSecond), count: 8) {
      (tool: Tool) throws in
      let starts = try AnimatedImage(bytes: tool.read("in.png")).frames.starts(.browser)
      let time = "\(starts[2])ms-\(starts[5])ms"
      let cut = try tool.run("convert", "in.png", "-o", "cut.png", "--time", time)
      #expect(cut.status == 0, "\(cut.errors)")
      let delays = try WrittenFilm(tool.read("cut.png")).delays
      #expect(delays.count == 3)
      #expect(delays.allSatisfy { $0.numerator == 1 && $0.denominator == perSecond }, "\(delays)")
      let resampled = try tool.run(
        "extract", "in.png", "-o", "-", "--format", "rgba", "--time", time, "--fps",
        "\(perSecond)")
      #expect(resampled.output == [2, 3, 4].flatMap { [$0, 0, 0, 255] as [UInt8] })
    }
  }

  @Test func `the frame rate of the input, given as a fraction, keeps all frames as they are`()
    throws
  {
    try withFilm(FrameDelay(numerator: 30, denominator: 1000), count: 8) { (tool: Tool) throws in
      let kept = try tool.run("convert", "in.png", "-o", "o.png", "--fps", "100/3")
      #expect(kept.text.hasSuffix("exact\n"), "\(kept.text)\(kept.errors)")
      #expect(try WrittenFilm(tool.read("o.png")).delays == WrittenFilm(tool.read("in.png")).delays)
    }
  }

  @Test func `a frame rate is refused if frames are shown for no time`() throws {
    try withFilm(FrameDelay(centiseconds: 5), count: 4) { (tool: Tool) throws in
      let refused = try tool.run("convert", "in.png", "-o", "o.png", "--delay", "0", "--fps", "20")
      #expect(refused.status == 2 && refused.errors.contains("duration"), "\(refused.errors)")
      #expect(try !tool.list().contains("o.png"))
    }
  }

  @Test(arguments: ["--speed 10", "--duration 40ms", "--delay 5ms", "--fps 17.9"])
  func `an APNG plays in browsers for the time that was asked for`(_ options: String) throws {
    try withFilm(FrameDelay(centiseconds: 5), count: 8) { (tool: Tool) throws in
      let words = options.split(separator: " ").map(String.init)
      let fast = try tool.run(["convert", "in.png", "-o", "o.png"] + words)
      #expect(fast.status == 0 && fast.text.contains(" dropped as too short"), "\(fast.text)")
      let image = try AnimatedImage(bytes: tool.read("o.png"))
      #expect(image.duration() == image.duration(policy: .exact))
      #expect(image.duration() == .milliseconds(options.hasPrefix("--fps") ? 400 : 40))
      let exact = try tool.run(
        ["convert", "in.png", "-o", "o.png", "--exact-delays", "--force"] + words)
      #expect(exact.text.hasSuffix("; exact\n"), "\(exact.text)\(exact.errors)")
      #expect(try AnimatedImage(bytes: tool.read("o.png")).frames.count == 8)
    }
  }

  @Test func `conversions and edits of other things keep short delays`() throws {
    try withFilm(FrameDelay(centiseconds: 1), count: 4) { (tool: Tool) throws in
      #expect(try tool.run("convert", "in.png", "-o", "in.gif").status == 0)
      for line in ["in.png --plays 2", "in.gif", "in.png --reverse", "in.png --frames 1-"] {
        let words = line.split(separator: " ").map(String.init)
        let result = try tool.run(["convert", "-o", "o.png", "--force"] + words)
        #expect(result.text.hasSuffix("; exact\n"), "\(result.text)\(result.errors)")
        let delays = try AnimatedImage(bytes: tool.read("o.png")).frames.map(\.delay)
        #expect(Set(delays) == [FrameDelay(centiseconds: 1)], "\(line)")
      }
    }
  }

  // MARK: Sites

  @Test func `a number of plays that a site does not allow is refused`() throws {
    try withFilm(FrameDelay(centiseconds: 10), count: 2, side: 8) { (tool: Tool) throws in
      let convert = ["convert", "in.png", "-o", "o.png", "--for", "signal-sticker", "--plays"]
      let refused = try tool.run(convert + ["3"])
      #expect(refused.status == 2)
      #expect(
        refused.errors.contains("signal-sticker requires endless plays, not 3 plays"),
        "\(refused.errors)")
      #expect(try !tool.list().contains("o.png"))
      let met = try tool.run(convert + ["forever"])
      #expect(met.status == 0, "\(met.errors)")
      #expect(try WrittenFilm(tool.read("o.png")).playCount == .indefinite)
    }
  }

  @Test(arguments: [
    ("signal-sticker", "30x30", "512x512 is required", "--size 512x512 --fit fill crops them"),
    ("slack-emoji", "140x140", "at most 128x128 is allowed", "leave out --size"),
  ])
  func `a size that a site does not allow is refused before anything is encoded`(
    site: String, size: String, allowed: String, advice: String
  ) throws {
    try withFilm(FrameDelay(centiseconds: 10), count: 2, side: 20) { (tool: Tool) throws in
      let output = site == "slack-emoji" ? "o.gif" : "o.png"
      let convert = ["convert", "in.png", "-o", output, "--for", site, "--size", size]
      let refused = try tool.run(convert)
      #expect(refused.status == 8)
      #expect(
        refused.errors.contains("a size of \(size), but \(allowed) for \(site); \(advice)"),
        "\(refused.errors)")
      let progress = try tool.run(convert + ["--progress", "json"]).errors
      #expect(!progress.contains("\"fit\""), "\(progress)")
    }
  }

  @Test(arguments: [
    (FrameDelay(centiseconds: 5), "--duration 400ms", "--exact-delays"),
    (FrameDelay(centiseconds: 1), "--plays 1", "--timing exact"),
  ])
  func `the duration that a site allows is that in browsers`(
    _ delay: FrameDelay, _ edit: String, _ option: String
  ) throws {
    // Browsers show 60 frames of 10 ms or less for 6 s.
    try withFilm(delay, count: 60, side: 320) { (tool: Tool) throws in
      let words = "convert in.png -o o.png --for discord-sticker \(edit)".split(separator: " ")
      let refused = try tool.run((words + option.split(separator: " ")).map(String.init))
      let advice = option.split(separator: " ")[0]
      #expect(refused.status == 8, "\(refused.errors)")
      #expect(
        refused.errors.hasSuffix(
          "browsers show one play for 6.0 s, but at most 5 s are allowed for discord-sticker; "
            + "leave out \(advice)\n"), "\(refused.errors)")
      #expect(try !tool.list().contains("o.png"))
    }
    try withFilm(FrameDelay(centiseconds: 5), count: 60, side: 320) { (tool: Tool) throws in
      let met = try tool.run(
        "convert", "in.png", "-o", "o.png", "--for", "discord-sticker", "--duration", "400ms")
      #expect(met.status == 0, "\(met.errors)")
      #expect(try AnimatedImage(bytes: tool.read("o.png")).duration() == .milliseconds(400))
    }
  }

  private static let demo = "\(FixtureLibrary().root)/Demo"

  @Test(arguments: [
    ("--plays 50", "", "; leave out --plays\n"),
    (
      "--duration 6s", "--duration 4s",
      "; shorten it with --time, or speed it up with --duration 4s\n"
    ),
    (
      "--duration 6s --plays 2", "--duration 4s",
      "; shorten it with --time, or speed it up with --duration 4s, and leave out --plays\n"
    ),
  ])
  func `advice on times that a site does not allow helps`(
    _ refused: String, _ allowed: String, _ advice: String
  ) throws {
    try withTool { (tool: Tool) throws in
      let convert = ["convert", "\(Self.demo)/bouncing-ball.gif", "-o", "o.png"]
      func run(_ options: String) throws -> Tool.Outcome {
        let words = options.split(separator: " ").map(String.init)
        return try tool.run(convert + ["--for", "line-sticker"] + words)
      }
      let result = try run(refused)
      #expect(result.status == 8 && result.errors.hasSuffix(advice), "\(result.errors)")
      let met = try run(allowed)
      #expect(met.status == 0, "\(met.errors)")
    }
  }

  @Test func `a GIF that became a larger APNG is told why`() throws {
    try withTool { (tool: Tool) throws in
      let convert = ["convert", "\(Self.demo)/bouncing-ball.gif", "--size", "50%", "-o"]
      let result = try tool.run(convert + ["a.png"])
      #expect(
        result.errors.hasSuffix(
          "since an APNG stores all the colours that scaling adds; --colors 32 or --filter nearest "
            + "may make it smaller\n"), "\(result.errors)")
      // Scaling adds none.
      let nearest = try tool.run(convert + ["b.png", "--filter", "nearest"])
      #expect(!nearest.errors.contains("scaling adds"), "\(nearest.errors)")
    }
  }

  @Test(arguments: [
    ("bouncing-ball.gif -o o.gif --for slack-emoji", ["--colors 32", "--dither none"]),
    (
      "bouncing-ball.gif -o o.gif --size 150x --dither none",
      ["--colors 32", "--filter nearest"]
    ),
    (
      "bouncing-ball.gif -o o.gif --size 150x --colors 16", ["--dither none", "--filter nearest"]
    ),
    ("bouncing-ball.gif -o o.gif --size 150x --colors exact", ["--filter nearest"]),
    ("glass.png -o o.png --size 99%", ["--colors 32", "--filter nearest"]),
  ])
  func `advice on larger outputs can be followed`(_ line: String, _ choices: [String]) throws {
    try withTool { (tool: Tool) throws in
      let words = "\(Self.demo)/\(line) --force".split(separator: " ").map(String.init)
      let result = try tool.run(["convert"] + words)
      #expect(
        result.errors.hasSuffix(
          "worse; \(choices.joined(separator: " or ")) may make it smaller\n"),
        "\(result.errors)")
      for choice in choices {
        let followed = try tool.run(
          ["convert"] + words + choice.split(separator: " ").map(String.init))
        #expect(followed.status == 0, "\(choice): \(followed.errors)")
      }
    }
  }

  // MARK: Formats

  @Test(arguments: [
    ("o.png", "--matte white"), ("o.png", "--dither none"), ("o.gif", "--hidden-colors"),
  ])
  func `an option without effect on any output is refused`(output: String, option: String) throws {
    try withFilm(FrameDelay(centiseconds: 10), count: 2) { (tool: Tool) throws in
      let words = option.split(separator: " ").map(String.init)
      for command in [["convert", "in.png"], ["make", "in.png", "--fps", "5"]] {
        let refused = try tool.run(command + ["-o", output] + words)
        #expect(refused.status == 2, "\(command)")
        #expect(refused.errors.contains("\(words[0]) has no effect"), "\(refused.errors)")
      }
      #expect(try !tool.list().contains(output))
    }
  }

  @Test func `an option with effect on some outputs is accepted`() throws {
    try withFilm(FrameDelay(centiseconds: 10), count: 2) { (tool: Tool) throws in
      #expect(try tool.run("convert", "in.png", "-o", "in.gif").status == 0)
      for line in [
        "in.png in.gif -o a/ --matte white --dither none --exact-delays --hidden-colors",
        "in.png -o b.png --dither none --colors 2", "in.png -o c.png --dither none --max-bytes 9M",
        "in.png -o d.png --hidden-colors --exact-delays",
        "in.png -o e.gif --matte white --exact-delays",
      ] {
        let met = try tool.run(["convert"] + line.split(separator: " ").map(String.init))
        #expect(met.status == 0, "\(met.errors)")
      }
    }
  }
}
