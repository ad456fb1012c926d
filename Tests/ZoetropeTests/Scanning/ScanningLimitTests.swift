import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// What a file may consume while it is opened.
@Suite(.timeLimit(.minutes(10)), .computes) struct ScanningLimitTests {
  /// A PNG of one pixel with `chunks` before its image data.
  private func png(_ chunks: [PNGChunk], after more: [PNGChunk] = []) -> [UInt8] {
    var png = PNGBuilder()
    png.signature()
    png.chunk("IHDR", PNGBuilder.header(width: 1, height: 1, layout: PNGLayout(.gray)))
    for chunk in chunks { png.chunk(chunk) }
    png.chunk("IDAT", ZlibStream().encode([0, 7]))
    for chunk in more { png.chunk(chunk) }
    png.chunk("IEND")
    return png.bytes
  }

  private func compressedText(_ byteCount: Int) -> PNGChunk {
    let text = ZlibStream().encode([UInt8](repeating: 0xe4, count: byteCount))
    return PNGChunk("zTXt", Array("key".utf8) + [0, 0] + text)
  }

  @Test func `texts are charged with what they inflate to, together`() throws {
    var limits = DecodingLimits.default
    limits.metadataBytes = 1000
    limits.metadataTotalBytes = 2500
    let bytes = png((0..<4).map { _ in compressedText(900) })
    let image = try AnimatedImage(bytes: bytes, options: DecodingOptions(limits: limits))
    #expect(image.metadata.texts.map(\.value.count) == [900, 900])
    #expect(image.metadata.texts.first?.value.first == "ä")
    #expect(image.damage.map(\.kind) == [.pngAncillaryChunk, .pngAncillaryChunk])
  }

  @Test func `text past the limits is left out, which is reported once`() throws {
    var limits = DecodingLimits.default
    limits.metadataCount = 3
    let texts = (0..<9).map { PNGChunk("tEXt", Array("key".utf8) + [0, UInt8(ascii: "0") + $0]) }
    let image = try AnimatedImage(
      bytes: png(texts), options: DecodingOptions(limits: limits))
    #expect(image.metadata.texts.map(\.value) == ["0", "1", "2"])
    #expect(image.damage.map(\.kind) == [.metadataLimit])
  }

  @Test func `a chunk longer than the limit is skipped, which is reported`() throws {
    var limits = DecodingLimits.default
    limits.metadataBytes = 2000
    let long = PNGChunk("tEXt", Array("key".utf8) + [0] + [UInt8](repeating: 65, count: 3000))
    let image = try AnimatedImage(bytes: png([long]), options: DecodingOptions(limits: limits))
    #expect(image.metadata.texts == [])
    #expect(image.damage.map(\.kind) == [.metadataLimit])
  }

  @Test func `a thousand remarks hide no loss`() throws {
    var broken = PNGChunk("tEXt", [65, 0, 66])
    broken.hasCorrectChecksum = false
    let animation = PNGChunk("acTL", [0, 0, 0, 2, 0, 0, 0, 0])
    let sizes: [UInt8] = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
    let first = PNGChunk("fcTL", [0, 0, 0, 0] + sizes + [0, 1, 0, 10, 0, 0])
    let texts = [PNGChunk](repeating: broken, count: 1200)
    let bytes = png([animation, first] + texts, after: [PNGChunk("fcTL", [])])
    let image = try AnimatedImage(bytes: bytes)
    #expect(image.damage.count == 1001)
    #expect(image.damage.last?.kind == .pngFrameInvalid)
    #expect(throws: AnimatedImageError.self) {
      try AnimatedImage(bytes: bytes, options: DecodingOptions(damage: .strict))
    }
  }

  @Test func `an image that does not fit into the live bytes is refused`() throws {
    let bytes = DeltaGIF.make(width: 64, height: 64, frameCount: 9)
    // One canvas of 16 KiB; a second, since a frame disposes to previous; a frame of indices; its
    // compressed bytes, as they are stored and joined.
    let stored = try AnimatedImage(bytes: bytes).frames.map(\.byteRange.count).max() ?? 0
    let needed =
      2 * 64 * 64 * 4 + PixelMemory.rounded(64 * 64 + 64 + 512) + stored
      + PixelMemory.rounded(stored + 256)
    var limits = DecodingLimits.default
    limits.liveBytes = needed
    _ = try AnimatedImage(bytes: bytes, options: DecodingOptions(limits: limits))
    limits.liveBytes -= 1
    let error = #expect(throws: AnimatedImageError.self) {
      try AnimatedImage(bytes: bytes, options: DecodingOptions(limits: limits))
    }
    #expect(error?.code == .limitExceeded)
    #expect(error?.limit == LimitExcess(.liveBytes, found: needed, allowed: needed - 1))
    #expect(error?.detail == "liveBytes would be \(needed), but the limit is \(needed - 1)")
  }

  @Test(arguments: [
    (
      LimitExcess(.frameCount, found: 3000, allowed: 2000),
      "the number of frames would be 3,000, but the limit is 2,000"
    ),
    (
      LimitExcess(.liveBytes, found: 5_000_000, allowed: 1000),
      "the memory needed would be 5.0 MB, but the limit is 1 kB"
    ),
    (
      LimitExcess(.outputBytes, found: .max, allowed: 2000),
      "no file was found, but the limit is 2,000"
    ),
    (
      LimitExcess(.outputFrames, found: 1, allowed: 5),
      "the number of frames would be 1, but the minimum is 5"
    ),
    (
      LimitExcess(.outputDuration, found: 3_500_000_000, allowed: 3_000_000_000),
      "one play would take 3.5 s, but the limit is 3.0 s"
    ),
  ])
  func `a limit that would be exceeded is described for users`(
    _ excess: LimitExcess, _ text: String
  ) {
    #expect(excess.description == text)
  }

  @Test func `the frame whose pixels are too many for one play is refused where it begins`() throws
  {
    let bytes = DeltaGIF.make(width: 64, height: 64, frameCount: 9)
    let areas = try AnimatedImage(bytes: bytes).frames.map(\.rect.size.area)
    var limits = DecodingLimits.default
    limits.pixelsPerPlay = areas.reduce(0, +)
    #expect(try AnimatedImage(bytes: bytes, options: .init(limits: limits)).frames.count == 9)
    limits.pixelsPerPlay -= 1
    let error = #expect(throws: AnimatedImageError.self) {
      try AnimatedImage(bytes: bytes, options: DecodingOptions(limits: limits))
    }
    #expect(error?.code == .limitExceeded)
    let allowed = limits.pixelsPerPlay
    #expect(error?.limit == LimitExcess(.pixelsPerPlay, found: allowed + 1, allowed: allowed))
    #expect((error?.byteOffset ?? 0) > bytes.count / 2)
  }

  /// Two frames of 600x600 pixels with `surplus` bytes after the last pixel of each.
  private static func trailed(by surplus: Int) -> [UInt8] {
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: 600, height: 600, palette: GIFPalette([.black, .black]))
    let block = [255] + [UInt8](repeating: 0, count: 255)
    for _ in 0..<2 {
      var frame = GIFFrame(
        rect: PixelRect(x: 0, y: 0, width: 600, height: 600),
        indices: [UInt8](repeating: 0, count: 360_000))
      frame.isTerminated = false
      gif.frame(frame)
      for _ in 0..<surplus / 256 { gif.raw(block) }
      gif.raw([0])
    }
    gif.trailer()
    return gif.bytes
  }

  @Test func `threads take part as far as there is room for the compressed bytes of each`() throws {
    let bytes = Self.trailed(by: 8 << 20)
    func window(_ liveBytes: Int) throws -> DecodeWindow {
      var limits = DecodingLimits.default
      limits.liveBytes = liveBytes
      let image = try AnimatedImage(bytes: bytes, options: .init(limits: limits))
      return DecodeWindow(image.frames, header: image.header, options: image.options)
    }
    let image = try AnimatedImage(bytes: bytes)
    let footprint = DecodeFootprint(image.frames, header: image.header, options: image.options)
    #expect(footprint.worker >= 2 * (8 << 20))
    #expect(throws: AnimatedImageError.self) { try window(footprint.byteCount - 1) }
    #expect(try window(footprint.byteCount).helperLimit == 0)
    for helpers in 1...3 {
      let limit = footprint.byteCount + helpers * footprint.worker + (8 << 20)
      let window = try window(limit)
      #expect((helpers...helpers + 1).contains(window.helperLimit))
      let all = footprint.canvas + window.bytes + (1 + window.helperLimit) * footprint.worker
      #expect(all <= limit)
    }
    // Frames are there with one thread as with several.
    var limits = DecodingLimits.default
    limits.liveBytes = footprint.byteCount
    let reader = FrameReader(
      try AnimatedImage(bytes: bytes, options: .init(limits: limits, parallelism: 3)))
    #expect(try reader.next()?.index == 0)
    #expect(try reader.next()?.index == 1)
  }

  @Test func `a frame in which the file ends counts before it is decoded`() throws {
    // One pixel, then a frame of four megapixels whose data ends in its first bytes.
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: 1, height: 1, palette: GIFPalette([.black, .black]))
    gif.frame(GIFFrame(rect: PixelRect(x: 0, y: 0, width: 1, height: 1), indices: [0]))
    let bytes = gif.bytes + [0x2c, 0, 0, 0, 0, 0, 8, 0, 8, 0, 2, 2, 0x44]
    _ = try AnimatedImage(bytes: bytes)
    var limits = DecodingLimits.default
    limits.liveBytes = 1 << 20
    let error = #expect(throws: AnimatedImageError.self) {
      try AnimatedImage(bytes: bytes, options: DecodingOptions(limits: limits))
    }
    #expect(error?.code == .limitExceeded)
    #expect(error?.detail.contains("liveBytes") == true)
  }

  /// An APNG of two frames of 8x8 pixels, cut inside the second one's data.
  private static var cutAPNG: [UInt8] {
    var file = APNGBuilder()
    file.png.signature()
    file.png.chunk("IHDR", PNGBuilder.header(width: 8, height: 8, layout: PNGLayout(.gray)))
    file.animationControl(frames: 2)
    let data = ZlibStream().encode([UInt8](repeating: 0, count: 72))
    file.frameControl(APNGFrameControl(width: 8, height: 8))
    file.png.chunk("IDAT", data)
    file.frameControl(APNGFrameControl(width: 8, height: 8))
    file.frameData(data)
    file.png.truncate(to: file.bytes.count - 3)
    return file.bytes
  }

  @Test func `the frame in which an APNG ends counts as the others do`() throws {
    #expect(try AnimatedImage(bytes: Self.cutAPNG).frames.count == 2)
    var few = DecodingLimits.default
    few.frameCount = 1
    var small = DecodingLimits.default
    small.pixelsPerPlay = 2 * 64 - 1
    for (limits, name) in [(few, "frameCount"), (small, "pixelsPerPlay")] {
      let error = #expect(throws: AnimatedImageError.self) {
        try AnimatedImage(bytes: Self.cutAPNG, options: DecodingOptions(limits: limits))
      }
      #expect(error?.code == .limitExceeded)
      #expect(error?.detail.hasPrefix(name) == true)
    }
  }

  @Test func `sequence numbers that are used up begin anew`() throws {
    var scanner = PNGScanner()
    scanner.animation.announcedFrames = 2
    scanner.animation.phase = .frames
    scanner.animation.nextSequence = .max
    scanner.image.header = ImageHeader(format: .apng, canvasSize: PixelSize(width: 1, height: 1))
    scanner.chunkData = [0xff, 0xff, 0xff, 0xff]
    scanner.chunkType = .frameData
    scanner.animation.pendingControl = try PNGFrameControl(
      parsing: [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 14), sequence: 0,
      canvas: PixelSize(width: 1, height: 1))
    try scanner.readSequenceNumber()
    #expect(scanner.animation.nextSequence == 0)
    #expect(scanner.animation.openPicture != nil)
  }

  @Test func `rows of a narrow canvas count with their padding`() {
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: 1, height: 60000, palette: GIFPalette([.black, .black]))
    gif.frame(GIFFrame(rect: PixelRect(x: 0, y: 0, width: 1, height: 1), indices: [0]))
    gif.trailer()
    var limits = DecodingLimits.default
    limits.liveBytes = 64 * 60000
    #expect(throws: AnimatedImageError.self) {
      try AnimatedImage(bytes: gif.bytes, options: DecodingOptions(limits: limits))
    }
  }

  @Test func `a canvas needs the bytes per pixel that the limit's documentation states`() {
    let size = PixelSize(width: 4096, height: 4096)
    func needed(_ format: AnimationFormat, _ disposal: DisposalMethod = .keep) -> Int {
      let frame = FrameControl(
        index: 0, rect: PixelRect(x: 0, y: 0, width: 4096, height: 4096),
        delay: FrameDelay(numerator: 1, denominator: 10), disposal: disposal)
      let header = ImageHeader(format: format, canvasSize: size)
      return DecodeFootprint([frame], header: header, options: .init()).byteCount
    }
    #expect(needed(.png) == 144 << 20)
    // The buffer of the GIF decoder takes a few bytes even for no data.
    #expect((84 << 20...84 << 20 + 1000).contains(needed(.gif)))
    #expect((148 << 20...148 << 20 + 1000).contains(needed(.gif, .previous)))
  }

  @Test func `no limits do not mean that sizes overflow`() {
    var png = PNGBuilder()
    png.signature()
    png.chunk(
      "IHDR",
      PNGBuilder.header(
        width: 0x7fff_ffff, height: 0x7fff_ffff, layout: PNGLayout(.gray)))
    png.chunk("IDAT", ZlibStream().encode([0, 7]))
    png.chunk("IEND")
    let error = #expect(throws: AnimatedImageError.self) {
      try AnimatedImage(bytes: png.bytes, options: DecodingOptions(limits: .none))
    }
    #expect(error?.code == .limitExceeded)
  }
}
