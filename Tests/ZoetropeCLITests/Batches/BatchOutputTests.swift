import TestRunning
import Testing
import Zoetrope
import ZoetropeProcess
import ZoetropeTestSupport

@testable import ZoetropeCLI

/// What `extract` writes and reports for many inputs.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct BatchOutputTests {
  /// A tool with a whole file, a truncated one, and text.
  private func withBatch(_ body: (Tool) throws -> Void) throws {
    try withTool { (tool: Tool) throws in
      let whole = SampleGIF().bytes
      // The last frame loses its last row and the end of its data.
      try tool.write(Array(whole.dropLast(12)), to: "cut.gif")
      try tool.write(Array("no image".utf8), to: "text.gif")
      try body(tool)
    }
  }

  @Test func `a manifest says of each file whether it is whole`() throws {
    try withBatch { (tool: Tool) throws in
      let result = try tool.run(
        "extract", "cat.gif", "cut.gif", "text.gif", "-o", "o/", "--manifest", "m.json")
      #expect(result.status == 1)
      let lines = try JSONLine.all(try tool.read("m.json"))
      #expect(lines.map { $0["status"] } == ["ok", "damaged", "unreadable"])
      #expect(result.errors.contains("zoetrope: warning: cut.gif: "))
      #expect(result.errors.contains("zoetrope: error: text.gif: "))
      let summary = result.errors.split(separator: "\n").last ?? ""
      #expect(summary.hasPrefix("zoetrope: 3 files: 1 ok, 1 damaged, 1 unreadable; 5 frames, "))
    }
  }

  @Test func `progress in JSON has the file, its position and a summary`() throws {
    try withBatch { (tool: Tool) throws in
      let result = try tool.run(
        "extract", "cat.gif", "cut.gif", "text.gif", "-o", "o/", "--progress", "json")
      let lines = try JSONLine.all(Array(result.errors.utf8))
      let done = lines.filter { $0["phase"] == "done" }
      #expect(done.map { $0["file"] } == ["cat.gif", "cut.gif"])
      #expect(done.map { $0["position"] } == [1, 2])
      #expect(done.allSatisfy { $0["files"] == 3 })
      let summary = try #require(lines.last)
      #expect(summary["phase"] == "summary")
      #expect(summary["files"] == 3 && summary["ok"] == 1 && summary["damaged"] == 1)
      #expect(summary["unreadable"] == 1 && summary["failed"] == 0 && summary["frames"] == 5)
      let sizes = try tool.list("o").map { try tool.read("o/\($0)").count }
      #expect(summary["bytes"].integer == sizes.reduce(0, +))
    }
  }

  @Test(arguments: ["convert", "optimize"])
  func `progress of animations in JSON has the file, its position and a summary`(
    _ command: String
  ) throws {
    try withBatch { (tool: Tool) throws in
      let result = try tool.run(
        command, "cat.gif", "cut.gif", "text.gif", "-o", "o/", "--force", "--progress", "json")
      #expect(result.status == 1)
      // Warnings and errors are words.
      let text = result.errors.split(separator: "\n").filter { $0.hasPrefix("{") }
      let lines = try JSONLine.all(Array((text.joined(separator: "\n") + "\n").utf8))
      let done = lines.filter { $0["phase"] == "done" }
      #expect(Set(done.map { $0["file"].text }) == ["cat.gif", "cut.gif"])
      #expect(Set(done.map { $0["position"].integer }) == [1, 2])
      #expect(done.allSatisfy { $0["files"] == 3 })
      let summary = try #require(lines.last)
      #expect(summary["phase"] == "summary" && summary["files"] == 3)
      #expect(summary["unreadable"] == 1 && summary["failed"] == 0)
      let sizes = try tool.list("o").map { try tool.read("o/\($0)").count }
      #expect(summary["bytes"].integer == sizes.reduce(0, +))
      #expect(!result.errors.contains("files written"))
    }
  }

  @Test(arguments: ["convert", "optimize"])
  func `the progress line of animations names the file and its position`(
    _ command: String
  ) throws {
    var gif = SampleGIF(width: 250, height: 250)
    gif.frames = (0..<200).map { (UInt8($0 % 3), 4) }
    gif.isMixed = true
    try withTool(gif) { (tool: Tool) throws in
      // The line is shown a tenth of a second after the start; so many frames take longer to encode.
      #expect(try tool.shell("for n in 1 2 3 4; do cp cat.gif $n.gif; done") == 0)
      let result = try tool.run(
        [command, "1.gif", "2.gif", "3.gif", "4.gif", "-o", "o/", "-j", "1", "--progress", "bar"]
          + (command == "convert" ? ["--size", "200%"] : ["--effort", "small"]))
      #expect(result.status == 0)
      let shown = result.errors.split(separator: "\r")
      #expect(shown.contains { $0.hasPrefix("[4/4] 4.gif") }, "\(result.errors.prefix(2000))")
      #expect(!result.errors.contains(" frames"))
      #expect(result.errors.hasSuffix(" %)\n"))
    }
  }

  @Test func `a progress line for several inputs leaves only the messages and a summary`() throws {
    try withBatch { (tool: Tool) throws in
      let result = try tool.run(
        "extract", "cat.gif", "cut.gif", "text.gif", "-o", "o/", "--progress", "bar")
      #expect(result.status == 1)
      let lines = result.errors.split(separator: "\n")
      #expect(lines.count { $0.contains("zoetrope: error: text.gif: ") } == 1)
      #expect(lines.last?.hasPrefix("zoetrope: 3 files: 1 ok, 1 damaged") == true)
    }
  }

  @Test func `the time left is that of the bytes left, at the speed so far`() {
    let work = BatchWork([4096, 12288, 0])
    // 8192, 16384 and 4096 units.
    #expect(work.secondsLeft(input: 0, part: 0, elapsed: .seconds(1)) == nil)
    #expect(work.secondsLeft(input: 0, part: 0.5, elapsed: .seconds(1)) == 6)
    #expect(work.secondsLeft(input: 1, part: 0, elapsed: .seconds(2)) == 5)
    #expect(work.secondsLeft(input: 2, part: 1, elapsed: .seconds(7)) == 0)
    #expect(work.secondsLeft(input: 3, part: 0, elapsed: .seconds(7)) == nil)
    #expect(BatchWork([]).secondsLeft(input: 0, part: 1, elapsed: .seconds(1)) == nil)
    let huge = BatchWork([.max, .max])
    #expect(huge.secondsLeft(input: 1, part: 0, elapsed: .seconds(3)) == 3)
  }

  @Test func `a manifest called .csv has a row for each picture`() throws {
    try withBatch { (tool: Tool) throws in
      #expect(try tool.shell("cp cat.gif 'a, \"b\".gif'") == 0)
      let result = try tool.run(
        "extract", "a, \"b\".gif", "text.gif", "-o", "o/", "--manifest", "m.csv", "--size", "3x2")
      #expect(result.status == 1)
      let lines = String(decoding: try tool.read("m.csv"), as: UTF8.self).split(
        separator: "\n", omittingEmptySubsequences: false)
      let name = #""a, ""b"".gif""#
      let start =
        "file,status,frame,picture,start_ms,shown_ms,stored_ms,width,height,output,output_bytes,"
      #expect(lines[0] == start + "same_as,error")
      #expect(lines[1].hasPrefix("\(name),ok,0,,0,40,40,3,2,\"o/a, \"\"b\"\"-0000.png\","))
      #expect(lines[3].hasPrefix("\(name),ok,2,,140,100,0,3,2,"))
      #expect(lines[4] == "text.gif,unreadable,,,,,,,,,,,no GIF or PNG signature")
      #expect(lines.count == 6 && lines[5].isEmpty)
      // --resume accepts it as a manifest and rewrites it.
      let resumed = try tool.run(
        "extract", "a, \"b\".gif", "text.gif", "-o", "o/", "--manifest", "m.csv", "--size", "3x2",
        "--resume")
      #expect(resumed.status == 1)
      #expect(
        String(decoding: try tool.read("m.csv"), as: UTF8.self).split(
          separator: "\n", omittingEmptySubsequences: false) == lines)
    }
  }

  @Test func `a manifest of resampled pictures names their frames`() throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run(
        "extract", "cat.gif", "-o", "o/", "--fps", "20", "--manifest", "-")
      #expect(result.status == 0)
      let report = try JSONLine.one(result.output)
      // 40, 100 and 100 ms at a picture every 50 ms.
      let pictures = report["pictures"].elements
      #expect(pictures.map { $0["frame"] } == [0, 1, 1, 2, 2])
      #expect(pictures.map { $0["number"] } == [0, 1, 2, 3, 4])
      #expect(pictures.map { $0["start_ms"] } == [0, 50, 100, 150, 200])
      #expect(
        report["picture_rate"]["num"].integer.map { $0 / 20 }
          == report["picture_rate"]["den"].integer)
      #expect(report["frames"].count == 3 && report["frames"][0]["output"] == .missing)
      for picture in pictures {
        let bytes = try tool.read(picture["output"].text ?? "")
        #expect(picture["output_bytes"].integer == bytes.count)
        let still = try tool.run(
          "still", "cat.gif", "--frame", "\(picture["frame"].integer ?? -1)", "-o", "-")
        #expect(still.output == bytes)
      }
    }
  }

  @Test func `--skip-damaged leaves out damaged frames and those above them`() throws {
    try withTool { (tool: Tool) throws in
      // The second frame ends early; the third covers nothing of it.
      var gif = SampleGIF(frames: [(0, 4), (1, 4), (2, 4)]).bytes
      let image = try AnimatedImage(bytes: gif)
      let range = image.frames[1].byteRange
      // An end code in the middle of the codes.
      gif[range.upperBound - 12] = 0x81
      try tool.write(gif, to: "bad.gif")
      let all = try tool.run("extract", "bad.gif", "-o", "all/")
      #expect(all.status == 1)
      #expect(try tool.list("all").count == 3)
      let some = try tool.run(
        "extract", "bad.gif", "-o", "some/", "--skip-damaged", "--manifest", "-")
      #expect(some.status == 1)
      let report = try JSONLine.one(some.output)
      #expect(report["status"] == "damaged")
      let isCovered = image.frames[2].isIndependent
      #expect(report["frames"].elements.map { $0["index"] } == (isCovered ? [0, 2] : [0]))
      #expect(try tool.list("some").count == (isCovered ? 2 : 1))
      #expect(try tool.run("extract", "cat.gif", "-o", "c/", "--skip-damaged").status == 0)
      #expect(try tool.list("c").count == 3)
    }
  }

  @Test func `an archive has the frames and a report of each file`() throws {
    try withBatch { (tool: Tool) throws in
      #expect(
        try tool.shell("mkdir -p d/x.y && cp cat.gif d/x.y/a.b.gif && cp cat.gif d/cat.png") == 0)
      let result = try tool.run(
        "extract", "cat.gif", "-r", "d", "text.gif", "-o", "f.tar", "--format", "tar",
        "--manifest", "m.json")
      #expect(result.status == 1)
      #expect(try tool.shell("mkdir t && tar -C t -xf f.tar && tar tf f.tar > names") == 0)
      let names = String(decoding: try tool.read("names"), as: UTF8.self).split(separator: "\n")
      let frames = (0..<3).map { "000\($0).png" } + ["json"]
      #expect(
        names.map(String.init)
          == frames.map { "cat_gif.\($0)" } + frames.map { "cat_png.\($0)" }
          + frames.map { "x.y/a_b.\($0)" })
      #expect(try tool.run("extract", "cat.gif", "-o", "o/").status == 0)
      for index in 0..<3 {
        #expect(
          try tool.read("t/x.y/a_b.000\(index).png") == tool.read("o/cat-000\(index).png"))
      }
      let report = try JSONLine.one(try tool.read("t/x.y/a_b.json"))
      #expect(report["frames"][1]["output"] == "x.y/a_b.0001.png")
      #expect(
        report["frames"][1]["output_bytes"].integer == (try tool.read("o/cat-0001.png").count))
      #expect(try JSONLine.all(try tool.read("m.json")).count == 4)
      // A second run makes the same bytes.
      let piped = try tool.run(
        "extract", "cat.gif", "-r", "d", "text.gif", "-o", "-", "--format", "tar", "-q")
      #expect(try piped.output == tool.read("f.tar"))
      #expect(
        try tool.run("extract", "cat.gif", "-o", "f.tar", "--format", "tar").status == 4)
    }
  }

  @Test func `an archive keeps names longer than its header`() throws {
    try withTool { (tool: Tool) throws in
      let long = String(repeating: "long", count: 45)
      #expect(try tool.shell("cp cat.gif \(long).gif") == 0)
      #expect(
        try tool.run("extract", "\(long).gif", "-o", "f.tar", "--format", "tar").status == 0)
      #expect(try tool.shell("tar -xf f.tar") == 0)
      #expect(try tool.list().count { $0.hasPrefix("\(long).") && $0.hasSuffix(".png") } == 3)
    }
  }

  @Test(arguments: ["o", "o/", "o.png", "{stem}.tar"])
  func `an archive has one name that ends in .tar`(output: String) throws {
    try withTool { (tool: Tool) throws in
      let result = try tool.run("extract", "cat.gif", "-o", output, "--format", "tar")
      #expect(result.status == 2)
      #expect(try tool.list() == ["cat.gif"])
    }
  }

  @Test func `a failure to write counts the files that were not reached`() throws {
    try withTool { (tool: Tool) throws in
      for number in 0..<3 { try tool.write(SampleGIF().bytes, to: "\(number).gif") }
      let code = try tool.shell(
        "\"$ZOETROPE\" extract 0.gif 1.gif 2.gif -o - --format rgba >/dev/full 2>errors")
      #expect(code == 4)
      let errors = String(decoding: try tool.read("errors"), as: UTF8.self)
      #expect(errors.contains("3 files: ") && errors.contains("2 not reached"), "\(errors)")
    }
  }

  @Test func `a manifest that cannot be printed counts no file twice`() throws {
    try withTool { (tool: Tool) throws in
      for number in 0..<3 { try tool.write(SampleGIF().bytes, to: "\(number).gif") }
      let code = try tool.shell(
        "\"$ZOETROPE\" extract 0.gif 1.gif 2.gif -o o/ --manifest - >/dev/full 2>errors")
      #expect(code == 4)
      let errors = String(decoding: try tool.read("errors"), as: UTF8.self)
      #expect(errors.contains("3 files: 1 ok, 2 not reached; 3 frames"), "\(errors)")
    }
  }
}
