import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// A picture and the form in which it is to be written.
struct EncodingCase: CustomTestStringConvertible, Sendable {
  let name: String
  let bitmap: Bitmap
  let colorType: UInt8
  let bitDepth: UInt8
  var testDescription: String { name }

  init(_ name: String, _ bitmap: Bitmap, type: UInt8, depth: UInt8) {
    self.name = name
    self.bitmap = bitmap
    colorType = type
    bitDepth = depth
  }

  static let all: [EncodingCase] = [
    EncodingCase("one colour", Pictures.colors(1), type: 3, depth: 1),
    EncodingCase("two colours", Pictures.colors(2), type: 3, depth: 1),
    EncodingCase("three colours", Pictures.colors(3), type: 3, depth: 2),
    EncodingCase("sixteen colours", Pictures.colors(16), type: 3, depth: 4),
    EncodingCase("seventeen colours", Pictures.colors(17), type: 3, depth: 8),
    EncodingCase("256 colours", Pictures.colors(256, width: 64, height: 48), type: 3, depth: 8),
    EncodingCase("257 colours", Pictures.colors(257, width: 64, height: 48), type: 2, depth: 8),
    EncodingCase(
      "a palette larger than the picture", Pictures.colors(9, width: 3, height: 3), type: 2,
      depth: 8),
    EncodingCase("black and white", grey(2, step: 255), type: 0, depth: 1),
    EncodingCase("four greys on the grid", grey(4, step: 85), type: 0, depth: 2),
    EncodingCase("four greys off the grid", grey(4, step: 80), type: 3, depth: 2),
    EncodingCase("all greys", grey(256, step: 1), type: 0, depth: 8),
    EncodingCase("a transparent colour", transparent, type: 3, depth: 2),
    EncodingCase("grey with alpha", greyAlpha, type: 4, depth: 8),
    EncodingCase("a photograph", Pictures.photograph(97, 61), type: 2, depth: 8),
    EncodingCase(
      "a photograph with alpha", Pictures.photograph(97, 61, alpha: true), type: 6, depth: 8),
    EncodingCase("one pixel", Pictures.make(1, 1) { _, _ in .clear }, type: 4, depth: 8),
  ]

  private static func grey(_ count: Int, step: Int) -> Bitmap {
    Pictures.make(64, 48) { x, y in
      let level = UInt8((y * 64 + x) % count * step)
      return RGBA(red: level, green: level, blue: level)
    }
  }

  private static let transparent = Pictures.make(40, 30) { x, y in
    x < 5 ? RGBA(red: 9, green: 8, blue: 7) : y < 9 ? .clear : RGBA(red: 1, green: 2, blue: 3)
  }

  private static let greyAlpha = Pictures.make(64, 64) { x, y in
    RGBA(red: UInt8(x), green: UInt8(x), blue: UInt8(x), alpha: UInt8(y))
  }
}

