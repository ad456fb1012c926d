/// The bytes of one file, readable by range from any thread.
package protocol ByteSource: Sendable {
  /// The total number of bytes.
  var byteCount: Int { get }

  /// The number of bytes in memory. The others are in a file or must be fetched.
  var residentByteCount: Int { get }

  /// The file's current stamp, or nil for bytes in memory.
  var currentStamp: FileStamp? { get }

  /// Whether the bytes are unchanged since the source was opened. Costs one `fstat` for a file.
  var isUnchanged: Bool { get }

  /// Returns whether the bytes of `range` can be read without waiting for a disk or a network.
  /// Costs as much as reading them from the system's file cache.
  func isAtHand(_ range: Range<Int>) -> Bool

  /// Calls `body` with the bytes of `range`, which is clipped to the source.
  ///
  /// - Parameter buffer: Memory to read into if the bytes are not in memory yet. Reusing one buffer
  ///   for all calls on a source saves allocations, and saves reads of small ranges that lie close
  ///   together.
  func withBytes<Result>(
    in range: Range<Int>, buffer: inout ReadBuffer,
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result
}

/// A reusable buffer that retains the last range read from one source.
package struct ReadBuffer: Sendable {
  var bytes: [UInt8] = []
  /// The range of the source stored at the start of `bytes`.
  var range = 0..<0

  package init() {}
}

extension ByteSource {
  /// Returns false, because it is not known.
  package func isAtHand(_ range: Range<Int>) -> Bool { false }

  /// Calls `body` with consecutive blocks from the start of the source, until it returns false.
  ///
  /// If the source is truncated meanwhile, the blocks end at the new end.
  package func forEachBlock(
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Bool
  ) throws(AnimatedImageError) {
    var buffer = ReadBuffer()
    try forEachBlock(buffer: &buffer, body)
  }

  /// Like ``forEachBlock(_:)``, with a buffer that may already hold the first bytes.
  package func forEachBlock(
    buffer: inout ReadBuffer, _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Bool
  ) throws(AnimatedImageError) {
    // Large enough to amortise the call, small enough for a second-level cache.
    let blockSize = 1 << 17
    for start in stride(from: 0, to: byteCount, by: blockSize) {
      let count = min(blockSize, byteCount - start)
      let goesOn = try withBytes(in: start..<start + count, buffer: &buffer) {
        (bytes) throws(AnimatedImageError) in
        try body(bytes) && bytes.byteCount == count
      }
      guard goesOn else { return }
    }
  }
}
