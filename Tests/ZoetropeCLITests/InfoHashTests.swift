import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCLI
@testable import ZoetropeProcess

/// `info --hashes` and `info --timing all`.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct InfoHashTests {
  /// What `xxh128sum` prints for the bytes that `extract --format rgba` writes.
  @Test func `hashes are those of another program`() throws {
    // 1x1 red, and 6x4 red with padded rows: printed by XXH3_128bits of libxxhash.
    let red: [UInt8] = [255, 0, 0, 255]
    for (width, height, digits) in [
      (1, 1, "73fd901dba0f71bd7f791bd36d8a3bfe"), (6, 4, "aaf01ace4a12b33fd6f8cef805e9560a"),
    ] {
      let bitmap = Bitmap.drawn(size: PixelSize(width: width, height: height)) { _, bytes in
        for byte in 0..<width * 4 {
          bytes.storeBytes(of: red[byte % 4], toByteOffset: byte, as: UInt8.self)
        }
      }
      #expect(try PixelHash(of: bitmap).description == digits)
    }
  }

  private func report() throws -> AnimationReport {
    AnimationReport(
      input: InputFile("cat.gif"), image: try AnimatedImage(bytes: SampleGIF().bytes),
      policy: .browser)
  }

  @Test func `a report has a hash for every frame, as text and as JSON`() throws {
    let report = try report().withHashes(ProgressReporter(style: .none))
    let hashes = try #require(report.hashes).map(\.description)
    #expect(hashes.count == 3 && Set(hashes).count == 3)
    #expect(hashes[0] == "aaf01ace4a12b33fd6f8cef805e9560a")
    let lines = report.text(showsFrames: true, showsMetadata: false).split(separator: "\n")
    #expect(lines.filter { $0.hasSuffix(" xxh128") }.count == 1)
    for hash in hashes { #expect(lines.contains { $0.hasSuffix(" \(hash)") }) }
    let json = try JSONLine.one(CommandRunner.line { report.write(to: &$0) })
    #expect(json["hash_algorithm"] == "xxh128")
    #expect(json["frames"].elements.map(\.["hash"].text) == hashes)
  }

  @Test func `all timing policies are shown side by side`() throws {
    var report = try report()
    report.policies = NamedPolicy.all
    let lines = report.text(showsFrames: true, showsMetadata: false)
      .split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    #expect(lines.contains(["frame", "stored", "browser", "exact", "ffmpeg", "imageio", "gtk"]))
    #expect(lines.contains(["2*", "0", "100", "0", "100", "100", "20"]))
    let json = try JSONLine.one(CommandRunner.line { report.write(to: &$0) })
    #expect(json["duration_ms"]["by_policy"]["exact"] == 140)
    #expect(json["duration_ms"]["by_policy"]["gtk"] == 160)
    #expect(json["frames"][2]["by_policy"]["imageio"] == 100)
    #expect(json["frames"][2]["shown_ms"] == 100)
  }

  @Test func `a pipe and a file have the same hashes and times`() throws {
    try withTool { (tool: Tool) throws in
      let arguments = ["--hashes", "--timing", "all", "--json"]
      let file = try JSONLine.one(tool.run(["info", "cat.gif"] + arguments).output)
      let piped = try JSONLine.one(
        tool.run(["info", "-"] + arguments, input: SampleGIF().bytes).output)
      #expect(file["frames"] == piped["frames"])
      #expect(file["frames"][0]["hash"] == "aaf01ace4a12b33fd6f8cef805e9560a")
      #expect(try tool.run("info", "cat.gif", "--hashes", "--format", "{file}").status == 2)
      #expect(try tool.run("extract", "cat.gif", "-o", "o", "--timing", "all").status == 2)
    }
  }
}
