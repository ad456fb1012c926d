extension ScannedImage {
  /// Refuses an image that cannot be decoded within the bytes that decoding may hold.
  func checkLiveBytes(
    header: ImageHeader, options: DecodingOptions
  ) throws(AnimatedImageError) {
    let limit = options.limits.liveBytes
    guard limit < .max else { return }
    // Rows are padded, which a canvas of narrow rows is mostly made of.
    let canvas = Self.product(
      options.canvasFormat.bytesPerRow(width: header.canvasSize.width), header.canvasSize.height)
    let hasPrevious = frames.contains { $0.control.disposal == .previous }
    let pixelSize = header.decodedPixelSize(options)
    var largest = 0
    func add(_ frame: FrameRecord) {
      let pixels = Self.product(frame.control.rect.size.area, pixelSize)
      largest = max(largest, Self.sum(pixels, frame.control.byteRange.count))
    }
    frames.forEach(add)
    if let staticImage { add(staticImage) }
    let needed = Self.sum(Self.product(canvas, hasPrevious ? 2 : 1), largest)
    guard needed > limit else { return }
    throw AnimatedImageError(
      .limitExceeded, "liveBytes would be \(needed), the limit is \(limit)", format: header.format)
  }

  private static func product(_ left: Int, _ right: Int) -> Int {
    let (product, overflow) = left.multipliedReportingOverflow(by: right)
    return overflow ? .max : product
  }

  private static func sum(_ left: Int, _ right: Int) -> Int {
    let (sum, overflow) = left.addingReportingOverflow(right)
    return overflow ? .max : sum
  }
}
