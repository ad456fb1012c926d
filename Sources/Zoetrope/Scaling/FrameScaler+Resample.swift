extension FrameScaler {
  /// The kernels of both axes and their order.
  struct Axes {
    let horizontal: ResamplingKernel
    let vertical: ResamplingKernel
    let verticalFirst: Bool
  }

  /// Chooses the arithmetic by format, and draws `region`.
  func resample(
    _ bitmap: Bitmap, _ axes: Axes, region: PixelRect, into buffer: inout PixelBuffer,
    isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    switch (bitmap.format, isLinearLight) {
    case (.rgba16, false):
      try resample(
        bitmap, axes, StraightCodec16(), region: region, into: &buffer, isCancelled: isCancelled)
    case (.rgba16, true):
      try resample(
        bitmap, axes, LinearCodec16(), region: region, into: &buffer, isCancelled: isCancelled)
    case (_, true):
      try resample(
        bitmap, axes, LinearCodec8(), region: region, into: &buffer, isCancelled: isCancelled)
    case (_, false):
      try resample(
        bitmap, axes, StraightCodec8(), region: region, into: &buffer, isCancelled: isCancelled)
    }
  }

  private func resample<Codec: BlendCodec>(
    _ bitmap: Bitmap, _ axes: Axes, _ codec: Codec, region: PixelRect,
    into buffer: inout PixelBuffer, isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    // Addresses of two blocks that outlive the call: the bitmap and the buffer hold them.
    let target = unsafe buffer.baseAddress
    let targetStride = buffer.bytesPerRow
    try unsafe axes.horizontal.withTable(of: Codec.Scalar.self) {
      (horizontal) throws(AnimatedImageError) in
      try unsafe axes.vertical.withTable(of: Codec.Scalar.self) {
        (vertical) throws(AnimatedImageError) in
        var scaler = unsafe RegionScaler(
          codec: codec, bitmap: bitmap, axes: axes, horizontal: horizontal, vertical: vertical,
          target: target, targetStride: targetStride, region: region)
        try unsafe scaler.run(isCancelled: isCancelled)
      }
    }
    extendLifetime(bitmap)
  }
}
