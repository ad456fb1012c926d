internal import Synchronization

/// The minimum memory, in bytes, that decoding an image's frames takes. ``DecodingLimits/liveBytes`` must not be
/// smaller.
package struct DecodeFootprint: Sendable {
  private let header: ImageHeader
  private let options: DecodingOptions
  private let codec: any FormatCodec
  private let pixelSize: Int
  private var putsBack = false
  /// The number of bytes of the largest decoded frame.
  private(set) var frame = 0
  /// The number of bytes that each decoding thread needs for the compressed data of a frame: the bytes as stored in the
  /// file, plus a copy of the data joined from its blocks or chunks.
  private(set) var worker = 0

  /// The number of bytes of the canvas, and of the saved area under a frame if any frame has the disposal *previous*.
  var canvas: Int {
    // Row padding is included, because it takes most of a canvas whose rows are narrow.
    let bytes = options.canvasFormat.bytesPerRow(width: header.canvasSize.width)
      .multipliedClamped(by: header.canvasSize.height)
    return putsBack ? bytes.multipliedClamped(by: 2) : bytes
  }

  /// The total number of bytes if one thread decodes and no frame is decoded ahead.
  package var byteCount: Int { canvas.addingClamped(frame).addingClamped(worker) }

  package init(
    _ frames: some Sequence<FrameControl>, header: ImageHeader, options: DecodingOptions
  ) {
    self.header = header
    self.options = options
    codec = header.codec
    pixelSize = codec.decodedPixelSize(header, options)
    for control in frames { add(control) }
  }

  /// Includes a frame in the footprint.
  package mutating func add(_ control: FrameControl) {
    if control.disposal == .previous { putsBack = true }
    let size = control.rect.size
    let bytes = size.area.multipliedClamped(by: pixelSize).addingClamped(size.height + 512)
    frame = max(frame, Self.rounded(bytes))
    let stored = control.byteRange.count
    worker = max(worker, stored.addingClamped(codec.workingByteCount(for: stored, options)))
  }

  /// Throws `limitExceeded` if ``byteCount`` exceeds the live-byte limit.
  package func check() throws(AnimatedImageError) {
    let (needed, limit) = (byteCount, options.limits.liveBytes)
    guard needed > limit else { return }
    throw .exceeding(.liveBytes, found: needed, allowed: limit, format: header.format)
  }

  private static func rounded(_ byteCount: Int) -> Int {
    byteCount > 1 << 60 ? byteCount : PixelMemory.rounded(byteCount)
  }
}

extension ScannedImage {
  /// Throws `limitExceeded` if the image cannot be decoded within the live-byte limit.
  package func checkLiveBytes(
    header: ImageHeader, options: DecodingOptions
  ) throws(AnimatedImageError) {
    guard options.limits.liveBytes < .max else { return }
    let others = [staticImage, cutFrame].compactMap { $0 }
    try DecodeFootprint([frames, others].joined(), header: header, options: options).check()
  }
}
