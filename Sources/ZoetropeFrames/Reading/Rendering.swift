/// A description of how frames are rendered: size, fit, filter, drawing and pixel format.
public struct Rendering: Sendable, Hashable {
  /// The box into which frames are scaled. Default: nil, which keeps the canvas size.
  ///
  /// If rendered frames would have more pixels than ``DecodingLimits/canvasPixels`` allows, or a side above 1,048,576
  /// pixels, requesting a frame throws ``AnimatedImageError/Code/limitExceeded`` before the frame is decoded.
  public var target: TargetSize?
  /// How frames are fitted into ``target``. Default: ``ScalingFit/fit``.
  public var fit: ScalingFit
  /// The resampling filter. Default: ``ScalingFilter/bilinear``.
  public var filter: ScalingFilter
  /// Whether to resample in linear light instead of sRGB values. Default: false.
  public var linearLight: Bool
  /// The pixel format of the bitmaps. Default: nil, which keeps the format in which frames are decoded.
  public var format: PixelFormat?
  /// A drawing that is applied to every frame after scaling, such as rounded corners. Default: nil, no drawing.
  public var drawing: FrameDrawing?
  /// The table of the store in which these frames are kept, or nil for the table that belongs to their size and format.
  package var table: TableName?

  /// Creates a rendering. Without arguments, the rendering leaves frames as they are decoded.
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
