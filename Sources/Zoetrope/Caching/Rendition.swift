/// What was done to an image's frames before they were cached, beside choosing the frame.
///
/// Everything that decides pixels is in here and nothing else: delays, play counts and the choice of
/// decoder (both give the same pixels) are not. Renderings that come to the same are equal here: a
/// box that leaves the canvas at its size is no scaling, whatever the filter.
public struct Rendition: Sendable, Hashable {
  /// Width and height of the bitmaps.
  public let size: PixelSize
  /// Their format.
  public let format: PixelFormat
  /// What was done with the rows of damaged frames.
  public let damage: DamagePolicy
  /// How the canvas was scaled to ``size``; nil when it was not.
  package let scaling: Scaling?

  /// What decides the pixels of a scaled bitmap, its size aside.
  package struct Scaling: Sendable, Hashable {
    package let fit: ScalingFit
    package let filter: ScalingFilter
    package let linearLight: Bool
    /// What the fit cut off depends on it.
    package let pixelAspect: Double

    package init(
      fit: ScalingFit, filter: ScalingFilter, linearLight: Bool = false, pixelAspect: Double = 1
    ) {
      self.fit = fit
      self.filter = filter
      self.linearLight = linearLight
      self.pixelAspect = pixelAspect
    }
  }

  package init(
    size: PixelSize, format: PixelFormat = .rgba8, damage: DamagePolicy = .salvage,
    scaling: Scaling? = nil
  ) {
    self.size = size
    self.format = format
    self.damage = damage
    self.scaling = scaling
  }

  /// The image's own size, unscaled.
  public static func canvas(
    _ size: PixelSize, format: PixelFormat = .rgba8, damage: DamagePolicy = .salvage
  ) -> Rendition {
    Rendition(size: size, format: format, damage: damage)
  }

  /// What frames of a canvas of `canvasSize`, opened with `options`, become by `rendering`.
  public init(_ rendering: Rendering, of canvasSize: PixelSize, options: DecodingOptions = .init())
  {
    var scaling: Scaling?
    var size = canvasSize
    if let target = rendering.target {
      size = target.size(of: canvasSize, fit: rendering.fit)
      let box = target.sourceBox(of: canvasSize, size: size, fit: rendering.fit)
      let isWhole = box.width == Double(size.width) && box.height == Double(size.height)
      if size != canvasSize || !isWhole {
        scaling = Scaling(
          fit: rendering.fit, filter: rendering.filter, linearLight: rendering.linearLight,
          pixelAspect: target.pixelAspect)
      }
    }
    self.init(
      size: size, format: rendering.format ?? options.canvasFormat, damage: options.damage,
      scaling: scaling)
  }
}
