#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The box that a picture is scaled into, in device pixels or samples that need not be square.
public struct TargetSize: Sendable, Hashable {
  /// Pixels across; nil when only the height binds.
  public var width: Int?
  /// Rows; nil when only the width binds.
  public var height: Int?
  /// The width of one target pixel over its height; 1 (default) is square, 0.5 twice as high as
  /// wide. Source pixels are square.
  public var pixelAspect: Double
  /// Whether a picture smaller than the box grows; true by default. ``ScalingFit/fill`` and
  /// ``ScalingFit/stretch`` always yield the box and take no notice of it.
  public var allowsEnlarging: Bool

  /// Makes a box; a side left out (or nil) follows from the other by the picture's shape, and
  /// both left out keep the picture's size.
  public init(
    width: Int? = nil, height: Int? = nil, pixelAspect: Double = 1, allowsEnlarging: Bool = true
  ) {
    self.width = width
    self.height = height
    self.pixelAspect = pixelAspect
    self.allowsEnlarging = allowsEnlarging
  }

  /// Makes a box of exactly `size` square pixels.
  public init(_ size: PixelSize) {
    self.init(width: size.width, height: size.height)
  }

  /// Makes a box of terminal cells, each `cell` device pixels large and holding `samples`
  /// picture samples: 1x2 for half blocks, 2x4 for Braille, `cell` itself for true pixels.
  public init(
    columns: Int?, rows: Int?, samples: PixelSize, cell: PixelSize, allowsEnlarging: Bool = true
  ) {
    let sampleWidth = Double(max(cell.width, 1)) / Double(max(samples.width, 1))
    let sampleHeight = Double(max(cell.height, 1)) / Double(max(samples.height, 1))
    self.init(
      width: columns.map { $0 * max(samples.width, 1) },
      height: rows.map { $0 * max(samples.height, 1) },
      pixelAspect: sampleWidth / sampleHeight, allowsEnlarging: allowsEnlarging)
  }

  /// The size that a picture of `source` square pixels gets; each side is at least 1.
  ///
  /// Sides round to nearest, and never past the box.
  public func size(of source: PixelSize, fit: ScalingFit) -> PixelSize {
    let aspect = pixelAspect.isFinite && pixelAspect > 0 ? pixelAspect : 1
    // The picture in target pixels at scale 1: one of its pixels is `1 / aspect` wide.
    let naturalWidth = Double(max(source.width, 1)) / aspect
    let naturalHeight = Double(max(source.height, 1))
    let boxWidth = width.map { Double(max($0, 1)) }
    let boxHeight = height.map { Double(max($0, 1)) }
    if fit == .fill || fit == .stretch, let boxWidth, let boxHeight {
      return PixelSize(width: Int(boxWidth), height: Int(boxHeight))
    }
    let scale = min(
      boxWidth.map { $0 / naturalWidth } ?? .infinity,
      boxHeight.map { $0 / naturalHeight } ?? .infinity)
    let factor = Self.factor(scale, fit: fit, allowsEnlarging: allowsEnlarging)
    return PixelSize(
      width: Self.side(naturalWidth * factor, box: boxWidth),
      height: Self.side(naturalHeight * factor, box: boxHeight))
  }

  /// The part of a picture of `source` pixels that ends up in `size`: all of it, or the middle
  /// of it in the shape of `size` for ``ScalingFit/fill``.
  func sourceBox(of source: PixelSize, size: PixelSize, fit: ScalingFit) -> SourceBox {
    var box = SourceBox(
      x: 0, y: 0, width: Double(source.width), height: Double(source.height))
    guard fit == .fill, width != nil, height != nil else { return box }
    let aspect = pixelAspect.isFinite && pixelAspect > 0 ? pixelAspect : 1
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
      // A hair of slack, so that 30 in 90 is 3 whatever the division's last bit says.
      factor = scale >= 1 ? (scale + 1e-9).rounded(.down) : 1 / (1 / scale - 1e-9).rounded(.up)
    }
    return allowsEnlarging ? factor : min(factor, 1)
  }

  /// A side in whole pixels: at least 1, at most the box, and small enough to compute with.
  private static func side(_ exact: Double, box: Double?) -> Int {
    let limit = min(box ?? 1e9, 1e9)
    return Int(min(max(exact.rounded(), 1), max(limit, 1)))
  }
}

/// How a picture is laid into a box of another shape.
public enum ScalingFit: String, Sendable, Hashable, CaseIterable {
  /// As large as the box allows, nothing cut off, shape kept.
  case fit
  /// As small as covers the box, shape kept, what sticks out cut off evenly on both sides.
  case fill
  /// Exactly the box, shape given up.
  case stretch
  /// As ``fit``, by a whole factor, or the inverse of one: each source pixel becomes a block of
  /// equal size, which keeps pixel art even. A box narrower or lower than the picture is met by
  /// a half, a third and so on.
  case integer
}

/// How pixels are weighed when a picture changes its size.
///
/// When a side shrinks, the filter grows with the ratio, so that every source pixel counts; this
/// is the convention of Pillow's `resize`, and the results compare with it.
public enum ScalingFilter: String, Sendable, Hashable, CaseIterable {
  /// The nearest source pixel, unchanged: the fastest, and the one for pixel art.
  case nearest
  /// The mean of the source pixels that a target pixel covers.
  case box
  /// A triangle over two source pixels.
  case bilinear
  /// Catmull-Rom (a = -0.5) over four source pixels; overshoots at edges, which looks sharp.
  case bicubic
  /// A sinc windowed by a wider one, over six source pixels: the sharpest, and the slowest.
  case lanczos3

  /// How far from its middle the filter reaches, in pixels of the coarser side.
  var support: Double {
    switch self {
    case .nearest: 0
    case .box: 0.5
    case .bilinear: 1
    case .bicubic: 2
    case .lanczos3: 3
    }
  }

  /// The weight of a source pixel `distance` away from the middle of a target pixel.
  func weight(at distance: Double) -> Double {
    let x = abs(distance)
    switch self {
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

/// A part of a source picture with edges that may lie between pixels.
struct SourceBox: Sendable, Hashable {
  var x: Double
  var y: Double
  var width: Double
  var height: Double
}
