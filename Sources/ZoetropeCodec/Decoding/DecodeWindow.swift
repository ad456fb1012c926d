internal import Synchronization

/// How far decoding may run ahead.
struct DecodeWindow {
  /// Bytes of frames that are begun, waiting or being drawn.
  let bytes: Int
  /// The maximum number of frames that may wait, however small.
  let frames: Int
  /// Bytes per pixel.
  let pixelSize: Int
  /// Bytes of a frame as large as the canvas.
  let largestByteCount: Int
  /// The layout of frames that become the canvas; nil if all are drawn.
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
    // The memory that the canvas and the consumer's thread leave, with room for at least one frame.
    let rest = options.limits.liveBytes - min(footprint.canvas, .max / 4)
    let room = max(rest - min(footprint.worker, .max / 4), footprint.frame)
    let limit = max(min(options.limits.liveBytes / 2, room), 1)
    let drawn = Self.byteCount(size, pixelSize: pixelSize)
    // Four frames of the canvas: three starve one side when frame costs vary; five gain nothing. Three for RGBA
    // if the area under a frame is saved as well, so that with the canvas and the list of frames a thousand
    // frames stay within six canvases: `most` is that bound, whatever a pixel takes. Three are always allowed,
    // however small a frame is.
    let count = frames.contains { $0.disposal == .previous } ? 3 : 4
    let most = size.area * (count * 4 + 1)
    // Fewer blocks fit if their margins are wide or the limit is close; then frames are drawn
    // instead.
    form = header.codec.inPlaceLayout(header, options).flatMap {
      count * $0.byteCount <= min(max(most, 1 << 20), limit) ? $0 : nil
    }
    largestByteCount = form?.byteCount ?? drawn
    bytes = min(max(min(4 * largestByteCount, most), size.area * 12, 1 << 20), limit)
    helperLimit = max(room - bytes, 0) / max(footprint.worker, 1)
  }

  /// The layout of a frame that becomes the canvas; nil if the frame is drawn.
  func form(of control: FrameControl) -> InPlaceLayout? {
    form.flatMap { $0.suits(control) ? $0 : nil }
  }

  /// Bytes of memory allocated for a frame.
  func byteCount(of control: FrameControl) -> Int {
    if let form = form(of: control) { return form.byteCount }
    let bytes = Self.byteCount(control.rect.size, pixelSize: pixelSize)
    return FramePixels.rounded(bytes, largest: largestByteCount)
  }

  /// Bytes of a frame with the filter bytes of its rows and the decoders' margins before and after
  /// it.
  static func byteCount(_ size: PixelSize, pixelSize: Int) -> Int {
    max(size.area, 1) * pixelSize + size.height + 512
  }
}

/// The least number of bytes that decoding an image's frames takes, bounded by
/// ``DecodingLimits/liveBytes``.
package struct DecodeFootprint: Sendable {
  private let header: ImageHeader
  private let options: DecodingOptions
  private let codec: any FormatCodec
  private let pixelSize: Int
  private var putsBack = false
  /// The largest frame, decoded.
  private(set) var frame = 0
  /// The memory of each decoding thread for the compressed bytes of a frame: as stored, and joined from its
  /// blocks or chunks.
  private(set) var worker = 0

  /// The canvas, and the saved area under a frame if any frame is restored.
  var canvas: Int {
    // Includes row padding, which dominates a canvas of narrow rows.
    let bytes = Self.product(
      options.canvasFormat.bytesPerRow(width: header.canvasSize.width), header.canvasSize.height)
    return putsBack ? Self.product(bytes, 2) : bytes
  }

  /// The total with one thread and no frame decoded ahead.
  package var byteCount: Int { Self.sum(Self.sum(canvas, frame), worker) }

  package init(
    _ frames: some Sequence<FrameControl>, header: ImageHeader, options: DecodingOptions
  ) {
    self.header = header
    self.options = options
    codec = header.codec
    pixelSize = codec.decodedPixelSize(header, options)
    for control in frames { add(control) }
  }

  /// Counts one more frame.
  package mutating func add(_ control: FrameControl) {
    if control.disposal == .previous { putsBack = true }
    let size = control.rect.size
    let bytes = Self.sum(Self.product(size.area, pixelSize), size.height + 512)
    frame = max(frame, Self.rounded(bytes))
    let stored = control.byteRange.count
    worker = max(worker, Self.sum(stored, codec.workingByteCount(for: stored, options)))
  }

  /// Throws if decoding cannot stay within the limit.
  package func check() throws(AnimatedImageError) {
    let (needed, limit) = (byteCount, options.limits.liveBytes)
    guard needed > limit else { return }
    throw .exceeding(.liveBytes, asked: needed, allowed: limit, format: header.format)
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

extension ScannedImage {
  /// Throws for an image that cannot be decoded within the live-byte limit.
  package func checkLiveBytes(
    header: ImageHeader, options: DecodingOptions
  ) throws(AnimatedImageError) {
    guard options.limits.liveBytes < .max else { return }
    let others = [staticImage, cutFrame].compactMap { $0 }
    try DecodeFootprint([frames, others].joined(), header: header, options: options).check()
  }
}

/// The memory that all readers together hold for frames decoded ahead, and for reuse.
///
/// Each reader bounds its own window by its image's limits, but hundreds of concurrent readers would still hold
/// gigabytes. At this limit a reader decodes no frame before it is requested, which costs the second core,
/// until others have returned theirs. A requested frame is always decoded.
package final class DecodeMemory: Sendable {
  let byteLimit: Int
  private let used = Atomic<Int>(0)

  package init(byteLimit: Int) { self.byteLimit = byteLimit }

  /// The bytes charged now.
  var usedBytes: Int { used.load(ordering: .relaxed) }

  /// Whether there is room for `byteCount` bytes more.
  func admits(_ byteCount: Int) -> Bool { usedBytes + byteCount <= byteLimit }

  /// Charges `byteCount` more bytes if there is room for them; false if there is none.
  package func reserve(_ byteCount: Int) -> Bool {
    var current = usedBytes
    while current + byteCount <= byteLimit {
      let result = used.weakCompareExchange(
        expected: current, desired: current + byteCount, ordering: .relaxed)
      if result.exchanged { return true }
      current = result.original
    }
    return false
  }

  /// Charges `byteCount` more bytes, or returns them if negative.
  package func charge(_ byteCount: Int) {
    if byteCount != 0 { used.add(byteCount, ordering: .relaxed) }
  }
}
