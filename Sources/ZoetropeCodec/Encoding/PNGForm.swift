/// How the pixels of one written PNG are stored: colour type, bit depth and, with them, row bytes.
struct PNGForm: Hashable, Sendable {
  /// The colour types of IHDR, with their codes.
  enum ColorType: UInt8, Sendable {
    case grey = 0
    case rgb = 2
    case palette = 3
    case greyAlpha = 4
    case rgba = 6

    /// Samples a pixel.
    var channels: Int {
      switch self {
      case .grey, .palette: 1
      case .greyAlpha: 2
      case .rgb: 3
      case .rgba: 4
      }
    }

    /// Whether a colour profile for it must be a grey one.
    var isGrey: Bool { self == .grey || self == .greyAlpha }
  }

  let colorType: ColorType
  /// Bits a sample: 1, 2, 4, 8 or 16.
  let bitDepth: Int

  /// The distance to the pixel on the left that filters use: whole bytes, at least one.
  var bytesPerPixel: Int { max(1, colorType.channels * bitDepth / 8) }

  /// Bytes of one row without its filter byte.
  func rowBytes(width: Int) -> Int { (width * colorType.channels * bitDepth + 7) / 8 }
}
