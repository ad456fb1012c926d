internal import Synchronization

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
  let form: InPlaceLayout?
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
    // Four frames of the canvas: three starves one side when frame costs vary; five gains nothing.
    // Three of RGBA where what lies under a frame is kept too, so that with the canvas and the list of frames a
    // thousand frames stay within six canvases: `most` is that, whatever a pixel takes.
    // Three are allowed however little a frame takes.
    let count = frames.contains { $0.disposal == .previous } ? 3 : 4
    let most = size.area * (count * 4 + 1)
    // Blocks with wide margins would not be as many in a window, nor those that the limit is close to.
    form = InPlaceLayout(header, options).flatMap {
      count * $0.byteCount <= min(max(most, 1 << 20), limit) ? $0 : nil
    }
    largestByteCount = form?.byteCount ?? drawn
    bytes = min(max(min(4 * largestByteCount, most), size.area * 12, 1 << 20), limit)
    helperLimit = max(room - bytes, 0) / max(footprint.worker, 1)
  }

  /// How a frame lies that becomes the canvas; nil when it is drawn.
  func form(of control: FrameControl) -> InPlaceLayout? {
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

/// Bytes that frames decoded ahead take together, whoever reads them, and memory kept for frames to come.
///
/// Each reader bounds its own window by the limits of its image; hundreds of readers at once held
/// gigabytes all the same. At the limit, a reader decodes no frame before it is asked for, which costs
/// the second core, until others have given theirs back. The frame that is asked for is always decoded.
package final class DecodeMemory: Sendable {
  let byteLimit: Int
  private let used = Atomic<Int>(0)

  package init(byteLimit: Int) { self.byteLimit = byteLimit }

  /// Bytes taken now.
  var usedBytes: Int { used.load(ordering: .relaxed) }

  /// Whether there is room for `byteCount` bytes more.
  func admits(_ byteCount: Int) -> Bool { usedBytes + byteCount <= byteLimit }

  /// Takes `byteCount` bytes more, or gives as many back when it is negative.
  func charge(_ byteCount: Int) {
    if byteCount != 0 { used.add(byteCount, ordering: .relaxed) }
  }
}
