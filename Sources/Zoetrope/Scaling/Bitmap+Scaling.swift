extension Bitmap {
  /// The picture scaled into a box.
  ///
  /// For more than one picture of a size, make a ``FrameScaler`` once: it keeps the weights.
  /// Formats other than those of four 8-bit channels and ``PixelFormat/rgba16`` are scaled as
  /// ``PixelFormat/rgbx8`` and converted back.
  ///
  /// - Parameters:
  ///   - target: The box.
  ///   - fit: How the picture is laid into it.
  ///   - filter: How pixels are weighed.
  ///   - linearLight: Weighs sRGB colours as light rather than as coded.
  public func scaled(
    to target: TargetSize, fit: ScalingFit = .fit, filter: ScalingFilter = .bilinear,
    linearLight: Bool = false
  ) -> Bitmap {
    FrameScaler(
      from: size, into: target, fit: fit, filter: filter, linearLight: linearLight
    ).scale(self)
  }
}
