/// The bytes of one file, readable by range from any thread.
package protocol ByteSource: Sendable {
  /// The total number of bytes.
  var byteCount: Int { get }

  /// The number of bytes that are in memory. The other bytes are in a file or must be fetched.
  var residentByteCount: Int { get }

  /// The current stamp of the open file, or nil if the source is not an open file or its stamp cannot be read.
  var currentStamp: FileStamp? { get }

  /// Whether the bytes have stayed the same since the source was opened. For a file, this check costs one call of
  /// `fstat`.
  var isUnchanged: Bool { get }

  /// Returns whether the bytes of `range` can be read without waiting for a disk or a network. For a file, the check
  /// costs as much as reading the bytes from the system's file cache.
  func isAtHand(_ range: Range<Int>) -> Bool

  /// Calls `body` with the bytes of `range`, which is clipped to the source.
  ///
  /// - Parameter buffer: Memory that receives the bytes if they are not in memory yet. Using the same buffer for all
  ///   calls on one source avoids allocations, and avoids separate reads of small ranges that lie close together.
  func withBytes<Result>(
    in range: Range<Int>, buffer: inout ReadBuffer,
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result
}

/// A reusable buffer that keeps the bytes of the last range read from one source.
package struct ReadBuffer: Sendable {
  private var bytes: [UInt8] = []
  /// The position in the source of the bytes at the start of `bytes`.
  private var range = 0..<0

  package init() {}

  /// Calls `body` with the bytes of `wanted`, or those of them that exist.
  ///
  /// - Parameter read: A function that copies bytes of the source to the start of an array that is large enough, and
  ///   returns their number. It is called if this buffer lacks any of the bytes. The bytes to copy are those of
  ///   `extended`, which starts where `wanted` starts.
  mutating func withBytes<Result>(
    of wanted: Range<Int>, extended: Range<Int>,
    read: (Range<Int>, inout [UInt8]) throws(AnimatedImageError) -> Int,
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result {
    if wanted.lowerBound < range.lowerBound || wanted.upperBound > range.upperBound {
      range = 0..<0
      try bytes.makeRoom(for: extended.count, taking: max(extended.count, 4096))
      range = extended.prefix(try read(extended, &bytes))
    }
    let held = wanted.clamped(to: range)
    let start = held.lowerBound - range.lowerBound
    // In bounds, because `bytes` contains all bytes of `range`.
    return try body(bytes.rawBytes.extracting(start..<start + held.count))
  }
}

extension ByteSource {
  /// Returns false, because a source that does not implement this method does not know whether a read must wait.
  package func isAtHand(_ range: Range<Int>) -> Bool { false }

  /// Calls `body` with one block of bytes after another, from the start of the source to its end, or until `body`
  /// returns false.
  ///
  /// If the file is truncated during the call, the blocks end at the new end of the file.
  package func forEachBlock(
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Bool
  ) throws(AnimatedImageError) {
    var buffer = ReadBuffer()
    try forEachBlock(buffer: &buffer, body)
  }

  /// Like ``forEachBlock(_:)``, but reads into `buffer`, which may already hold the first bytes of the source.
  package func forEachBlock(
    buffer: inout ReadBuffer, _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Bool
  ) throws(AnimatedImageError) {
    // 128 KiB are enough to amortise the cost of a call, and few enough to fit in a second-level processor cache.
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
