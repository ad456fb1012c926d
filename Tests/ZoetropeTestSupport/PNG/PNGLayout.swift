/// How a PNG stores its samples: the fields of IHDR that every frame shares.
public struct PNGLayout: Sendable, Hashable {
  /// The colour types of PNG.
  public enum ColorType: UInt8, Sendable, Hashable, CaseIterable {
    /// Grey.
    case gray = 0
    /// Red, green, blue.
    case rgb = 2
    /// Palette indices.
    case palette = 3
    /// Grey and alpha.
    case grayAlpha = 4
    /// Red, green, blue, alpha.
    case rgba = 6

    /// Samples of one pixel.
    public var channels: Int {
      switch self {
      case .gray, .palette: 1
      case .grayAlpha: 2
      case .rgb: 3
      case .rgba: 4
      }
    }

    /// The bit depths that PNG allows for this type.
    public var depths: [Int] {
      switch self {
      case .gray: [1, 2, 4, 8, 16]
      case .palette: [1, 2, 4, 8]
      case .rgb, .grayAlpha, .rgba: [8, 16]
      }
    }
  }

  /// The colour type.
  public var colorType: ColorType
  /// Bits of a sample.
  public var depth: Int
  /// Whether the pixels are stored with Adam7.
  public var isInterlaced: Bool

  /// A layout; nothing is checked.
  public init(_ colorType: ColorType = .rgba, depth: Int = 8, isInterlaced: Bool = false) {
    self.colorType = colorType
    self.depth = depth
    self.isInterlaced = isInterlaced
  }

  /// The samples of one pixel, `depth` bits each.
  func values(of sample: PixelSample) -> [UInt16] {
    func cut(_ value: UInt16) -> UInt16 { value >> UInt16(16 - depth) }
    return switch colorType {
    case .gray: [cut(sample.red)]
    case .rgb: [cut(sample.red), cut(sample.green), cut(sample.blue)]
    case .palette: [UInt16(sample.index ?? 0)]
    case .grayAlpha: [cut(sample.red), cut(sample.alpha)]
    case .rgba: [cut(sample.red), cut(sample.green), cut(sample.blue), cut(sample.alpha)]
    }
  }
}
