import Zoetrope
import ZoetropeTestSupport

/// The parts of a GIF of 4 x 4 pixels.
enum GIFPieces {
  /// The header with a palette of two colours.
  static let header: [UInt8] =
    Array("GIF89a".utf8) + [4, 0, 4, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255]

  /// A frame of 100 ms with one colour, and as many bytes behind its pixels.
  static func frame(dataBytes: Int = 0, centiseconds: UInt16 = 10) -> [UInt8] {
    var builder = GIFBuilder()
    builder.graphicControl(GIFGraphicControl(delay: centiseconds))
    builder.frame(
      GIFFrame(
        rect: PixelRect(x: 0, y: 0, width: 4, height: 4), indices: Array(repeating: 0, count: 16)))
    var bytes = Array(builder.bytes.dropLast())
    var rest = dataBytes
    while rest > 0 {
      let count = min(rest, 255)
      bytes += [UInt8(count)] + Array(repeating: 0, count: count)
      rest -= count
    }
    return bytes + [0]
  }
}
