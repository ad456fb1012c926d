package import SystemPackage

// The functions that read a whole source and pass its bytes to the scanners, which do no I/O themselves.
extension ScannedImage {
  /// Scans the structure of the file in `source` and returns the result.
  ///
  /// - Parameter isCancelled: A closure that is called every 128 KiB and returns whether to stop.
  /// - Throws: `cancelled` once `isCancelled` returns true, and the errors of the scanner and of `source`.
  static func scan(
    _ source: any ByteSource, options: DecodingOptions, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> ScannedImage {
    var buffer = ReadBuffer()
    var file = FileScanner(limits: options.limits)
    try source.forEachBlock(buffer: &buffer) { (bytes) throws(AnimatedImageError) in
      if isCancelled() { throw AnimatedImageError(.cancelled, "stopped while opening the image") }
      // If the image ends where a block does, the next block shows whether other bytes follow.
      let wasAtEnd = file.scanner.isAtEnd
      try file.feed(bytes)
      return !wasAtEnd
    }
    try file.finish()
    return file.scanner.image
  }

  /// Throws `notAnImage` if `start` is not the beginning of an image. `start` has the length of the longest signature.
  static func checkSignature(_ start: borrowing RawSpan) throws(AnimatedImageError) {
    var file = FileScanner(limits: .none)
    try file.feed(start)
  }
}

extension StandardInput {
  /// Reads all bytes of `descriptor`, but stops after the first 13 bytes if they are not the beginning of an image.
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
