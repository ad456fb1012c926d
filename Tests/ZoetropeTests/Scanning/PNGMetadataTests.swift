import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// What a PNG contains besides its pixels: kept when it is sound, named when it is not.
@Suite(.timeLimit(.minutes(10)), .computes) struct PNGMetadataTests {
  /// A grey PNG of one pixel, of value `sample`, with `chunks` before its image data.
  private func image(_ chunks: [PNGChunk], depth: Int = 8, sample: UInt8 = 7) throws
    -> AnimatedImage
  {
    var png = PNGBuilder()
    png.signature()
    let layout = PNGLayout(.gray, depth: depth)
    png.chunk("IHDR", PNGBuilder.header(width: 1, height: 1, layout: layout))
    for chunk in chunks { png.chunk(chunk) }
    png.chunk("IDAT", ZlibStream().encode([0, sample]))
    png.chunk("IEND")
    return try AnimatedImage(bytes: png.bytes)
  }

  private func profile(_ name: String, _ stream: [UInt8]) -> PNGChunk {
    PNGChunk("iCCP", Array(name.utf8) + [0, 0] + stream)
  }

  @Test func `the first colour profile is kept with its name`() throws {
    let bytes = (0..<600).map { UInt8(truncatingIfNeeded: $0 / 3) }
    let image = try image([
      profile("display", ZlibStream().encode(bytes)),
      profile("second", ZlibStream().encode([1, 2, 3])),
    ])
    #expect(image.metadata.iccProfile == bytes)
    #expect(image.metadata.iccProfileName == "display")
    #expect(image.damage == [])
  }

  @Test(arguments: [
    Array("without an end".utf8), Array("name".utf8) + [0], Array("name".utf8) + [0, 0],
    Array("name".utf8) + [0, 0, 0x78, 1, 7, 7, 7],
  ])
  func `a colour profile that cannot be read is left out and named`(data: [UInt8]) throws {
    let image = try image([PNGChunk("iCCP", data)])
    #expect(image.metadata.iccProfile == nil)
    #expect(image.metadata.iccProfileName == nil)
    #expect(image.damage.map(\.kind) == [.pngAncillaryChunk])
  }

  @Test(arguments: [false, true])
  func `XMP comes from the text chunk that has its key`(isCompressed: Bool) throws {
    let packet = "<x:xmpmeta>ü</x:xmpmeta>"
    let bytes = Array(packet.utf8)
    let chunk = PNGChunk(
      "iTXt",
      Array("XML:com.adobe.xmp".utf8) + [0, isCompressed ? 1 : 0, 0, 0, 0]
        + (isCompressed ? ZlibStream().encode(bytes) : bytes))
    let image = try image([chunk])
    #expect(image.metadata.xmp == packet)
    #expect(image.metadata.texts == [])
    #expect(image.damage == [])
  }

  @Test func `a still PNG stores no delay, and is shown for as long as such a frame`() throws {
    let image = try image([])
    #expect(image.frames.map(\.delay) == [FrameDelay(numerator: 0, denominator: 100)])
    #expect(image.duration() == .milliseconds(100))
    #expect(image.duration(policy: .exact) == .zero)
  }

  @Test func `a transparent grey that no sample can have makes nothing transparent`() throws {
    // Masked to the depth it would be 1, which the only pixel is.
    let image = try image([PNGChunk("tRNS", [0, 0b101])], depth: 2, sample: 0b0100_0000)
    #expect(image.damage.map(\.kind) == [.pngAncillaryChunk])
    let pixel = try FrameReader(image).next()?.bitmap[0, 0]
    #expect(pixel == RGBA(red: 85, green: 85, blue: 85))
  }
}
