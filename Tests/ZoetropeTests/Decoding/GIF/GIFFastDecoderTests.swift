import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes)
struct GIFFastDecoderTests {
  /// The bytes of one frame, and what the scanner would record about it.
  struct Frame {
    var width = 20
    var height = 10
    var localPalette: [UInt8] = []
    var transparentIndex: UInt8?
    var minimumCodeSize: UInt8 = 2
    var blocks: [UInt8] = []
    var start = 1000

    init(codes: [UInt8], isTerminated: Bool = true) {
      var rest = codes[...]
      while !rest.isEmpty {
        let block = rest.prefix(255)
        blocks.append(UInt8(block.count))
        blocks += block
        rest = rest.dropFirst(255)
      }
      if isTerminated { blocks.append(0) }
    }

    var bytes: [UInt8] {
      [0x2C, 0, 0, 0, 0, UInt8(width), 0, UInt8(height), 0, 0] + localPalette + [minimumCodeSize]
        + blocks
    }

    func decoded(cutTo count: Int? = nil) throws -> FramePixels {
      let bytes = Array(bytes.prefix(count ?? .max))
      let control = FrameControl(
        index: 3, rect: PixelRect(x: 0, y: 0, width: width, height: height),
        delay: FrameDelay(centiseconds: 10), disposal: .keep, blend: .over, isIndependent: false,
        isInterlaced: false, palette: .global, byteRange: start..<start + bytes.count,
        localPaletteCount: localPalette.count / 3,
        transparentIndex: transparentIndex)
      var header = ImageHeader(
        format: .gif, canvasSize: PixelSize(width: width, height: height))
      header.palette = [0xff00_00ff, 0xff00_ff00, 0xffff_0000, 0xffff_ffff]
      var decoder = GIFFastDecoder()
      let pixels = FramePixels()
      // What an earlier frame left behind must not show.
      pixels.damage = Damage(.lzwNoData, "left behind", byteOffset: 0)
      pixels.content.validPixels = 12345
      pixels.palette = [UInt32](repeating: 1, count: 256)
      unsafe try decoder.decode(control, header: header, bytes: bytes.span.bytes, into: pixels)
      return pixels
    }
  }

  static let picture: [UInt8] = (0..<200).map { UInt8($0 * $0 % 7 % 4) }
  static var codes: [UInt8] {
    var packer = LZWPacker(minimumCodeSize: 2)
    var random = SplitMix64(seed: 1)
    return packer.pack(picture, random: &random)
  }

