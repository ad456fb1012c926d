/// How frames are to come out: size, fit, filter and pixel format.
public struct Rendering: Sendable, Hashable {
  /// The box that frames are scaled into; nil, the default, leaves them at the canvas's size.
  public var target: TargetSize?
  /// How they are laid into it. Default: ``ScalingFit/fit``.
  public var fit: ScalingFit
  /// How pixels are weighed. Default: ``ScalingFilter/bilinear``.
  public var filter: ScalingFilter
  /// Whether colours are weighed as light. Default: false.
  public var linearLight: Bool
  /// The format of the bitmaps; nil, the default, is the one that decoding yields.
  public var format: PixelFormat?

  /// Makes a rendering; each argument left out has its default.
  public init(
    target: TargetSize? = nil, fit: ScalingFit = .fit, filter: ScalingFilter = .bilinear,
    linearLight: Bool = false, format: PixelFormat? = nil
  ) {
    self.target = target
    self.fit = fit
    self.filter = filter
    self.linearLight = linearLight
    self.format = format
  }
}

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

/// Makes the bitmaps of one ``Rendition`` out of composited frames.
///
/// Keeps the last bitmap before its conversion, so that of the frame after it only what changed is
/// scaled. One owner at a time.
package struct FrameRenderer: Sendable {
  package let rendition: Rendition
  /// Nil when frames keep the canvas's size.
  package let scaler: FrameScaler?
  private var last: (index: Int, bitmap: Bitmap)?

  /// Bytes of the bitmap that is kept for the next frame, when frames are scaled.
  package var bitmapCost: Int {
    rendition.format.bytesPerRow(width: rendition.size.width) * rendition.size.height
  }

  /// A renderer of frames of `canvasSize`, opened with `options`.
  package init(_ rendering: Rendering, of canvasSize: PixelSize, options: DecodingOptions) {
    rendition = Rendition(rendering, of: canvasSize, options: options)
    if rendition.scaling != nil, let target = rendering.target {
      scaler = FrameScaler(
        from: canvasSize, into: target, fit: rendering.fit, filter: rendering.filter,
        linearLight: rendering.linearLight)
    } else {
      scaler = nil
    }
  }

  /// `frame` as the rendition has it. Its dirty rectangle has to be against the frame rendered last,
  /// when that is the one before it.
  ///
  /// - Throws: `cancelled` between rows once `isCancelled` gives true; `limitExceeded` when the system
  ///   has no memory for the bitmap.
  package mutating func render(
    _ frame: CompositedFrame, isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) -> CompositedFrame {
    var bitmap = frame.bitmap
    var dirty = frame.dirtyRect
    if let scaler {
      if let last, last.index + 1 == frame.index, dirty != PixelRect(bitmap.size) {
        (bitmap, dirty) = try scaler.rescale(
          bitmap, previous: last.bitmap, dirty: dirty, isCancelled: isCancelled)
      } else {
        bitmap = try scaler.scale(bitmap, isCancelled: isCancelled)
        dirty = PixelRect(bitmap.size)
      }
      last = (frame.index, bitmap)
    }
    return CompositedFrame(
      index: frame.index, bitmap: try bitmap.converted(asking: rendition.format),
      dirtyRect: dirty, damage: frame.damage)
  }
}
