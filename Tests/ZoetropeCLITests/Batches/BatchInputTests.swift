import TestRunning
import Testing

@testable import ZoetropeCLI

/// Directories and lists as inputs.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct BatchInputTests {
  /// A tool in a directory with a tree of animations below `d`.
  private func withTree(_ body: (Tool) throws -> Void) throws {
    try withTool { (tool: Tool) throws in
      #expect(
        try tool.shell(
          "mkdir -p d/x/deep d/y d/.hidden && cp cat.gif d/b.GIF && cp cat.gif d/a.gif && "
            + "cp cat.gif d/x/a.gif && cp cat.gif d/x/deep/c.gif && cp cat.gif d/y/a.gif && "
            + "cp cat.gif d/.hidden/h.gif && cp cat.gif d/.h.gif && echo text > d/note.txt && "
            + "ln -s .. d/y/loop && ln -s ../a.gif d/y/link.gif") == 0)
      try body(tool)
    }
  }

  private func names(_ tool: Tool, _ arguments: String...) throws -> [String] {
    try tool.run(["info", "--format", "{file}"] + arguments).text.split(separator: "\n").map(
      String.init)
  }

  @Test func `a directory stands for the animations in it`() throws {
    try withTree { (tool: Tool) throws in
      #expect(try names(tool, "d") == ["d/a.gif", "d/b.GIF"])
      #expect(try names(tool, "cat.gif", "d/x") == ["cat.gif", "d/x/a.gif"])
    }
  }

  @Test func `-r searches subdirectories, but neither hidden ones nor links to directories`() throws
  {
    try withTree { (tool: Tool) throws in
      #expect(
        try names(tool, "-r", "d") == [
          "d/a.gif", "d/b.GIF", "d/x/a.gif", "d/x/deep/c.gif", "d/y/a.gif", "d/y/link.gif",
        ])
    }
  }

  @Test func `a directory without animations fails, and the others do not`() throws {
    try withTree { (tool: Tool) throws in
      let result = try tool.run("info", "--format", "{file}", "d/.hidden/..", "d/x/deep", "d/none")
      #expect(result.status == 1)
      #expect(result.text.split(separator: "\n").count == 3)
      #expect(result.errors.hasPrefix("zoetrope: error: d/none: "))
      #expect(result.errors.hasSuffix("zoetrope: 4 files: 3 ok, 1 unreadable; 9 frames\n"))
    }
  }

  @Test func `a list names files, one per line or with NUL between them`() throws {
    try withTree { (tool: Tool) throws in
      try tool.write(Array("d/x/a.gif\r\n\ncat.gif\nd/y\n".utf8), to: "list")
      let listed = ["d/x/a.gif", "cat.gif", "d/y/a.gif", "d/y/link.gif"]
      #expect(try names(tool, "--files-from", "list") == listed)
      let piped = try tool.run(
        ["info", "--format", "{file}", "-0", "--files-from", "-"],
        input: Array("d/x/a.gif\0cat.gif\0".utf8))
      #expect(piped.text == "d/x/a.gif\ncat.gif\n")
      #expect(try names(tool, "d/a.gif", "--files-from", "list").first == "d/a.gif")
    }
  }

  @Test func `a name with bytes that are not UTF-8 is found and named`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.shell("mkdir e && cp cat.gif \"$(printf 'e/\\351.gif')\"") == 0)
      #expect(try tool.shell("echo text > \"$(printf 'e/\\352.gif')\"") == 0)
      let lines = try JSONLine.all(try tool.run("info", "--json", "e").output)
      #expect(lines.map { $0["file_base64"] } == ["ZS/pLmdpZg==", "ZS/qLmdpZg=="])
      #expect(lines.map { $0["status"] } == ["ok", "unreadable"])
    }
  }

  @Test(arguments: [
    (["info"], "name a file"), (["info", "-0", "cat.gif"], "-0 requires --files-from"),
    (["info", "--files-from", "none"], "none: cannot read the list of files: No such file"),
    (["info", "--files-from", "empty"], "the list empty contains no file names"),
    (["info", "-", "--files-from", "-"], "standard input can be read only once"),
  ])
  func `an unusable list is rejected`(arguments: [String], message: String) throws {
    try withTool { (tool: Tool) throws in
      try tool.write([], to: "empty")
      let result = try tool.run(arguments)
      #expect(result.status == 2)
      #expect(result.errors.hasPrefix("zoetrope: error: \(message)"), "\(result.errors)")
    }
  }

  @Test func `every command that takes files takes directories`() throws {
    try withTree { (tool: Tool) throws in
      #expect(try tool.run("check", "-r", "d").text.split(separator: "\n").count == 6)
      #expect(try tool.run("explain", "d").text.contains("d/b.GIF: GIF"))
      #expect(try tool.run("sheet", "d", "-o", "s.png").status == 0)
      #expect(try tool.run("still", "-r", "d", "-o", "s/{dir}/{stem}.png").status == 0)
      #expect(try tool.list("s/x/deep") == ["c.png"])
      #expect(try tool.run("cache", "warm", "d", "--cache", "c").status == 0)
      let play = try tool.run("play", "d", "--protocol", "none")
      #expect(play.status == 0 && play.text.split(separator: "\n").count == 2)
    }
  }

  @Test func `{dir} and {parent} keep the tree of the inputs`() throws {
    try withTree { (tool: Tool) throws in
      let mirrored = try tool.run("extract", "-r", "d", "-o", "o/{dir}/{name}-{index}.png")
      #expect(mirrored.status == 0)
      #expect(try tool.list("o/x/deep") == ["c.gif-0.png", "c.gif-1.png", "c.gif-2.png"])
      #expect(try tool.list("o").contains("a.gif-0.png"))
      let named = try tool.run(
        "extract", "d/x/a.gif", "d/y/a.gif", "-o", "p/{parent}-{index}.png", "--max", "1")
      #expect(named.status == 0)
      #expect(try tool.list("p") == ["x-0.png", "y-0.png"])
      // Names never lead out of the directory of the output.
      let outside = try tool.run(
        "extract", "d/../cat.gif", "-o", "q/{dir}/{index}.png", "--max", "1")
      #expect(outside.status == 0)
      #expect(try tool.list("q/d/_") == ["0.png"])
    }
  }

  @Test(arguments: [
    ["optimize", "-r", ".", "-o", "out/", "--force"],
    ["convert", "-r", ".", "-o", "out/", "--speed", "2", "--force"],
    ["extract", "-r", ".", "-o", "out/{dir}/{name}-{index}.png", "--force"],
  ])
  func `outputs in a searched directory are no inputs of the next run`(
    _ arguments: [String]
  ) throws {
    try withTree { (tool: Tool) throws in
      let list = "find out -type f | sort"
      _ = try tool.run(arguments)
      #expect(try tool.shell("\(list) >first") == 0)
      _ = try tool.run(arguments)
      #expect(try tool.shell("\(list) >second") == 0)
      let first = try tool.read("first")
      #expect(!first.isEmpty)
      #expect(try tool.read("second") == first)
      // Named as an input, the directory is searched.
      #expect(try tool.run("info", "-r", "out").status != 2)
      #expect(try tool.run("optimize", "-r", "out", "-o", "out/", "--force").status == 0)
    }
  }

  @Test func `equal names in different directories are refused with a remedy`() throws {
    try withTree { (tool: Tool) throws in
      let result = try tool.run("extract", "-r", "d", "-o", "o/")
      #expect(result.status == 2)
      #expect(result.errors.contains("use {dir}"))
      #expect(try !tool.list().contains("o"))
    }
  }

  @Test func `a directory with several files is not one file`() throws {
    try withTool { (tool: Tool) throws in
      _ = try tool.shell("mkdir d && cp cat.gif d/a.gif && cp cat.gif d/b.gif")
      for command in [
        "info --save-index i.index d", "info --follow d", "extract --follow d -o o/",
        "play --protocol none --follow d", "play --protocol half --place 4x2@0,0 d",
        "still --protocol half --place 4x2@0,0 d",
      ] {
        let result = try tool.run(command.split(separator: " ").map(String.init))
        #expect(result.status == 2, "\(command): \(result.status)")
        #expect(result.errors.contains("with one file only"), "\(command): \(result.errors)")
      }
      #expect(try tool.list() == ["cat.gif", "d"])
    }
  }

  @Test func `convert names a missing file or an empty directory, and converts the others`() throws
  {
    try withTool { (tool: Tool) throws in
      _ = try tool.shell("mkdir empty")
      let result = try tool.run("convert", "none", "empty", "cat.gif", "-o", "o/", "--speed", "2")
      #expect(result.status == 1)
      #expect(result.errors.contains("none: No such file"), "\(result.errors)")
      #expect(result.errors.contains("empty: "), "\(result.errors)")
      #expect(!result.errors.contains("extension"), "\(result.errors)")
      #expect(try tool.list("o") == ["cat.gif"])
    }
  }
}
