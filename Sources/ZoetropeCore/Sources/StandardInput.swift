internal import Glibc
package import SystemPackage

/// Reads a pipe, a terminal or a file to its end.
package enum StandardInput {
  /// Bytes after which every format is known.
  private static let signatureSize = 13

  /// All bytes of `descriptor`.
  ///
  /// While nothing comes, `shouldStop` is asked ten times a second: a signal that arrives just
  /// before a blocking read would otherwise be slept over.
  ///
  /// - Parameter checkingStart: Gets the first 13 bytes, after which every format is known; what it
  ///   throws ends the reading.
  /// - Throws: `io` when reading fails, `limitExceeded` past `byteLimit` bytes or when the system has
  ///   no memory for them, `cancelled` when `shouldStop` says so.
  package static func readAll(
    from descriptor: FileDescriptor, byteLimit: Int, shouldStop: () -> Bool,
    checkingStart: (borrowing RawSpan) throws(AnimatedImageError) -> Void
  ) throws(AnimatedImageError) -> [UInt8] {
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      if shouldStop() { throw AnimatedImageError(.cancelled, "reading was stopped") }
      var request = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
      // Files and ends of pipes are always ready. A signal ends the wait with an error.
      let ready = unsafe poll(&request, 1, 100)
      if ready < 0, errno != EINTR { throw FileSource.failure(Errno(rawValue: errno)) }
      guard ready > 0 else { continue }
      let count: Int
      do {
        count = try unsafe block.withUnsafeMutableBytes { unsafe try descriptor.read(into: $0) }
      } catch Errno.resourceTemporarilyUnavailable {
        // Another reader of a pipe that does not block was faster.
        continue
      } catch {
        throw FileSource.failure(error)
      }
      if count == 0 { return bytes }
      let hadSignature = bytes.count >= signatureSize
      // An array grows to twice its size while the old one still lives.
      if bytes.count + count > bytes.capacity { try PixelMemory.require(2 * bytes.capacity) }
      bytes.append(contentsOf: block[..<count])
      if !hadSignature, bytes.count >= signatureSize {
        // No more than there are, as the condition says.
        try unsafe checkingStart(bytes.span.bytes.extracting(first: signatureSize))
      }
      guard bytes.count <= byteLimit else {
        throw AnimatedImageError(
          .limitExceeded, "the input is too long, the limit is \(byteLimit) bytes",
          byteOffset: byteLimit)
      }
    }
  }
}
