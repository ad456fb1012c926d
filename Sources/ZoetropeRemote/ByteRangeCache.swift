internal import Synchronization

/// A cache that keeps byte ranges of one file or remote object in memory, up to a byte limit.
///
/// Ranges may overlap, touch and arrive in any order. Each byte is stored only once: a newer byte replaces an older one
/// at the same offset, and adjacent ranges are merged.
///
/// Contiguous bytes form pieces, and pieces are grouped into blocks of 64 KiB, which start at multiples of 64 KiB. When
/// the limit is exceeded, the least recently used blocks are dropped. All methods may be called from any thread, and
/// block no longer than it takes to copy the bytes.
package final class ByteRangeCache: Sendable {
  /// The default byte limit, 64 MiB.
  package static let defaultByteLimit = 64 << 20

  /// The maximum number of bytes kept. Bookkeeping adds about 100 bytes per piece, and spare capacity of the arrays can
  /// double the memory used.
  package let byteLimit: Int

  private let table: Mutex<ByteRangeTable>

  /// Creates an empty cache.
  ///
  /// - Parameter byteLimit: The maximum number of bytes kept. With 0, the cache keeps no bytes. Default: 64 MiB.
  package init(byteLimit: Int = ByteRangeCache.defaultByteLimit) {
    self.byteLimit = max(byteLimit, 0)
    table = Mutex(ByteRangeTable(byteLimit: max(byteLimit, 0)))
  }

  /// The number of bytes kept.
  package var byteCount: Int { table.withLock { $0.byteCount } }

  /// The ranges of the bytes kept, in ascending order, with adjacent ranges merged. Computing them sorts the blocks and
  /// visits every piece.
  package var ranges: [Range<Int>] { table.withLock { $0.ranges } }

  /// Returns the bytes of `range`, or nil if any of these bytes is missing. For an empty range, the result is an empty
  /// array.
  ///
  /// A call costs one look-up per 64 KiB and a copy of the bytes.
  package func data(for range: Range<Int>) -> [UInt8]? { table.withLock { $0.bytes(of: range) } }

  /// Returns the parts of `range` whose bytes are not kept, in ascending order. These are the ranges to fetch.
  ///
  /// A call does not count as a use of the bytes that are kept, so these may be dropped before they are read.
  package func missing(in range: Range<Int>) -> [Range<Int>] {
    table.withLock { $0.gaps(in: range) }
  }

  /// Stores `bytes` at `offset`, replacing any bytes kept for the same range.
  ///
  /// A call costs one look-up per 64 KiB, a copy of `bytes`, and a copy of the pieces with which the bytes merge. If
  /// `bytes` is longer than the limit, only some of its last bytes are kept. `offset` must not be negative.
  package func set(_ bytes: [UInt8], at offset: Int) { set(bytes[...], at: offset) }

  /// Stores the bytes of a slice at `offset`. See the overload that takes an array.
  package func set(_ bytes: ArraySlice<UInt8>, at offset: Int) {
    precondition(offset >= 0 && offset <= Int.max - bytes.count, "offset out of range")
    // The dropped bytes are freed after the lock is released.
    let dropped = table.withLock { $0.store(bytes, at: offset) }
    _ = consume dropped
  }

  /// Drops the least recently used blocks until at least `byteCount` bytes have been dropped or none are left. Returns
  /// the number of bytes dropped.
  package func remove(_ byteCount: Int) -> Int {
    let (dropped, count) = table.withLock { table in
      let before = table.byteCount
      let dropped = table.remove(byteCount)
      return (dropped, before - table.byteCount)
    }
    _ = consume dropped
    return count
  }

  /// Drops all bytes.
  package func removeAll() {
    let dropped = table.withLock { table in
      let old = table
      table = ByteRangeTable(byteLimit: byteLimit)
      return old
    }
    _ = consume dropped
  }
}

/// The contents of a ``ByteRangeCache`` as a value. Bytes are stored in pieces, pieces are grouped into blocks, and the
/// blocks are linked in their order of use.
struct ByteRangeTable: Sendable {
  /// The size of a block in bytes. Blocks start at multiples of this size, and are evicted as a whole.
  static let blockSize = 1 << 16

  /// A run of contiguous bytes within one block.
  private struct Piece: Sendable {
    var start: Int
    /// Reserved space, whose size in bytes is `unused`, followed by the bytes of the piece.
    private(set) var bytes: [UInt8]
    private var unused = 0

    init(start: Int, bytes: ArraySlice<UInt8>) {
      self.start = start
      self.bytes = Array(bytes)
    }

    var count: Int { bytes.count - unused }
    var end: Int { start + count }

    /// The bytes of `range`, which must lie within the piece.
    subscript(range: Range<Int>) -> ArraySlice<UInt8> {
      let origin = start - unused
      return bytes[range.lowerBound - origin..<range.upperBound - origin]
    }

