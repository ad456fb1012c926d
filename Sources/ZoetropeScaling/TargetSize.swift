#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The box that an image is scaled into, in device pixels or samples that need not be square.
public struct TargetSize: Sendable, Hashable {
  /// The width in pixels; nil if only the height is limited.
  public var width: Int?
  /// The height in pixels; nil if only the width is limited.
  public var height: Int?
  /// The width of a target pixel divided by its height. Default: 1, square; 0.5 is twice as high as
  /// wide. Source pixels are square. Clamped to 0.000001...1000000 when it is used; NaN counts as 1.
  public var pixelAspect: Double
  /// Whether to enlarge images smaller than the box. Default: true. Ignored by ``ScalingFit/fill``
  /// and ``ScalingFit/stretch``, which always yield the box.
  public var allowsEnlarging: Bool
  /// The factor of both sides, used if neither is limited; nil for 1.
  package var scale: Double?

  /// Creates a box. A nil side follows from the other by the aspect ratio; with both nil, the size
  /// is unchanged.
  public init(
    width: Int? = nil, height: Int? = nil, pixelAspect: Double = 1, allowsEnlarging: Bool = true
  ) {
    self.width = width
    self.height = height
    self.pixelAspect = pixelAspect
    self.allowsEnlarging = allowsEnlarging
  }

  /// The size of the image times `scale`, which is more than 0.
  package init(scale: Double) {
    self.init()
    self.scale = scale
  }

  /// Creates a box of exactly `size` square pixels.
  public init(_ size: PixelSize) {
    self.init(width: size.width, height: size.height)
  }

  /// ``pixelAspect``, clamped so that no product or quotient of it and a side overflows.
  private var usedAspect: Double {
    pixelAspect.isNaN ? 1 : min(max(pixelAspect, 1e-6), 1e6)
  }

  /// Returns the scaled size of an image of `source` square pixels; each side is at least 1.
  ///
  /// Sides are rounded to nearest and never exceed the box, or a billion.
  public func size(of source: PixelSize, fit: ScalingFit) -> PixelSize {
    let aspect = usedAspect
    // The picture in target pixels at scale 1, where a source pixel is `1 / aspect` wide.
    let naturalWidth = Double(max(source.width, 1)) / aspect
    let naturalHeight = Double(max(source.height, 1))
    let boxWidth = width.map { Double(max($0, 1)) }
    let boxHeight = height.map { Double(max($0, 1)) }
    if fit == .fill || fit == .stretch, let boxWidth, let boxHeight {
      return PixelSize(
        width: Self.side(boxWidth, box: boxWidth), height: Self.side(boxHeight, box: boxHeight))
    }
    var scale = min(
      boxWidth.map { $0 / naturalWidth } ?? .infinity,
      boxHeight.map { $0 / naturalHeight } ?? .infinity)
    if let factor = self.scale, boxWidth == nil, boxHeight == nil { scale = factor }
    let factor = Self.factor(scale, fit: fit, allowsEnlarging: allowsEnlarging)
    return PixelSize(
      width: Self.side(naturalWidth * factor, box: boxWidth),
      height: Self.side(naturalHeight * factor, box: boxHeight))
  }

  /// The part of a picture of `source` pixels that is scaled to `size`: all of it, or for
  /// ``ScalingFit/fill`` the middle of it in the shape of `size`.
  package func sourceBox(of source: PixelSize, size: PixelSize, fit: ScalingFit) -> SourceBox {
    var box = SourceBox(
      x: 0, y: 0, width: Double(source.width), height: Double(source.height))
    guard fit == .fill, width != nil, height != nil else { return box }
    let aspect = usedAspect
    let scale = max(
      Double(size.width) * aspect / box.width, Double(size.height) / box.height)
    let (wide, high) = (box.width, box.height)
    box.width = min(wide, Double(size.width) * aspect / scale)
    box.height = min(high, Double(size.height) / scale)
    box.x = (wide - box.width) / 2
    box.y = (high - box.height) / 2
    return box
  }

  private static func factor(
    _ scale: Double, fit: ScalingFit, allowsEnlarging: Bool
  ) -> Double {
    guard scale.isFinite else { return 1 }
    var factor = scale
    if fit == .integer {
      // Tolerates rounding errors, so that 90 / 30 is exactly 3.
      factor = scale >= 1 ? (scale + 1e-9).rounded(.down) : 1 / (1 / scale - 1e-9).rounded(.up)
    }
    return allowsEnlarging ? factor : min(factor, 1)
  }