@Suite(.timeLimit(.minutes(10)), .computes) struct PNGEncoderTests {
  @Test(arguments: EncodingCase.all, [EncodingEffort.fast, .balanced, .small])
  func `a picture takes its smallest form and reads back exactly`(
    _ item: EncodingCase, _ effort: EncodingEffort
  ) throws {
    let bytes = try PNGEncoder(effort: effort).encode(item.bitmap)
    #expect(bytes[25] == item.colorType)
    #expect(bytes[24] == item.bitDepth)
    for decoder in [PixelDecoder.reference, .fast] {
      let image = try AnimatedImage(bytes: bytes, options: DecodingOptions(decoder: decoder))
      #expect(image.damage.isEmpty)
      let frame = try #require(try FrameReader(image).next())
      #expect(frame.damage == nil)
      #expect(frame.bitmap == item.bitmap)
    }
  }

  @Test func `a gradient is small at every effort`() throws {
    let gradient = Pictures.make(320, 240) { x, y in
      RGBA(
        red: UInt8(truncatingIfNeeded: x), green: UInt8(truncatingIfNeeded: y),
        blue: UInt8((x + y) / 3))
    }
    let counts = try [EncodingEffort.fast, .balanced, .small].map {
      try PNGEncoder(effort: $0).encode(gradient).count
    }
    #expect(counts[0] < counts[1] * 3 / 2 && counts[2] <= counts[1], "\(counts)")
  }

  @Test func `part of a picture is written as a picture of its own`() throws {
    let encoder = PNGEncoder(effort: .fast)
    let deep = Pictures.makeDeep(50, 40) { x, y in [UInt16(x * 999), UInt16(y), 3, .max] }
    for bitmap in EncodingCase.all.map(\.bitmap) + [deep] {
      let (width, height) = (bitmap.width, bitmap.height)
      for rect in [
        PixelRect(x: width / 3, y: height / 4, width: (width + 1) / 2, height: (height + 1) / 2),
        PixelRect(x: width - 1, y: 0, width: 1, height: height),
      ] {
        let pixel = bitmap.format.bytesPerPixel
        let part = Bitmap.drawn(size: rect.size, format: bitmap.format) { y, bytes in
          for place in 0..<rect.width * pixel {
            bytes.storeBytes(
              of: bitmap.row(rect.y + y)[rect.x * pixel + place], toByteOffset: place,
              as: UInt8.self)
          }
        }
        #expect(try encoder.encode(bitmap, in: rect) == encoder.encode(part))
      }
    }
  }

  @Test(arguments: [EncodingEffort.fast, .small])
  func `one encoder writes pictures of any size one after another`(
    _ effort: EncodingEffort
  ) throws {
    let encoder = PNGEncoder(effort: effort)
    let items = EncodingCase.all
    let wanted = try items.map { try PNGEncoder(effort: effort).encode($0.bitmap) }
    for index in Array(items.indices) + items.indices.reversed() {
      let bytes = try encoder.encode(items[index].bitmap)
      #expect(bytes == wanted[index], "\(items[index].name)")
    }
  }

  @Test func `more effort never makes a larger file of these pictures, and often a smaller one`()
    throws
  {
    for item in EncodingCase.all {
      let counts = try [EncodingEffort.fast, .balanced, .small].map {
        try PNGEncoder(effort: $0).encode(item.bitmap).count
      }
      #expect(counts[2] <= counts[1], "\(item.name)")
    }
    let photograph = Pictures.photograph(97, 61)
    let small = try PNGEncoder(effort: .small).encode(photograph).count
    #expect(small < (try PNGEncoder().encode(photograph).count))
  }

  @Test func `frame data that is too long for one chunk is split, and all chunks are numbered`() {
    var frames = APNGFrameChunks(beginsWithStaticImage: true)
    frames.dataLimit = 9
    let data = Array<UInt8>(0..<12)
    var file = PNGChunks()
    file.append(raw: PNGScanner.signature)
    for _ in 0..<2 {
      frames.appendControl(
        PixelRect(x: 0, y: 0, width: 1, height: 1), FrameDelay(centiseconds: 4), .keep, .source,
        to: &file)
      frames.appendData(data, to: &file)
    }
    let chunks = PNGChunkList(file.bytes).chunks
    #expect(chunks.map(\.type) == ["fcTL", "IDAT", "IDAT", "fcTL", "fdAT", "fdAT", "fdAT"])
    #expect(chunks[1...2].flatMap(\.data) == data)
    #expect(chunks[4...6].flatMap { $0.data.dropFirst(4) } == data)
    let numbered = chunks.filter { $0.type != "IDAT" }.map { Array($0.data.prefix(4)) }
    #expect(numbered == (0..<5).map { [0, 0, 0, $0] })
  }

  @Test(arguments: [1, 7, 100])
  func `data that is too long for one chunk is split`(limit: Int) throws {
    let bitmap = Pictures.photograph(31, 17)
    let encoder = PNGEncoder()
    let whole = PNGChunkList(try encoder.encode(bitmap)).chunks.filter { $0.type == "IDAT" }
    encoder.dataLimit = limit
    let bytes = try encoder.encode(bitmap)
    let parts = PNGChunkList(bytes).chunks.filter { $0.type == "IDAT" }
    #expect(whole.count == 1 && whole[0].data == parts.flatMap(\.data))
    #expect(parts.dropLast().allSatisfy { $0.data.count == limit })
    #expect((1...limit).contains(try #require(parts.last).data.count))
    for decoder in [PixelDecoder.reference, .fast] {
      let image = try AnimatedImage(bytes: bytes, options: DecodingOptions(decoder: decoder))
      #expect(image.damage.isEmpty)
      #expect(try FrameReader(image).next()?.bitmap == bitmap)
    }
  }

  @Test func `a filter can be the same for every row`() throws {
    let form = PNGForm(colorType: .rgb, bitDepth: 8)
    let (width, height) = (11, 5)
    let line = form.rowBytes(width: width) + 1
    let lines = PixelStorage(byteCount: line * height)
    let filtered = PixelStorage(byteCount: line * height)
    PixelPacking.write(
      Pictures.photograph(width, height - 1),
      PixelRect(x: 0, y: 0, width: width, height: height - 1),
      as: .rgb, into: lines)
    for number in 1...4 {
      try RowFilter(form: form, width: width)
        .filter(lines, rows: 0..<height, into: filtered, fixed: number)
      for y in 0..<height { #expect(filtered.bytes[y * line] == UInt8(number)) }
    }
  }

  @Test func `only colours up to the last transparent one are in the transparency chunk`() throws {
    let item = try #require(EncodingCase.all.first { $0.name == "a transparent colour" })
    let bytes = try PNGEncoder().encode(item.bitmap)
    let chunk = try #require(PNGChunkList(bytes).chunks.first { $0.type == "tRNS" })
    #expect(chunk.data == [0])
  }

  @Test(arguments: [
    (gray: true, opaque: true, type: UInt8(0)), (gray: true, opaque: false, type: 4),
    (gray: false, opaque: true, type: 2), (gray: false, opaque: false, type: 6),
  ])
  func `sixteen bits are kept`(_ form: (gray: Bool, opaque: Bool, type: UInt8)) throws {
    let bitmap = Pictures.makeDeep(31, 17) { x, y in
      let value = UInt16(x * 2000 + y)
      let blue = form.gray ? value : value / 3
      return [value, value, blue, form.opaque ? 0xffff : UInt16(y * 3000 + x)]
    }
    let bytes = try PNGEncoder().encode(bitmap)
    #expect(bytes[25] == form.type)
    #expect(bytes[24] == 16)
    let image = try AnimatedImage(
      bytes: bytes, options: DecodingOptions(decoder: .reference, keeps16Bit: true))
    let frame = try #require(try FrameReader(image).next())
    #expect(frame.bitmap == bitmap)
  }

  @Test func `a picture whose alpha is premultiplied is refused`() {
    let bitmap = PixelBuffer(
      size: PixelSize(width: 2, height: 2), format: .rgba8Premultiplied
    ).finish()
    #expect(throws: AnimatedImageError.self) { try PNGEncoder().encode(bitmap) }
  }

  @Test func `a picture without pixels is refused`() {
    let bitmap = PixelBuffer(size: PixelSize(width: 0, height: 2)).finish()
    #expect(throws: AnimatedImageError.self) { try PNGEncoder().encode(bitmap) }
  }

  @Test func `metadata goes into the chunks that it came from`() throws {
    let text = "a text of more than two hundred and fifty-six letters. "
    var source = PNGChunks()
    source.append("gAMA", UInt32(45455).bigEndianBytes)
    source.append("pHYs", UInt32(2835).bigEndianBytes + UInt32(2835).bigEndianBytes + [1])
    source.append(
      "tEXt", Array("Comment".utf8) + [0] + Array(String(repeating: text, count: 9).utf8))
    source.append("iTXt", Array("Title".utf8) + [0, 0, 0, 0, 0] + Array("Зоотроп".utf8))
    let plain = try PNGEncoder().encode(Pictures.colors(300, width: 32, height: 32))
    let tagged = Array(plain[..<33]) + source.bytes + Array(plain[33...])
    let image = try AnimatedImage(bytes: tagged)
    let frame = try #require(try FrameReader(image).next())
    let again = try PNGEncoder(metadata: image.metadata).encode(frame.bitmap)
    #expect(try AnimatedImage(bytes: again).metadata == image.metadata)
    let types = PNGChunkList(again).chunks.map(\.type)
    #expect(types == ["IHDR", "gAMA", "pHYs", "zTXt", "iTXt", "IDAT", "IEND"])
  }
}
