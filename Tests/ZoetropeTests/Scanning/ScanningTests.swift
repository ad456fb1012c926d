import Foundation
import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

@Suite(.timeLimit(.minutes(10)), .startsThreads)
struct ScanningTests {
  /// Bytes that `forEachBlock` reads at a time.
  private static let blockSize = 1 << 17

  /// A GIF of `count` frames, every second one with a palette of its own. The data of each frame have as many bytes as
  /// `size` says; they are no valid codes, because no scan looks at them.
  private func gif(
    frames count: Int, blockSize: Int = 255, dataSize size: (Int) -> Int
  ) -> [UInt8] {
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: 9, height: 9, palette: GIFPalette([.black, RGBA(red: 9, green: 9, blue: 9)]))
    for index in 0..<count {
      gif.graphicControl(GIFGraphicControl(delay: UInt16(index % 100)))
      gif.raw([0x2c, 0, 0, 0, 0, 9, 0, 9, 0, index % 2 == 0 ? 0 : 0x82])
      if index % 2 == 1 { gif.raw([UInt8](repeating: UInt8(index % 256), count: 24)) }
      gif.raw([2])
      gif.raw(
        GIFBuilder.subBlocks(
          [UInt8](repeating: UInt8(index % 251), count: size(index)), blockSize: blockSize))
      gif.raw([0])
    }
    gif.trailer()
    return gif.bytes
  }

  @Test func `a GIF scans alike in pieces of any size`() throws {
    let bytes = gif(frames: 6) { [0, 1, 255, 2039, 2040, 5000][$0] }
    var whole = GIFScanner()
    try unsafe whole.feed(bytes.span.bytes)
    try whole.finish()
    #expect(whole.image.frames.count == 6)
    #expect(whole.image.frames.last?.byteRange.upperBound == bytes.count - 1)
    for size in [1, 2, 3, 7, 255, 256, 257, 2047, 2048, 2049] {
      var scanner = GIFScanner()
      for start in stride(from: 0, to: bytes.count, by: size) {
        try unsafe scanner.feed(bytes[start..<min(start + size, bytes.count)].span.bytes)
      }
      try scanner.finish()
      #expect(scanner.image == whole.image, "pieces of \(size) bytes")
    }
  }

  /// The image that `scanner` finds in pieces of `size` bytes.
  private func scan(
    _ bytes: [UInt8], in size: Int, by start: some Scanning
  ) throws -> ScannedImage {
    var scanner = start
    for start in stride(from: 0, to: bytes.count, by: size) {
      try unsafe scanner.feed(bytes[start..<min(start + size, bytes.count)].span.bytes)
    }
    try scanner.finish()
    return scanner.image
  }

  @Test func `small blocks scan alike in place and in pieces`() throws {
    var limits = DecodingLimits.default
    limits.metadataCount = 3
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: 9, height: 9, palette: GIFPalette([.black, .black]))
    for index in 0..<3 as Range<UInt8> {
      gif.raw([0x21, 0xfe, 0, 0x21, 0xfe, 1, 65, 2, 66, 67, 0])
      gif.application("WhoKnows1.0", payload: [1, 2, 3])
      for identifier in ["NETSCAPE2.0", "ANIMEXTS1.0"] {
        for payload in [[1, index, 2], [1, 7], [1, index, 0, 4]] as [[UInt8]] {
          gif.application(identifier, payload: payload)
        }
      }
      gif.plainText([65])
      gif.raw([0x21, 7, 1, 2, 0, 0x21, 7, 0])
      gif.raw([0x21, 0xf9, 4, 4, 1, 0, 0, 0, 0x21, 0xf9, 4, 0x1d, 2, 0, 1, 0])
      gif.raw([0x21, 0xf9, 3, 4, 1, 0, 0, 0x21, 0xf9, 5, 5, 3 + index, 0, 1, 0, 0])
      gif.raw([0x2c, 0, 0, 0, 0, 9, 0, 9, 0, 0, 2, 1, 1, 0])
    }
    gif.trailer()
    let whole = try scan(gif.bytes, in: gif.bytes.count, by: GIFScanner(limits: limits))
    #expect(whole.frames.map(\.delay) == [3, 4, 5].map { FrameDelay(centiseconds: $0) })
    #expect(whole.storedLoopCount == 2)
    #expect(whole.metadata.texts.map(\.value) == ["", "ABC"])
    #expect(whole.metadata.applicationBlocks.count == 1)
    #expect(whole.damage.count { $0.kind == .metadataLimit } == 1)
    #expect(whole.damage.count { $0.kind == .gifControlSize } == 6)
    #expect(whole.damage.count { $0.kind == .gifReservedDisposal } == 3)
    #expect(whole.damage.count { $0.kind == .gifLoopTwice } == 11)
    for size in [1, 2, 3, 5, 7, 18, 19, 20, 64] {
      let pieces = try scan(gif.bytes, in: size, by: GIFScanner(limits: limits))
      #expect(pieces == whole, "pieces of \(size) bytes")
    }
  }

  @Test func `small chunks scan alike in place and in pieces`() throws {
    var limits = DecodingLimits.default
    limits.metadataCount = 3
    var png = PNGBuilder()
    png.signature()
    png.chunk("IHDR", [0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0])
    png.chunk("acTL", [0, 0, 0, 9, 0, 0, 0, 0])
    var sequence: UInt8 = 0
    func next() -> [UInt8] {
      defer { sequence += 1 }
      return [0, 0, 0, sequence]
    }
    for index in 0..<4 {
      for value in 0..<2 as Range<UInt8> { png.chunk("tEXt", [65, 0, 66 + value]) }
      // A wrong CRC.
      png.raw([0, 0, 0, 3] + Array("tEXt".utf8) + [65, 0, 65, 0, 0, 0, 0])
      png.chunk("abCd", [1])
      png.chunk(
        "fcTL", next() + [0, 0, 0, 1, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 14))
      for part in 0..<6 as Range<UInt8> {
        let data = [UInt8](repeating: part, count: Int(part % 3))
        if index == 0 { png.chunk("IDAT", data) } else { png.chunk("fdAT", next() + data) }
        if part == 3 { png.chunk("abCd") }
      }
    }
    // Out of sequence: the last frame is lost.
    png.chunk("fdAT", [0, 0, 0, 0, 1])
    png.chunk("IEND")
    let whole = try scan(png.bytes, in: png.bytes.count, by: PNGScanner(limits: limits))
    #expect(whole.frames.count == 3)
    #expect(whole.metadata.texts.count == 3)
    #expect(whole.damage.count { $0.kind == .pngSplitData } == 4)
    #expect(whole.damage.count { $0.kind == .pngAncillaryChunk } == 4)
    #expect(whole.damage.count { $0.kind == .pngFrameInvalid } == 1)
    for size in [1, 2, 3, 5, 7, 12, 13, 17, 64] {
      let pieces = try scan(png.bytes, in: size, by: PNGScanner(limits: limits))
      #expect(pieces == whole, "pieces of \(size) bytes")
    }
  }

  /// Sub-blocks of one size are passed over eight at a time, then one by one, others by their lengths.
  @Test(arguments: [0, 1, 254], [255, 254, 64])
  func `a frame scans alike wherever its file is cut in two`(rest: Int, blockSize: Int) throws {
    for blocks in 0...10 {
      let bytes = gif(frames: 1, blockSize: blockSize) { _ in blocks * blockSize + rest }
      var whole = GIFScanner()
      try unsafe whole.feed(bytes.span.bytes)
      try whole.finish()
      #expect(whole.image.frames.count == 1)
      for cut in 0...bytes.count {
        var scanner = GIFScanner()
        try unsafe scanner.feed(bytes.span.bytes.extracting(0..<cut))
        try unsafe scanner.feed(bytes.span.bytes.extracting(cut..<bytes.count))
        try scanner.finish()
        // Compared by hand: an expectation each would take longer than all the scans.
        if scanner.image != whole.image { Issue.record("\(blocks) blocks, cut at \(cut)") }
      }
    }
  }

  private func scan(
    _ bytes: [UInt8], pieces: () -> Int
  ) -> Result<ScannedImage, AnimatedImageError> {
    Result { () throws(AnimatedImageError) in
      var scanner = GIFScanner()
      var position = 0
      while position < bytes.count {
        let end = min(position + pieces(), bytes.count)
        try unsafe scanner.feed(bytes.span.bytes.extracting(position..<end))
        position = end
      }
      try scanner.finish()
      return scanner.image
    }
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `a damaged film scans alike in pieces of any size`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let sizes = [5000, 700, 12, 9000, 2040, 255, 0].shuffled(using: &random)
    let blockSize = [255, 254, 100, 20].randomElement(using: &random) ?? 255
    var film = gif(frames: 30, blockSize: blockSize) { sizes[$0 % sizes.count] }
    if seed % 4 > 0 {
      for _ in 0..<Int(seed) {
        let place = Int.random(in: 13..<film.count, using: &random)
        film[place] = [0, 255, 0x21, 0x2c, 1].randomElement(using: &random) ?? 0
      }
    }
    let whole = scan(film) { film.count }
    for most in [300, 3000, 30_000] {
      #expect(scan(film) { Int.random(in: 1...most, using: &random) } == whole)
    }
  }

  @Test(arguments: FixtureTests.recipes)
  func `every fixture scans alike in pieces`(recipe: Recipe) {
    let whole = scan(recipe.bytes) { recipe.bytes.count }
    for size in [4096, 100] {
      #expect(scan(recipe.bytes) { size } == whole, "pieces of \(size)")
    }
  }

  @Test func `a large file scans as its bytes in memory do`() throws {
    let bytes = gif(frames: 400) { $0 * 37 + 100 }
    #expect(bytes.count > 1 << 21)
    let path = FilePath(NSTemporaryDirectory() + "scan-\(UUID().uuidString).gif")
    try Data(bytes).write(to: URL(fileURLWithPath: path.string))
    defer { try? FileManager.default.removeItem(atPath: path.string) }
    let memory = try AnimatedImage(bytes: bytes)
    #expect(memory.frames.count == 400 && memory.damage.isEmpty)
    let file = try AnimatedImage(contentsOf: path)
    #expect(file.frames == memory.frames && file.damage.isEmpty)
  }

  @Test func `blocks of a large file come in order, and reading ends when no more are wanted`()
    throws
  {
    let size = Self.blockSize * 20 + 5
    let path = FilePath(NSTemporaryDirectory() + "blocks-\(UUID().uuidString)")
    let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 / Self.blockSize) }
    try Data(content).write(to: URL(fileURLWithPath: path.string))
    defer { try? FileManager.default.removeItem(atPath: path.string) }
    let source = try FileSource(path: path)
    for wanted in [1, 7, 21, 30] {
      var seen: [UInt8] = []
      var count = 0
      try source.forEachBlock { bytes in
        seen.append(bytes[0])
        count += bytes.byteCount
        return seen.count < wanted
      }
      #expect(seen == (0..<UInt8(min(wanted, 21))).map { $0 })
      if wanted > 20 { #expect(count == size) }
    }
  }

  @Test func `a file that was cut after it was opened ends where it was cut`() throws {
    let size = Self.blockSize * 20
    let path = FilePath(NSTemporaryDirectory() + "cut-\(UUID().uuidString)")
    try Data(count: size).write(to: URL(fileURLWithPath: path.string))
    defer { try? FileManager.default.removeItem(atPath: path.string) }
    let source = try FileSource(path: path)
    let kept = Self.blockSize * 3 + 100
    try FileHandle(forWritingTo: URL(fileURLWithPath: path.string)).truncate(atOffset: UInt64(kept))
    var count = 0
    try source.forEachBlock { bytes in
      count += bytes.byteCount
      return true
    }
    #expect(count == kept)
  }

  @Test(arguments: [
    ("apng-blend-2", "an fcTL chunk has the unknown blend operation 2"),
    ("apng-dispose-3", "an fcTL chunk has the unknown disposal method 3"),
    ("apng-fctl-long", "an fcTL chunk has 27 bytes instead of 26"),
    ("apng-rect-outside", "an fcTL chunk has an invalid frame of 2x2+1+0 on a canvas of 2x2"),
    ("apng-sequence-first-1", "an fcTL chunk has sequence number 1 instead of 0"),
    ("crc-fctl", "an fcTL chunk has a wrong checksum"),
  ])
  func `a damaged frame control is reported with the reason`(name: String, detail: String) throws {
    let image = try AnimatedImage(bytes: FixtureLibrary().file("Bad/\(name).png"))
    #expect(image.damage.contains { $0.detail == detail })
  }

  @Test func `bytes after a PNG are found wherever it ends`() throws {
    let folder = try ScratchDirectory()
    for length in [1000, Self.blockSize - 1, Self.blockSize, Self.blockSize + 1] {
      var png = PNGBuilder()
      png.signature()
      png.chunk("IHDR", PNGBuilder.header(width: 1, height: 1, layout: PNGLayout(.rgb)))
      png.chunk("IDAT", try #require(ZlibCompressor(level: 6)?.compress([0, 1, 2, 3])))
      var end = PNGBuilder()
      end.chunk("IEND")
      let padding = length - png.bytes.count - end.bytes.count - 12
      png.chunk("paDd", [UInt8](repeating: 0, count: padding))
      let path = folder.path.appending("\(length).png")
      for tail in [[UInt8](), [7]] {
        let bytes = png.bytes + end.bytes + tail
        #expect(bytes.count == length + tail.count)
        try Data(bytes).write(to: URL(filePath: path.string))
        let kinds = try AnimatedImage(contentsOf: path).damage.map(\.kind)
        #expect(kinds == (tail.isEmpty ? [] : [.trailingData]), "\(length)")
      }
    }
  }

  @Test func `only the first tRNS counts, even if it is opaque`() throws {
    var png = PNGBuilder()
    png.signature()
    png.chunk("IHDR", PNGBuilder.header(width: 1, height: 1, layout: PNGLayout(.palette)))
    png.chunk("PLTE", [9, 8, 7])
    png.chunk("tRNS", [255])
    png.chunk("tRNS", [0])
    png.chunk("IDAT", try #require(ZlibCompressor(level: 6)?.compress([0, 0])))
    png.chunk("IEND")
    let image = try AnimatedImage(bytes: png.bytes)
    #expect(image.damage.map(\.kind) == [.pngAncillaryChunk])
    #expect(try FrameReader(image).frame(at: 0).bitmap.row(0)[3] == 255)
  }

  @Test func `a transparent pixel past the palette is no damage`() throws {
    for transparent in [UInt8?(3), nil] {
      var gif = GIFBuilder()
      gif.signature()
      gif.screen(
        width: 1, height: 1, palette: GIFPalette([.black, RGBA(red: 9, green: 9, blue: 9)]))
      gif.graphicControl(GIFGraphicControl(delay: 0, disposal: 1, transparentIndex: transparent))
      gif.frame(GIFFrame(rect: PixelRect(x: 0, y: 0, width: 1, height: 1), indices: [3]))
      gif.trailer()
      let frame = try FrameReader(AnimatedImage(bytes: gif.bytes)).frame(at: 0)
      #expect(frame.damage?.kind == (transparent == nil ? .pixelIndex : nil))
    }
  }
}
