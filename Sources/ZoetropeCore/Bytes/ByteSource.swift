/// The bytes of one file, readable by range from any thread.
package protocol ByteSource: Sendable {
  /// The total number of bytes.
  var byteCount: Int { get }

  /// The number of bytes held in memory; the others are in a file or must be fetched.
  var residentByteCount: Int { get }

  /// The file's current stamp; nil for bytes in memory.
  var currentStamp: FileStamp? { get }

  /// Whether the bytes are unchanged since opening. Costs one `fstat` for a file.
  var isUnchanged: Bool { get }

  /// Whether the bytes of `range` can be read without waiting for a disk or a network. Costs as
  /// much as reading them from the system's file cache.
  func isAtHand(_ range: Range<Int>) -> Bool

  /// Calls `body` with the bytes of `range`, which is clipped to the source.
  ///
  /// - Parameter buffer: Memory to read into if the bytes are not in memory yet. Reusing one buffer
  ///   for all calls on a source saves allocations, and reads of small ranges that lie close
  ///   together.
  func withBytes<Result>(
    in range: Range<Int>, buffer: inout ReadBuffer,
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result
}

/// A buffer for bytes of one source, which keeps the range read last.
package struct ReadBuffer: Sendable {
  var bytes: [UInt8] = []
  /// The part of the source that `bytes` begins with.
  var range = 0..<0

  package init() {}
}

extension ByteSource {
  /// False: unknown.
  package func isAtHand(_ range: Range<Int>) -> Bool { false }

  /// Calls `body` with consecutive blocks, from the start, until it asks to stop.
  ///
  /// A source that is truncated meanwhile ends where it was truncated.
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
