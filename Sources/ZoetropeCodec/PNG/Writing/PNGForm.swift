/// How the pixels of a written PNG are stored: colour type and bit depth, and hence bytes per row.
struct PNGForm: Hashable, Sendable {
  /// The colour types of IHDR, with their codes.
  enum ColorType: UInt8, Sendable {
    case grey = 0
    case rgb = 2
    case palette = 3
    case greyAlpha = 4
    case rgba = 6

    /// Samples per pixel.
    var channels: Int {
      switch self {
      case .grey, .palette: 1
      case .greyAlpha: 2
      case .rgb: 3
      case .rgba: 4
      }
    }

    /// Whether its colour profile must be a grey one.
    var isGrey: Bool { self == .grey || self == .greyAlpha }
  }

  let colorType: ColorType
  /// Bits per sample: 1, 2, 4, 8 or 16.
  let bitDepth: Int

  /// Whether filters may help: neighbouring indices or packed samples are unrelated values.
  var canFilter: Bool { colorType != .palette && bitDepth >= 8 }

  /// The filters' distance to the pixel on the left: whole bytes, at least one.
  var bytesPerPixel: Int { max(1, colorType.channels * bitDepth / 8) }

  /// Bytes of one row without its filter byte.
  func rowBytes(width: Int) -> Int { (width * colorType.channels * bitDepth + 7) / 8 }
}
