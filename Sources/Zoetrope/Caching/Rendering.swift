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
