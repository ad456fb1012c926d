/// How frames are rendered: size, fit, filter, drawing and pixel format.
public struct Rendering: Sendable, Hashable {
  /// The box that frames are scaled into. Default: nil, the canvas size.
  ///
  /// If frames would have more pixels than ``DecodingLimits/canvasPixels`` allows, or a side above 1,048,576,
  /// requesting a frame throws ``AnimatedImageError/Code/limitExceeded`` before the frame is decoded.
  public var target: TargetSize?
  /// How frames are fitted into ``target``. Default: ``ScalingFit/fit``.
  public var fit: ScalingFit
  /// The resampling filter. Default: ``ScalingFilter/bilinear``.
  public var filter: ScalingFilter
  /// Whether to resample in linear light instead of sRGB values. Default: false.
  public var linearLight: Bool
  /// The pixel format of the bitmaps. Default: nil, the format that decoding yields.
  public var format: PixelFormat?
  /// A drawing on every frame after scaling, such as rounded corners. Default: nil, nothing.
  public var drawing: FrameDrawing?
  /// The store's table for these frames; nil for the table of their size and format.
  package var table: TableName?

  /// Creates a rendering. The default leaves frames as decoded.
  public init(
    target: TargetSize? = nil, fit: ScalingFit = .fit, filter: ScalingFilter = .bilinear,
    linearLight: Bool = false, format: PixelFormat? = nil, drawing: FrameDrawing? = nil
  ) {
    self.target = target
    self.fit = fit
    self.filter = filter
    self.linearLight = linearLight
    self.format = format
    self.drawing = drawing
  }
}
