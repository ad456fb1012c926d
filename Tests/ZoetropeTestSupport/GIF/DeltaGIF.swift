/// Writes GIFs whose frames are small changes to the previous one, as screen recorders make them.
///
/// Codes are written 9 bits wide with a clear code before the table grows, so no table is kept.
public enum DeltaGIF {
  /// `frameCount` frames on a canvas of `width` × `height`: first a whole picture, then in each frame `patch` ×
  /// `patch` pixels of noise at a moving position. Every seventh disposes to *previous*, every eleventh to
  /// *background*.
  public static func make(width: Int, height: Int, frameCount: Int, patch: Int = 40) -> [UInt8] {
    var random = SplitMix64(seed: 42)
    var bytes = Array("GIF89a".utf8)
    bytes += word(width) + word(height) + [0xf7, 0, 0]
    for value in 0..<256 { bytes += [UInt8(value), UInt8(255 - value), UInt8(value / 2)] }
    bytes += [0x21, 0xff, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
    for index in 0..<frameCount {
      let side = min(patch, min(width, height))
      let size = index == 0 ? (width, height) : (side, side)
      let x = index == 0 ? 0 : Int.random(in: 0...width - side, using: &random)
      let y = index == 0 ? 0 : Int.random(in: 0...height - side, using: &random)
      let disposal: UInt8 = index == 0 ? 1 : index % 7 == 0 ? 3 : index % 11 == 0 ? 2 : 1
      bytes += [0x21, 0xf9, 4, disposal << 2 | 1, 5, 0, 255, 0]
      bytes += [0x2c] + word(x) + word(y) + word(size.0) + word(size.1) + [0, 8]
      appendPixels(size.0 * size.1, to: &bytes, &random)
    }
    return bytes + [0x3b]
  }

  private static func appendPixels(
    _ count: Int, to bytes: inout [UInt8], _ random: inout SplitMix64
  ) {
    var stream: [UInt8] = []
    var bits = 0
    var bitCount = 0
    func put(_ code: Int) {
      bits |= code << bitCount
      bitCount += 9
      while bitCount >= 8 {
        stream.append(UInt8(truncatingIfNeeded: bits))
        bits >>= 8
        bitCount -= 8
      }
    }
    for pixel in 0..<count {
      if pixel % 250 == 0 { put(256) }
      put(Int(truncatingIfNeeded: random.next() & 0xff))
    }
    put(257)
    if bitCount > 0 { stream.append(UInt8(truncatingIfNeeded: bits)) }
    for start in stride(from: 0, to: stream.count, by: 255) {
      let block = stream[start..<min(start + 255, stream.count)]
      bytes.append(UInt8(block.count))
      bytes += block
    }
    bytes.append(0)
  }

  private static func word(_ value: Int) -> [UInt8] {
    [UInt8(value & 0xff), UInt8(value >> 8)]
  }
}
