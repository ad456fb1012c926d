import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCLI

extension Bitmap {
  /// A picture in which `color` gives each pixel.
  init(width: Int, height: Int, color: (_ x: Int, _ y: Int) -> RGBA = { _, _ in .clear }) {
    self = Bitmap.drawn(size: PixelSize(width: width, height: height)) { y, bytes in
      for x in 0..<width {
        bytes.storeBytes(of: color(x, y).word, toByteOffset: 4 * x, as: UInt32.self)
      }
    }
  }
}

/// Everything that a conversion has to keep: size, plays, and each frame's pixels and delay.
struct WrittenFilm {
  let size: PixelSize
  let playCount: PlayCount
  let delays: [FrameDelay]
  /// Rows of RGBA, 16 bits per sample: a sample of 8 bits is repeated.
  let pictures: [[UInt16]]
  let poster: [UInt16]?

  init(_ bytes: [UInt8]) throws {
    var options = DecodingOptions()
    options.keeps16Bit = try AnimatedImage(bytes: bytes).header.isDeep
    let image = try AnimatedImage(bytes: bytes, options: options)
    (size, playCount) = (image.canvasSize, image.playCount)
    delays = image.frames.map(\.delay)
    let reader = FrameReader(image)
    pictures = try image.frames.indices.map { Self.pixels(try reader.frame(at: $0).bitmap) }
    poster = image.staticImage == nil ? nil : Self.pixels(try image.renderStaticBitmap())
  }

  private static func pixels(_ bitmap: Bitmap) -> [UInt16] {
    var samples: [UInt16] = []
    for y in 0..<bitmap.height {
      let row = bitmap.row(y)
      for sample in 0..<bitmap.width * 4 {
        samples.append(
          bitmap.format == .rgba16
            ? row.load(UInt16.self, at: 2 * sample) : UInt16(row[sample]) * 257)
      }
    }
    return samples
  }

  /// How `other` differs, in words; nil if it does not. Colours of transparent pixels do not count.
  func difference(from other: WrittenFilm) -> String? {
    if size != other.size { return "\(size), not \(other.size)" }
    if playCount != other.playCount { return "\(playCount), not \(other.playCount)" }
    if pictures.count != other.pictures.count {
      return "\(pictures.count) frames, not \(other.pictures.count)"
    }
    for index in pictures.indices {
      if pictures[index].visible != other.pictures[index].visible {
        return "pixels of frame \(index)"
      }
      if !Self.isSame(delays[index], other.delays[index]) {
        return "frame \(index) for \(delays[index]), not \(other.delays[index])"
      }
    }
    return poster?.visible == other.poster?.visible ? nil : "the static image"
  }

  private static func isSame(_ first: FrameDelay, _ second: FrameDelay) -> Bool {
    UInt64(first.numerator) * UInt64(second.denominator)
      == UInt64(second.numerator) * UInt64(first.denominator)
  }
}

extension [UInt16] {
  /// The pixels of RGBA, transparent ones without their colours.
  var visible: [UInt16] {
    var samples = self
    for place in stride(from: 0, to: count - 3, by: 4) where samples[place + 3] == 0 {
      samples.replaceSubrange(place..<place + 3, with: [0, 0, 0])
    }
    return samples
  }
}
