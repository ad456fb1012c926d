import Zoetrope

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// What the specifications say, pixel by pixel, on an array of colours.
struct PlainCompositor {
  let size: PixelSize
  var pixels: [RGBA]
  private var pending: (disposal: DisposalMethod, rect: PixelRect, before: [RGBA])?

  init(size: PixelSize) {
    self.size = size
    pixels = Array(repeating: .clear, count: size.width * size.height)
  }

  /// Disposes of the frame before.
  mutating func dispose() {
    guard let (disposal, rect, before) = pending else { return }
    pending = nil
    for y in max(rect.y, 0)..<max(min(rect.maxY, size.height), max(rect.y, 0)) {
      for x in max(rect.x, 0)..<max(min(rect.maxX, size.width), max(rect.x, 0)) {
        let place = y * size.width + x
        switch disposal {
        case .keep: break
        case .background: pixels[place] = .clear
        case .previous: pixels[place] = before[place]
        }
      }
    }
  }

  mutating func draw(_ frame: PlainFrame) {
    dispose()
    let rect = frame.control.rect
    pending = (frame.control.disposal, rect, pixels)
    for (number, color) in frame.colors.prefix(frame.validPixels).enumerated() {
      guard let color else { continue }
      let stored = number / rect.width
      let row = frame.isInterlaced ? Self.interlaced(stored, height: rect.height) : stored
      let (x, y) = (rect.x + number % rect.width, rect.y + row)
      guard x >= 0, y >= 0, x < size.width, y < size.height else { continue }
      let place = y * size.width + x
      pixels[place] =
        frame.control.blend == .source || frame.isIndexed
        ? color : Self.over(color, pixels[place])
    }
  }

  /// GIF89a appendix E, by counting.
  private static func interlaced(_ index: Int, height: Int) -> Int {
    var rows: [Int] = []
    for (start, step) in [(0, 8), (4, 8), (2, 4), (1, 2)] {
      rows += stride(from: start, to: height, by: step)
    }
    return rows[index]
  }

  /// PNG 3rd edition 11.3.6.2, in whole numbers, rounded half up.
  private static func over(_ over: RGBA, _ under: RGBA) -> RGBA {
    if over.alpha == 0 { return under }
    let above = Int(over.alpha) * 255
    let below = Int(under.alpha) * (255 - Int(over.alpha))
    let sum = above + below
    func mixed(_ high: UInt8, _ low: UInt8) -> UInt8 {
      UInt8((2 * (Int(high) * above + Int(low) * below) + sum) / (2 * sum))
    }
    return RGBA(
      red: mixed(over.red, under.red), green: mixed(over.green, under.green),
      blue: mixed(over.blue, under.blue), alpha: UInt8((2 * sum + 255) / 510))
  }
}
