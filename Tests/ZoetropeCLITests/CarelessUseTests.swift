import Foundation
import TestRunning
import Testing

@testable import ZoetropeCLI

/// What is easily typed by mistake loses no work, and is not reported as a success.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct CarelessUseTests {
  private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fixtures").path

  private static func missing(_ frame: String) -> String {
    "frame \(frame) does not exist; there are 3 frames"
  }

  private static let staticOnly =
    "--static only writes no frames; it cannot be combined with --frames, --time, --every, --max, "
    + "--unique or --changed-only"
  private static let oneFrame =
    "--frame draws one frame; it cannot be combined with --start, --loops, --speed, --reverse, "
    + "--bounce or --delay"

  private static let hiddenStatic = """
    cp '\(fixtures)/APNG/static-hidden.png' s.png
    $ZOETROPE extract s.png -o o/ --static include --time 90s
    """

  /// A line that is refused, what the error says, and the files that there are afterwards.
  private static let refusals: [(line: String, error: String, files: [String])] = [
    // Two outputs are one file, through a link.
    (
      "ln -s cat.gif l.gif; $ZOETROPE convert cat.gif l.gif -o . --speed 2 --force",
      "to which ./l.gif is a link", ["cat.gif", "l.gif"]
    ),
    (
      "ln -s cat.gif l.gif; $ZOETROPE optimize cat.gif l.gif -o . --force",
      "to which ./l.gif is a link", ["cat.gif", "l.gif"]
    ),
    (
      "ln -s s.png s.json; $ZOETROPE sheet cat.gif -o s.png --atlas s.json --force",
      "the names of the sheet and the atlas conflict", ["cat.gif", "s.json"]
    ),
    // One output is a directory on the path of another.
    (
      "$ZOETROPE sheet cat.gif -o s/a.png --atlas s",
      "the names of the sheet and the atlas conflict", ["cat.gif"]
    ),
    (
      "$ZOETROPE extract cat.gif -o f.tar --format tar --manifest f.tar/m.json",
      "the names of the archive and the manifest conflict", ["cat.gif"]
    ),
    // Names that end in null bytes.
    (
      "printf 'cat.gif\\0b.gif\\0' | $ZOETROPE optimize --files-from - -o o/", "add -0",
      ["cat.gif"]
    ),
    // A slash says that it is a directory.
    ("$ZOETROPE sheet cat.gif -o s/", "s/ is a directory", ["cat.gif"]),
    ("$ZOETROPE sheet cat.gif -o s.png --atlas a/", "a/ is a directory", ["cat.gif"]),
    ("$ZOETROPE extract cat.gif -o o/ --manifest m/", "m/ is a directory", ["cat.gif"]),
    (
      "mkdir m; $ZOETROPE extract cat.gif -o o/ --manifest m --force", "m is a directory",
      ["cat.gif", "m"]
    ),
    ("$ZOETROPE play cat.gif --protocol none --trace t/", "t/ is a directory", ["cat.gif"]),
    // A variable that is not set.
    ("$ZOETROPE play cat.gif --protocol none --trace ''", "the trace is empty", ["cat.gif"]),
    // Manifests that do not say what an animation needs.
    (
      "$ZOETROPE extract cat.gif -o o/ --raw --manifest m.json && $ZOETROPE make m.json -o r.gif",
      "extract without --raw", ["cat.gif", "m.json", "o"]
    ),
    (
      "$ZOETROPE extract cat.gif -o o/ --fps 5 --manifest m.json && $ZOETROPE make m.json -o r.gif",
      "extract without --fps", ["cat.gif", "m.json", "o"]
    ),
    (
      "$ZOETROPE extract cat.gif -o o/ --manifest m.csv && $ZOETROPE make m.csv -o r.gif",
      "m.csv is a CSV manifest", ["cat.gif", "m.csv", "o"]
    ),
    (
      "mkfifo p; $ZOETROPE make p p -o r.gif --fps 10", "p is a pipe, but pictures are read twice",
      ["cat.gif", "p"]
    ),
    // Only one of the two can go there.
    (
      "$ZOETROPE extract cat.gif -o /dev/stdout --manifest - >f",
      "the frames and the manifest cannot both go to standard output", ["cat.gif", "f"]
    ),
    ("$ZOETROPE convert cat.gif -o c.gif --plays 0", "'forever' or a number", ["cat.gif"]),
    (
      "$ZOETROPE convert cat.gif -o {x}.gif", "the fields are {name} {stem} {dir} {parent} {ext}",
      ["cat.gif"]
    ),
    ("$ZOETROPE convert cat.gif -o c.gif --plays N", "the value 'N' is invalid", ["cat.gif"]),
    ("$ZOETROPE convert cat.gif -o c.gif --colors 1", "'exact' or a number", ["cat.gif"]),
    ("$ZOETROPE convert cat.gif -o c.gif --frames 30-", "matches none of the 3", ["cat.gif"]),
    ("$ZOETROPE convert cat.gif -o c.gif --time 50s-60s", "a play takes", ["cat.gif"]),
    // No pixel changes, and colours may differ.
    (
      "$ZOETROPE convert cat.gif -o c.gif --colors exact --lossy 40",
      "--colors exact changes no pixel; it cannot be combined with --lossy", ["cat.gif"]
    ),
    (
      "$ZOETROPE make cat.gif -o c.gif --colors exact --lossy 1", "be combined with --lossy",
      ["cat.gif"]
    ),
    // Times of which rounding leaves nothing.
    (
      "$ZOETROPE convert cat.gif -o c.png --delay 0.0000001s", "the value '0.0000001s' is invalid",
      ["cat.gif"]
    ),
    (
      "$ZOETROPE convert cat.gif -o c.png --duration 0.0001ms", "the value '0.0001ms' is invalid",
      ["cat.gif"]
    ),
    // As many frames as there are, in the same words.
    ("$ZOETROPE still cat.gif -o s.png --frame -99", missing("-99"), ["cat.gif"]),
    ("$ZOETROPE extract cat.gif -o o/ --frames 3", missing("3"), ["cat.gif"]),
    ("$ZOETROPE sheet cat.gif -o s.png --frames -4", missing("-4"), ["cat.gif"]),
    ("$ZOETROPE convert cat.gif -o c.gif --frames 0,7", missing("7"), ["cat.gif"]),
    ("$ZOETROPE play cat.gif --protocol none --start 3", missing("3"), ["cat.gif"]),
    // Options of which one would be ignored.
    (
      "$ZOETROPE still cat.gif -o s.png --frame 1 --poster nonblank",
      "--poster cannot be combined with --frame or --at", ["cat.gif"]
    ),
    (
      "$ZOETROPE still cat.gif -o s.png --at 0.1s --poster first",
      "--poster cannot be combined with --frame or --at", ["cat.gif"]
    ),
    ("$ZOETROPE extract cat.gif -o o/ --static only --frames 99", staticOnly, ["cat.gif"]),
    ("$ZOETROPE extract cat.gif -o o/ --static only --time 90s", staticOnly, ["cat.gif"]),
    ("$ZOETROPE extract cat.gif -o o/ --static only --every 2", staticOnly, ["cat.gif"]),
    ("$ZOETROPE extract cat.gif -o o/ --static only --max 2", staticOnly, ["cat.gif"]),
    ("$ZOETROPE extract cat.gif -o o/ --static only --unique", staticOnly, ["cat.gif"]),
    (
      "$ZOETROPE play cat.gif --protocol none --once --loops 3",
      "--once and --loops cannot be combined", ["cat.gif"]
    ),
    ("$ZOETROPE play cat.gif --frame 1 --start 2", oneFrame, ["cat.gif"]),
    ("$ZOETROPE play cat.gif --frame 1 --loops 2", oneFrame, ["cat.gif"]),
    ("$ZOETROPE play cat.gif --frame 1 --speed 2", oneFrame, ["cat.gif"]),
    ("$ZOETROPE play cat.gif --frame 1 --reverse", oneFrame, ["cat.gif"]),
    ("$ZOETROPE play cat.gif --frame 1 --bounce", oneFrame, ["cat.gif"]),
    ("$ZOETROPE play cat.gif --frame 1 --delay 9", oneFrame, ["cat.gif"]),
    // The static image does not count as a frame that was selected.
    (hiddenStatic, "the selection matches none of the 2 frames", ["cat.gif", "s.png"]),
    // Names that do not say what the file holds, or that standard input does not have.
    (
      "$ZOETROPE optimize cat.gif -o c.webp", "the output is GIF, but its name ends in .webp",
      ["cat.gif"]
    ),
    (
      "$ZOETROPE optimize cat.gif -o 'o/q_{stem}.MP4'", "but its name ends in .MP4", ["cat.gif"]
    ),
    ("$ZOETROPE optimize cat.gif -o c.y4m", "but its name ends in .y4m", ["cat.gif"]),
    (
      "$ZOETROPE optimize - -o o/ <cat.gif", "standard input has no name for the output",
      ["cat.gif"]
    ),
    (
      "$ZOETROPE optimize - -o 'o/{name}' <cat.gif", "standard input has no name for the output",
      ["cat.gif"]
    ),
    (
      "$ZOETROPE optimize - -o '{stem}.{ext}' <cat.gif",
      "the name of standard input has no extension; replace {ext}", ["cat.gif"]
    ),
    (
      "cp cat.gif cat; $ZOETROPE optimize cat -o '{ext}/{stem}.gif'",
      "the name of cat has no extension; replace {ext}", ["cat", "cat.gif"]
    ),
    // One frame is not several.
    (
      "$ZOETROPE convert cat.gif -o c.gif --frames 0 -q && $ZOETROPE still c.gif -o s.png --frame 5",
      "frame 5 does not exist; there is 1 frame\n", ["c.gif", "cat.gif"]
    ),
    (
      "$ZOETROPE convert cat.gif -o c.gif --frames 0 -q && $ZOETROPE extract c.gif -o o/ --frames 5",
      "frame 5 does not exist; there is 1 frame\n", ["c.gif", "cat.gif"]
    ),
    (
      "$ZOETROPE convert cat.gif -o c.gif --frames 0 -q && $ZOETROPE sheet c.gif -o s.png --time 9s-",
      "the selection does not match the only frame; a play takes", ["c.gif", "cat.gif"]
    ),
    (
      "$ZOETROPE optimize cat.gif -o /dev/stdout --json >f",
      "the animation and --json cannot both go to standard output", ["cat.gif", "f"]
    ),
  ]

  @Test(arguments: refusals.indices) func `it is refused before anything is written`(
    _ index: Int
  ) throws {
    let (line, error, files) = Self.refusals[index]
    try withTool { (tool: Tool) throws in
      let before = try tool.read("cat.gif")
      let line = line.replacing("$ZOETROPE", with: "\"$ZOETROPE\"")
      #expect(try tool.shell("{ \(line); } 2>err") == 2)
      #expect(String(decoding: try tool.read("err"), as: UTF8.self).contains(error))
      #expect(try tool.list() == (files + ["err"]).sorted())
      #expect(try tool.read("cat.gif") == before)
    }
  }

  @Test func `an empty file does not count as a written frame`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.run("extract", "cat.gif", "-o", "o/").status == 0)
      try tool.write([], to: "o/cat-0001.png")
      let result = try tool.run("extract", "cat.gif", "-o", "o/", "--resume")
      #expect(result.status == 4)
      #expect(result.errors.contains("o/cat-0001.png is empty; --force replaces all files"))
      #expect(try tool.run("extract", "cat.gif", "-o", "o/", "--force").status == 0)
      #expect(try !tool.read("o/cat-0001.png").isEmpty)
    }
  }

  @Test func `pictures that are sorted for a list of delays are announced`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.run("extract", "cat.gif", "-o", "f/").status == 0)
      try tool.write(Array("10ms\n200ms\n".utf8), to: "delays.txt")
      let names = ["f/cat-0001.png", "f/cat-0000.png"]
      let make = ["make"] + names + ["--delays", "delays.txt", "--force", "-o", "m.png"]
      let sorted = try tool.run(make)
      #expect(sorted.status == 0)
      #expect(sorted.errors.contains("--order given keeps the order of the arguments"))
      for arguments in [
        make + ["-q"], make + ["--json"], make + ["--order", "given"],
        ["make"] + names.reversed() + Array(make.dropFirst(3)),
      ] {
        let result = try tool.run(arguments)
        #expect(result.status == 0 && !result.errors.contains("sorted"), "\(arguments)")
      }
    }
  }

  @Test func `a size that hardly changes is not reported as unchanged`() {
    for (before, after, text) in [
      (468_384, 468_080, "-0.1 %"), (2_373_713, 8965, "-99.6 %"), (100, 100, "0 %"),
      (1_000_000, 1, "-99.9 %"), (1000, 1001, "+0.1 %"), (200, 100, "-50 %"), (100, 350, "+250 %"),
    ] {
      #expect(ConversionReport.sizes(before, after).hasSuffix("(\(text))"))
    }
  }

  @Test func `an empty archive replaces no file`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write([], to: "empty.gif")
      try tool.write([1, 2, 3], to: "keep.tar")
      let extract = ["extract", "empty.gif", "--format", "tar", "--force", "-o"]
      #expect(try tool.run(extract + ["keep.tar"]).status == 3)
      #expect(try tool.run(extract + ["new.tar"]).status == 3)
      #expect(try tool.read("keep.tar") == [1, 2, 3])
      #expect(try tool.list() == ["cat.gif", "empty.gif", "keep.tar"])
    }
  }

  @Test func `another name of standard output receives only the animation`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.run("convert", "cat.gif", "-o", "whole.gif", "--speed", "2").status == 0)
      let whole = try tool.read("whole.gif")
      for name in ["-", "/dev/stdout", "/dev/fd/1"] {
        let result = try tool.run("convert", "cat.gif", "-o", name, "--speed", "2")
        #expect(result.output == whole, "\(name)")
      }
    }
  }

  @Test func `the manifest of stored frames states their sizes`() throws {
    try withTool { (tool: Tool) throws in
      let file = Self.fixtures + "/GIF/transparent-delta.gif"
      let result = try tool.run("extract", file, "-o", "o/", "--raw", "--manifest", "-")
      #expect(result.text.contains("\"raw\":true"))
      #expect(try tool.run("extract", file, "-o", "p/", "--raw", "--manifest", "m.csv").status == 0)
      let text = String(decoding: try tool.read("m.csv"), as: UTF8.self)
      let rows = text.split(whereSeparator: \.isNewline).map {
        $0.split(separator: ",", omittingEmptySubsequences: false)
      }
      let width = try #require(rows[0].firstIndex(of: "width"))
      for (frame, row) in rows.dropFirst().enumerated() {
        let picture = try tool.run("info", "p/transparent-delta-000\(frame).png", "--json")
        #expect(picture.text.contains("\"width\":\(row[width]),"), "\(row)")
      }
    }
  }

  @Test func `frames that a byte limit removes are not called exact`() throws {
    try withTool { (tool: Tool) throws in
      let file = Self.fixtures + "/Demo/bouncing-ball.gif"
      let result = try tool.run(
        "convert", file, "-o", "a.gif", "--max-bytes", "5K", "--colors", "exact", "--json")
      #expect(result.status == 0)
      #expect(!result.text.contains("\"exact\":true"))
      #expect(result.text.contains("\"rate\""))
      // Colours that have to be exact stay so.
      #expect(!result.text.contains("\"lossy\"") && !result.text.contains("\"colors\""))
      let none = try tool.run("convert", file, "-o", "b.gif", "--colors", "exact", "--lossy", "0")
      #expect(none.status == 0, "\(none.errors)")
    }
  }

  @Test func `optimizing says which frames are damaged`() throws {
    try withTool { (tool: Tool) throws in
      let file = Self.fixtures + "/Bad/lzw-bad-code.gif"
      let result = try tool.run("optimize", file, "-o", "a.gif")
      #expect(result.status == 1)
      #expect(result.text.contains("damaged, copied as it is"))
      let json = try tool.run("optimize", file, "-o", "a.gif", "--force", "--json")
      #expect(json.status == 1)
      #expect(!json.text.contains("\"damage\":[]"))
    }
  }

  @Test func `an extension in a template is that of the input`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.run("convert", "cat.gif", "-o", "o/{stem}.{ext}").status == 0)
      #expect(try tool.list("o") == ["cat.gif"])
    }
  }
}
