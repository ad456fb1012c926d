internal import Glibc

// A frame's codes continue across sub-blocks. Each sub-block is a length byte followed by that many bytes, and a
// sub-block of length 0 marks the end. Joining the sub-blocks costs one copy, but allows codes to be read eight bytes
// at a time.
//
// Unsafe code, for speed: sub-blocks are copied through pointers. A copy of 256 bytes is made only if 256 bytes of the
// source are left. It starts at most at the end of a payload that is shorter than the source, and `join` makes room for
// 256 bytes more than the source has.
extension LZWDecoder {
  /// The extent of joined sub-blocks.
  package struct Blocks: Sendable, Hashable {
    /// The number of bytes of payload in the sub-blocks.
    package var payloadCount = 0
    /// The number of source bytes that were read, including length bytes and the terminator.
    package var sourceCount = 0
    /// Whether the terminating block of length 0 was found.
    package var isTerminated = false
    /// Whether the source ended inside the last sub-block.
    package var isLastBlockCut = false
  }

  /// Returns the byte count of the memory needed to join sub-blocks of `count` bytes in total.
  ///
  /// The payload is shorter than its source, but because a fixed number of bytes is copied per sub-block, up to 255
  /// bytes may be written past the end of the payload. The result is rounded up by at most a quarter, so that a series
  /// of slowly growing frames does not cause an allocation for each frame.
  static func byteCount(for count: Int) -> Int { PixelMemory.rounded(count + 256) }

  /// Copies the payloads of the sub-blocks at the start of `source` one after another into `payload`, and calls `body`
  /// with the joined bytes. `payload` grows if needed, and is never shrunk.
  ///
  /// - Throws: `outOfMemory` if allocation fails.
  @unsafe package static func join<Result>(
    _ source: UnsafeRawBufferPointer, in payload: inout [UInt8],
    _ body: (UnsafeRawBufferPointer, Blocks) -> Result
  ) throws(AnimatedImageError) -> Result {
    try payload.makeRoom(for: source.count + 256, taking: byteCount(for: source.count))
    return unsafe payload.withUnsafeMutableBytes { payload in
      let blocks = unsafe copyBlocks(of: source, into: payload)
      let joined = unsafe UnsafeRawBufferPointer(rebasing: payload[..<blocks.payloadCount])
      return unsafe body(joined, blocks)
    }
  }

  /// Converts an offset in a joined payload to an offset in its sub-blocks. `source` consists of the sub-blocks.
  ///
  /// For the offset just past the payload, returns the offset just past the last available sub-block.
  package static func sourceOffset(
    ofPayload offset: Int, in source: borrowing RawSpan
  ) -> Int {
    var rest = offset
    var at = 0
    while at < source.byteCount && source[at] != 0 {
      let length = min(Int(source[at]), source.byteCount - at - 1)
      if rest < length { return at + 1 + rest }
      rest -= length
      at += 1 + length
    }
    return at
  }

  private static func copyBlocks(
    of source: UnsafeRawBufferPointer, into payload: UnsafeMutableRawBufferPointer
  ) -> Blocks {
    var blocks = Blocks()
    guard let from = source.baseAddress, let to = payload.baseAddress else { return blocks }
    while blocks.sourceCount < source.count {
      let declared = Int(unsafe from.load(fromByteOffset: blocks.sourceCount, as: UInt8.self))
      blocks.sourceCount += 1
      if declared == 0 {
        blocks.isTerminated = true
        break
      }
      let left = source.count - blocks.sourceCount
      let target = unsafe to + blocks.payloadCount
      if left >= 256 {
        // A copy of a fixed size compiles to a few wide moves. The next copy overwrites the excess bytes.
        unsafe memcpy(target, from + blocks.sourceCount, 256)
      } else {
        unsafe memcpy(target, from + blocks.sourceCount, min(declared, left))
      }
      blocks.isLastBlockCut = declared > left
      blocks.sourceCount += min(declared, left)
      blocks.payloadCount += min(declared, left)
    }
    return blocks
  }
}
