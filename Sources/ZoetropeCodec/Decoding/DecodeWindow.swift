internal import Synchronization

/// The limits of how far decoding may run ahead.
struct DecodeWindow {
  /// The maximum number of bytes of frames that are being decoded, waiting or being drawn.
  let bytes: Int
  /// The maximum number of frames that may wait, however small they are.
  let frames: Int
  /// Bytes per pixel.
  let pixelSize: Int
  /// Bytes of a frame as large as the canvas.
  let largestByteCount: Int
  /// The layout of frames that become the canvas, or nil if all frames are drawn.
  let form: InPlaceLayout?
  /// The maximum number of threads besides the consumer's that may decode, given their memory for compressed
  /// bytes.
  let helperLimit: Int

  package init(
    _ frames: [FrameControl], header: ImageHeader, options: DecodingOptions
  ) {
    let size = header.canvasSize
    pixelSize = header.codec.decodedPixelSize(header, options)
    self.frames = 64
    let footprint = DecodeFootprint(frames, header: header, options: options)
    // The memory left by the canvas and the consumer's thread, with room for at least one frame.
    let rest = options.limits.liveBytes - min(footprint.canvas, .max / 4)
    let room = max(rest - min(footprint.worker, .max / 4), footprint.frame)
    let limit = max(min(options.limits.liveBytes / 2, room), 1)
    let drawn = Self.byteCount(size, pixelSize: pixelSize)
    // Four frames of canvas size: with three, one side starves when frame costs vary, and five gain nothing. Three RGBA
    // frames if the area under a frame is saved as well: a thousand frames, with the canvas and the list of frames,
    // then stay within six canvases. `most` is that bound for any pixel size. Three frames are always allowed, however
    // small they are.
    let count = frames.contains { $0.disposal == .previous } ? 3 : 4
    let most = size.area * (count * 4 + 1)
    // If the blocks do not fit, because their margins are wide or the limit is low, frames are
    // drawn instead.
    form = header.codec.inPlaceLayout(header, options).flatMap {
      count * $0.byteCount <= min(max(most, 1 << 20), limit) ? $0 : nil
    }
    largestByteCount = form?.byteCount ?? drawn
    bytes = min(max(min(4 * largestByteCount, most), size.area * 12, 1 << 20), limit)
    helperLimit = max(room - bytes, 0) / max(footprint.worker, 1)
  }

  /// Returns the layout of a frame that becomes the canvas, or nil if the frame is drawn.
  func form(of control: FrameControl) -> InPlaceLayout? {
    form.flatMap { $0.suits(control) ? $0 : nil }
  }

  /// Returns the number of bytes allocated for a frame.
  func byteCount(of control: FrameControl) -> Int {
    if let form = form(of: control) { return form.byteCount }
    let bytes = Self.byteCount(control.rect.size, pixelSize: pixelSize)
    return FramePixels.rounded(bytes, largest: largestByteCount)
  }

  /// Returns the number of bytes of a frame with the filter bytes of its rows and the decoders'
  /// margins before and after it.
  static func byteCount(_ size: PixelSize, pixelSize: Int) -> Int {
    max(size.area, 1) * pixelSize + size.height + 512
  }
}