  static func indices(_ pixels: FramePixels) -> [UInt8] {
    let start = unsafe pixels.storage.baseAddress + pixels.content.offset
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: pixels.content.validPixels))
  }

  @Test func `a sound frame gives its indices and the global palette`() throws {
    let pixels = try Frame(codes: Self.codes).decoded()
    #expect(pixels.damage == nil)
    #expect(pixels.content.validPixels == 200 && pixels.content.isOpaque)
    #expect(pixels.content.layout == .indexed8 && pixels.content.bytesPerRow == 20)
    #expect(Self.indices(pixels) == Self.picture)
    #expect(pixels.palette[0..<4] == [0xff00_00ff, 0xff00_ff00, 0xffff_0000, 0xffff_ffff])
    #expect(pixels.palette[4...].allSatisfy { $0 == 0xff00_0000 })
  }

  @Test func `a local palette and a transparent index are used`() throws {
    var frame = Frame(codes: Self.codes)
    frame.localPalette = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    frame.transparentIndex = 1
    let pixels = try frame.decoded()
    #expect(
      pixels.damage == nil && !pixels.content.isOpaque && pixels.content.transparentIndex == 1)
    #expect(pixels.palette[0..<4] == [0xff03_0201, 0, 0xff09_0807, 0xff0c_0b0a])
    #expect(Self.indices(pixels) == Self.picture)
  }

  @Test func `an index past the palette is black and reported, wherever it lies`() throws {
    var random = SplitMix64(seed: 2)
    for position in 0..<200 {
      var picture = Self.picture.map { min($0, 2) }
      var packer = LZWPacker(minimumCodeSize: 2)
      var frame = Frame(codes: packer.pack(picture, random: &random))
      // Three colours, of four that an index of two bits can name.
      frame.localPalette = [1, 2, 3, 4, 5, 6, 7, 8, 9]
      #expect(try frame.decoded().damage == nil)
      picture[position] = 3
      packer = LZWPacker(minimumCodeSize: 2)
      frame = Frame(codes: packer.pack(picture, random: &random))
      frame.localPalette = [1, 2, 3, 4, 5, 6, 7, 8, 9]
      let pixels = try frame.decoded()
      #expect(pixels.damage?.kind == .pixelIndex)
      #expect(pixels.damage?.detail.contains("row \(position / 20) ") == true)
      #expect(pixels.palette[3] == 0xff00_0000 && Self.indices(pixels) == picture)
    }
  }

  @Test func `every cut keeps an exact prefix and says where the data end`() throws {
    let frame = Frame(codes: Self.codes)
    var last = 0
    for count in 0..<frame.bytes.count {
      let pixels = try frame.decoded(cutTo: count)
      let damage = try #require(pixels.damage)
      #expect(damage.frameIndex == 3 && damage.byteOffset == frame.start + count)
      #expect(pixels.content.validPixels >= last)
      #expect(Self.indices(pixels) == Array(Self.picture.prefix(pixels.content.validPixels)))
      #expect(damage.kind.isTolerated == (pixels.content.validPixels == 200))
      #expect(
        damage.validRows
          == (pixels.content.validPixels == 200 ? nil : pixels.content.validPixels / 20))
      last = pixels.content.validPixels
    }
    #expect(last == 200)
  }

  @Test func `each kind of damage has its name and place`() throws {
    var packer = LZWPacker(minimumCodeSize: 2)
    for code in [4, 1, 2, 5] { packer.put(code, width: 3) }
    let early = try Frame(codes: packer.finish()).decoded()
    #expect(early.damage?.kind == .lzwEndCodeEarly && early.content.validPixels == 2)
    // Bits 9 to 11, so the code starts in the second byte, after descriptor, size and length.
    #expect(early.damage?.byteOffset == 1000 + 11 + 1 + 1)

    for code in [4, 1, 7] { packer.put(code, width: 3) }
    let invalid = try Frame(codes: packer.finish()).decoded()
    #expect(invalid.damage?.kind == .lzwInvalidCode && invalid.content.validPixels == 1)

    let none = try Frame(codes: []).decoded()
    #expect(none.damage?.kind == .lzwNoData && none.content.validPixels == 0)

    var bad = Frame(codes: Self.codes)
    bad.minimumCodeSize = 9
    let badSize = try bad.decoded()
    #expect(badSize.damage?.kind == .lzwBadMinimumCodeSize && badSize.content.validPixels == 0)
    #expect(badSize.damage?.byteOffset == 1000 + 10)

    var empty = Frame(codes: Self.codes)
    empty.width = 0
    #expect(try empty.decoded().damage?.kind == .gifEmptyFrame)

    let surplus = try Frame(codes: Self.codes + [1, 2, 3]).decoded()
    #expect(surplus.damage?.kind == .lzwSurplus && surplus.content.validPixels == 200)

    // One byte that a writer flushed after the end code is no deviation; two bytes are, and so is a value other than
    // zero.
    #expect(try Frame(codes: Self.codes + [0]).decoded().damage == nil)
    for behind: [UInt8] in [[0, 0], [1]] {
      let more = try Frame(codes: Self.codes + behind).decoded()
      #expect(more.damage?.kind == .lzwSurplus && more.content.validPixels == 200)
    }

    let open = try Frame(codes: Self.codes, isTerminated: false).decoded()
    #expect(open.damage?.kind == .gifMissingTerminator && open.content.validPixels == 200)
  }
}
