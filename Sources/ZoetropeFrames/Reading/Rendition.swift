/// A description of how the frames of an image were rendered before they were cached.
///
/// A rendition contains everything that affects pixels, and the table of a ``FrameStore`` if the frames have one of their
/// own, but no delays or play counts. Equivalent renderings have equal renditions. For example, if a rendering does not
/// scale the canvas, its filter makes no difference.
public struct Rendition: Sendable, Hashable {
  /// The size of the bitmaps.
  package let size: PixelSize
  /// The pixel format of the bitmaps.
  package let format: PixelFormat
  /// The pixel format of the canvas, from which the bitmaps were scaled and converted.
  package let canvasFormat: PixelFormat
  /// The policy with which damaged frames were handled.
  package let damage: DamagePolicy
  /// The decoder of the frames. It is part of the rendition because decoders keep different numbers of pixels of
  /// damaged frames.
  package let decoder: PixelDecoder
  /// The way in which the canvas was scaled to ``size``, or nil if the canvas was not scaled.
  package let scaling: Scaling?
  /// The drawing that was applied to the frames after scaling, or nil if there was none.
  package let drawing: FrameDrawing?
  /// The table of the store in which the frames are kept, or nil for the table that belongs to their size and format.
  package let table: TableName?

  /// Everything besides its size that affects the pixels of a scaled bitmap.
  package struct Scaling: Sendable, Hashable {
    package let fit: ScalingFit
    package let filter: ScalingFilter
    package let linearLight: Bool
    /// The pixel aspect ratio, which determines what the fit crops away.
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
    size: PixelSize, format: PixelFormat = .rgba8, canvasFormat: PixelFormat = .rgba8,
    damage: DamagePolicy = .salvage, decoder: PixelDecoder = .fast, scaling: Scaling? = nil,
    drawing: FrameDrawing? = nil, table: TableName? = nil
  ) {
    self.size = size
    self.format = format
    self.canvasFormat = canvasFormat
    self.damage = damage
    self.decoder = decoder
    self.scaling = scaling
    self.drawing = drawing
    self.table = table
  }

  /// Returns the rendition of the unscaled canvas. The format of the canvas is ``PixelFormat/rgba16`` if `format` is,
  /// otherwise ``PixelFormat/rgba8``.
  package static func canvas(
    _ size: PixelSize, format: PixelFormat = .rgba8, damage: DamagePolicy = .salvage
  ) -> Rendition {
    Rendition(
      size: size, format: format, canvasFormat: format == .rgba16 ? .rgba16 : .rgba8,
      damage: damage)
  }

  /// Creates the rendition that `rendering` yields for the frames of an image that has the size `canvasSize` and was
  /// opened with `options`.
  public init(_ rendering: Rendering, of canvasSize: PixelSize, options: DecodingOptions = .init())
  {
    var scaling: Scaling?
    var size = canvasSize
    if let target = rendering.target {
      size = target.size(of: canvasSize, fit: rendering.fit)
      let box = target.sourceBox(of: canvasSize, size: size, fit: rendering.fit)
      let isWhole = box.width == Double(size.width) && box.height == Double(size.height)
      if size != canvasSize || !isWhole {
        // What matters of the fit is which part of the canvas is scaled to ``size``. If it is all of it, every fit and
        // aspect gives the same pixels, even `fill`, which crops only a box with both sides.
        let coversCanvas =
          box.width == Double(canvasSize.width) && box.height == Double(canvasSize.height)
        scaling = Scaling(
          fit: coversCanvas ? .stretch : rendering.fit, filter: rendering.filter,
          linearLight: rendering.linearLight, pixelAspect: coversCanvas ? 1 : target.usedAspect)
      }
    }
    self.init(
      size: size, format: rendering.format ?? options.canvasFormat,
      canvasFormat: options.canvasFormat, damage: options.damage, decoder: options.decoder,
      scaling: scaling, drawing: rendering.drawing, table: rendering.table)
  }
}

extension Rendition {
  /// The maximum number of pixels of a scaled frame, whatever the limits allow. With more pixels, byte counts would
  /// overflow.
  private static let maximumPixels = 1 << 40

  /// Checks that scaled frames would not be too large.
  ///
  /// - Throws: `limitExceeded` if scaled frames would be too large.
  func check(_ limits: DecodingLimits) throws(AnimatedImageError) {
    if let refusal = refusal(limits) { throw refusal }
  }

  /// Returns the error to throw if the scaled size exceeds `limits`, otherwise nil.
  func refusal(_ limits: DecodingLimits) -> AnimatedImageError? {
    guard scaling != nil else { return nil }
    let allowed = min(limits.canvasPixels, Self.maximumPixels)
    if size.area > allowed {
      return .exceeding(
        .scaledPixels, found: size.area, allowed: allowed,
        "scaled frames would be \(size), but canvasPixels allows only \(allowed) pixels")
    }
    let side = max(size.width, size.height)
    if side > FrameScaler.longestSide {
      return .exceeding(
        .scaledSide, found: side, allowed: FrameScaler.longestSide,
        "scaled frames would be \(size); sides are limited to \(FrameScaler.longestSide)")
    }
    return nil
  }
}
