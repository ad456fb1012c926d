/// How far decoding may run ahead.
struct DecodeWindow {
  /// Bytes of frames that are begun, wait, or are being drawn.
  let bytes: Int
  /// Frames that wait, however small.
  let frames: Int
  /// Bytes that a pixel takes.
  let pixelSize: Int
  /// Bytes of a frame as large as the canvas.
  let largestByteCount: Int

  init(_ image: AnimatedImage) {
    let header = image.header
    let size = header.canvasSize
    pixelSize = header.decodedPixelSize(image.options)
    largestByteCount = Self.byteCount(size, pixelSize: pixelSize)
    frames = 64
    // Four frames of the canvas: with three, one side waits for the other when frames take unlike
    // times (a sixteenth to an eighth of the time, simulated); with five nothing is won.
    // Not above four canvases, and three are allowed however little a frame takes.
    let four = min(4 * largestByteCount, size.area * 17)
    bytes = min(max(four, size.area * 12, 1 << 20), max(image.options.limits.liveBytes / 2, 1))
  }

  /// Bytes that a frame takes with the filter bytes of its rows, and what decoders have before and
  /// behind it.
  static func byteCount(_ size: PixelSize, pixelSize: Int) -> Int {
    max(size.area, 1) * pixelSize + size.height + 512
  }
}

extension ImageHeader {
  /// Bytes that a decoder stores for a pixel.
  func decodedPixelSize(_ options: DecodingOptions) -> Int {
    if format == .gif { return 1 }
    let converted = options.canvasFormat == .rgba16 && bitDepth == 16 ? 8 : 4
    let kept = options.decoder == .fast ? PNGSampleFormat(self)?.pixelSize : nil
    return kept ?? converted
  }
}
