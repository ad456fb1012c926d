/// The box into which an image is scaled, measured in target pixels, which need not be square.
public struct TargetSize: Sendable, Hashable {
  /// The maximum width in pixels, or nil if the width is not limited.
  public var width: Int?
  /// The maximum height in pixels, or nil if the height is not limited.
  public var height: Int?
  /// The width of a target pixel divided by its height. Default: 1, which means square pixels; with 0.5, target pixels
  /// are twice as high as wide. Source pixels are always square. The value is clamped to 0.000001...1000000 when it is
  /// used; NaN counts as 1.
  public var pixelAspect: Double
  /// Whether to enlarge images that are smaller than the box. Default: true. ``ScalingFit/fill`` and
  /// ``ScalingFit/stretch`` ignore this value if both sides of the box are given, because their results then have the
  /// size of the box.
  public var allowsEnlarging: Bool
  /// The factor by which both sides are scaled if neither side is limited; nil for 1.
  package var scale: Double?

  /// Creates a box. If only one side is given, the other side of the scaled image follows from the aspect ratio. If
  /// neither is given, the size of the image does not change.
  public init(
    width: Int? = nil, height: Int? = nil, pixelAspect: Double = 1, allowsEnlarging: Bool = true
  ) {
    self.width = width
    self.height = height
    self.pixelAspect = pixelAspect
    self.allowsEnlarging = allowsEnlarging
  }

  /// Creates a target whose size is the size of the image multiplied by `scale`: 0.5 halves both sides. Each side is at
  /// least 1. A scale that is not finite counts as 1.
  public init(scale: Double) {
    self.init()
    self.scale = scale
  }

  /// Creates a box of `size`, with square pixels.
  public init(_ size: PixelSize) {
    self.init(width: size.width, height: size.height)
  }

  /// ``pixelAspect``, clamped so that multiplying or dividing a side by the value cannot overflow.
  package var usedAspect: Double {
    pixelAspect.isNaN ? 1 : min(max(pixelAspect, 1e-6), 1e6)
  }

  /// Returns the size to which an image of `source` square pixels is scaled. Each side is at least 1.
  ///
  /// Sides are rounded to nearest, and do not exceed the box or a billion pixels.
  public func size(of source: PixelSize, fit: ScalingFit) -> PixelSize {
    let aspect = usedAspect
    // The image's size in target pixels at scale 1, at which a source pixel is `1 / aspect` target pixels wide.
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

  /// Returns the part of an image of `source` pixels that is scaled to `size`. The part is the whole image or, for
  /// ``ScalingFit/fill``, its middle with the aspect ratio of `size`.
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
      // The tolerance of 1e-9 allows for rounding errors, so that 90 / 30 is exactly 3.
      factor = scale >= 1 ? (scale + 1e-9).rounded(.down) : 1 / (1 / scale - 1e-9).rounded(.up)
    }
    return allowsEnlarging ? factor : min(factor, 1)
  }

  /// Returns a side in whole pixels, which is at least 1, at most the side of the box, and small enough to avoid an
  /// overflow.
  private static func side(_ exact: Double, box: Double?) -> Int {
    let limit = min(box ?? 1e9, 1e9)
    return Int(min(max(exact.rounded(), 1), max(limit, 1)))
  }
}
