import TestRunning
import Testing
import ZoetropeTestSupport

/// `--resume` of `convert` and `optimize`.
@Suite(.timeLimit(.minutes(5)), .runsPrograms) struct ResumedConversionTests {
  @Test(arguments: ["convert", "optimize"])
  func `only missing files are written`(command: String) throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.shell("for n in a b c; do cp cat.gif $n.gif; done; mkdir o") == 0)
      let arguments = [command, "a.gif", "b.gif", "c.gif", "-o", "o/"]
      #expect(try tool.run(arguments).status == 0)
      let whole = try tool.read("o/b.gif")
      // Files that are kept are not even opened; their inputs are.
      try tool.write([1], to: "o/a.gif")
      #expect(try tool.shell("rm o/b.gif") == 0)
      #expect(try tool.run(arguments).status == 4)
      let result = try tool.run(arguments + ["--resume"])
      #expect(result.status == 0)
      #expect(result.text.hasPrefix("b.gif: o/b.gif, "))
      #expect(result.text.split(separator: "\n").count == 1)
      #expect(result.errors.hasPrefix("1 file written, 2 kept; "))
      #expect(try tool.read("o/a.gif") == [1] && tool.read("o/b.gif") == whole)
      let again = try tool.run(arguments + ["--resume"])
      #expect(again.status == 0 && again.text.isEmpty)
      #expect(again.errors == "0 files written, 3 kept\n")
    }
  }

  @Test(arguments: ["convert", "optimize"])
  func `files that an earlier run cannot have written are not kept`(command: String) throws {
    try withTool { (tool: Tool) throws in
      let arguments = [command, "cat.gif", "-o", "o.gif", "--resume"]
      try tool.write([], to: "o.gif")
      let empty = try tool.run(arguments)
      #expect(empty.status == 4)
      #expect(
        empty.errors
          == "zoetrope: error: cat.gif: o.gif is empty; --force replaces all files\n")
      #expect(try tool.shell("echo x >o.gif && touch -d 2001-01-01 o.gif") == 0)
      let old = try tool.run(arguments)
      #expect(old.status == 4)
      #expect(
        old.errors
          == "zoetrope: error: cat.gif: o.gif is older than cat.gif; --force replaces all files\n")
      #expect(try tool.shell("rm o.gif && ln -s missing o.gif") == 0)
      let link = try tool.run(arguments)
      #expect(link.status == 4 && link.errors.contains("o.gif exists and is not a file"))
      #expect(try tool.run(arguments + ["--plan"].filter { _ in command == "convert" }).status == 4)
      // It would never be written.
      #expect(try tool.run(command, "cat.gif", "-o", "cat.gif", "--resume").status == 2)
      let both = try tool.run(arguments + ["--force"])
      #expect(both.status == 2 && both.errors.contains("--force and --resume cannot be combined"))
    }
  }

  @Test(arguments: ["convert", "optimize"])
  func `a kept output and an unreadable input give the status of a mixed run`(
    command: String
  ) throws {
    try withTool { (tool: Tool) throws in
      try tool.write(Array("no image".utf8), to: "text.gif")
      let arguments = [command, "cat.gif", "text.gif", "-o", "o/"]
      #expect(try tool.run(arguments).status == 1)
      let again = try tool.run(arguments + ["--resume"])
      #expect(again.status == 1 && again.errors.hasSuffix("0 files written, 1 kept, 1 failed\n"))
    }
  }

  @Test(arguments: ["convert", "optimize"])
  func `damage in the input of a kept output is reported and gives the same status`(
    command: String
  ) throws {
    try withTool { (tool: Tool) throws in
      try tool.write(Array(tool.read("cat.gif").dropLast(4)), to: "cut.gif")
      let alone = [command, "cut.gif", "-o", "o/"]
      let whole = try tool.run(alone)
      #expect(whole.status == 1)
      let warning = "zoetrope: warning: cut.gif: "
      #expect(whole.errors.hasPrefix(warning))
      let again = try tool.run(alone + ["--resume"])
      #expect(again.status == 1 && again.text.isEmpty)
      #expect(again.errors == whole.errors + "0 files written, 1 kept\n")
      let quiet = try tool.run(alone + ["--resume", "--quiet"])
      #expect(quiet.status == 1 && quiet.errors.isEmpty)
      let json = try tool.run(alone + ["--resume", "--json"])
      #expect(json.status == 1 && json.text.isEmpty)
      #expect(try JSONLine.all(Array(json.errors.utf8)).map { $0["damage"]["file"] } == ["cut.gif"])

      let both = [command, "cut.gif", "cat.gif", "-o", "o/", "--resume"]
      let rest = try tool.run(both)
      #expect(rest.status == 1 && rest.errors.contains("1 file written, 1 kept; "))
      // What was an animation when its output was written can no longer be read.
      #expect(try tool.shell("echo none >cut.gif && touch -d 2001-01-01 cut.gif") == 0)
      let failed = try tool.run(both)
      #expect(failed.status == 1)
      #expect(failed.errors.hasPrefix("zoetrope: error: cut.gif: "))
      #expect(failed.errors.hasSuffix("\n0 files written, 1 kept, 1 failed\n"))
    }
  }

  @Test func `damage that only decoding finds is not reported for a kept output`() throws {
    try withTool { (tool: Tool) throws in
      // A code that the decoder cannot know yet, in the last frame.
      var bytes = try tool.read("cat.gif")
      bytes[bytes.count - 10] = 0xff
      try tool.write(bytes, to: "cat.gif")
      let arguments = ["optimize", "cat.gif", "-o", "o.gif"]
      #expect(try tool.run(arguments).status == 1)
      let again = try tool.run(arguments + ["--resume"])
      #expect(again.status == 0 && again.errors == "0 files written, 1 kept\n")
    }
  }

  @Test func `a damaged file is not called exact`() throws {
    var gif = SampleGIF()
    gif.frames = (0..<4).map { (UInt8($0 % 3), 10) }
    try withTool(gif) { (tool: Tool) throws in
      let bytes = try tool.read("cat.gif")
      try tool.write(Array(bytes.dropLast(4)), to: "cut.gif")
      let result = try tool.run("convert", "cut.gif", "-o", "o.gif", "--speed", "2")
      #expect(result.status == 1)
      #expect(result.text.hasSuffix(" encoded; damaged, otherwise exact\n"))
    }
  }
}
