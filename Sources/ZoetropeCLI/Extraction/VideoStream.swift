import Zoetrope

/// A YUV4MPEG2 stream: uncompressed video with a constant frame rate, which ffmpeg, x264 and other programs read.
///
/// Colours are converted to BT.601 in limited range (Y from 16 to 235, Cb and Cr from 16 to 240), which readers assume
/// by default. Chroma is not subsampled (C444), so that colours do not bleed. The conversion loses precision:
/// converting a pixel back to 8-bit RGB gives channels within 2 of their original values.
enum VideoStream {
  /// Returns the first line of the stream.
  static func header(size: PixelSize, rate: PictureRate) -> [UInt8] {
    let divisor = Int(greatestCommonDivisor(Int128(rate.numerator), Int128(rate.denominator)))
    let frequency = "F\(rate.numerator / divisor):\(rate.denominator / divisor)"
    let text =
      "YUV4MPEG2 W\(size.width) H\(size.height) \(frequency) Ip A1:1 C444 XCOLORRANGE=LIMITED"
    return Array("\(text)\n".utf8)
  }

  /// Returns a frame of the stream: its header line, then the planes Y, Cb and Cr. `bitmap` must be 8-bit RGBA, and
  /// `background` must be opaque.
  static func frame(_ bitmap: Bitmap, over background: RGBA) -> [UInt8] {
    let mark = Array("FRAME\n".utf8)
    let plane = bitmap.width * bitmap.height
    var bytes = [UInt8](repeating: 0, count: mark.count + plane * 3)
    bytes.replaceSubrange(0..<mark.count, with: mark)
    var target = bytes.mutableSpan
    var at = mark.count
    // Animations with few colours repeat them, so most pixels equal the one before.
    var last = background
    var color = LimitedColor(last)
    for y in 0..<bitmap.height {
      let row = bitmap.pixels(row: y)
      for x in 0..<bitmap.width {
        if row[x] != last {
          last = row[x]
          color = LimitedColor(last.blended(over: background))
        }
        target[at] = color.luma
        target[at + plane] = color.blue
        target[at + 2 * plane] = color.red
        at += 1
      }
    }
    return bytes
  }
}

/// A colour in BT.601 with limited range.
struct LimitedColor: Hashable {
  /// The component Y, from 16 to 235.
  let luma: UInt8
  /// The component Cb, from 16 to 240.
  let blue: UInt8
  /// The component Cr, from 16 to 240.
  let red: UInt8

  /// Converts `color`, whose alpha is ignored. The factors are the coefficients of BT.601 times 65536/255. The factors
  /// of each chroma component add up to 0, so that greys have no chroma.
  init(_ color: RGBA) {
    let (r, g, b) = (Int(color.red), Int(color.green), Int(color.blue))
    luma = Self.rounded(16829 * r + 33039 * g + 6416 * b, from: 16)
    blue = Self.rounded(-9714 * r - 19070 * g + 28784 * b, from: 128)
    red = Self.rounded(28784 * r - 24103 * g - 4681 * b, from: 128)
  }

  private static func rounded(_ value: Int, from zero: Int) -> UInt8 {
    UInt8(zero + (value + 32768) >> 16)
  }
}

extension RGBA {
  /// Returns the colour blended over an opaque colour, with channels rounded to the nearest value.
  func blended(over below: RGBA) -> RGBA {
    if alpha == 255 { return self }
    let weight = Int(alpha)
    func channel(_ above: UInt8, _ below: UInt8) -> UInt8 {
      let sum = Int(above) * weight + Int(below) * (255 - weight)
      return UInt8((sum + 127) / 255)
    }
    return RGBA(
      red: channel(red, below.red), green: channel(green, below.green),
      blue: channel(blue, below.blue))
  }
}
