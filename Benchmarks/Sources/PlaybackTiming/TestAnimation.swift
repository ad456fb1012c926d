import Zoetrope
import ZoetropeTestSupport

/// A GIF of 640×360 pixels whose frames last 20 ms and change everywhere.
enum TestAnimation {
  static let size = PixelSize(width: 640, height: 360)

  static func image(frames: Int = 50, parallelism: Int = 0) throws -> AnimatedImage {
    let palette = GIFPalette(
      (0..<128).map { RGBA(red: UInt8($0 * 2), green: UInt8(255 - $0), blue: 90, alpha: 255) })
    var random = SplitMix64(seed: 1)
    let noise = (0..<4096).map { _ in Int.random(in: 0..<4, using: &random) }
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: size.width, height: size.height, palette: palette)
    gif.raw([0x21, 0xff, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0])
    for frame in 0..<frames {
      gif.graphicControl(GIFGraphicControl(delay: 2, disposal: 1))
      // A moving, dithered gradient, so that runs are short, as in recorded video.
      let indices = (0..<size.area).map { place in
        let (y, x) = place.quotientAndRemainder(dividingBy: size.width)
        return UInt8((x / 6 + y / 8 + frame * 3 + noise[place & 4095]) & 127)
      }
      gif.frame(GIFFrame(rect: PixelRect(size), indices: indices))
    }
    gif.trailer()
    return try AnimatedImage(
      bytes: gif.bytes, options: DecodingOptions(parallelism: parallelism))
  }
}
