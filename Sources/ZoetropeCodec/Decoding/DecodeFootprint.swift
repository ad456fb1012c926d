/// Bytes that decoding the frames of one image takes at least: what ``DecodingLimits/liveBytes`` bounds.
struct DecodeFootprint {
  /// The canvas, and what lies under a frame where one is put back.
  private(set) var canvas = 0
  /// The largest frame, decoded.
  private(set) var frame = 0
  /// What each thread that decodes takes for the compressed bytes of a frame: as they are stored, and
  /// put together out of their blocks or chunks.
  private(set) var worker = 0

  /// With one thread and no frame decoded ahead.
  var byteCount: Int { Self.sum(Self.sum(canvas, frame), worker) }

  init(_ frames: some Sequence<FrameControl>, header: ImageHeader, options: DecodingOptions) {
    let pixelSize = header.decodedPixelSize(options)
    let joinsTwice = header.format == .gif && options.decoder == .reference
    var putsBack = false
    for control in frames {
      if control.disposal == .previous { putsBack = true }
      let size = control.rect.size
      let bytes = Self.sum(Self.product(size.area, pixelSize), size.height + 512)
      frame = max(frame, Self.rounded(bytes))
      let stored = control.byteRange.count
      let joined = joinsTwice ? Self.product(stored, 2) : GIFDeblocker.byteCount(for: stored)
      worker = max(worker, Self.sum(stored, joined))
    }
    // Rows are padded, which a canvas of narrow rows is mostly made of.
    canvas = Self.product(
      options.canvasFormat.bytesPerRow(width: header.canvasSize.width), header.canvasSize.height)
    if putsBack { canvas = Self.product(canvas, 2) }
  }

  private static func rounded(_ byteCount: Int) -> Int {
    byteCount > 1 << 60 ? byteCount : PixelMemory.rounded(byteCount)
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
