import SystemPackage
import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeCLI

/// `--cache` of `play`, `still` and `extract`: the same output, with or without a cache that works.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct CacheOptionTests {
  /// What each command writes without a cache.
  static let commands: [[String]] = [
    ["extract", "cat.gif", "-o", "-", "--format", "rgba"],
    ["extract", "cat.gif", "-o", "-", "--format", "rgba", "--size", "3x2", "--filter", "box"],
    ["extract", "cat.gif", "-o", "-", "--format", "rgba", "--fps", "50", "--size", "3x"],
    ["extract", "cat.gif", "-o", "-", "--format", "rgba", "--depth", "16"],
    ["still", "cat.gif", "-o", "-", "--format", "rgba", "--frame", "1"],
    ["still", "cat.gif", "-o", "-", "--format", "rgba", "--at", "0.1", "--size", "2x"],
    ["still", "cat.gif", "-o", "-", "--poster", "nonblank", "--size", "2x", "--filter", "nearest"],
    ["play", "cat.gif", "--start", "2"],
  ]

  /// Paints over every frame in the store that `command` asks for.
  private func paint(_ store: FrameStore, _ image: AnimatedImage, _ rendering: Rendering) throws {
    let rendition = Rendition(rendering, of: image.canvasSize, options: image.options)
    let keys = AnimationKey(content: try store.identity(of: image), rendition: rendition)
    var row = PixelBuffer(size: rendition.size)
    var bytes = row.mutableBytes
    for offset in 0..<bytes.byteCount {
      bytes.storeBytes(of: 0x7f, toByteOffset: offset, as: UInt8.self)
    }
    let painted = CachedFrame(row.finish())
    for index in image.frames.indices { try store.store(painted, for: keys[index]) }
  }

  @Test(arguments: commands)
  func `the output is the same without a cache, with a new one, and with a full one`(
    _ command: [String]
  ) throws {
    try withTool { (tool: Tool) throws in
      let plain = try tool.run(command)
      #expect(plain.status == 0)
      for _ in 0..<2 {
        let kept = try tool.run(command + ["--cache", "c"])
        #expect(kept.output == plain.output)
        #expect(kept.errors.isEmpty)
        #expect(kept.status == 0)
      }
      let stat = try JSONLine.one(tool.run("cache", "stat", "--json", "--cache", "c").output)
      let isKept = !command.contains("nonblank")
      #expect((stat["frame_count"].integer ?? 0 > 0) == isKept)
      #expect(try tool.list().sorted() == ["c", "cat.gif"])
    }
  }

  @Test func `frames that are in the cache are not decoded`() throws {
    try withTool { (tool: Tool) throws in
      let image = try AnimatedImage(contentsOf: FilePath("\(tool.directory)/cat.gif"))
      do {
        let store = try FrameStore(at: FilePath("\(tool.directory)/c"))
        try paint(store, image, Rendering())
        try paint(store, image, Rendering(target: TargetSize(width: 3, height: 2)))
      }
      let grey: [UInt8] = [0x7f, 0x7f, 0x7f, 0x7f]
      let all = try tool.run(
        "extract", "cat.gif", "-o", "-", "--format", "rgba", "--size", "3x2", "--cache", "c")
      #expect(all.output == [[UInt8]](repeating: grey, count: 3 * 6).flatMap { $0 })
      let still = try tool.run(
        "still", "cat.gif", "-o", "-", "--format", "rgba", "--frame", "2", "--cache", "c")
      #expect(still.output == [[UInt8]](repeating: grey, count: 24).flatMap { $0 })
      let played = try tool.run("play", "cat.gif", "--cache", "c")
      let plain = try tool.run("play", "cat.gif")
      #expect(played.output != plain.output)
      // Another filter makes other frames.
      let other = try tool.run(
        "still", "cat.gif", "-o", "-", "--format", "rgba", "--size", "3x2", "--filter", "box",
        "--cache", "c")
      #expect(other.output != [[UInt8]](repeating: grey, count: 6).flatMap { $0 })
    }
  }

  @Test func `playing stores frames, without drawing and on a terminal`() throws {
    let session = try PlayerSession(["--once", "--cache", "c"])
    defer { session.tool.cleanUp() }
    #expect(session.terminal.end() == 0)
    let first = try JSONLine.one(
      session.tool.run("cache", "stat", "--json", "--cache", "c").output)
    #expect(first["frame_count"] == 3)
    let played = try session.tool.run(
      "play", "cat.gif", "--protocol", "none", "--late", "stretch", "--cache", "d")
    #expect(played.text.hasPrefix("finished: presented=3 "))
    let second = try JSONLine.one(
      session.tool.run("cache", "stat", "--json", "--cache", "d").output)
    #expect(second["frame_count"] == 3)
  }

  @Test(arguments: [commands[1], commands[4], commands[7]])
  func `a cache that cannot be used is named once, and the command does its work`(
    _ command: [String]
  ) throws {
    try withTool { (tool: Tool) throws in
      let plain = try tool.run(command)
      #expect(try tool.shell("mkdir -m 755 open && echo x > file") == 0)
      for (cache, reason) in [
        ("open", "is not a directory that only the current user can access"),
        ("file", "is not a directory that only its owner can write"),
        ("file/in", "Not a directory"),
        ("/proc/none", "No such file or directory"),
      ] {
        let result = try tool.run(command + ["--cache", cache])
        #expect(result.output == plain.output)
        #expect(result.status == 0)
        let lines = result.errors.split(separator: "\n")
        #expect(lines.count == 1)
        #expect(result.errors.hasPrefix("zoetrope: warning: cache \(cache): "), "\(result.errors)")
        #expect(result.errors.contains(reason), "\(result.errors)")
      }
    }
  }

  @Test func `a full disk costs the frames in the cache, not the output`() throws {
    try withTool { (tool: Tool) throws in
      let plain = try tool.run("extract", "cat.gif", "-o", "-", "--format", "rgba")
      // No file may be larger than a few kilobytes, so a table cannot be made.
      let script = """
        ulimit -f 4 && "$ZOETROPE" extract cat.gif -o - --format rgba --cache c >out 2>err
        """
      #expect(try tool.shell(script) == 0)
      #expect(try tool.read("out") == plain.output)
      let errors = String(decoding: try tool.read("err"), as: UTF8.self)
      #expect(errors.hasPrefix("zoetrope: warning: cache c: not all frames are kept"))
      #expect(errors.contains("File too large"))
      #expect(errors.split(separator: "\n").count == 1)
    }
  }

  @Test func `warnings are silenced, or JSON, as the others are`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.shell("mkdir -m 755 open") == 0)
      let arguments = ["extract", "cat.gif", "-o", "o/", "--cache", "open", "--force"]
      #expect(try tool.run(arguments + ["-q"]).errors.isEmpty)
      let lines = try JSONLine.all(
        Array(tool.run(arguments + ["--progress", "json"]).errors.utf8))
      #expect(lines.first?["warning"]["code"] == "storeDenied")
      #expect(lines.first?["warning"]["cache"] == "open")
      // Between the warning and the last line, a slow machine reports progress.
      #expect(lines.dropFirst().allSatisfy { $0["phase"] != .missing })
      #expect(lines.last?["phase"] == "done")
    }
  }

  @Test(arguments: [
    ["still", "cat.gif", "-o", "-", "--cache-limit", "1M"], ["play", "cat.gif", "--cache", ""],
    ["extract", "cat.gif", "-o", "-", "--raw", "--cache", "c"],
    ["play", "cat.gif", "--cache", "c", "--cache-limit", "much"],
  ])
  func `senseless options are rejected`(_ command: [String]) throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.run(command).status == 2)
      #expect(try tool.list() == ["cat.gif"])
    }
  }

  @Test func `default is the user's cache directory, and needs one`() throws {
    try withTool { (tool: Tool) throws in
      let still = "\"$ZOETROPE\" still cat.gif -o - --cache default >out"
      #expect(try tool.shell("XDG_CACHE_HOME=\"$PWD/x\" \(still)") == 0)
      #expect(try tool.list("x/zoetrope/frames").contains("secret"))
      #expect(try tool.shell("HOME=\"$PWD/h\" XDG_CACHE_HOME= \(still)") == 0)
      #expect(try tool.list("h/.cache/zoetrope/frames").contains("secret"))
      #expect(try tool.shell("unset HOME XDG_CACHE_HOME; \(still) 2>err") == 2)
    }
  }

  @Test(arguments: [("HOME=rel", "not an absolute path"), ("HOME=", "not set")])
  func `a missing user cache directory is explained`(_ home: String, _ reason: String)
    throws
  {
    try withTool { (tool: Tool) throws in
      let stat = "unset XDG_CACHE_HOME; \(home) \"$ZOETROPE\" cache stat >out 2>err"
      #expect(try tool.shell(stat) == 2)
      let errors = String(decoding: try tool.read("err"), as: UTF8.self)
      #expect(errors.hasPrefix("zoetrope: error: HOME is \(reason); name a directory"))
    }
  }

  @Test(arguments: [
    ("0", 0), ("17", 17), ("4K", 4096), ("1.5M", 1_572_864), ("2G", 2 << 30), ("3MiB", 3 << 20),
    ("2MB", 2_000_000), ("1kB", 1000), ("9B", 9), ("200kb", 200_000), ("3mib", 3 << 20), ("9b", 9),
    ("1.5m", 1_572_864),
  ])
  func `byte counts have a number and a unit`(_ text: String, _ count: Int) {
    #expect(ByteCountArgument(argument: text)?.count == count)
  }

  @Test(arguments: [
    "", "M", "-1", "1e3", "0x10", "1.2.3", "inf", "1 M", "1T", "99999999999G", ".",
    "1\u{212a}",
  ])
  func `texts that are not byte counts are rejected`(_ text: String) {
    #expect(ByteCountArgument(argument: text) == nil)
  }
}