    /// Writes `new` over the bytes from `offset` on, and grows the piece if `new` reaches past its end. `offset` must
    /// lie within the piece or at its end.
    mutating func write(_ new: ArraySlice<UInt8>, at offset: Int) {
      let place = offset - start + unused
      let overlap = min(new.count, bytes.count - place)
      if overlap > 0 { bytes.replaceSubrange(place..<place + overlap, with: new.prefix(overlap)) }
      if overlap < new.count { bytes.append(contentsOf: new.dropFirst(overlap)) }
    }

    /// Moves the start of the piece back to `offset`. The bytes between `offset` and the old start are then
    /// unspecified. If the reserved space does not suffice, allocates a new array. The space before the old bytes is
    /// then as large as the extended piece, but does not reach back past `blockStart`, where the block begins.
    /// Therefore, when a file arrives from back to front, the piece is not copied for every range.
    mutating func extend(to offset: Int, blockStart: Int) {
      let needed = start - offset
      if unused < needed {
        let room = min(needed + count, start - blockStart)
        var grown = [UInt8](repeating: 0, count: room)
        grown.reserveCapacity(room + count)
        grown.append(contentsOf: bytes[unused...])
        bytes = grown
        unused = room
      }
      unused -= needed
      start = offset
    }
  }

  private struct Block: Sendable {
    var number: Int
    /// The pieces, in ascending order. No two of them are adjacent.
    var pieces: [Piece] = []
    var byteCount = 0
    /// The indices of the blocks before and after this one in the order of last use, or -1 if there is no such block.
    /// In a free block, `next` is the index of the next free block.
    var previous = -1
    var next = -1

    /// Returns the piece that contains all of `range`, which must not be empty, or nil if there is no such piece.
    func piece(holding range: Range<Int>) -> Piece? {
      // A piece that ends at the start of the range contains none of the range's bytes.
      let place = pieces.partitioningIndex { $0.end > range.lowerBound }
      guard place < pieces.count, pieces[place].start <= range.lowerBound,
        range.upperBound <= pieces[place].end
      else { return nil }
      return pieces[place]
    }
  }

  let byteLimit: Int
  private(set) var byteCount = 0
  private var blocks: [Block] = []
  private var places: [Int: Int] = [:]
  private var newest = -1
  private var oldest = -1
  private var free = -1

  init(byteLimit: Int) { self.byteLimit = byteLimit }

  var ranges: [Range<Int>] {
    var ranges: [Range<Int>] = []
    for number in places.keys.sorted() {
      guard let place = places[number] else { continue }
      for piece in blocks[place].pieces {
        if let last = ranges.last, last.upperBound == piece.start {
          ranges[ranges.count - 1] = last.lowerBound..<piece.end
        } else {
          ranges.append(piece.start..<piece.end)
        }
      }
    }
    return ranges
  }

