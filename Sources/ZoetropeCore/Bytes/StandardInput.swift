internal import Glibc
package import SystemPackage
internal import ZoetropeShims

/// Reads a pipe, a terminal or a file to its end.
package enum StandardInput {
  /// The number of bytes needed to recognise every format.
  private static let signatureSize = 13

  /// Reads all bytes of `descriptor`.
  ///
  /// While no data arrives, polls `shouldStop` ten times a second. A blocking read would miss a
  /// signal that arrives just before it.
  ///
  /// - Parameter checkingStart: Called with the first 13 bytes, which identify every format. If it
  ///   throws, reading ends with its error.
  /// - Throws: `io` when reading fails, `limitExceeded` past `byteLimit` bytes, `outOfMemory` if
  ///   allocation fails, `cancelled` when `shouldStop` returns true.
  package static func readAll(
    from descriptor: FileDescriptor, byteLimit: Int, shouldStop: () -> Bool,
    checkingStart: (borrowing RawSpan) throws(AnimatedImageError) -> Void
  ) throws(AnimatedImageError) -> [UInt8] {
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      if shouldStop() { throw AnimatedImageError(.cancelled, "reading was stopped") }
      var request = [pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)]
      // Files and closed pipes are always ready. A signal makes the wait fail.
      let ready = waitForEvents(&request, milliseconds: 100)
      if ready < 0, errno != EINTR { throw FileSource.failure(Errno(rawValue: errno)) }
      guard ready > 0 else { continue }
      let count: Int
      do {
        count = try descriptor.read(into: &block)
      } catch Errno.resourceTemporarilyUnavailable {
        // Another reader of a non-blocking pipe took the data.
        continue
      } catch {
        throw FileSource.failure(error)
      }
      if count == 0 { return bytes }
      let hadSignature = bytes.count >= signatureSize
      // A growing array doubles its capacity while the old one still lives.
      if bytes.count + count > bytes.capacity { try PixelMemory.require(2 * bytes.capacity) }
      bytes.append(contentsOf: block[..<count])
      if !hadSignature, bytes.count >= signatureSize {
        // In bounds by the condition above.
        try checkingStart(bytes.rawBytes.extracting(first: signatureSize))
      }
      guard bytes.count <= byteLimit else {
        throw .exceeding(
          .inputBytes, asked: bytes.count, allowed: byteLimit,
          "the input is too long, the limit is \(byteLimit) bytes", byteOffset: byteLimit)
      }
    }
  }
}
