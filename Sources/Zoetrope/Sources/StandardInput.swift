package import SystemPackage

/// Reads a pipe, a terminal or a file to its end.
package enum StandardInput {
  /// All bytes of `descriptor`.
  ///
  /// - Throws: `io` when reading fails, `limitExceeded` past `byteLimit` bytes.
  package static func readAll(
    from descriptor: FileDescriptor = .standardInput, byteLimit: Int = 1 << 31
  ) throws(AnimatedImageError) -> [UInt8] {
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count: Int
      do {
        count = try unsafe block.withUnsafeMutableBytes { unsafe try descriptor.read(into: $0) }
      } catch {
        throw FileSource.failure(error)
      }
      if count == 0 { return bytes }
      bytes.append(contentsOf: block[..<count])
      guard bytes.count <= byteLimit else {
        throw AnimatedImageError(
          .limitExceeded, "the input is longer than \(byteLimit) bytes", byteOffset: byteLimit)
      }
    }
  }
}
