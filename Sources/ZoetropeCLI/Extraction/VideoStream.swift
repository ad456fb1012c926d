import Zoetrope

/// A YUV4MPEG2 stream: uncompressed video with a constant frame rate, which ffmpeg, x264 and others read.
///
/// Colours are BT.601 in limited range (16 to 235, chroma 16 to 240), which readers assume by default, and
/// without subsampling (C444), so that colours do not bleed. Eight bits of RGB do not survive the conversion
/// exactly: a channel comes back within 2 of its value.
enum VideoStream {
  /// The first line of the stream.
  static func header(size: PixelSize, rate: PictureRate) -> [UInt8] {
    let divisor = Int(greatestCommonDivisor(Int128(rate.numerator), Int128(rate.denominator)))
    let frequency = "F\(rate.numerator / divisor):\(rate.denominator / divisor)"
    let text =
      "YUV4MPEG2 W\(size.width) H\(size.height) \(frequency) Ip A1:1 C444 XCOLORRANGE=LIMITED"
    return Array("\(text)\n".utf8)
  }

  /// A frame: its header line, then the planes Y, Cb and Cr. `bitmap` is 8-bit RGBA, `background` opaque.
  static func frame(_ bitmap: Bitmap, over background: RGBA) -> [UInt8] {
    let mark = Array("FRAME\n".utf8)
    let plane = bitmap.width * bitmap.height
    var bytes = [UInt8](repeating: 0, count: mark.count + plane * 3)
    bytes.replaceSubrange(0..<mark.count, with: mark)
    var target = bytes.mutableSpan
    var at = mark.count
    // Films of few colours repeat them, so most pixels equal the one before.
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

/// A colour in BT.601, limited range.
struct LimitedColor: Hashable {
  /// Y, 16 to 235.
  let luma: UInt8
  /// Cb, 16 to 240.
  let blue: UInt8
  /// Cr, 16 to 240.
  let red: UInt8

  /// The coefficients of BT.601 times 65536/255. Those of each chroma channel add up to 0, so that greys have
  /// no chroma.
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
  /// The colour over an opaque one, rounded to nearest.
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
