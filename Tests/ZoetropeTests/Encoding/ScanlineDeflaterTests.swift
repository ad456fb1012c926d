import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// Bytes to compress.
struct DeflateCase: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let bytes: [UInt8]

  static let all: [DeflateCase] = [
    make("nothing", 0) { _, _ in 0 },
    make("one byte", 1) { _, _ in 7 },
    make("fifteen bytes", 15) { place, _ in UInt8(place) },
    make("sixteen bytes", 16) { _, _ in 1 },
    make("seventeen bytes", 17) { place, _ in UInt8(place / 9) },
    make("zeros for two blocks", 300_001) { _, _ in 0 },
    make("noise for two blocks", 300_003) { _, random in random },
    make("a pattern as far back as the window reaches", 70_000) { place, _ in
      noise(place % 32768)
    },
    make("a pattern that the window misses by one", 70_000) { place, _ in
      noise(place % 32769)
    },
    // More matches than a block holds, 16 bytes apart.
    make("short runs between noise", 300_000) { place, random in place & 15 < 6 ? 9 : random },
    make("counts like Fibonacci's, whose codes would be too long", 40_000) { place, _ in
      UInt8((place &* 0x9e37_79b9 & 0xff_ffff | 1).leadingZeroBitCount - 40)
    },
  ]

  private static func noise(_ place: Int) -> UInt8 {
    var random = SplitMix64(seed: UInt64(place))
    return UInt8(truncatingIfNeeded: random.next())
  }

  private static func make(
    _ name: String, _ count: Int, _ byte: (Int, UInt8) -> UInt8
  ) -> DeflateCase {
    var state: UInt64 = 1
    return DeflateCase(
      testDescription: name,
      bytes: (0..<count).map { place in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return byte(place, UInt8(truncatingIfNeeded: state >> 56))
      })
  }
}

@Suite(.timeLimit(.minutes(10)), .computes) struct ScanlineDeflaterTests {
  @Test(arguments: DeflateCase.all)
  func `compressed data inflates to the same bytes`(_ item: DeflateCase) throws {
    let count = item.bytes.count
    let source = PixelStorage(byteCount: max(1, count))
    let bound = ScanlineDeflater.bound(count)
    let target = PixelStorage(byteCount: bound)
    unsafe source.store(item.bytes.span.bytes)
    let deflater = ScanlineDeflater()
    for (bytesPerPixel, line, isFiltered) in [(1, 97, false), (4, 40000, false), (3, 97, true)] {
      let form = ScanlineDeflater.Form(
        bytesPerPixel: bytesPerPixel, line: line, isFiltered: isFiltered)
      let length = deflater.compress(source, range: 0..<count, form: form, into: target)
      #expect(length + 8 <= bound)
      let stream = (0..<length).map { target.bytes[$0] }
      #expect(Inflate.zlib(stream[...], limit: count + 1) == item.bytes)
    }
  }

  @Test func `leftovers of earlier ranges make no difference`() {
    let source = PixelStorage(byteCount: 6000)
    let bytes = (0..<6000).map { UInt8(truncatingIfNeeded: ($0 % 500 * 40503) >> 8) }
    unsafe source.store(bytes.span.bytes)
    let target = PixelStorage(byteCount: ScanlineDeflater.bound(2000))
    let form = ScanlineDeflater.Form(bytesPerPixel: 1, line: 80, isFiltered: false)
    func stream(_ deflater: ScanlineDeflater, _ range: Range<Int>) -> [UInt8] {
      let length = deflater.compress(source, range: range, form: form, into: target)
      return (0..<length).map { target.bytes[$0] }
    }
    // The second one runs out of numbers for places.
    for used in [ScanlineDeflater(), ScanlineDeflater(origin: Int(UInt32.max) - 5000)] {
      for start in [0, 1, 2000, 4000, 100] {
        let range = start..<start + 2000
        #expect(stream(used, range) == stream(ScanlineDeflater(), range))
      }
    }
  }

  @Test func `only the range is compressed`() throws {
    let source = PixelStorage(byteCount: 3000)
    let bytes = (0..<3000).map { UInt8($0 / 12) }
    unsafe source.store(bytes.span.bytes)
    let target = PixelStorage(byteCount: ScanlineDeflater.bound(1000))
    let form = ScanlineDeflater.Form(bytesPerPixel: 3, line: 60, isFiltered: false)
    let length = ScanlineDeflater().compress(source, range: 1000..<2000, form: form, into: target)
    let stream = (0..<length).map { target.bytes[$0] }
    #expect(Inflate.zlib(stream[...], limit: 1001) == Array(bytes[1000..<2000]))
  }

  @Test func `no code is longer than the limit, and codes are complete`() {
    var counts: [UInt32] = [1, 1]
    while counts.count < 30 { counts.append(counts[counts.count - 1] + counts[counts.count - 2]) }
    for limit in [5, 7, 12, 15] {
      let code = HuffmanCode(counts: counts, limit: limit)
      #expect(code.lengths.allSatisfy { 1...limit ~= Int($0) })
      #expect(code.lengths.reduce(0) { $0 + 1 << (limit - Int($1)) } == 1 << limit)
    }
  }

  @Test func `a code of no or one symbol has two codes`() {
    #expect(HuffmanCode(counts: [0, 0, 0], limit: 7).lengths == [1, 1, 0])
    #expect(HuffmanCode(counts: [0, 0, 5], limit: 7).lengths == [1, 0, 1])
  }

  @Test func `fast files of every width and form read back exactly through libpng`() throws {
    let encoder = PNGEncoder(effort: .fast)
    for width in 1...17 {
      for height in [1, 2, 33] {
        let pictures = [
          Pictures.colors(5, width: width, height: height),
          Pictures.colors(300, width: width, height: height),
          Pictures.photograph(width, height), Pictures.photograph(width, height, alpha: true),
          // Grey with alpha, and grey.
          Pictures.make(width, height) { x, y in
            let grey = UInt8(x * 9)
            return RGBA(red: grey, green: grey, blue: grey, alpha: UInt8(y * 7 & 255))
          },
          Pictures.make(width, height) { x, y in
            RGBA(red: UInt8(x * 9 + y), green: UInt8(x * 9 + y), blue: UInt8(x * 9 + y))
          },
        ]
        for picture in pictures {
          let bytes = try encoder.encode(picture)
          let image = try AnimatedImage(bytes: bytes, options: DecodingOptions(decoder: .reference))
          #expect(image.damage.isEmpty)
          #expect(try FrameReader(image).next()?.bitmap == picture, "\(width)x\(height)")
        }
      }
    }
  }

  @Test(arguments: [true, false]) func `fast files of sixteen bits read back exactly`(
    _ isOpaque: Bool
  ) throws {
    for width in 1...17 {
      let bitmap = Pictures.makeDeep(width, 9) { x, y in
        let value = UInt16(x * 2000 + y)
        return [value, value, value / 3, isOpaque ? 0xffff : UInt16(y * 3000 + x)]
      }
      let bytes = try PNGEncoder(effort: .fast).encode(bitmap)
      let image = try AnimatedImage(
        bytes: bytes, options: DecodingOptions(decoder: .reference, keeps16Bit: true))
      #expect(try FrameReader(image).next()?.bitmap == bitmap)
    }
  }
}
