internal import Synchronization

/// The limits on how far decoding may run ahead of the consumer.
struct DecodeWindow {
  /// The maximum total size, in bytes, of the frames that are being decoded, waiting to be drawn, or being drawn.
  let bytes: Int
  /// The maximum number of frames, however small, that have been begun but not yet taken by the consumer.
  let frames: Int
  /// The number of bytes that a decoder stores per pixel.
  let pixelSize: Int
  /// The number of bytes allocated for a frame as large as the canvas.
  let largestByteCount: Int
  /// The memory layout of frames whose block becomes the canvas, or nil if all frames are drawn onto the canvas.
  let form: InPlaceLayout?
  /// The maximum number of threads, besides the consumer's, whose memory for compressed bytes fits the limit.
  let helperLimit: Int

  package init(
    _ frames: [FrameControl], header: ImageHeader, options: DecodingOptions
  ) {
    let size = header.canvasSize
    pixelSize = header.codec.decodedPixelSize(header, options)
    self.frames = 64
    let footprint = DecodeFootprint(frames, header: header, options: options)
    // The memory that the canvas and the consumer's thread leave free, but at least enough for one frame.
    let rest = options.limits.liveBytes - min(footprint.canvas, .max / 4)
    let room = max(rest - min(footprint.worker, .max / 4), footprint.frame)
    let limit = max(min(options.limits.liveBytes / 2, room), 1)
    let drawn = Self.byteCount(size, pixelSize: pixelSize)
    // The window has room for four frames of canvas size: with three, either the helper or the consumer starves when
    // frame costs vary, and a fifth frame gains nothing. If the area under a frame is saved as well, the window has
    // room for three RGBA frames, so that an image of a thousand frames, with its canvas and its list of frames, stays
    // within six canvases. `most` is this bound in bytes for any pixel size. Unless the limit is lower, there is always
    // room for three RGBA frames, and for 1 MiB.
    let count = frames.contains { $0.disposal == .previous } ? 3 : 4
    let most = size.area * (count * 4 + 1)
    // If blocks of the in-place layout do not fit, because their margins are wide or the limit is low, frames are drawn
    // instead.
    form = header.codec.inPlaceLayout(header, options).flatMap {
      count * $0.byteCount <= min(max(most, 1 << 20), limit) ? $0 : nil
    }
    largestByteCount = form?.byteCount ?? drawn
    bytes = min(max(min(4 * largestByteCount, most), size.area * 12, 1 << 20), limit)
    helperLimit = max(room - bytes, 0) / max(footprint.worker, 1)
  }

  /// Returns the memory layout for a frame whose block becomes the canvas, or nil if the frame is drawn onto the
  /// canvas.
  func form(of control: FrameControl) -> InPlaceLayout? {
    form.flatMap { $0.suits(control) ? $0 : nil }
  }

  /// Returns the number of bytes allocated for a frame.
  func byteCount(of control: FrameControl) -> Int {
    if let form = form(of: control) { return form.byteCount }
    let bytes = Self.byteCount(control.rect.size, pixelSize: pixelSize)
    return FramePixels.rounded(bytes, largest: largestByteCount)
  }

  /// Returns the number of bytes of a frame of `size`, including the filter bytes of its rows and the margins that
  /// decoders need before and after the pixels.
  static func byteCount(_ size: PixelSize, pixelSize: Int) -> Int {
    max(size.area, 1) * pixelSize + size.height + 512
  }
}
