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
  /// How frames lie that become the canvas; nil when all are drawn.
  let form: CanvasForm?
  /// Threads that may decode beside the consumer's, as far as their memory for compressed bytes goes.
  let helperLimit: Int

  package init(
    _ frames: [FrameControl], header: ImageHeader, options: DecodingOptions
  ) {
    let size = header.canvasSize
    pixelSize = header.decodedPixelSize(options)
    self.frames = 64
    let footprint = DecodeFootprint(frames, header: header, options: options)
    // What the canvas and the consumer's thread leave, which is room for a frame at least.
    let rest = options.limits.liveBytes - min(footprint.canvas, .max / 4)
    let room = max(rest - min(footprint.worker, .max / 4), footprint.frame)
    let limit = max(min(options.limits.liveBytes / 2, room), 1)
    let drawn = Self.byteCount(size, pixelSize: pixelSize)
    // Four frames of the canvas: with three, one side waits for the other when frames take unlike
    // times (a sixteenth to an eighth of the time, simulated); with five nothing is won. Three of RGBA
    // where what lies under a frame is kept too, so that with the canvas and the list of frames a
    // thousand frames stay within six canvases: `most` is that, whatever a pixel takes.
    // Three are allowed however little a frame takes.
    let count = frames.contains { $0.disposal == .previous } ? 3 : 4
    let most = size.area * (count * 4 + 1)
    // Blocks with wide margins would not be as many in a window, nor those that the limit is close to.
    form = CanvasForm(header, options).flatMap {
      count * $0.byteCount <= min(max(most, 1 << 20), limit) ? $0 : nil
    }
    largestByteCount = form?.byteCount ?? drawn
    bytes = min(max(min(4 * largestByteCount, most), size.area * 12, 1 << 20), limit)
    helperLimit = max(room - bytes, 0) / max(footprint.worker, 1)
  }

  /// How a frame lies that becomes the canvas; nil when it is drawn.
  func form(of control: FrameControl) -> CanvasForm? {
    form.flatMap { $0.suits(control) ? $0 : nil }
  }

  /// Bytes of memory that a frame gets.
  func byteCount(of control: FrameControl) -> Int {
    if let form = form(of: control) { return form.byteCount }
    let bytes = Self.byteCount(control.rect.size, pixelSize: pixelSize)
    return FramePixels.rounded(bytes, largest: largestByteCount)
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
    guard options.decoder == .fast, let format = PNGSampleFormat(self) else { return converted }
    // Pixels that are packed or interlaced lie in memory twice.
    return format.isDirect ? format.pixelSize : format.pixelSize + format.filterSize
  }
}
