/// A byte source over bytes in memory.
package struct MemorySource: ByteSource {
  private let bytes: [UInt8]

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package var byteCount: Int { bytes.count }

  package var residentByteCount: Int { bytes.count }

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
