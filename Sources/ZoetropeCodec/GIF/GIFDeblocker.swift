internal import Glibc

/// Joins GIF sub-blocks, each a length byte and that many bytes up to one of length 0.
///
/// The codes of a frame run on across blocks; joined once, for a copy, they can be read eight bytes
/// at a time. Memory only grows, to that of the largest frame; a copy of the value joins into
/// memory of its own.
package struct GIFDeblocker: Sendable {
  /// What was joined.
  package struct Blocks: Sendable, Hashable {
    /// Bytes of payload.
    package var payloadCount = 0
    /// Bytes of the source taken up, length bytes and terminator counted.
    package var sourceCount = 0
    /// Whether the block of length 0 was there.
    package var isTerminated = false
    /// Whether the source ended inside the last block.
    package var isLastBlockCut = false
  }

  private var payload: [UInt8] = []

  package init() {}

  /// Bytes that joining `count` bytes of blocks takes.
  ///
  /// Payload is shorter than its source; a block copied whole may write 255 bytes past its end. Up to
  /// a quarter more spares an allocation for each of many frames that grow slowly.
  static func byteCount(for count: Int) -> Int { PixelMemory.rounded(count + 256) }

  /// Joins the blocks at the start of `source` and calls `body` with the joined bytes.
  ///
  /// - Throws: `limitExceeded` when the system has no memory to join them in.
  @unsafe package mutating func join<Result>(
    _ source: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer, Blocks) -> Result
  ) throws(AnimatedImageError) -> Result {
    try payload.makeRoom(for: source.count + 256, taking: Self.byteCount(for: source.count))
    return unsafe payload.withUnsafeMutableBytes { payload in
      let blocks = unsafe Self.copyBlocks(of: source, into: payload)
      let joined = unsafe UnsafeRawBufferPointer(rebasing: payload[..<blocks.payloadCount])
      return unsafe body(joined, blocks)
    }
  }

  /// The offset in the blocks of `source` of byte `offset` of their payload.
  ///
  /// For the first byte past the payload: the offset past the last block that is there.
  @unsafe package static func sourceOffset(
    ofPayload offset: Int, in source: UnsafeRawBufferPointer
  ) -> Int {
    var rest = offset
    var at = 0
    while unsafe at < source.count && source[at] != 0 {
      let length = min(Int(unsafe source[at]), source.count - at - 1)
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
        // A copy of fixed size is a few wide moves; what it takes too much is written over.
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
