import SystemPackage
import TestRunning
import Testing

/// Nothing is lost by writing: not an input, not another output, not a file that was there.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct OutputSafetyTests {
  private func eleven() -> SampleGIF {
    var gif = SampleGIF()
    gif.frames = (0..<11).map { (UInt8($0 % 3), 4) }
    return gif
  }

  @Test(arguments: [[], ["--force"], ["--resume"]])
  func `outputs of two files with one name are found before anything is written`(
    _ options: [String]
  ) throws {
    try withTool(eleven()) { (tool: Tool) throws in
      try tool.write(eleven().bytes, to: "cat1.gif")
      // cat + 10 and cat1 + 0 are one name.
      let result = try tool.run(
        ["extract", "cat.gif", "cat1.gif", "-o", "o/{stem}{index:1}.png"] + options)
      #expect(result.status == 2)
      #expect(result.errors.contains("two outputs would be called o/cat10.png"))
      #expect(try tool.list() == ["cat.gif", "cat1.gif"])
    }
  }

  @Test func `an existing output is found before the first output of any file is written`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write(SampleGIF().bytes, to: "dog.gif")
      #expect(try tool.run("extract", "dog.gif", "-o", "o/", "--frames", "2").status == 0)
      let result = try tool.run("extract", "cat.gif", "dog.gif", "-o", "o/")
      #expect(result.status == 4)
      #expect(result.errors.contains("o/dog-0002.png exists"))
      #expect(try tool.list("o") == ["dog-0002.png"])
    }
  }

  @Test func `pipes among several files are read once`() throws {
    try withTool { (tool: Tool) throws in
      let script = """
        mkfifo p && { timeout 120 cat cat.gif >p & } ; \
        timeout 120 "$ZOETROPE" extract p cat.gif - -o o/ <cat.gif && wait
        """
      #expect(try tool.shell(script) == 0)
      #expect(try tool.list("o").count == 9)
    }
  }

  @Test(arguments: [
    "still in.png -o in.png --force", "still in.png -o link --force",
    "still in.png -o ./d/../in.png --force", "still in.png -o hard.png --force",
    "still in.png -o in.png", "still - -o in.png --force <in.png",
    "still link --format rgba -o - >>in.png",
    "extract in.png -o {name} --force", "extract in.png -o in.png --resume --max 1",
    "extract link -o in.png --force --max 1", "extract in.png -o o/ --manifest link --force",
    "extract in.png --format rgba -o /dev/fd/3 3>>in.png",
    "play in.png --protocol none --trace in.png --force",
    "play in.png --protocol none --trace link --force",
  ])
  func `an input is not overwritten`(_ line: String) throws {
    try withTool { (tool: Tool) throws in
      let fixture = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent().appending("Fixtures/APNG/delays.png")
      let script = "cp '\(fixture)' in.png && mkdir d && ln -s in.png link && ln in.png hard.png"
      #expect(try tool.shell(script) == 0)
      let before = try tool.read("in.png")
      #expect(
        try tool.shell(
          "\"$ZOETROPE\" \(line) 2>err >>/dev/null".replacing(
            ">>in.png 2>err >>/dev/null", with: ">>in.png 2>err")) == 2)
      let errors = String(decoding: try tool.read("err"), as: UTF8.self)
      #expect(errors.contains("choose another output name"))
      #expect(try tool.read("in.png") == before)
      #expect(try tool.list() == ["cat.gif", "d", "err", "hard.png", "in.png", "link"])
    }
  }

  @Test(arguments: [
    "convert --files-from list.gif -o list.gif --force",
    "convert --files-from - -o list.gif --force <list.gif",
    "optimize --files-from list.gif -o list.gif --force",
    "extract --files-from list.gif -o list.png --max 1 --force",
    "extract --files-from list.gif -o o/ --manifest list.gif --force",
    "extract --files-from list.gif --format tar -o list.tar --force",
    "still --files-from list.gif -o list.png --force",
    "sheet --files-from list.gif -o list.png --force",
    "sheet --files-from list.gif -o s.png --atlas list.gif --force",
    "play --files-from list.gif --protocol none --trace list.gif --force",
  ])
  func `a list of inputs is not overwritten`(_ line: String) throws {
    try withTool { (tool: Tool) throws in
      let script = "echo cat.gif >list.gif && ln list.gif list.png && ln -s list.gif list.tar"
      #expect(try tool.shell(script) == 0)
      #expect(try tool.shell("\"$ZOETROPE\" \(line) 2>err") == 2)
      let errors = String(decoding: try tool.read("err"), as: UTF8.self)
      #expect(errors.contains("choose another output name"))
      #expect(try tool.read("list.gif") == Array("cat.gif\n".utf8))
      #expect(try tool.list() == ["cat.gif", "err", "list.gif", "list.png", "list.tar"])
    }
  }

  @Test func `a file gets nothing that is meant for a closed standard stream`() throws {
    try withTool { (tool: Tool) throws in
      let extract = "\"$ZOETROPE\" extract - --format y4m <cat.gif"
      #expect(try tool.shell("\(extract) -o whole.y4m") == 0)
      #expect(try tool.shell("\(extract) -o a.y4m --progress json 2>&-") == 0)
      #expect(try tool.read("a.y4m") == tool.read("whole.y4m"))
      #expect(try tool.shell("\"$ZOETROPE\" info - <cat.gif >&- 2>err") == 4)
      let errors = String(decoding: try tool.read("err"), as: UTF8.self)
      #expect(errors == "zoetrope: error: standard output: Bad file descriptor\n")
    }
  }

  @Test func `resuming replaces a manifest and no other file`() throws {
    try withTool { (tool: Tool) throws in
      let extract = ["extract", "cat.gif", "-o", "o/"]
      #expect(try tool.run(extract + ["--manifest", "list.json"]).status == 0)
      let whole = try tool.read("list.json")
      #expect(try tool.run(extract + ["--resume", "--manifest", "list.json"]).status == 0)
      #expect(try tool.read("list.json") == whole)
      for bytes in [Array(#"{"mine":1}"#.utf8), []] {
        try tool.write(bytes, to: "mine.json")
        let refused = try tool.run(extract + ["--resume", "--manifest", "mine.json"])
        #expect(refused.status == 4)
        #expect(
          refused.errors
            == "zoetrope: error: mine.json exists and is not a manifest; --force replaces it\n")
        #expect(try tool.read("mine.json") == bytes)
      }
      #expect(try tool.run(extract + ["--force", "--manifest", "mine.json"]).status == 0)
      #expect(try tool.read("mine.json") == whole)
    }
  }

  @Test(arguments: [
    (["-o", "o/", "--manifest", "./o/../o/cat-0001.png"], "o/cat-0001.png"),
    (["-o", "a.png", "--frames", "0", "--manifest", "a.png"], "a.png"),
    (["-o", "a.ffconcat", "--format", "ffconcat", "--manifest", "./a.ffconcat"], "a.ffconcat"),
    (["-o", "o/", "--manifest", "o"], "o/cat-0000.png"),
    (["-o", "a/b/{index}", "--manifest", "./a"], "a/b/0"),
    (["-o", "a.png", "--frames", "0", "--manifest", "a.png/m/n.json"], "a.png"),
  ])
  func `a manifest does not stand in the way of another output`(
    _ options: [String], _ name: String
  ) throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run(["extract", "cat.gif", "--force"] + options)
      #expect(result.status == 2)
      #expect(
        result.errors.contains(
          "the names of \(name) and the manifest conflict; give --manifest another name"))
      #expect(try tool.list() == ["cat.gif"])
    }
  }

  @Test func `leftovers of dead runs are swept, whatever their number, and stop nothing`() throws {
    try withTool { (tool: Tool) throws in
      // The leftovers of a run in a container, where every run is process 1.
      let script = "mkdir o && touch o/.zoetrope-1-0.tmp o/.zoetrope-$$-0.tmp o/.zoetrope-7f3a.tmp"
      #expect(try tool.shell(script) == 0)
      #expect(try tool.run("extract", "cat.gif", "-o", "o/", "--force").status == 0)
      #expect(try tool.list("o") == ["cat-0000.png", "cat-0001.png", "cat-0002.png"])
    }
  }

  @Test func `a file that another run is writing is left alone`() throws {
    try withTool { (tool: Tool) throws in
      // A lock identifies the file of a live run, whatever its name and wherever the run is.
      let script = """
        mkdir o && touch o/.zoetrope-999999999-0.tmp o/.zoetrope-7f.tmp && \
        flock -n o/.zoetrope-7f.tmp "$ZOETROPE" extract cat.gif -o o/
        """
      #expect(try tool.shell(script) == 0)
      #expect(
        try tool.list("o") == [".zoetrope-7f.tmp", "cat-0000.png", "cat-0001.png", "cat-0002.png"])
    }
  }

  @Test func `concurrent runs that sweep and write one directory lose nothing`() throws {
    try withTool(eleven()) { (tool: Tool) throws in
      let script = """
        for n in 1 2 3 4; do cp cat.gif c$n.gif; done; \
        for n in 1 2 3 4; do { for k in 1 2 3; do timeout 120 "$ZOETROPE" extract c$n.gif -o o \
        --force 2>>err || echo failed >>err; done & } ; done; wait; cat err
        """
      #expect(try tool.shell("touch err; \(script) >all") == 0)
      #expect(try tool.read("all").isEmpty)
      #expect(try tool.list("o").count == 44)
      #expect(try tool.list("o").allSatisfy { $0.hasSuffix(".png") })
    }
  }

  @Test func `an archive and its manifest are two files`() throws {
    try withTool { (tool: Tool) throws in
      _ = try tool.shell("ln -s x.tar other")
      for manifest in ["x.tar", "./x.tar", "other"] {
        let result = try tool.run(
          "extract", "cat.gif", "--format", "tar", "-o", "x.tar", "--manifest", manifest, "--force")
        #expect(result.status == 2, "\(manifest)")
        #expect(try tool.list() == ["cat.gif", "other"])
      }
    }
  }

  @Test func `files are written even if nobody reads the reports about them`() throws {
    try withTool { (tool: Tool) throws in
      for number in 0..<3 { try tool.write(SampleGIF().bytes, to: "\(number).gif") }
      for (command, count) in [
        ("convert [0-9].gif -o o/ --speed 2", 3), ("convert [0-9].gif -o o/ --speed 2 --json", 3),
        ("optimize [0-9].gif -o o/", 3), ("extract [0-9].gif -o o/ --manifest -", 9),
      ] {
        let script =
          "mkfifo gone && { : <gone & } && exec 3>gone && wait && "
          + "{ \"$ZOETROPE\" \(command) >&3 2>errors; }"
        #expect(try tool.shell(script) == 0, "\(command)")
        #expect(try tool.list("o").count == count, "\(command)")
        _ = try tool.shell("rm -rf gone o")
      }
    }
  }

  @Test func `a pipe that does not block gets everything`() throws {
    try withTool(eleven()) { (tool: Tool) throws in
      let script = """
        import os, subprocess, sys
        r, w = os.pipe()
        os.set_blocking(w, False)
        p = subprocess.Popen([sys.argv[1], "extract", "cat.gif", "-o", "-", "--format", "rgba",
          "--size", "200x200", "--fit", "stretch"], stdout=w, stderr=open("errors", "wb"))
        os.close(w)
        count = 0
        while data := os.read(r, 1 << 20):
          count += len(data)
        print(count, p.wait())
        """
      try tool.write(Array(script.utf8), to: "read.py")
      #expect(try tool.shell("python3 read.py \"$ZOETROPE\" >count") == 0)
      #expect(try tool.read("count") == Array("\(11 * 160_000) 0\n".utf8))
      #expect(try tool.read("errors") == [])
    }
  }
}
