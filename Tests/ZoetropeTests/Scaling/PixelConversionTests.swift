import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10)), .computes)
struct PixelConversionTests {
  /// Every colour value under every alpha: red is x, alpha is y.
  static let plane = Bitmap.drawn(PixelSize(width: 256, height: 256)) { x, y, byte in
    byte == 3 ? UInt8(y) : byte == 0 ? UInt8(x) : byte == 1 ? UInt8(255 - x) : UInt8(x ^ y)
  }

  /// Pixels of a plane for which `isWrong` holds.
  static func count(_ isWrong: (_ x: Int, _ y: Int) -> Bool) -> Int {
    var wrong = 0
    for y in 0..<256 {
      for x in 0..<256 where isWrong(x, y) { wrong += 1 }
    }
    return wrong
  }

  @Test func `premultiplying rounds to nearest for every pair`() throws {
    let converted = try Self.plane.converted(to: .rgba8Premultiplied)
    let wrong = Self.count { x, y in
      converted.channel(0, x: x, y: y) != Int((Double(x) * Double(y) / 255).rounded())
        || converted.channel(1, x: x, y: y) != Int((Double(255 - x) * Double(y) / 255).rounded())
        || converted.channel(3, x: x, y: y) != y
    }
    #expect(wrong == 0)
  }

  @Test func `unpremultiplying rounds to nearest for every pair`() throws {
    let source = Bitmap.drawn(Self.plane.size, .rgba8Premultiplied) { x, y, byte in
      byte == 3 ? UInt8(y) : UInt8(x)
    }
    let straight = try source.converted(to: .rgba8)
    let wrong = Self.count { x, y in
      let expected = y == 0 ? 0 : min(255, (Double(x) * 255 / Double(y)).rounded())
      return Int(straight[x, y].red) != Int(expected) || Int(straight[x, y].alpha) != y
    }
    #expect(wrong == 0)
    // What was premultiplied properly comes back as it was.
    let again = try straight.converted(to: .rgba8Premultiplied)
    let lost = Self.count { x, y in
      x <= y
        && (0..<4).contains { again.channel($0, x: x, y: y) != source.channel($0, x: x, y: y) }
    }
    #expect(lost == 0)
  }

