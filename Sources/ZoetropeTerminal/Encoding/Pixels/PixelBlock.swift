internal import Zoetrope

/// Copies the pixels of a part of a picture, row after row without padding.
enum PixelBlock {
  /// Whether every pixel of `rect` is opaque.
  static func isOpaque(_ bitmap: Bitmap, _ rect: PixelRect) -> Bool {
    for y in rect.y..<rect.maxY {
      let row = bitmap.pixels(row: y)
      for x in rect.x..<rect.maxX where row[x].alpha != 255 { return false }
    }
    return true
  }

  /// Red, green and blue; transparent pixels laid over `backdrop` in coded values.
  static func rgb(_ bitmap: Bitmap, _ rect: PixelRect, over backdrop: Backdrop) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(rect.width * rect.height * 3)
    for y in rect.y..<rect.maxY {
      let row = bitmap.pixels(row: y)
      for x in rect.x..<rect.maxX {
        let color = flattened(row[x], x: x, y: y, over: backdrop)
        bytes.append(color.red)
        bytes.append(color.green)
        bytes.append(color.blue)
      }
    }
    return bytes
  }

  /// Red, green, blue and straight alpha.
  static func rgba(_ bitmap: Bitmap, _ rect: PixelRect) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(rect.width * rect.height * 4)
    for y in rect.y..<rect.maxY {
      let row = bitmap.pixels(row: y)
      for x in rect.x..<rect.maxX {
        let pixel = row[x]
        bytes.append(pixel.red)
        bytes.append(pixel.green)
        bytes.append(pixel.blue)
        bytes.append(pixel.alpha)
      }
    }
    return bytes
  }

  /// One pixel laid over the backdrop.
  @inline(__always)
  static func flattened(_ pixel: RGBA, x: Int, y: Int, over backdrop: Backdrop) -> TerminalColor {
    if pixel.alpha == 255 {
      return TerminalColor(red: pixel.red, green: pixel.green, blue: pixel.blue)
    }
    let under = backdrop.color(x: x, y: y)
    let alpha = Int(pixel.alpha)
    func mix(_ over: UInt8, _ below: UInt8) -> UInt8 {
      UInt8((Int(over) * alpha + Int(below) * (255 - alpha) + 127) / 255)
    }
    return TerminalColor(
      red: mix(pixel.red, under.red), green: mix(pixel.green, under.green),
      blue: mix(pixel.blue, under.blue))
  }
}
