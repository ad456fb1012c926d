import Glibc
import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCLI
@testable import ZoetropeProcess

/// `zoetrope cache stat`, `warm`, `prune`, `verify` and `clear`.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct CacheCommandTests {
  private func stat(_ tool: Tool, _ arguments: String...) throws -> JSONLine {
    try JSONLine.one(tool.run(["cache", "stat", "--json", "--cache", "c"] + arguments).output)
  }

  @Test func `without a cache, none is created`() throws {
    try withTool { (tool: Tool) throws in
      for command in ["stat", "prune", "verify", "clear"] {
        let script = "XDG_CACHE_HOME=\"$PWD/c\" \"$ZOETROPE\" cache \(command)"
        #expect(try tool.shell("\(script) >out && \(script) --json >json") == 0)
        let text = String(decoding: try tool.read("out"), as: UTF8.self)
        #expect(text.hasSuffix("/frames: 0 frames, 0 B of 268.4 MB; 0 records, 0 B\n"), "\(text)")
        #expect(try JSONLine.one(tool.read("json"))["frame_count"] == 0)
      }
      #expect(try tool.list() == ["cat.gif", "json", "out"])
    }
  }

  @Test(arguments: ["stat", "prune", "verify", "clear"])
  func `a directory that was named and has no cache is an error`(_ command: String) throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.shell("mkdir d && cp cat.gif d") == 0)
      for (name, reason) in [
        ("c", "there is no such directory"), ("d", "there is no cache in this directory"),
      ] {
        let result = try tool.run("cache", command, "--cache", name)
        #expect(result.status == 4 && result.output.isEmpty)
        #expect(result.errors == "zoetrope: error: \(name): \(reason)\n")
      }
      #expect(try tool.list() == ["cat.gif", "d"] && tool.list("d") == ["cat.gif"])
    }
  }

  @Test func `warming stores what is missing, and stat counts it by size`() throws {
    try withTool { (tool: Tool) throws in
      let first = try tool.run("cache", "warm", "cat.gif", "--size", "3x2", "--cache", "c")
      #expect(first.text == "cat.gif: 3 frames in the cache at 3x2, 3 of them new\n")
      #expect(first.status == 0)
      #expect(first.errors.isEmpty)
      let second = try tool.run("cache", "warm", "cat.gif", "--size", "3x2", "--cache", "c")
      #expect(second.text == "cat.gif: 3 frames in the cache at 3x2, 0 of them new\n")
      let third = try JSONLine.one(
        tool.run("cache", "warm", "cat.gif", "--cache", "c", "--json").output)
      #expect(third["schema"] == "zoetrope.warm/2")
      #expect(third["file"] == "cat.gif")
      #expect(third["width"] == 6)
      #expect(third["stored"] == 3)
      #expect(third["known"] == 0)
      #expect(third["kept"] == 3)
      let found = try stat(tool, "--cache-limit", "1MB")
      #expect(found["schema"] == "zoetrope.cache/2")
      #expect(found["directory"] == "c")
      #expect(found["frame_count"] == 6)
      #expect(found["byte_limit"] == 1_000_000)
      #expect(found["byte_count"].integer ?? 0 > 6 * 4096)
      let sizes = found["tables"].elements.map { [$0["width"].integer, $0["frame_count"].integer] }
      #expect(Set(sizes) == [[3, 3], [6, 3]])
      let text = try tool.run("cache", "stat", "--cache", "c").text
      #expect(text.hasPrefix("c: 6 frames, "))
      #expect(text.split(separator: "\n").count == 3)
      #expect(text.contains("  3x2  rgba8  3  of 8192 frames  "))
    }
  }

  @Test func `a file that fails is reported, and the others are warmed`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write(Array("hello".utf8), to: "no.gif")
      let result = try tool.run("cache", "warm", "no.gif", "none", "cat.gif", "--cache", "c")
      #expect(result.status == 1)
      #expect(result.text == "cat.gif: 3 frames in the cache at 6x4, 3 of them new\n")
      let lines = result.errors.split(separator: "\n")
      #expect(lines.count == 3)
      #expect(lines.first?.hasPrefix("zoetrope: error: no.gif: ") == true)
      #expect(lines.last == "zoetrope: 3 files: 1 ok, 2 unreadable; 3 frames")
      let json = try JSONLine.all(
        tool.run("cache", "warm", "none", "cat.gif", "--cache", "c", "--json").output)
      #expect(json.map { $0["schema"] } == ["zoetrope.warm/2", "zoetrope.warm/2"])
      #expect(json[0]["error"]["code"] == "io")
      #expect(json[1]["known"] == 3)
    }
  }

  @Test func `frames beyond the limit are left out, starting at the end`() throws {
    var gif = SampleGIF(width: 200, height: 200)
    gif.frames = (0..<40).map { (UInt8($0 % 3), 4) }
    try withTool(gif) { (tool: Tool) throws in
      let warm = ["cache", "warm", "cat.gif", "--cache", "c", "--cache-limit", "2M", "--json"]
      let result = try tool.run(warm)
      #expect(result.status == 5)
      let report = try JSONLine.one(result.output)
      let kept = report["kept"].integer ?? 0
      #expect((8..<13).contains(kept))
      #expect(report["stored"].integer == kept)
      let found = try stat(tool)
      #expect(found["byte_count"].integer ?? .max <= 2 << 20)
      // They are the first ones, and are still there.
      let again = try JSONLine.one(tool.run(warm).output)
      #expect(again["known"].integer == kept)
      #expect(again["stored"] == 0)
    }
  }

  @Test func `the file warmed last keeps its frames, whatever sizes filled the cache before`()
    throws
  {
    let tool = try Tool()
    defer { tool.cleanUp() }
    func warm(_ file: String, _ size: String) throws -> JSONLine {
      let limit = ["--cache", "c", "--cache-limit", "8M", "--json"]
      return try JSONLine.one(
        tool.run(["cache", "warm", file, "--size", size] + limit).output)
    }
    let files = [("large", "200x", 90), ("small", "128x", 90), ("own", "125x", 24)]
    for (name, size, count) in files {
      let frames = (0..<count).map { (UInt8($0 % 3), UInt8(4)) }
      try tool.write(
        SampleGIF(width: 125, height: 125, frames: frames).bytes, to: "\(name).gif")
      let first = try warm("\(name).gif", size)
      let kept = try #require(first["kept"].integer)
      // The first alone is larger than the cache.
      #expect(name == "large" ? (40..<90).contains(kept) : kept == count)
      let second = try warm("\(name).gif", size)
      #expect(second["known"].integer == kept)
      #expect(second["stored"] == 0)
    }
  }

  @Test func `an interrupted warming keeps what it stored, and the next one goes on`() throws {
    var gif = SampleGIF(width: 160, height: 160)
    gif.frames = (0..<60).map { (UInt8($0 % 3), 4) }
    gif.isMixed = true
    try withTool(gif) { (tool: Tool) throws in
      // The signal is sent once the first table exists. A machine that is done by then waits for the second input.
      let script = """
        mkfifo in; { (until ls c/*.frames || ! kill -0 $$; do :; done; kill -INT $$) >noise 2>&1 & \
        exec "$ZOETROPE" cache warm cat.gif in --cache c >out 2>err; }
        """
      #expect(try tool.endingSignal(of: script) == SIGINT)
      let errors = String(decoding: try tool.read("err"), as: UTF8.self)
      if try tool.read("out").isEmpty {
        #expect(errors.hasPrefix("zoetrope: cat.gif: interrupted, "))
        #expect(errors.contains(" of 60 frames are in the cache\n"))
        #expect(errors.hasSuffix("zoetrope: 2 files: 1 failed, 1 not reached; 0 frames\n"))
      }
      let report = try JSONLine.one(
        tool.run("cache", "warm", "cat.gif", "--cache", "c", "--json").output)
      #expect(report["kept"] == 60)
      #expect((report["known"].integer ?? 0) + (report["stored"].integer ?? 0) == 60)
      let verified = try JSONLine.one(
        tool.run("cache", "verify", "--cache", "c", "--json").output)
      #expect(verified["intact"] == 60)
    }
  }

  @Test func `a file that changes while it is warmed stores nothing more`() throws {
    try withTool { (tool: Tool) throws in
      let path = FilePath("\(tool.directory)/cat.gif")
      // Changes the file while its first frame is being rendered.
      let drawing = FrameDrawing("change", version: 1) { y, _, _ in
        guard y == 0, let file = try? FileDescriptor.open(path, .writeOnly, options: .append) else {
          return
        }
        _ = try? file.closeAfter { try file.writeAll([0]) }
      }
      let image = try AnimatedImage(contentsOf: path)
      let store = try FrameStore(at: FilePath("\(tool.directory)/c"))
      var warming = Warming(
        image, input: InputFile(path.string), rendering: Rendering(drawing: drawing), store: store)
      var room = WarmRoom(byteCount: 1 << 20)
      let failure = #expect(throws: CommandFailure.self) {
        _ = try warming.run(room: &room, ProgressReporter(style: .none))
      }
      #expect(failure?.code == "io")
      #expect(failure?.message.contains("changed") == true)
      #expect(store.statistics.insertions == 0)
    }
  }

  @Test func `verifying drops changed frames, and the status says so`() throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.run("cache", "warm", "cat.gif", "--cache", "c").status == 0)
      let table = try #require(try tool.list("c").first { $0.hasSuffix(".frames") })
      let path = "c/\(table)"
      var bytes = try tool.read(path)
      // The first byte of a frame's pixels, which are opaque red, green or blue; no page of holes begins with one of
      // these.
      let page = sysconf(Int32(_SC_PAGESIZE))
      let start = try #require(
        stride(from: bytes.count - page, to: 0, by: -page).first { bytes[$0 + 3] == 255 })
      bytes[start] ^= 1
      try tool.write(bytes, to: path)
      let result = try tool.run("cache", "verify", "--cache", "c")
      #expect(result.status == 1)
      #expect(result.text.hasPrefix("2 frames intact, 1 dropped\nc: 2 frames, "))
      let again = try tool.run("cache", "verify", "--cache", "c")
      #expect(again.status == 0)
      #expect(again.text.hasPrefix("2 frames intact, 0 dropped\n"))
      // A damaged header costs the whole table, which counts as one.
      bytes[60] ^= 1
      try tool.write(bytes, to: path)
      let headless = try tool.run("cache", "verify", "--cache", "c")
      #expect(headless.status == 1)
      #expect(headless.text.hasPrefix("0 frames intact, 1 dropped\nc: 0 frames, "))
      #expect(try !tool.list("c").contains(table))
    }
  }

  @Test func `pruning keeps the limit, and clearing leaves only files of others`() throws {
    try withTool { (tool: Tool) throws in
      let fixture = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent().appending("Fixtures/Demo/variable-delay.gif")
      #expect(try tool.run("cache", "warm", fixture.string, "cat.gif", "--cache", "c").status == 0)
      // Old, so that they could pass for leftovers.
      let others = "notes.txt other.new secret.new a.frames.txt video.frames index/list.html"
      #expect(try tool.shell("cd c && touch -d 2001-01-01 \(others)") == 0)
      let before = try stat(tool)
      #expect(before["record_count"].integer ?? 0 > 0)
      let half = (before["byte_count"].integer ?? 0) / 2
      let pruned = try JSONLine.one(
        tool.run("cache", "prune", "--cache", "c", "--cache-limit", "\(half)", "--json").output)
      #expect(pruned["byte_count"].integer ?? .max <= half)
      #expect(pruned["removed_frames"].integer ?? 0 > 0)
      #expect(pruned["record_count"] == before["record_count"])
      let cleared = try tool.run("cache", "clear", "--cache", "c")
      #expect(cleared.status == 0)
      #expect(cleared.text.hasSuffix("\nc: 0 frames, 0 B of 268.4 MB; 0 records, 0 B\n"))
      #expect(
        try tool.list("c") == [
          "a.frames.txt", "index", "notes.txt", "other.new", "secret", "secret.new",
          "video.frames",
        ])
      #expect(try tool.list("c/index") == ["list.html"])
    }
  }

  @Test(arguments: ["stat", "prune", "verify", "clear", "warm"])
  func `an unusable cache is a failure of the cache commands`(_ command: String) throws {
    try withTool { (tool: Tool) throws in
      #expect(try tool.run("cache", "warm", "cat.gif", "--cache", "c").status == 0)
      #expect(try tool.shell("chmod 755 c") == 0)
      let arguments = ["cache", command, "--cache", "c"] + (command == "warm" ? ["cat.gif"] : [])
      let result = try tool.run(arguments)
      #expect(result.status == 4)
      #expect(result.output.isEmpty)
      #expect(result.errors.hasPrefix("zoetrope: error: c: "))
      let json = try JSONLine.one(Array(tool.run(arguments + ["--json"]).errors.utf8))
      #expect(json["error"]["code"] == "storeDenied")
      #expect(try tool.run("cache", command, "--cache", "none").status == 2)
      // Neither a directory nor absent.
      let file = try tool.run(["cache", command, "--cache", "cat.gif"] + arguments.dropFirst(4))
      #expect(file.status == 4)
      #expect(file.errors.hasPrefix("zoetrope: error: cat.gif: "))
    }
  }

  @Test func `the commands are listed, each with its help`() throws {
    try withTool { (tool: Tool) throws in
      let help = try tool.run("cache")
      #expect(help.status == 0)
      for command in ["stat", "warm", "prune", "verify", "clear"] {
        #expect(help.text.contains("  \(command) "))
        #expect(try tool.run("cache", command, "--help").status == 0)
      }
      #expect(try tool.run("cache", "what").status == 2)
    }
  }

  @Test func `warming a damaged file says so`() throws {
    try withTool { (tool: Tool) throws in
      let bad = FixtureLibrary().root + "/Bad/lzw-bad-code.gif"
      for _ in 0..<2 {
        let result = try tool.run("cache", "warm", "--cache", "c", bad, "cat.gif")
        #expect(result.status == 1)
        #expect(result.text.contains(" damaged"), "\(result.text)")
      }
    }
  }

  @Test func `the advice for frames that do not fit helps`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write(DeltaGIF.make(width: 64, height: 64, frameCount: 40), to: "film.gif")
      let warm = ["cache", "warm", "film.gif", "--cache", "c", "--cache-limit"]
      let small = try tool.run(warm + ["160K"])
      #expect(small.status == 5 && small.text.contains("raise --cache-limit"), "\(small.text)")
      let large = try tool.run(warm + ["100M"])
      #expect(large.status == 5 && large.text.contains("clear the cache"), "\(large.text)")
      #expect(try tool.run("cache", "clear", "--cache", "c").status == 0)
      let whole = try tool.run(warm + ["100M"])
      #expect(whole.status == 0, "\(whole.text)")
    }
  }
}
