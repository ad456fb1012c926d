internal import Synchronization

/// The minimum number of bytes needed to decode an image's frames, which
/// ``DecodingLimits/liveBytes`` must allow.
package struct DecodeFootprint: Sendable {
  private let header: ImageHeader
  private let options: DecodingOptions
  private let codec: any FormatCodec
  private let pixelSize: Int
  private var putsBack = false
  /// Bytes of the largest decoded frame.
  private(set) var frame = 0
  /// Bytes that each decoding thread needs for a frame's compressed bytes, both as stored and joined from blocks or
  /// chunks.
  private(set) var worker = 0

  /// Bytes of the canvas, and of the saved area under a frame if any frame has disposal *previous*.
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

  /// Adds a frame.
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