  /// A side in whole pixels: at least 1, at most the box, and small enough to avoid overflow.
  private static func side(_ exact: Double, box: Double?) -> Int {
    let limit = min(box ?? 1e9, 1e9)
    return Int(min(max(exact.rounded(), 1), max(limit, 1)))
  }
}

/// How an image is fitted into a box of another aspect ratio.
public struct ScalingFit: OpenChoice, Sendable, Hashable, CustomStringConvertible {
  package enum Kind: String, CaseIterable, Sendable { case fit, fill, stretch, integer }

  package let kind: Kind
  package init(_ kind: Kind) { self.kind = kind }

  /// As large as fits in the box, keeping the aspect ratio.
  public static let fit = ScalingFit(.fit)
  /// As small as covers the box, keeping the aspect ratio, cropped evenly on both sides.
  public static let fill = ScalingFit(.fill)
  /// Exactly the box, ignoring the aspect ratio.
  public static let stretch = ScalingFit(.stretch)
  /// Like ``fit``, by an integer factor or the inverse of one (a half, a third and so on), so that
  /// each source pixel becomes a block of equal size. For pixel art.
  public static let integer = ScalingFit(.integer)

  /// Every fit of this release.
  public static var all: [ScalingFit] { allCases }
  /// The fit's name.
  public var description: String { rawValue }
}

/// The filter for resampling an image.
///
/// When shrinking, the filter's support grows with the ratio, so that every source pixel counts, as
/// in Pillow's `resize`.
public struct ScalingFilter: OpenChoice, Sendable, Hashable, CustomStringConvertible {
  package enum Kind: String, CaseIterable, Sendable {
    case nearest, box, bilinear, bicubic, lanczos3
  }

  package let kind: Kind
  package init(_ kind: Kind) { self.kind = kind }

  /// The nearest source pixel, unchanged. The fastest filter, for pixel art.
  public static let nearest = ScalingFilter(.nearest)
  /// The mean of the source pixels that a target pixel covers.
  public static let box = ScalingFilter(.box)
  /// A triangle over two source pixels.
  public static let bilinear = ScalingFilter(.bilinear)
  /// Catmull-Rom (a = -0.5) over four source pixels; overshoots at edges, which looks sharp.
  public static let bicubic = ScalingFilter(.bicubic)
  /// A sinc windowed by a wider one, over six source pixels. The sharpest and slowest filter.
  public static let lanczos3 = ScalingFilter(.lanczos3)

  /// Every filter of this release.
  public static var all: [ScalingFilter] { allCases }
  /// The filter's name.
  public var description: String { rawValue }

  /// The radius of the filter, in pixels of the coarser side.
  var support: Double {
    switch kind {
    case .nearest: 0
    case .box: 0.5
    case .bilinear: 1
    case .bicubic: 2
    case .lanczos3: 3
    }
  }

  /// The weight of a source pixel at `distance` from the centre of a target pixel.
  func weight(at distance: Double) -> Double {
    let x = abs(distance)
    switch kind {
    case .nearest: return 0
    // Half-open, so that a source pixel on the border of two target pixels counts once.
    case .box: return distance > -0.5 && distance <= 0.5 ? 1 : 0
    case .bilinear: return x < 1 ? 1 - x : 0
    case .bicubic:
      if x < 1 { return (1.5 * x - 2.5) * x * x + 1 }
      return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0
    case .lanczos3: return x < 3 ? Self.sinc(x) * Self.sinc(x / 3) : 0
    }
  }

  private static func sinc(_ x: Double) -> Double {
    x == 0 ? 1 : sin(x * .pi) / (x * .pi)
  }
}

/// A part of a source picture whose edges may lie between pixels.
package struct SourceBox: Sendable, Hashable {
  package var x: Double
  package var y: Double
  package var width: Double
  package var height: Double

  /// The whole of a picture of `size`.
  package init(_ size: PixelSize) {
    self.init(x: 0, y: 0, width: Double(size.width), height: Double(size.height))
  }

  package init(x: Double, y: Double, width: Double, height: Double) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }
}
