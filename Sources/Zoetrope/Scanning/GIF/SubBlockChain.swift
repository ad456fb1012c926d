/// Data sub-blocks (GIF89a section 15) one after the other, from one length to the terminator or to
/// the end of a piece of a file.
struct SubBlockChain: Sendable, Hashable {
  /// The length of the first sub-block.
  let start: Int
  /// The length of the first one that is not full; it may lie behind the piece.
  let fullEnd: Int
  /// Behind the terminator, or where the first length behind the piece lies.
  let end: Int
  /// Whether the terminator was read.
  let isTerminated: Bool

  /// Follows the chain whose first length lies at `start` in `bytes`, or behind them.
  ///
  /// - Parameter gap: How far behind the terminator the next chain is likely to begin: it is waited for
  ///   together with the terminator then. A wrong guess costs a look at memory that nobody needs.
  /// - Complexity: One byte in 256 is read of most files.
  init(in bytes: borrowing RawSpan, from start: Int, gap: Int? = nil) {
    self.start = start
    fullEnd = bytes.endOfFullBlocks(from: start)
    var end = fullEnd
    var isTerminated = false
    while end < bytes.byteCount, !isTerminated {
      let size = bytes[end]
      end = size == .max ? bytes.endOfFullBlocks(from: end) : end + 1 + Int(size)
      isTerminated = size == 0
      // Behind a block that is not full the terminator follows as a rule.
      if size > 0, let gap { bytes.prefetchFullBlocks(at: end + 1 + gap) }
    }
    self.end = end
    self.isTerminated = isTerminated
  }

  /// Whether a length at `offset` is known to be one of the chain.
  func leads(from offset: Int) -> Bool {
    offset == start || offset > start && offset <= fullEnd && (offset - start) % 256 == 0
  }
}

extension RawSpan {
  /// Whether eight sub-blocks of 255 bytes lie one after the other at `offset`.
  func hasFullBlocks(at offset: Int) -> Bool {
    guard offset >= 0, offset < byteCount - 7 * 256 else { return false }
    var all = UInt8.max
    for block in 0..<8 {
      // The last one lies before the end, as was asked above; any bit pattern is a UInt8.
      all &= unsafe unsafeLoad(fromUncheckedByteOffset: offset + block * 256, as: UInt8.self)
    }
    return all == .max
  }

  /// The length of the first sub-block that is not full, at `offset` or behind it.
  fileprivate func endOfFullBlocks(from offset: Int) -> Int {
    var end = offset
    // Most blocks are full. Eight lengths read apart from each other wait for memory together, where
    // one that says where the next one lies makes the next one wait.
    while hasFullBlocks(at: end) {
      // Far enough to arrive in time; any farther, and more of what lies behind a frame comes for nothing.
      prefetchFullBlocks(at: end + (16 << 10))
      end += 8 * 256
    }
    // Up to seven are left, the whole of a small frame: by a branch, which is guessed, so that the
    // next length is read before this one has come.
    while end < byteCount, self[end] == .max { end += 256 }
    return end
  }
}
