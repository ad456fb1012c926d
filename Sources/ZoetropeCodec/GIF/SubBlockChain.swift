/// Data sub-blocks (GIF89a section 15) one after the other, from one length to the terminator or to
/// the end of a piece of a file.
///
/// Nearly all of a frame's are of one size, what its encoder fills before it writes: 255 bytes, or 254
/// (ImageMagick, netpbm). So it can be told where lengths lie before the ones between are read.
struct SubBlockChain: Sendable, Hashable {
  /// The length of the first sub-block.
  let start: Int
  /// The length of the first one of another size, which may lie behind the piece; ``start`` where the
  /// first two are not seen to be of one size, or are of less than 64 bytes.
  let evenEnd: Int
  /// Behind the terminator, or where the first length behind the piece lies.
  let end: Int
  /// Bytes of the first sub-block; 0 behind the piece.
  let size: UInt8
  /// Whether the terminator was read.
  let isTerminated: Bool

  /// Smaller sub-blocks are followed one by one: of a file made of pairs of them, each pair of another
  /// size, eight lengths would be read for each pair.
  private static let leastEvenSize: UInt8 = 64

  /// Follows the chain whose first length lies at `start` in `bytes`, or behind them.
  ///
  /// - Parameter gap: How far behind the terminator the next chain is likely to begin: it is waited for
  ///   together with the terminator then. A wrong guess costs eight looks at memory that nobody needs.
  /// - Complexity: One byte in 256 is read of most files.
  init(in bytes: borrowing RawSpan, from start: Int, gap: Int? = nil) {
    var end = start
    var (firstSize, firstEnd) = (UInt8(0), start)
    // From length to length of the sub-blocks before `end`, when these are of one size.
    var evenStride: Int?
    var isTerminated = false
    while end < bytes.byteCount, !isTerminated {
      let size = bytes[end]
      let stride = 1 + Int(size)
      if end == start { firstSize = size }
      if size >= Self.leastEvenSize {
        let evenEnd = bytes.endOfEvenBlocks(ofSize: size, from: end)
        if end == start { firstEnd = evenEnd }
        guard evenEnd == end else {
          (end, evenStride) = (evenEnd, stride)
          continue
        }
        // Others may be of nearly its size.
        bytes.prefetchLengths(1, at: end + 8 * stride, stride: stride)
      }
      end += stride
      isTerminated = size == 0
      // The terminator follows the first one of another size, as a rule.
      if let evenStride, let gap, !isTerminated {
        bytes.prefetchLengths(8, at: end + 1 + gap, stride: evenStride)
      }
      evenStride = nil
    }
    self.start = start
    evenEnd = firstEnd
    self.end = end
    // Not read again: the file may have been written to meanwhile.
    size = firstSize
    self.isTerminated = isTerminated
  }

  /// Whether a length at `offset` is known to be one of the chain.
  func leads(from offset: Int) -> Bool {
    offset == start
      || offset > start && offset <= evenEnd && (offset - start) % (1 + Int(size)) == 0
  }
}

extension RawSpan {
  /// Whether eight sub-blocks of `size` bytes lie one after the other at `offset`.
  func hasEvenBlocks(ofSize size: UInt8, at offset: Int) -> Bool {
    let stride = 1 + Int(size)
    guard offset >= 0, offset < byteCount - 7 * stride else { return false }
    var difference: UInt8 = 0
    for block in 0..<8 {
      // The last one lies before the end, as was asked above; any bit pattern is a UInt8.
      difference |=
        unsafe unsafeLoad(fromUncheckedByteOffset: offset + block * stride, as: UInt8.self) ^ size
    }
    return difference == 0
  }

  /// The first length that is not `size`, as the one at `offset` is; `offset` when the next one is not,
  /// or lies behind the end.
  fileprivate func endOfEvenBlocks(ofSize size: UInt8, from offset: Int) -> Int {
    let stride = 1 + Int(size)
    guard offset + stride < byteCount, self[offset + stride] == size else { return offset }
    var end = offset
    // Eight lengths read apart from each other wait for memory together, where one that says where the
    // next one lies makes the next one wait.
    while hasEvenBlocks(ofSize: size, at: end) {
      // Far enough to arrive in time; any farther, and more of what lies behind a frame comes for nothing.
      prefetchLengths(8, at: end + 64 * stride, stride: stride)
      end += 8 * stride
    }
    // Up to seven are left, the whole of a small frame: by a branch, which is guessed, so that the
    // next length is read before this one has come.
    while end < byteCount, self[end] == size { end += stride }
    return end
  }
}
