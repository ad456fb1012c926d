internal import Glibc
package import SystemPackage
internal import ZoetropeShims

/// A namespace for reading a pipe, a terminal or a file to its end.
package enum StandardInput {
  /// The number of bytes at the start of a file that suffice to recognise any format.
  private static let signatureSize = 13

  /// Reads `descriptor` to its end and returns all bytes.
  ///
  /// While no data arrives, polls `shouldStop` ten times a second. A blocking read would not be interrupted by a signal
  /// that arrives just before the read.
  ///
  /// - Parameter checkingStart: Called with the first 13 bytes, which suffice to recognise any format. If it throws,
  ///   reading stops and its error is rethrown.
  /// - Throws: `io` if reading fails, `limitExceeded` if there are more than `byteLimit` bytes, `outOfMemory` if
  ///   allocation fails, `cancelled` once `shouldStop` returns true.
  package static func readAll(
    from descriptor: FileDescriptor, byteLimit: Int, shouldStop: () -> Bool,
    checkingStart: (borrowing RawSpan) throws(AnimatedImageError) -> Void
  ) throws(AnimatedImageError) -> [UInt8] {
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      if shouldStop() { throw AnimatedImageError(.cancelled, "stopped while reading the input") }
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
      try bytes.makeRoom(adding: count)
      bytes.append(contentsOf: block[..<count])
      if !hadSignature, bytes.count >= signatureSize {
        // The condition above ensures that there are enough bytes.
        try checkingStart(bytes.rawBytes.extracting(first: signatureSize))
      }
      guard bytes.count <= byteLimit else {
        throw .exceeding(
          .inputBytes, found: bytes.count, allowed: byteLimit,
          "the input is too long; the limit is \(byteLimit) bytes", byteOffset: byteLimit)
      }
    }
  }
}
