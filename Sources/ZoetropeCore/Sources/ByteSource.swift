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
  /// - Parameter buffer: Memory to read into, when the bytes do not lie in memory yet. Reused from call
  ///   to call for one source, it saves allocations, and reads of small ranges that lie close together.
  func withBytes<Result>(
    in range: Range<Int>, buffer: inout ReadBuffer,
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result
}

/// Memory for bytes of one source, which keeps what was read last.
package struct ReadBuffer: Sendable {
  var bytes: [UInt8] = []
  /// The part of the source that `bytes` begins with.
  var range = 0..<0

  package init() {}
}

extension ByteSource {
  /// Not known.
  package func isAtHand(_ range: Range<Int>) -> Bool { false }

  /// Calls `body` with one block after the other, front to back, until it says that it wants no more.
  ///
  /// A source that was cut short meanwhile ends where it was cut.
  package func forEachBlock(
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Bool
  ) throws(AnimatedImageError) {
    // Large enough that a call costs little, small enough to lie in a second-level cache.
    let blockSize = 1 << 17
    var buffer = ReadBuffer()
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

/// A byte source over bytes that are in memory.
package struct MemorySource: ByteSource {
  private let bytes: [UInt8]

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package var byteCount: Int { bytes.count }

  package var currentStamp: FileStamp? { nil }

  package var isUnchanged: Bool { true }

  package func isAtHand(_ range: Range<Int>) -> Bool { true }

  package func withBytes<Result>(
    in range: Range<Int>, buffer: inout ReadBuffer,
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result {
    let clipped = range.clamped(to: 0..<bytes.count)
    return try body(bytes.rawBytes.extracting(clipped))
  }
}
