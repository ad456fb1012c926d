/// The bytes of one file, read by range from any thread.
package protocol ByteSource: Sendable {
  /// Bytes in all.
  var byteCount: Int { get }

  /// What the file system says of the file now; nil for bytes in memory.
  var currentStamp: FileStamp? { get }

  /// Whether the bytes are still those that were there at first. Costs one `fstat` of a file.
  var isUnchanged: Bool { get }

  /// Whether the bytes of `range` can be had without waiting for a disk or a network. Costs what it
  /// costs to read them from the system's file cache.
  func isAtHand(_ range: Range<Int>) -> Bool

  /// Gives `body` the bytes of `range`, which is clipped to the source.
  ///
  /// - Parameter scratch: Memory to read into, when the bytes do not lie in memory yet. Reused from
  ///   call to call, it spares an allocation.
  func withBytes<Result>(
    in range: Range<Int>, scratch: inout [UInt8],
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result
}

extension ByteSource {
  /// Not known.
  package func isAtHand(_ range: Range<Int>) -> Bool { false }
}
