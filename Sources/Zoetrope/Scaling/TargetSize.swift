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