  @Test func `every byte and every word survives 16 bits`() throws {
    let wide = try Self.plane.converted(to: .rgba16)
    for x in 0..<256 { #expect(wide.channel(0, x: x, y: 9) == x * 257) }
    #expect(try wide.converted(to: .rgba8) == Self.plane)
    let words = Bitmap.drawn(PixelSize(width: 256, height: 256), .rgba16) { x, y, byte in
      byte & 1 == 0 ? UInt8(x) : UInt8(y)
    }
    let bytes = try words.converted(to: .rgba8)
    let wrong = Self.count { x, y in
      Int(bytes[x, y].red) != Int((Double(y * 256 + x) / 257).rounded())
    }
    #expect(wrong == 0)
  }

  @Test func `every 565 word survives 8 bits, and every byte takes the nearest level`() throws {
    let words = Bitmap.drawn(PixelSize(width: 256, height: 256), .rgb565) { x, y, byte in
      byte == 0 ? UInt8(x) : UInt8(y)
    }
    let bytes = try words.converted(to: .rgba8)
    #expect(try bytes.converted(to: .rgb565) == words)
    #expect(bytes[255, 255] == RGBA(red: 255, green: 255, blue: 255))
    let ramp = try Bitmap.drawn(PixelSize(width: 256, height: 1)) { x, _, byte in
      byte == 3 ? 255 : UInt8(x)
    }.converted(to: .rgb565)
    for x in 0..<256 {
      let word = ramp.channel(0, x: x, y: 0) | ramp.channel(1, x: x, y: 0) << 8
      #expect(word >> 11 == Int((Double(x) * 31 / 255).rounded()))
      #expect(word >> 5 & 63 == Int((Double(x) * 63 / 255).rounded()))
      #expect(word & 31 == Int((Double(x) * 31 / 255).rounded()))
    }
  }

  @Test func `grey is the luma of the blended pixel for every colour`() throws {
    // Every combination of red and green with a coarse blue, opaque: 256 * 256 * 6.
    for blue in stride(from: 0, through: 255, by: 51) {
      let source = Bitmap.drawn(PixelSize(width: 256, height: 256)) { x, y, byte in
        byte == 0 ? UInt8(x) : byte == 1 ? UInt8(y) : byte == 2 ? UInt8(blue) : 255
      }
      let grey = try source.converted(to: .gray8)
      let wrong = Self.count { x, y in
        let sum = 2126 * x + 7152 * y + 722 * blue
        return grey.channel(0, x: x, y: y) != (sum + 5000) / 10000
      }
      #expect(wrong == 0)
    }
    let blended = try Self.plane.converted(to: .gray8)
    #expect(try blended == Self.plane.converted(to: .rgbx8).converted(to: .gray8))
  }

  @Test func `grey comes back as itself`() throws {
    let grey = Bitmap.drawn(PixelSize(width: 256, height: 1), .gray8) { x, _, _ in UInt8(x) }
    #expect(try grey.converted(to: .rgba8)[200, 0] == RGBA(red: 200, green: 200, blue: 200))
    for format in [PixelFormat.rgba8, .bgra8, .rgbx8, .rgba8Premultiplied, .rgba16] {
      #expect(try grey.converted(to: format).converted(to: .gray8) == grey)
    }
  }

  @Test func `blending over black is premultiplying, opaque`() throws {
    let flat = try Self.plane.converted(to: .rgbx8)
    let premultiplied = try Self.plane.converted(to: .rgba8Premultiplied)
    let wrong = Self.count { x, y in
      Int(flat[x, y].red) != premultiplied.channel(0, x: x, y: y) || flat[x, y].alpha != 255
    }
    #expect(wrong == 0)
    #expect(try premultiplied.converted(to: .rgbx8) == flat)
  }

  @Test func `premultiplied BGRA is premultiplied RGBA with red and blue exchanged`() throws {
    let expected = try Self.plane.converted(to: .rgba8Premultiplied)
    let swapped = try Self.plane.converted(to: .bgra8Premultiplied)
    let wrong = Self.count { x, y in
      (0..<4).contains {
        expected.channel($0, x: x, y: y) != swapped.channel([2, 1, 0, 3][$0], x: x, y: y)
      }
    }
    #expect(wrong == 0)
    #expect(try swapped.converted(to: .rgba8) == expected.converted(to: .rgba8))
    // Scaled as four equal channels, it stays exchanged.
    let target = TargetSize(width: 100, height: 90)
    let small = try swapped.scaled(to: target)
    #expect(small.format == .bgra8Premultiplied)
    let again = Bitmap.drawn(size: small.size, format: .rgba8Premultiplied) { y, row in
      let bytes = small.bytes(row: y)
      for x in 0..<small.width {
        for (channel, other) in [2, 1, 0, 3].enumerated() {
          row.storeBytes(
            of: bytes[x * 4 + other], toByteOffset: x * 4 + channel, as: UInt8.self)
        }
      }
    }
    #expect(try again == expected.scaled(to: target))
  }

  @Test func `pixels are not read as straight RGBA from a format with other channels`() async {
    await #expect(processExitsWith: .failure) {
      let picture = Bitmap.drawn(PixelSize(width: 1, height: 1), .bgra8) { _, _, _ in 9 }
      _ = picture[0, 0]
    }
    await #expect(processExitsWith: .failure) {
      let size = PixelSize(width: 1, height: 1)
      let picture = Bitmap.drawn(size, .rgba8Premultiplied) { _, _, _ in 9 }
      _ = picture.pixels(row: 0)
    }
    let blended = Bitmap.drawn(PixelSize(width: 1, height: 1), .rgbx8) { _, _, byte in
      byte == 3 ? 255 : UInt8(byte)
    }
    #expect(blended[0, 0] == RGBA(red: 0, green: 1, blue: 2))
  }

  @Test func `swapping channels twice changes nothing`() throws {
    let swapped = try Self.plane.converted(to: .bgra8)
    #expect(swapped.channel(2, x: 10, y: 20) == Int(Self.plane[10, 20].red))
    #expect(swapped.channel(3, x: 10, y: 20) == 20)
    #expect(try swapped.converted(to: .rgba8) == Self.plane)
  }

  @Test(arguments: PixelFormat.all, PixelFormat.all)
  func `every pair of formats goes through straight 8 bits`(from: PixelFormat, to: PixelFormat)
    throws
  {
    var generator = SplitMix64(seed: 4)
    for width in [1, 7, 16, 33] {
      let source = Bitmap.random(
        PixelSize(width: width, height: 3), from, using: &generator)
      let direct = try source.converted(to: to)
      #expect(direct.format == to && direct.size == source.size)
      if from == to {
        #expect(direct == source)
      } else {
        #expect(try direct == source.converted(to: .rgba8).converted(to: to))
      }
    }
    let empty = Bitmap.drawn(PixelSize(width: 0, height: 2), from) { _, _, _ in 0 }
    #expect(try empty.converted(to: to).size == empty.size)
  }
}
