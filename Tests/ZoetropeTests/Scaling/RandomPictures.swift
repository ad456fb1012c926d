import Zoetrope
import ZoetropeTestSupport

/// Where alpha of a random picture is 0, 255 or in between; faint is 0 to 4.
enum AlphaKind: CaseIterable {
  case opaque, random, sprite, clear, faint
}

extension Bitmap {
  /// A picture whose bytes `fill` gives, pixel by pixel, channel by channel.
  static func drawn(
    _ size: PixelSize, _ format: PixelFormat = .rgba8,
    _ fill: (_ x: Int, _ y: Int, _ byte: Int) -> UInt8
  ) -> Bitmap {
    let count = format.bytesPerPixel
    return Bitmap.drawn(size: size, format: format) { y, bytes in
      for x in 0..<size.width {
        for byte in 0..<count {
          bytes.storeBytes(of: fill(x, y, byte), toByteOffset: x * count + byte, as: UInt8.self)
        }
      }
    }
  }

  /// Random pixels; in a sprite, about half of the rows and columns are opaque or clear.
  static func random(
    _ size: PixelSize, _ format: PixelFormat = .rgba8, alpha: AlphaKind = .random,
    using generator: inout SplitMix64
  ) -> Bitmap {
    let middle = (
      x: Int.random(in: 0...size.width, using: &generator),
      y: Int.random(in: 0...size.height, using: &generator)
    )
    let radius = Int.random(in: 0...max(size.width, size.height), using: &generator)
    return drawn(size, format) { x, y, byte in
      let value = UInt8.random(in: 0...255, using: &generator)
      switch format {
      case .rgbx8: return byte == 3 ? 255 : value
      case .rgba8, .bgra8, .rgba16:
        guard byte >= format.bytesPerPixel / 4 * 3 else { return value }
        switch alpha {
        case .opaque: return 255
        case .clear: return 0
        case .random: return value
        case .faint: return byte == 6 ? value : value % 5
        case .sprite:
          let distance = max(abs(x - middle.x), abs(y - middle.y))
          return distance < radius ? 255 : distance == radius ? value : 0
        }
      default: return value
      }
    }
  }

  /// The picture with random pixels in `rect`.
  func scribbled(
    in rect: PixelRect, alpha: AlphaKind, using generator: inout SplitMix64
  ) -> Bitmap {
    let noise = Bitmap.random(size, format, alpha: alpha, using: &generator)
    let count = format.bytesPerPixel
    return Bitmap.drawn(size, format) { x, y, byte in
      let isInside = rect.contains(PixelRect(x: x, y: y, width: 1, height: 1))
      return (isInside ? noise : self).row(y).byte(
        at: x * count + byte)
    }
  }

  /// Channel `channel` of a pixel: 8 or 16 bits.
  func channel(_ channel: Int, x: Int, y: Int) -> Int {
    let row = row(y)
    if format == .rgba16 {
      let low = row.byte(at: x * 8 + channel * 2)
      let high = row.byte(at: x * 8 + channel * 2 + 1)
      return Int(low) | Int(high) << 8
    }
    return Int(row.byte(at: x * format.bytesPerPixel + channel))
  }
}

extension RawSpan {
  /// The byte at `offset`, checked.
  func byte(at offset: Int) -> UInt8 {
    precondition(offset >= 0 && offset < byteCount)
    return unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }
}
