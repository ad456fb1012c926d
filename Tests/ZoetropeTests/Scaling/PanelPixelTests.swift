import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes)
struct PanelPixelTests {
  static let picture = Bitmap.drawn(PixelSize(width: 21, height: 11)) { x, y, byte in
    byte == 3 ? 255 : UInt8(truncatingIfNeeded: 37 * x + 71 * y + 11 * byte)
  }

  @Test(arguments: PixelFormat.all)
  func `typed rows are the bytes of each format`(_ format: PixelFormat) throws {
    let bitmap = try Self.picture.converted(to: format)
    for y in 0..<bitmap.height {
      let bytes = Self.array(bitmap, row: y)
      #expect(bytes.count == bitmap.width * format.bytesPerPixel)
      guard format == .rgb565 || format == .rgba16 else { continue }
      let words = bitmap.words(row: y)
      var found: [UInt16] = []
      for index in 0..<words.count { found.append(UInt16(littleEndian: words[index])) }
      var expected: [UInt16] = []
      for index in stride(from: 0, to: bytes.count, by: 2) {
        expected.append(UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8)
      }
      #expect(found == expected)
    }
  }

  /// The bytes of row `y`.
  private static func array(_ bitmap: Bitmap, row y: Int) -> [UInt8] {
    let row = bitmap.bytes(row: y)
    var bytes: [UInt8] = []
    for index in 0..<row.count { bytes.append(row[index]) }
    return bytes
  }

  @Test(arguments: PixelFormat.all)
  func `a part in the order of the wire is cut from the rows`(_ format: PixelFormat) throws {
    let bitmap = try Self.picture.converted(to: format)
    let isWide = format == .rgb565 || format == .rgba16
    for rect in [PixelRect(x: 3, y: 2, width: 9, height: 5), PixelRect(bitmap.size)] {
      var expected: [UInt8] = []
      for y in rect.y..<rect.y + rect.height {
        let row = Self.array(bitmap, row: y)
        for x in rect.x..<rect.x + rect.width {
          for byte in 0..<format.bytesPerPixel {
            expected.append(row[x * format.bytesPerPixel + (isWide ? byte ^ 1 : byte)])
          }
        }
      }
      #expect(bitmap.bigEndianBytes(in: rect) == expected)
    }
    let outside = PixelRect(x: -5, y: 9, width: 1000, height: 1000)
    let inside = PixelRect(x: 0, y: 9, width: 21, height: 2)
    #expect(bitmap.bigEndianBytes(in: outside) == bitmap.bigEndianBytes(in: inside))
    #expect(bitmap.bigEndianBytes(in: PixelRect(x: 50, y: 0, width: 4, height: 4)).isEmpty)
  }

  @Test func `red, green and blue of a panel are the well-known words`() throws {
    let bitmap = Bitmap.drawn(PixelSize(width: 3, height: 1)) { x, _, byte in
      byte == 3 || byte == x ? 255 : 0
    }
    #expect(
      try bitmap.converted(to: .rgb565).bigEndianBytes() == [0xf8, 0, 0x07, 0xe0, 0, 0x1f])
  }

  /// Pixels that are white among 64 of one grey.
  private func whites(of grey: UInt8) throws -> Int {
    let bitmap = Bitmap.drawn(PixelSize(width: 8, height: 8)) { _, _, byte in
      byte == 3 ? 255 : grey
    }
    return try bitmap.ditheredBits().reduce(0) { $0 + $1.nonzeroBitCount }
  }

  @Test func `dithering keeps the mean, black and white`() throws {
    #expect(try whites(of: 0) == 0)
    #expect(try whites(of: 255) == 64)
    var previous = 0
    for grey in 0...255 {
      let count = try whites(of: UInt8(grey))
      #expect(abs(Double(count) / 64 - Double(grey) / 255) <= 1 / 32)
      #expect(count >= previous)
      previous = count
    }
    // Half grey is a chessboard, not a block.
    let half = Bitmap.drawn(PixelSize(width: 8, height: 2)) { _, _, byte in byte == 3 ? 255 : 128 }
    let rows = try half.ditheredBits()
    #expect(Set(rows) == [0xaa, 0x55])
  }

  @Test func `the dithered part of a picture is cut from the whole`() throws {
    let whole = try Self.picture.ditheredBits()
    #expect(whole.count == 3 * Self.picture.height)
    let rect = PixelRect(x: 5, y: 1, width: 13, height: 7)
    let part = try Self.picture.ditheredBits(in: rect)
    #expect(part.count == 2 * rect.height)
    for y in 0..<rect.height {
      for x in 0..<rect.width {
        let (column, row) = (rect.x + x, rect.y + y)
        let inWhole = whole[3 * row + column / 8] << UInt8(column % 8) & 0x80
        #expect(part[2 * y + x / 8] << UInt8(x % 8) & 0x80 == inWhole)
      }
      // Bits past the part are clear.
      #expect(part[2 * y + 1] & 0x07 == 0)
    }
  }
}
