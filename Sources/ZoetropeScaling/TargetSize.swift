/// The box into which an image is scaled, in device pixels or samples that need not be square.
public struct TargetSize: Sendable, Hashable {
  /// The width in pixels, or nil if only the height is limited.
  public var width: Int?
  /// The height in pixels, or nil if only the width is limited.
  public var height: Int?
  /// The width of a target pixel divided by its height. Default: 1, which means square pixels; with 0.5 they are twice
  /// as high as wide. Source pixels are square. Clamped to 0.000001...1000000 when used; NaN counts as 1.
  public var pixelAspect: Double
  /// Whether to enlarge images smaller than the box. Default: true. Ignored by ``ScalingFit/fill``
  /// and ``ScalingFit/stretch``, whose results always have the size of the box.
  public var allowsEnlarging: Bool
  /// The factor for both sides if neither is limited, or nil for 1.
  package var scale: Double?

  /// Creates a box. If one side is nil, it follows from the other and the aspect ratio. If both are
  /// nil, the size is unchanged.
  public init(
    width: Int? = nil, height: Int? = nil, pixelAspect: Double = 1, allowsEnlarging: Bool = true
  ) {
    self.width = width
    self.height = height
    self.pixelAspect = pixelAspect
    self.allowsEnlarging = allowsEnlarging
  }

  /// Creates a target of the image's size times `scale`, which must be greater than 0.
  package init(scale: Double) {
    self.init()
    self.scale = scale
  }

  /// Creates a box of exactly `size` square pixels.
  public init(_ size: PixelSize) {
    self.init(width: size.width, height: size.height)
  }

  /// ``pixelAspect``, clamped so that multiplying or dividing a side by it cannot overflow.
  private var usedAspect: Double {
    pixelAspect.isNaN ? 1 : min(max(pixelAspect, 1e-6), 1e6)
  }

  /// Returns the scaled size of an image of `source` square pixels. Each side is at least 1.
  ///
  /// Sides are rounded to nearest, and exceed neither the box nor a billion.
  public func size(of source: PixelSize, fit: ScalingFit) -> PixelSize {
    let aspect = usedAspect
    // The picture's size in target pixels at scale 1, at which a source pixel is `1 / aspect` wide.
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

  /// Returns the part of a picture of `source` pixels that is scaled to `size`: the whole picture,
  /// or for ``ScalingFit/fill`` its middle part with the aspect ratio of `size`.
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

  /// Returns a side in whole pixels: at least 1, at most the box, and small enough to avoid overflow.
  private static func side(_ exact: Double, box: Double?) -> Int {
    let limit = min(box ?? 1e9, 1e9)
    return Int(min(max(exact.rounded(), 1), max(limit, 1)))
  }
}
