import FuzzSupport
import Zoetrope

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// A frame made of random choices: as a decoder hands it over, and as a list of colours.
struct PlainFrame {
  let control: FrameControl
  let isIndexed: Bool
  let isInterlaced: Bool
  /// Each pixel's colour in stored order; nil where an index is transparent.
  let colors: [RGBA?]
  let validPixels: Int
  private let layout: FramePixels.Layout
  private let samples: [UInt8]
  private let palette: [UInt32]
  private let transparent: UInt8?

  init(_ choices: inout FuzzChoices) {
    isIndexed = choices.below(2) == 0
    let shape = choices.below(4)
    // GIF frames may lie anywhere and be empty; PNG frames were checked, but clipping is one code.
    let rect = PixelRect(
      x: choices.below(48) - (isIndexed ? 0 : 8), y: choices.below(16),
      width: choices.below(48) + (isIndexed ? 0 : 1),
      height: choices.below(14) + (isIndexed ? 0 : 1))
    let disposals: [DisposalMethod] = [.keep, .background, .previous]
    control = FrameControl(
      index: 0, rect: rect, delay: FrameDelay(centiseconds: 1),
      disposal: disposals[choices.below(3)],
      blend: isIndexed || choices.below(2) == 0 ? .over : .source, isIndependent: false,
      isInterlaced: false, palette: .none, byteRange: 0..<0)
    isInterlaced = isIndexed && choices.below(2) == 0
    let area = rect.width * rect.height
    validPixels = shape == 0 ? choices.below(area + 1) : area
    let layouts: [FramePixels.Layout] = [
      .grey8, .greyAlpha8, .rgb8, .rgba8, .grey16, .greyAlpha16, .rgb16, .rgba16,
    ]
    layout = isIndexed ? .indexed8 : layouts[choices.below(8)]
    transparent = isIndexed && choices.below(2) == 0 ? UInt8(choices.below(8)) : nil
    var words = (0..<256).map { RGBA(red: UInt8($0), green: UInt8(255 - $0), blue: 7).word }
    if let transparent { words[Int(transparent)] = 0 }
    palette = words
    samples = Self.samples(&choices, count: area * layout.bytesPerPixel, isIndexed: isIndexed)
    let (layout, samples, transparent) = (layout, samples, transparent)
    colors = (0..<area).map { index in
      if layout == .indexed8 {
        return samples[index] == transparent ? nil : RGBA(word: words[Int(samples[index])])
      }
      return Self.color(layout, samples, index * layout.bytesPerPixel)
    }
  }

  /// Runs and single values, as pictures have them.
  private static func samples(
    _ choices: inout FuzzChoices, count: Int, isIndexed: Bool
  ) -> [UInt8] {
    var samples: [UInt8] = []
    while samples.count < count {
      if choices.isEmpty || choices.below(2) == 0 {
        let value = isIndexed ? UInt8(choices.below(8)) : choices.byte()
        samples += Array(repeating: value, count: choices.isEmpty ? count : 1 + choices.below(70))
      } else {
        samples += choices.bytes(1 + choices.below(24))
      }
    }
    return Array(samples.prefix(count))
  }

  private static func color(
    _ layout: FramePixels.Layout, _ bytes: [UInt8], _ at: Int
  ) -> RGBA {
    func grey(_ value: UInt8, _ alpha: UInt8) -> RGBA {
      RGBA(red: value, green: value, blue: value, alpha: alpha)
    }
    switch layout {
    case .grey8, .grey16, .indexed8: return grey(bytes[at], 255)
    case .greyAlpha8: return grey(bytes[at], bytes[at + 1])
    case .greyAlpha16: return grey(bytes[at], bytes[at + 2])
    case .rgb8: return RGBA(red: bytes[at], green: bytes[at + 1], blue: bytes[at + 2])
    case .rgb16: return RGBA(red: bytes[at], green: bytes[at + 2], blue: bytes[at + 4])
    case .rgba8:
      return RGBA(
        red: bytes[at], green: bytes[at + 1], blue: bytes[at + 2], alpha: bytes[at + 3])
    case .rgba16:
      return RGBA(
        red: bytes[at], green: bytes[at + 2], blue: bytes[at + 4], alpha: bytes[at + 6])
    case .keyedRGB8, .keyedGrey16, .keyedRGB16: fatalError("no frame here has a key")
    }
  }

  /// The frame as a decoder hands it over, with the slack that decoders leave behind the samples.
  func makePixels() -> FramePixels {
    let pixels = FramePixels()
    pixels.content.layout = layout
    pixels.content.width = control.rect.width
    pixels.content.height = control.rect.height
    pixels.content.bytesPerRow = pixels.content.width * layout.bytesPerPixel
    pixels.content.isInterlaced = isInterlaced
    pixels.palette = palette
    pixels.content.transparentIndex = transparent
    pixels.content.hasBinaryAlpha = isIndexed
    pixels.content.validPixels = validPixels
    let hasAlpha = [.greyAlpha8, .rgba8, .greyAlpha16, .rgba16].contains(layout)
    pixels.content.isOpaque = !hasAlpha && transparent == nil && validPixels == colors.count
    do { try pixels.reserve(byteCount: samples.count) } catch { fatalError("\(error)") }
    for (offset, byte) in samples.enumerated() {
      // `samples.count` bytes were reserved.
      unsafe pixels.storage.baseAddress.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
    }
    return pixels
  }
}
