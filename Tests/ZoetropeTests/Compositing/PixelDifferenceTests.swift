import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore

@Suite(.timeLimit(.minutes(10)), .computes) struct PixelDifferenceTests {
  @Test(arguments: [PixelFormat.rgba8, .rgba16, .rgb565, .gray8])
  func `ranges and box are those of a comparison byte by byte`(_ format: PixelFormat) {
    var random = SplitMix64(seed: 11)
    let pixel = format.bytesPerPixel
    for step in 0..<600 {
      let size = PixelSize(
        width: Int.random(in: 1...70, using: &random),
        height: Int.random(in: 1...12, using: &random))
      let old = (0..<size.height).map { _ in
        (0..<size.width * pixel).map { _ in UInt8.random(in: 0...3, using: &random) }
      }
      var new = old
      for _ in 0..<[0, 1, 2, 5, 200][step % 5] {
        let y = Int.random(in: 0..<size.height, using: &random)
        new[y][Int.random(in: 0..<size.width * pixel, using: &random)] ^= 1
      }
      // Some rectangles reach outside the picture.
      let rect =
        step % 3 == 0
        ? PixelRect(size)
        : PixelRect(
          x: Int.random(in: -3..<size.width, using: &random),
          y: Int.random(in: -3..<size.height, using: &random),
          width: Int.random(in: 0...size.width + 5, using: &random),
          height: Int.random(in: 0...size.height + 5, using: &random))
      var rows = Array(repeating: 0..<0, count: size.height)
      var box = PixelRect.empty
      for y in 0..<size.height {
        for x in 0..<size.width where rect.x..<rect.maxX ~= x && rect.y..<rect.maxY ~= y {
          if (0..<pixel).allSatisfy({ old[y][x * pixel + $0] == new[y][x * pixel + $0] }) {
            continue
          }
          rows[y] = rows[y].isEmpty ? x..<x + 1 : rows[y].lowerBound..<x + 1
          box = box.union(PixelRect(x: x, y: y, width: 1, height: 1))
        }
      }
      let (before, after) = (Self.bitmap(old, size, format), Self.bitmap(new, size, format))
      let found = PixelDifference(from: before, to: after, within: rect)
      #expect(found.rows == rows, "step \(step)")
      #expect(found.bounds == box, "step \(step)")
      #expect(
        PixelDifference.bounds(from: before, to: after, within: rect) == box, "step \(step)")
      #expect(PixelDifference(rows: rows).bounds == box)
      let lines = step % size.height..<size.height
      let columns = found.columns(inRows: lines)
      let changed = rows[lines].filter { !$0.isEmpty }
      #expect(columns.lowerBound == changed.map(\.lowerBound).min() ?? 0)
      #expect(columns.upperBound == changed.map(\.upperBound).max() ?? 0)
    }
  }

  @Test
  func `a picture does not differ from itself, and wholly from one of another size or format`() {
    let picture = Pictures.photograph(40, 30)
    #expect(PixelDifference.bounds(from: picture, to: picture).isEmpty)
    #expect(PixelDifference.bounds(from: Pictures.photograph(40, 30), to: picture).isEmpty)
    let whole = PixelRect(picture.size)
    #expect(PixelDifference.bounds(from: Pictures.photograph(30, 40), to: picture) == whole)
    let deep = Pictures.makeDeep(40, 30) { _, _ in [0, 0, 0, 0] }
    #expect(PixelDifference.bounds(from: deep, to: picture) == whole)
  }

  private static func bitmap(
    _ rows: [[UInt8]], _ size: PixelSize, _ format: PixelFormat
  ) -> Bitmap {
    Bitmap.drawn(size: size, format: format) { y, bytes in
      for (place, byte) in rows[y].enumerated() {
        bytes.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
      }
    }
  }
}
