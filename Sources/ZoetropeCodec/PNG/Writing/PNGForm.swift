/// The form in which the pixels of a written PNG are stored: colour type and bit depth, and therefore bytes per row.
struct PNGForm: Hashable, Sendable {
  /// The colour types of IHDR, with their codes.
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

    /// Whether the colour profile must be for grey.
    var isGrey: Bool { self == .grey || self == .greyAlpha }
  }

  let colorType: ColorType
  /// The number of bits per sample: 1, 2, 4, 8 or 16.
  let bitDepth: Int

  /// Whether filters may help. They do not help for indices or packed samples, because neighbouring values are
  /// unrelated.
  var canFilter: Bool { colorType != .palette && bitDepth >= 8 }

  /// The distance to the pixel on the left as filters count it: in whole bytes, at least one.
  var bytesPerPixel: Int { max(1, colorType.channels * bitDepth / 8) }

  /// Returns the number of bytes of one row without its filter byte.
  func rowBytes(width: Int) -> Int { (width * colorType.channels * bitDepth + 7) / 8 }
}
