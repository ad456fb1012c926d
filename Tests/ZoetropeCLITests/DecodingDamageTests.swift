import Foundation
import SystemPackage
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCLI
@testable import ZoetropeProcess

/// The end of the data in a frame is found when the file is opened, and again when that frame is decoded.
@Suite(.timeLimit(.minutes(10))) struct DecodingDamageTests {
  /// A file that ends in its first frame, which is kept, with the name that its decoder has for that.
  private static func cutFiles() throws -> [(image: AnimatedImage, decoded: String)] {
    var gif = SampleGIF(width: 40, height: 40)
    gif.frames = [(0, 4)]
    let png = FilePath(#filePath).removingLastComponent().removingLastComponent()
      .removingLastComponent().appending("Fixtures/Bad/apng-cut-in-idat.png")
    return [
      (try AnimatedImage(bytes: Array(gif.bytes.dropLast(600))), "gif.lzw.truncated"),
      (try AnimatedImage(contentsOf: png), "png.truncated"),
    ]
  }

  @Test func `a frame in which the file ends is reported once`() throws {
    for (image, decoded) in try Self.cutFiles() {
      let found = try #require(FrameReader(image).frame(at: 0).damage)
      #expect(found.kind.name == decoded)
      var damage = DecodingDamage(of: image)
      let isNew = damage.add(found)
      #expect(!isNew)
      #expect(damage.items.isEmpty)
      let checked = try DamageReport(
        of: image, input: InputFile("cat"), ProgressReporter(style: .none))
      #expect(checked.damage == image.damage)
      #expect(checked.damage.count { $0.kind == .cutFrame } == 1)
    }
  }

  /// A file whose static image is not a frame, the same file with damage in that image only, and the offset of the
  /// image's data.
  private static func hiddenStatic() throws -> (intact: [UInt8], damaged: [UInt8], start: Int) {
    let intact = try FixtureLibrary().file("APNG/static-hidden.png")
    let start = try #require(Data(intact).range(of: Data("IDAT".utf8))).upperBound
    var damaged = intact
    damaged[start + 2] = 0xff
    return (intact, damaged, start)
  }

  @Test func `check decodes a static image that is not a frame`() throws {
    let (whole, damaged, start) = try Self.hiddenStatic()
    let intact = try AnimatedImage(bytes: whole)
    #expect(intact.staticImage != nil)
    let image = try AnimatedImage(bytes: damaged)
    #expect(image.damage.isEmpty)
    for (image, isDamaged) in [(intact, false), (image, true)] {
      let report = try DamageReport(
        of: image, input: InputFile("cat"), ProgressReporter(style: .none))
      #expect(report.hasLosses == isDamaged)
      #expect(report.damage.allSatisfy { $0.frameIndex == nil && $0.byteOffset >= start - 8 })
    }
  }

  @Test func `damage of a static image that is not a frame is in no frame`() throws {
    let (_, bytes, _) = try Self.hiddenStatic()
    let found = try StoredFrameReader(AnimatedImage(bytes: bytes)).staticImage()?.damage
    let damage = try #require(found)
    #expect(!damage.kind.isTolerated && damage.frameIndex == nil)
    let strict = try AnimatedImage(bytes: bytes, options: DecodingOptions(damage: .strict))
    let error = #expect(throws: AnimatedImageError.self) {
      try StoredFrameReader(strict).staticImage()
    }
    #expect(error?.code == .malformed && error?.frameIndex == nil)
    try withTool { (tool: Tool) throws in
      try tool.write(bytes, to: "a.png")
      let extract = ["extract", "a.png", "--static", "include", "-o", "o/"]
      let still = ["still", "a.png", "-o", "s.png"]
      let salvaged = try tool.run(extract + ["--manifest", "-"])
      #expect(salvaged.status == 1 && !salvaged.errors.contains("frame 0"), "\(salvaged.errors)")
      let items = try JSONLine.one(salvaged.output)["damage"].elements
      #expect(items.count == 1 && items.allSatisfy { $0["frame"] == .null })
      let drawn = try tool.run(still)
      #expect(drawn.status == 1 && !drawn.errors.contains("frame 0"), "\(drawn.errors)")
      for command in [extract + ["--force"], still + ["--force"], ["check", "a.png"]] {
        let refused = try tool.run(command + ["--damage", "strict"])
        #expect(refused.status == 6 && !refused.errors.contains("frame 0"), "\(refused.errors)")
      }
    }
  }

  @Test func `hashes of a frame that lacks pixels are a partial success`() throws {
    for (image, _) in try Self.cutFiles() {
      let report = AnimationReport(input: InputFile("cat"), image: image, policy: .browser)
      let hashed = try report.withHashes(ProgressReporter(style: .none))
      #expect(hashed.damage == image.damage)
      #expect(hashed.hasDecodingLosses && !report.hasDecodingLosses)
    }
  }

  @Test func `other damage is kept, once for each place`() throws {
    let image = try #require(try Self.cutFiles().first).image
    var damage = DecodingDamage(of: image)
    let code = Damage(.lzwInvalidCode, "a code", frameIndex: 0, byteOffset: 40)
    let surplus = Damage(.lzwSurplus, "more", frameIndex: 0, byteOffset: image.byteCount)
    let other = Damage(.lzwTruncated, "less", frameIndex: 1, byteOffset: image.byteCount)
    for item in [code, surplus, code, other, surplus] { damage.add(item) }
    #expect(damage.items == [code, surplus, other])
  }

  @Test func `optimize has the status of the other commands for damage`() throws {
    try withTool { (tool: Tool) throws in
      let bad = FixtureLibrary().root + "/Bad/lzw-bad-code.gif"
      #expect(try tool.run("optimize", "--damage", "strict", bad, "-o", "o.gif").status == 6)
      #expect(try tool.list() == ["cat.gif"])
    }
  }

  @Test func `strict rejects damage in a static image that convert copies`() throws {
    try withTool { (tool: Tool) throws in
      var bytes = try FixtureLibrary().file("APNG/static-hidden.png")
      let start = try #require(Data(bytes).range(of: Data("IDAT".utf8))).upperBound
      bytes[start + 2] = 0xff
      try tool.write(bytes, to: "in.png")
      let convert = ["convert", "in.png", "-o", "a.png", "--plays", "2"]
      let strict = try tool.run(convert + ["--damage", "strict"])
      #expect(strict.status == 6, "\(strict.errors)")
      #expect(try !tool.list().contains("a.png"))
      #expect(try tool.run(convert).status == 0)
    }
  }

  @Test func `raw pixels of another size are stale`() throws {
    try withTool { (tool: Tool) throws in
      let first = ["extract", "cat.gif", "-o", "o/", "--format", "rgba"]
      #expect(try tool.run(first).status == 0)
      #expect(try tool.run(first + ["--resume"]).status == 0)
      let resumed = try tool.run(first + ["--resume", "--size", "50%"])
      #expect(
        resumed.status == 4 && resumed.errors.contains("bytes, but the frames would now have"))
    }
  }
}
