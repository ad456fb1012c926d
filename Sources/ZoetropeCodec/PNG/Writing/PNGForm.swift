/// The form in which a written PNG stores its pixels: the colour type and the bit depth, which determine the number of
/// bytes per row.
struct PNGForm: Hashable, Sendable {
  /// The colour types of PNG. The raw values are those in IHDR.
  enum ColorType: UInt8, Sendable {
    case grey = 0
    case rgb = 2
    case palette = 3
    case greyAlpha = 4
    case rgba = 6

    /// The number of samples per pixel.
    var channels: Int {
      switch self {
      case .grey, .palette: 1
      case .greyAlpha: 2
      case .rgb: 3
      case .rgba: 4
      }
    }

    /// Whether pixels are grey. The colour profile of the file must then be for grey.
    var isGrey: Bool { self == .grey || self == .greyAlpha }
  }

  let colorType: ColorType
  /// The number of bits per sample: 1, 2, 4, 8 or 16.
  let bitDepth: Int

  /// Whether row filters may reduce the compressed size. They do not help for indices or packed samples, because the
  /// values of neighbouring bytes are unrelated.
  var canFilter: Bool { colorType != .palette && bitDepth >= 8 }

  /// The number of bytes by which filters look to the left: the byte count of a pixel, but at least one.
  var bytesPerPixel: Int { max(1, colorType.channels * bitDepth / 8) }

  /// Returns the number of bytes of a row of `width` pixels, without its filter byte.
  func rowBytes(width: Int) -> Int { (width * colorType.channels * bitDepth + 7) / 8 }
}
