import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes) struct GIFBuilderTests {
  @Test func `the smallest GIF has the bytes that the specification asks for`() {
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: 1, height: 1, palette: GIFPalette([.black]))
    gif.frame(GIFFrame(rect: PixelRect(x: 0, y: 0, width: 1, height: 1), indices: [0]))
    gif.trailer()
    let screen: [UInt8] = [1, 0, 1, 0, 0xf0, 0, 0, 0, 0, 0, 0, 0, 0]
    // Codes of 3 bits: 4 (clear), 0, 5 (end), lowest bit first.
    let frame: [UInt8] = [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0b0100_0100, 0b1, 0]
    #expect(gif.bytes == Array("GIF89a".utf8) + screen + frame + [0x3b])
  }

  @Test func `codes grow by a bit when the decoder's table has filled the old width`() {
    // After clear: codes 1 1 define 6; 6 defines 7; the next code has 4 bits.
    let bytes = LZWEncoder.encode([1, 1, 1, 1, 1, 1, 1])
    // 4, 1, 6, 7 of 3 bits; 1 (flush) and 5 of 4 bits.
    #expect(bytes == [0b1000_1100, 0b0001_1111, 0b0101])
  }

  @Test(arguments: zip([UInt8(0), 3, 4, 15, 16, 255], [2, 2, 3, 4, 5, 8]))
  func `the minimum code size is the smallest that holds every index`(index: UInt8, size: Int) {
    #expect(LZWEncoder.minimumCodeSize(for: [0, index]) == size)
  }

  @Test func `a palette is written with a power of two of entries`() throws {
    for count in 1...256 {
      var gif = GIFBuilder()
      gif.screen(
        width: 1, height: 1,
        palette: GIFPalette([RGBA](repeating: .black, count: count)))
      let entries = (gif.bytes.count - 7) / 3
      #expect(entries >= count && entries.nonzeroBitCount == 1 && entries < 2 * max(count, 2))
      #expect(entries == 2 << Int(gif.bytes[4] & 7))
    }
  }

  @Test(arguments: UInt64(0)..<60)
  func `what the encoder writes, the decoder reads`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let size = PixelSize(
      width: Int.random(in: 1...90, using: &random),
      height: Int.random(in: 1...70, using: &random))
    let colors = 1 << Int.random(in: 1...8, using: &random)
    var picture = Picture(PixelRect(size))
    let palette: [PixelSample] = (0..<colors).map { (index: Int) -> PixelSample in
      let blue = UInt8(index * 7 & 255)
      return PixelSample(RGBA(red: UInt8(index), green: UInt8(255 - index), blue: blue))
    }
    if Bool.random(using: &random) {
      picture.noise(seed: seed, palette)
    } else {
      picture.bands(palette, .diagonal)
    }
    let indices = try #require(picture.indices(in: palette))
    var frame = GIFFrame(rect: picture.rect, indices: indices)
    frame.isInterlaced = Bool.random(using: &random)
    frame.blockSize = Int.random(in: 1...255, using: &random)
    frame.lzw.clearInterval = Bool.random(using: &random) ? Int(random.next() % 400) + 1 : nil
    frame.lzw.fullTable = Bool.random(using: &random) ? .keep : .clear
    frame.lzw.minimumCodeSize = Int.random(
      in: LZWEncoder.minimumCodeSize(for: indices)...8, using: &random)
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(
      width: size.width, height: size.height, palette: GIFPalette(palette.map(\.rgba)))
    gif.frame(frame)
    gif.trailer()
    for decoder in [PixelDecoder.fast, .reference] {
      let image = try AnimatedImage(
        bytes: gif.bytes, options: DecodingOptions(damage: .strict, decoder: decoder))
      let shown = try #require(try FrameReader(image).next())
      #expect(shown.bitmap.canonicalBytes == picture.canonicalBytes, "seed \(seed)")
    }
  }
}

extension Bitmap {
  /// The pixels as R, G, B, A bytes, every transparent one rewritten to zeros.
  var canonicalBytes: [UInt8] {
    var result: [UInt8] = []
    for y in 0..<height {
      for x in 0..<width {
        let color = self[x, y]
        result +=
          color.alpha == 0 ? [0, 0, 0, 0] : [color.red, color.green, color.blue, color.alpha]
      }
    }
    return result
  }
}