  /// Returns the bytes of `range` and marks their blocks as used, or returns nil if any of the bytes is missing.
  mutating func bytes(of range: Range<Int>) -> [UInt8]? {
    guard !range.isEmpty else { return [] }
    guard range.lowerBound >= 0 else { return nil }
    let first = range.lowerBound / Self.blockSize
    let last = (range.upperBound - 1) / Self.blockSize
    if first == last {
      guard let place = places[first], let piece = blocks[place].piece(holding: range) else {
        return nil
      }
      use(place)
      return Array(piece[range])
    }
    // Quickly reject a range that contains more bytes than are stored.
    guard range.count <= byteCount else { return nil }
    for number in first...last {
      guard let place = places[number], blocks[place].piece(holding: part(of: range, number)) != nil
      else { return nil }
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    for number in first...last {
      let part = part(of: range, number)
      guard let place = places[number], let piece = blocks[place].piece(holding: part) else {
        return nil
      }
      use(place)
      bytes.append(contentsOf: piece[part])
    }
    return bytes
  }

  func gaps(in range: Range<Int>) -> [Range<Int>] {
    guard !range.isEmpty else { return [] }
    var gaps: [Range<Int>] = []
    var start = range.lowerBound
    // If fewer blocks exist than the range spans, iterate over the existing blocks.
    let first = max(range.lowerBound, 0) / Self.blockSize
    let last = max(range.upperBound - 1, 0) / Self.blockSize
    let numbers =
      last - first < blocks.count
      ? Array(first...last) : places.keys.filter { $0 >= first && $0 <= last }.sorted()
    for number in numbers {
      guard let place = places[number] else { continue }
      for piece in blocks[place].pieces
      where piece.end > range.lowerBound && piece.start < range.upperBound {
        if piece.start > start { gaps.append(start..<piece.start) }
        start = piece.end
      }
    }
    if start < range.upperBound { gaps.append(start..<range.upperBound) }
    return gaps
  }

  /// Stores `bytes` at `offset`. Returns the arrays of the blocks that were evicted to make room, so that the caller
  /// can free them outside the lock.
  mutating func store(_ bytes: ArraySlice<UInt8>, at offset: Int) -> [[UInt8]] {
    guard byteLimit > 0 else { return [] }
    // All bytes except the last `byteLimit` would be evicted immediately.
    let kept = bytes.suffix(byteLimit)
    var dropped: [[UInt8]] = []
    let range = offset + bytes.count - kept.count..<offset + bytes.count
    var rest = kept
    while !rest.isEmpty {
      let start = range.upperBound - rest.count
      let number = start / Self.blockSize
      // Use a remainder, because computing the end of the block as a product could overflow.
      let count = min(rest.count, Self.blockSize - start % Self.blockSize)
      let place = places[number] ?? addBlock(number)
      use(place)
      let grown = Self.store(rest.prefix(count), at: start, in: &blocks[place].pieces)
      blocks[place].byteCount += grown
      byteCount += grown
      rest = rest.dropFirst(count)
      while byteCount > byteLimit, oldest != place { dropped += removeOldest() }
      if byteCount > byteLimit { trim(place, around: start..<start + count) }
    }
    return dropped
  }

  /// Drops at least `count` bytes, or all bytes if there are fewer, and returns the arrays that held them.
  mutating func remove(_ count: Int) -> [[UInt8]] {
    let left = byteCount - min(max(count, 0), byteCount)
    var dropped: [[UInt8]] = []
    while byteCount > left { dropped += removeOldest() }
    return dropped
  }

  /// Stores `bytes` in the pieces of one block, and returns the number of bytes by which the block grows.
  private static func store(
    _ bytes: ArraySlice<UInt8>, at start: Int, in pieces: inout [Piece]
  ) -> Int {
    let end = start + bytes.count
    let first = pieces.partitioningIndex { $0.end >= start }
    var last = first
    while last < pieces.count, pieces[last].start <= end { last += 1 }
    guard first < last else {
      pieces.insert(Piece(start: start, bytes: bytes), at: first)
      return bytes.count
    }
    let before = pieces[first..<last].reduce(0) { $0 + $1.count }
    // Save the bytes of the last touched piece that lie after the new bytes. The bytes before the new ones stay in the
    // first touched piece.
    let next = pieces[last - 1]
    let tail = last - first > 1 && next.end > end ? next[end..<next.end] : []
    // Change the first piece in place: if a file arrives in order, forward or backward, a single piece of each block
    // grows.
    if pieces[first].start > start {
      pieces[first].extend(to: start, blockStart: start - start % blockSize)
    }
    pieces[first].write(bytes, at: start)
    if !tail.isEmpty { pieces[first].write(tail, at: end) }
    pieces.removeSubrange(first + 1..<last)
    return pieces[first].count - before
  }

  /// Reduces the only remaining block to the range that was just stored. This is needed if the limit is smaller than a
  /// block.
  private mutating func trim(_ place: Int, around range: Range<Int>) {
    guard let piece = blocks[place].piece(holding: range) else { return }
    let kept = piece[range]
    byteCount += kept.count - blocks[place].byteCount
    blocks[place].byteCount = kept.count
    blocks[place].pieces = [Piece(start: range.lowerBound, bytes: kept)]
  }

  /// Returns the part of `range` that lies within block `number`. The range must overlap the block.
  private func part(of range: Range<Int>, _ number: Int) -> Range<Int> {
    let start = max(range.lowerBound, number * Self.blockSize)
    let room = Self.blockSize - start % Self.blockSize
    return start..<start + min(room, range.upperBound - start)
  }

  // MARK: - The order of use

  private mutating func addBlock(_ number: Int) -> Int {
    let place: Int
    if free >= 0 {
      place = free
      free = blocks[place].next
      blocks[place] = Block(number: number)
    } else {
      place = blocks.count
      blocks.append(Block(number: number))
    }
    places[number] = place
    link(place)
    return place
  }

  private mutating func use(_ place: Int) {
    guard newest != place else { return }
    unlink(place)
    link(place)
  }

  private mutating func link(_ place: Int) {
    blocks[place].previous = newest
    blocks[place].next = -1
    if newest >= 0 { blocks[newest].next = place } else { oldest = place }
    newest = place
  }

  private mutating func unlink(_ place: Int) {
    let (previous, next) = (blocks[place].previous, blocks[place].next)
    if previous >= 0 { blocks[previous].next = next } else { oldest = next }
    if next >= 0 { blocks[next].previous = previous } else { newest = previous }
  }

  private mutating func removeOldest() -> [[UInt8]] {
    let place = oldest
    unlink(place)
    places[blocks[place].number] = nil
    byteCount -= blocks[place].byteCount
    let dropped = blocks[place].pieces.map(\.bytes)
    blocks[place] = Block(number: -1)
    blocks[place].next = free
    free = place
    return dropped
  }
}
