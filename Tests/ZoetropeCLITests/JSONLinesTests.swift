import Foundation
import Glibc
import SystemPackage
import TestRunning
import Testing

/// What `--json` prints: one object a line for each input.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct JSONLinesTests {
  @Test func `info prints one object a line, failures in their places`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write(Array("hello".utf8), to: "no\u{1b}.gif")
      let result = try tool.run("info", "--json", "cat.gif", "no\u{1b}.gif", "cat.gif", "none")
      #expect(result.status == 1)
      #expect(result.errors.isEmpty)
      let lines = try JSONLine.all(result.output)
      #expect(lines.map { $0["schema"] } == Array(repeating: "zoetrope.animation/3", count: 4))
      #expect(lines.map { $0["file"].text } == ["cat.gif", "no\u{1b}.gif", "cat.gif", "none"])
      #expect(lines[0] == lines[2])
      for line in [lines[0], lines[2]] { #expect(line["error"] == .missing) }
      #expect(lines[1]["error"]["code"] == "notAnImage")
      #expect(lines[3]["error"]["code"] == "io")
      for line in [lines[1], lines[3]] {
        #expect(line["error"]["message"].text?.isEmpty == false)
        #expect(line["frame_count"] == .missing)
      }
    }
  }

  @Test func `one file gives the object alone, with fields of one type each`() throws {
    try withTool { (tool: Tool) throws in
      let info = try JSONLine.one(tool.run("info", "--json", "cat.gif").output)
      #expect(info["format"] == "gif")
      #expect(info["width"] == 6)
      #expect(info["height"] == 4)
      #expect(info["frame_count"] == 3)
      #expect(info["loop"]["raw"] == 0)
      #expect(info["loop"]["plays"] == .null)
      #expect(info["loop"]["forever"] == true)
      #expect(info["frames"].elements.map { $0["stored_ms"].integer } == [40, 100, 0])
      #expect(info["frames"].elements.map { $0["shown_ms"].integer } == [40, 100, 100])
      #expect(info["frames"].elements.map { $0["start_ms"].integer } == [0, 40, 140])
      #expect(info["frames"][1]["delay"]["num"] == 10)
      #expect(info["frames"][1]["delay"]["den"] == 100)
      var thrice = SampleGIF()
      thrice.loop = 2
      try tool.write(thrice.bytes, to: "thrice.gif")
      let loop = try JSONLine.one(tool.run("info", "--json", "thrice.gif").output)["loop"]
      #expect(loop["plays"] == 3)
      #expect(loop["forever"] == false)
    }
  }

  @Test func `check reports the frame and byte of each defect, and failures too`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write(Array(SampleGIF().bytes.dropLast(12)), to: "cut.gif")
      let arguments = ["--json", "none", "cut.gif", "cat.gif"]
      let lines = try JSONLine.all(tool.run(["check"] + arguments).output)
      #expect(lines.map { $0["schema"] } == Array(repeating: "zoetrope.check/3", count: 3))
      #expect(lines.map { $0["file"].text } == ["none", "cut.gif", "cat.gif"])
      #expect(lines[0]["error"]["code"] == "io")
      #expect(lines[1]["status"] == "damaged")
      #expect(lines[1]["damage"][0]["frame"].integer != nil)
      #expect(lines[1]["damage"][0]["byte_offset"].integer ?? 0 > 0)
      #expect(lines[2]["status"] == "ok")
      let strict = try tool.run(["check", "--damage", "strict"] + arguments)
      let failed = try JSONLine.all(strict.output)[1]
      #expect(failed["error"]["byte_offset"].integer ?? 0 > 0)
    }
  }

  @Test(arguments: ["info", "check"])
  func `a line is printed before the next input is read`(_ command: String) throws {
    try withTool { (tool: Tool) throws in
      // The second input comes only when the first one's line has been seen.
      let script = """
        mkfifo in out && { timeout 120 "$ZOETROPE" \(command) --json cat.gif in >out & } ; \
        exec 3<out && read -r first <&3 && cat cat.gif >in && read -r second <&3 && wait && \
        printf '%s\\n%s\\n' "$first" "$second" >lines
        """
      #expect(try tool.shell(script) == 0)
      let lines = try JSONLine.all(tool.read("lines"))
      #expect(lines.map { $0["file"] } == ["cat.gif", "in"])
    }
  }

  @Test func `an interrupted check keeps what it has printed`() throws {
    try withTool { (tool: Tool) throws in
      let script = """
        mkfifo in && { (until test -s out || ! kill -0 $$; do :; done; kill -INT $$) 2>noise & \
        exec "$ZOETROPE" check cat.gif in >out; }
        """
      #expect(try tool.endingSignal(of: script) == SIGINT)
      #expect(String(decoding: try tool.read("out"), as: UTF8.self) == "cat.gif: ok, 3 frames\n")
    }
  }

  @Test func `names that are not UTF-8 are printed as bytes, too`() throws {
    try withTool { (tool: Tool) throws in
      let script = """
        cp cat.gif "$(printf 'c\\351t.gif')" && "$ZOETROPE" info --json "$(printf 'c\\351t.gif')" >out \
        && "$ZOETROPE" info --json "$(printf 'n\\351')" >>out; \
        "$ZOETROPE" extract "$(printf 'c\\351t.gif')" -o o/ --max 1 --manifest list && cat list >>out
        """
      #expect(try tool.shell(script) == 0)
      let lines = try JSONLine.all(tool.read("out"))
      #expect(lines.map { $0["file"].text } == ["c\u{fffd}t.gif", "n\u{fffd}", "c\u{fffd}t.gif"])
      func bytes(_ value: JSONLine) -> [UInt8] {
        value.text.flatMap { Data(base64Encoded: $0) }.map(Array.init) ?? []
      }
      let name: [UInt8] = [0x63, 0xe9, 0x74]
      #expect(bytes(lines[0]["file_base64"]) == name + Array(".gif".utf8))
      #expect(bytes(lines[1]["file_base64"]) == [0x6e, 0xe9])
      #expect(
        bytes(lines[2]["frames"][0]["output_base64"])
          == Array("o/".utf8) + name + Array("-0000.png".utf8))
      let plain = try JSONLine.one(tool.run("info", "--json", "cat.gif").output)
      #expect(plain["file_base64"] == .missing)
    }
  }

  @Test func `progress as JSON has nothing else on standard error`() throws {
    try withTool { (tool: Tool) throws in
      try tool.write(Array(SampleGIF().bytes.dropLast(12)), to: "cut.gif")
      let result = try tool.run("extract", "cut.gif", "none", "-o", "o/", "--progress", "json")
      #expect(result.status == 1)
      let lines = try JSONLine.all(Array(result.errors.utf8))
      #expect(lines.contains { $0["phase"] == "done" })
      #expect(lines.contains { $0["damage"]["file"] == "cut.gif" })
      #expect(lines.contains { $0["error"]["file"] == "none" })
    }
  }

  @Test func `a manifest has a line for each input and the static image`() throws {
    try withTool { (tool: Tool) throws in
      let fixture = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent().appending("Fixtures/APNG/static-hidden.png")
      let result = try tool.run(
        "extract", fixture.string, "none", "cat.gif", "-o",
        "o/{name}-{index:08}.png", "--static", "include", "--manifest", "-")
      #expect(result.status == 1)
      let lines = try JSONLine.all(result.output)
      try #require(lines.count == 3)
      let still = lines[0]["default_image"]
      #expect(still["is_frame_0"] == false)
      #expect(still["output"] == "o/static-hidden.png-static.png")
      #expect(still["output_bytes"].integer ?? 0 > 0)
      #expect(try tool.list("o").contains("static-hidden.png-static.png"))
      #expect(lines[1]["error"]["code"] == "io")
      #expect(lines[2]["frames"][0]["output"] == "o/cat.gif-00000000.png")
    }
  }
}
