/// Adds up what a file declares and refuses it when a limit is passed.
struct WorkBudget: Sendable {
  let limits: DecodingLimits
  let format: AnimationFormat
  private var declaredPixels = 0

  init(limits: DecodingLimits, format: AnimationFormat) {
    self.limits = limits
    self.format = format
  }

  /// Pixels that no memory holds, whatever the limits: byte counts of more would overflow.
  private static let mostPixels = 1 << 40

  /// Checks the size of the canvas.
  func checkCanvas(_ size: PixelSize, at offset: Int) throws(AnimatedImageError) {
    let allowed = min(limits.canvasPixels, Self.mostPixels)
    guard size.area > allowed else { return }
    throw exceeded("canvasPixels", asked: size.area, allowed: allowed, at: offset)
  }

  /// Charges frame `index`, whose rectangle has `area` pixels.
  mutating func charge(frame index: Int, area: Int, at offset: Int) throws(AnimatedImageError) {
    if index >= limits.frameCount {
      throw exceeded("frameCount", asked: index + 1, allowed: limits.frameCount, at: offset)
    }
    // A frame may be larger than the canvas (GIF), and is decoded whole before it is clipped.
    if area > limits.canvasPixels {
      throw exceeded("canvasPixels", asked: area, allowed: limits.canvasPixels, at: offset)
    }
    let (sum, overflow) = declaredPixels.addingReportingOverflow(area)
    declaredPixels = overflow ? .max : sum
    if declaredPixels > limits.pixelsPerPlay {
      throw exceeded(
        "pixelsPerPlay", asked: declaredPixels, allowed: limits.pixelsPerPlay, at: offset)
    }
  }

  private func exceeded(
    _ name: String, asked: Int, allowed: Int, at offset: Int
  ) -> AnimatedImageError {
    AnimatedImageError(
      .limitExceeded, "\(name) would be \(asked), the limit is \(allowed)", format: format,
      byteOffset: offset)
  }
}
