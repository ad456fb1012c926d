import Zoetrope

/// Pictures for the encoder's tests.
enum Pictures {
  /// A picture whose pixels `color` gives.
  static func make(_ width: Int, _ height: Int, _ color: (Int, Int) -> RGBA) -> Bitmap {
    var buffer = PixelBuffer(size: PixelSize(width: width, height: height))
    let rowBytes = buffer.bytesPerRow
    var bytes = buffer.mutableBytes
    for y in 0..<height {
      for x in 0..<width {
        bytes.storeBytes(of: color(x, y).word, toByteOffset: y * rowBytes + x * 4, as: UInt32.self)
      }
    }
    return buffer.finish()
  }

  /// A picture of 16 bits a channel.
  static func makeDeep(_ width: Int, _ height: Int, _ color: (Int, Int) -> [UInt16]) -> Bitmap {
    var buffer = PixelBuffer(size: PixelSize(width: width, height: height), format: .rgba16)
    let rowBytes = buffer.bytesPerRow
    var bytes = buffer.mutableBytes
    for y in 0..<height {
      for x in 0..<width {
        for (channel, value) in color(x, y).enumerated() {
          bytes.storeBytes(
            of: value, toByteOffset: y * rowBytes + x * 8 + channel * 2, as: UInt16.self)
        }
      }
    }
    return buffer.finish()
  }

  /// `count` distinct opaque colours, none of them grey, one after another.
  static func colors(_ count: Int, width: Int = 37, height: Int = 23) -> Bitmap {
    make(width, height) { x, y in
      let value = (y * width + x) % count
      return RGBA(red: UInt8(value & 0xff), green: UInt8(value >> 8), blue: 0x7f)
    }
  }

  /// A smooth picture with some noise, as a photograph has: every filter is best somewhere.
  static func photograph(_ width: Int, _ height: Int, alpha: Bool = false) -> Bitmap {
    var seed: UInt32 = 12345
    return make(width, height) { x, y in
      seed = seed &* 1_664_525 &+ 1_013_904_223
      let noise = Int(seed >> 29)
      return RGBA(
        red: UInt8((x * 2 + noise) & 0xff), green: UInt8((y * 3 + noise) & 0xff),
        blue: UInt8((x + y) & 0xff), alpha: alpha ? UInt8((x * y) & 0xff) : 255)
    }
  }
}
