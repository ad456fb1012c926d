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
