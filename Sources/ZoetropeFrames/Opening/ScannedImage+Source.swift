package import SystemPackage

// Scanning a whole source: the I/O around the pure scanners.
extension ScannedImage {
  /// Scans the structure of the file in `source`.
  ///
  /// - Parameter isCancelled: Polled every 128 KiB.
  /// - Throws: `cancelled` once `isCancelled` returns true.
  static func scan(
    _ source: any ByteSource, options: DecodingOptions, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> ScannedImage {
    var buffer = ReadBuffer()
    var file = FileScanner(limits: options.limits)
    try source.forEachBlock(buffer: &buffer) { (bytes) throws(AnimatedImageError) in
      if isCancelled() { throw AnimatedImageError(.cancelled, "cancelled while opening") }
      try file.feed(bytes)
      return !file.scanner.isAtEnd
    }
    try file.finish()
    return file.scanner.image
  }

  /// Throws `notAnImage` if no image starts with `start`, which has the length of the longest signature.
  static func checkSignature(_ start: borrowing RawSpan) throws(AnimatedImageError) {
    var file = FileScanner(limits: .none)
    try file.feed(start)
  }

  /// Decides whether to keep a truncated last frame. It is kept if its pixels are complete, if it is the only frame and
  /// has any rows, or if partial frames are requested.
  ///
  /// - Returns: The frame's pixels if it is kept and is the only frame, because decoding them takes most of the time
  ///   until it can be shown.
  mutating func settleCutFrame(
    header: ImageHeader, source: any ByteSource, options: DecodingOptions
  ) throws(AnimatedImageError) -> FramePixels? {
    guard let control = cutFrame else { return nil }
    let pixels = FramePixels()
    let decodesFast = options.decoder == .fast
    // Never use giflib here, which counts complete rows only: the list of frames must not depend on the decoder.
    var options = options
    options.decoder = .fast
    var decoder = FrameDecoder(header: header, options: options)
    try decoder.decode(control, from: source, into: pixels)
    let all = control.rect.size.area
    if pixels.content.validPixels >= all {
      frames.append(control)
      return decodesFast && frames.count == 1 ? pixels : nil
    }
    damage.append(
      Damage(
        .cutFrame, "the data ends after \(pixels.content.validPixels) of \(all) pixels",
        frameIndex: frames.count, byteOffset: byteCount,
        validRows: pixels.content.validPixels / max(pixels.content.width, 1)))
    if pixels.content.validPixels > 0, frames.isEmpty || options.damage == .partialRows {
      frames.append(control)
      return decodesFast && frames.count == 1 ? pixels : nil
    } else if frames.isEmpty, staticImage != nil {
      note(
        .pngStaticOnly, "the data ends before the first row of the first frame",
        at: byteCount)
      showStaticImage()
    } else if frames.isEmpty {
      throw AnimatedImageError(
        .truncated, "the data ends before the first row", format: header.format, frameIndex: 0,
        byteOffset: byteCount)
    }
    return nil
  }
}

extension StandardInput {
  /// Reads all bytes of `descriptor`, but stops after the first ones if they do not begin an image.
  ///
  /// - Throws: The errors of ``readAll(from:byteLimit:shouldStop:checkingStart:)``, and `notAnImage`.
  package static func readAll(
    from descriptor: FileDescriptor = .standardInput, byteLimit: Int, shouldStop: () -> Bool
  ) throws(AnimatedImageError) -> [UInt8] {
    try readAll(
      from: descriptor, byteLimit: byteLimit, shouldStop: shouldStop,
      checkingStart: { (start) throws(AnimatedImageError) in try ScannedImage.checkSignature(start)
      })
  }
}
