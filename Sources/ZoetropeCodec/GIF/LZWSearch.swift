internal import Glibc

/// Compresses palette indices like ``LZWCompressor``, but searches for a shorter result. A phrase may end early if the
/// next phrase gains more pixels than this phrase loses. For a pixel with two possible indices, the search may use
/// either index.
///
/// As in ``LZWCompressor``, the phrases form a trie in a flat hash table, whose slots contain
/// `(code << 8 | index) << 12 | next code`. Each phrase creates an entry, which consists of the phrase and the first
/// index of the next phrase. The entry is therefore added when the next phrase is chosen.
///
/// The time is linear in the number of pixels, because no phrase is longer than 4,096 pixels and at most
/// `Rule.branches` nodes are followed at a time.
///
/// Unsafe code: a slot number has 13 bits, and at most 4,090 slots are taken, so every probe ends at a free slot. Codes
/// and depths in the trie are below 4,096, and each of the three lists in `marks` has 4,098 entries. A front has at
/// most `Rule.branches` nodes, and `Rule.branches` is at most 32. Only indices within the bounds of the input are read.
/// Both spans are checked to have the same byte count.
package final class LZWSearch {
  /// The parameters of a search.
  package struct Rule: Sendable, Hashable {
    /// The maximum number of pixels by which a phrase may end early. A larger number does not always give a shorter
    /// result, so 0 should be tried too.
    var lookahead: Int
    /// The maximum number of phrases of equal length that are followed in parallel where pixels have two possible
    /// indices.
    var branches: Int
    /// Whether a full table is kept until phrases become shorter. Otherwise it is cleared as soon as it is full.
    var keepsFullTable: Bool

    package init(lookahead: Int, branches: Int = 4, keepsFullTable: Bool = false) {
      self.lookahead = lookahead
      self.branches = min(max(branches, 2), 32)
      self.keepsFullTable = keepsFullTable
    }
  }

  private static let slotBits = 13
  private static let codeLimit = 4096
  /// The number of pixels between two checks of the limit and for cancellation. Compressing this many pixels takes one
  /// or two milliseconds.
  private static let stretch = 1 << 14
  /// The parameters of the test that decides whether a full table is kept. After every `window` codes, the mean phrase
  /// length is compared with the best mean so far. The table is cleared if the ratio of the two is below `worst`. On
  /// the frames of real animations, results with windows of 64 to 512 codes and ratios from 0.8 to 0.95 differ by 1 %.
  private static let window = 256
  private static let worst = 0.9
  /// The minimum gain in pixels for which a phrase ends early. Ending early has a cost: the entry that the phrase
  /// creates may exist already, and then the table gains no new phrase. Measured on 125 frames: with a margin of 1,
  /// files are 2 % larger than with 2, and often larger than without lookahead.
  private static let margin = 2

  private let table = PixelStorage(byteCount: 4 << slotBits)
  private let chunk = LZWCodeWriter.makeChunk()
  /// The code of the best phrase of each length, in three lists: one for the phrase being written, one for the best
  /// phrase found to follow it, and one for the phrase being tried in place of the latter.
  private let marks = PixelStorage(byteCount: 3 * 2 * markCount)
  private static let markCount = 4098
  /// Two fronts of up to 32 nodes each. A front contains the trie nodes of the phrases of one length.
  private let fronts = PixelStorage(byteCount: 2 * 32 * 4)

  /// Creates a search with a working memory of 120 KB.
  package init() {}

  /// Appends the minimum code size, the sub-blocks and the terminator, unless they take more than `limit` bytes.
  ///
  /// - Parameters:
  ///   - indices: For each pixel, the index to try first.
  ///   - others: For each pixel, an alternative index, or the same index again if there is no alternative.
  /// - Precondition: Every index is below `1 << minimumCodeSize`.
  /// - Returns: Whether the table became full, and whether the data is too long, in which case `target` is incomplete.
  ///   If the table was not full when the limit was passed, keeping a full table would change nothing.
  /// - Throws: `outOfMemory`; `cancelled` once `isCancelled` returns true.
  package func append(
    _ indices: borrowing RawSpan, or others: borrowing RawSpan, minimumCodeSize: Int, _ rule: Rule,
    limit: Int, to target: inout [UInt8], isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) -> (wasFull: Bool, isTooLong: Bool) {
    let count = indices.byteCount
    precondition((2...8).contains(minimumCodeSize) && count > 0 && others.byteCount == count)
    precondition(IndexedBlitter.greatestIndex(in: indices) < 1 << minimumCodeSize)
    precondition(IndexedBlitter.greatestIndex(in: others) < 1 << minimumCodeSize)
    target.append(UInt8(minimumCodeSize))
    let end = target.count > Int.max - limit ? Int.max : target.count + limit
    var state = State(minimumCodeSize, LZWCodeWriter(chunk))
    state.clear()
    unsafe memset(table.baseAddress, 0, table.byteCount)
    state.start = Int(indices[0])
    while state.place < count {
      try GIFFrameSearch.check(isCancelled)
      if target.count + state.writer.pendingByteCount > end { return (state.wasFull, true) }
      let stop = min(count, state.place + Self.stretch)
      try unsafe indices.withUnsafeBytes { (first) throws(AnimatedImageError) in
        try unsafe others.withUnsafeBytes { (second) throws(AnimatedImageError) in
          let pixels = unsafe Pixels(first: first, second: second)
          while state.place < stop {
            unsafe step(pixels, rule, &state)
            if state.writer.isFull { try state.writer.drain(into: &target) }
          }
        }
      }
    }
    try state.end(into: &target)
    return (state.wasFull, false)
  }

  /// The two possible indices of each pixel.
  @unsafe
  private struct Pixels {
    let first, second: UnsafeRawBufferPointer
  }

  private struct State {
    var writer: LZWCodeWriter
    private let clearCode: Int
    var width = 0
    var next = 0
    /// The pixel at which the next phrase begins, and the index used for that pixel.
    var place = 0
    var start = 0
    /// The length of the longest phrase that begins at `place`, or 0 if the length is not known yet. The codes of this
    /// phrase are in the list `marks.current`.
    var longest = 0
    /// The numbers of the three lists in ``LZWSearch/marks``: the list for the phrase being written, the list for the
    /// best phrase found to follow it, and the list for the phrase being tried in place of the latter.
    var marks = (current: 0, best: 1, tried: 2)
    var wasFull = false
    /// The numbers of codes and pixels since the mean phrase length was last computed, and the greatest mean, in
    /// pixels, since the table became full.
    private var codes = 0
    private var pixels = 0
    private var best = 0.0

    init(_ minimumCodeSize: Int, _ writer: LZWCodeWriter) {
      self.writer = writer
      clearCode = 1 << minimumCodeSize
      width = minimumCodeSize + 1
    }

    mutating func clear() {
      writer.put(clearCode, width)
      next = clearCode + 2
      width = clearCode.trailingZeroBitCount + 1
      (codes, pixels, best) = (0, 0, 0)
    }

    /// Counts a phrase of `length` pixels, and returns whether phrases have become so short that the full table should
    /// be cleared.
    mutating func isStale(_ length: Int) -> Bool {
      codes += 1
      pixels += length
      guard codes == LZWSearch.window else { return false }
      let ratio = Double(pixels) / Double(codes)
      (codes, pixels) = (0, 0)
      if ratio < best * LZWSearch.worst { return true }
      best = max(best, ratio)
      return false
    }

    mutating func end(into target: inout [UInt8]) throws(AnimatedImageError) {
      // A decoder adds an entry for the last phrase as for any other, which may widen the end code.
      if next == 1 << width, width < 12 { width += 1 }
      writer.put(clearCode + 1, width)
      try writer.finish(into: &target)
      target.append(0)
    }
  }

  /// Writes the phrase that begins at `state.place` and adds the entry that the phrase creates.
  @inline(__always)
  private func step(_ pixels: Pixels, _ rule: Rule, _ state: inout State) {
    let count = unsafe pixels.first.count
    let slots = unsafe table.baseAddress.assumingMemoryBound(to: UInt32.self)
    if state.longest == 0 {
      state.longest = unsafe match(
        pixels, state.place, state.start, rule.branches, list(state.marks.current))
    }
    let current = unsafe list(state.marks.current)
    let longest = state.longest
    var (length, following, next) = (longest, 0, 0)
    if state.place &+ longest < count {
      var best = -1
      var least = 0
      var tried = longest
      while tried > 0, tried >= longest &- rule.lookahead {
        let place = state.place &+ tried
        let node = unsafe Int(current[tried])
        let choices = unsafe (Int(pixels.first[place]), Int(pixels.second[place]))
        if rule.lookahead == 0, choices.0 == choices.1 {
          (length, following) = (tried, choices.0)
          break
        }
        for choice in 0..<(choices.0 == choices.1 ? 1 : 2) {
          let index = choice == 0 ? choices.0 : choices.1
          // A decoder already has the new entry when it reads the next phrase, so that phrase may use the entry.
          let found = unsafe find(node, index, slots)
          let isNew = found.code < 0 && state.next < Self.codeLimit
          if isNew { unsafe slots[found.slot] = Self.entry(node, index, state.next) }
          let reach = unsafe match(pixels, place, index, rule.branches, list(state.marks.tried))
          if isNew { unsafe slots[found.slot] = 0 }
          let gain = tried &+ reach
          if gain > best, gain >= least {
            (best, length, following, next) = (gain, tried, index, reach)
            swap(&state.marks.best, &state.marks.tried)
          }
        }
        if tried == longest { least = best &+ Self.margin }
        tried &-= 1
      }
    }
    let code = unsafe Int(current[length])
    state.writer.put(code, state.width)
    state.place &+= length
    state.start = following
    state.longest = next
    swap(&state.marks.current, &state.marks.best)
    guard state.place < count else { return }
    if state.next < Self.codeLimit {
      // If the phrase ended early, the entry may exist already. A decoder adds it again, so its code is used up in any
      // case.
      let found = unsafe find(code, following, slots)
      if found.code < 0 { unsafe slots[found.slot] = Self.entry(code, following, state.next) }
      if state.next == 1 &<< state.width { state.width &+= 1 }
      state.next &+= 1
    } else {
      state.wasFull = true
      if !rule.keepsFullTable || state.isStale(length) {
        state.clear()
        state.longest = 0
        unsafe memset(slots, 0, table.byteCount)
      }
    }
  }

  /// Returns one of the three lists in `marks`. `number` is the number of the list, 0 to 2.
  @inline(__always)
  private func list(_ number: Int) -> UnsafeMutablePointer<UInt16> {
    unsafe marks.baseAddress.assumingMemoryBound(to: UInt16.self) + number &* Self.markCount
  }

  private static func entry(_ node: Int, _ index: Int, _ next: Int) -> UInt32 {
    UInt32(truncatingIfNeeded: node &<< 8 | index) &<< 12 | UInt32(truncatingIfNeeded: next)
  }

  /// Returns the code of the phrase that consists of `node` and `index`. If there is no such phrase, returns -1 and the
  /// free slot for it.
  @inline(__always)
  private func find(
    _ node: Int, _ index: Int, _ slots: UnsafeMutablePointer<UInt32>
  ) -> (code: Int, slot: Int) {
    let key = UInt32(truncatingIfNeeded: node &<< 8 | index)
    var slot = Int((key &* 0x9e37_79b1) &>> UInt32(32 &- Self.slotBits))
    while true {
      let entry = unsafe slots[slot]
      if entry == 0 { return (-1, slot) }
      if entry &>> 12 == key { return (Int(entry & 0xfff), slot) }
      slot = (slot &+ 1) & (1 &<< Self.slotBits &- 1)
    }
  }

  /// Returns the length of the longest phrase in the table that matches the pixels from `place` on and has `start` as
  /// its first index.
  ///
  /// - Parameter marks: Receives the code of the best phrase for each length.
  @inline(__always)
  private func match(
    _ pixels: Pixels, _ place: Int, _ start: Int, _ branches: Int,
    _ marks: UnsafeMutablePointer<UInt16>
  ) -> Int {
    let count = unsafe pixels.first.count
    let slots = unsafe table.baseAddress.assumingMemoryBound(to: UInt32.self)
    var code = start
    var length = 1
    unsafe marks[1] = UInt16(truncatingIfNeeded: start)
    while place &+ length < count {
      let first = unsafe Int(pixels.first[place &+ length])
      let second = unsafe Int(pixels.second[place &+ length])
      var child = unsafe find(code, first, slots).code
      if second != first {
        let other = unsafe find(code, second, slots).code
        if child >= 0, other >= 0 {
          length &+= 1
          unsafe marks[length] = UInt16(truncatingIfNeeded: child)
          let merged = unsafe follow(pixels, place, (child, other), branches, &length, marks)
          if merged < 0 { break }
          code = merged
          continue
        }
        child = max(child, other)
      }
      if child < 0 { break }
      code = child
      length &+= 1
      unsafe marks[length] = UInt16(truncatingIfNeeded: code)
    }
    return length
  }

  /// Extends the two phrases that end at `nodes` until only one phrase can continue. At the start, both phrases cover
  /// `length` pixels from `place` on.
  ///
  /// - Returns: The node of that phrase, or -1 if several phrases remain and none of them can be extended.
  private func follow(
    _ pixels: Pixels, _ place: Int, _ nodes: (Int, Int), _ branches: Int, _ length: inout Int,
    _ marks: UnsafeMutablePointer<UInt16>
  ) -> Int {
    let count = unsafe pixels.first.count
    let slots = unsafe table.baseAddress.assumingMemoryBound(to: UInt32.self)
    var front = unsafe fronts.baseAddress.assumingMemoryBound(to: Int32.self)
    var other = unsafe front + 32
    unsafe front[0] = Int32(truncatingIfNeeded: nodes.0)
    unsafe front[1] = Int32(truncatingIfNeeded: nodes.1)
    var size = 2
    while place &+ length < count {
      let first = unsafe Int(pixels.first[place &+ length])
      let second = unsafe Int(pixels.second[place &+ length])
      var grown = 0
      var node = 0
      while node < size, grown < branches {
        let code = unsafe Int(front[node])
        let child = unsafe find(code, first, slots).code
        if child >= 0 {
          unsafe other[grown] = Int32(truncatingIfNeeded: child)
          grown &+= 1
        }
        if second != first, grown < branches {
          let child = unsafe find(code, second, slots).code
          if child >= 0 {
            unsafe other[grown] = Int32(truncatingIfNeeded: child)
            grown &+= 1
          }
        }
        node &+= 1
      }
      if grown == 0 { break }
      unsafe swap(&front, &other)
      size = grown
      length &+= 1
      unsafe marks[length] = UInt16(truncatingIfNeeded: front[0])
      if size == 1 { return unsafe Int(front[0]) }
    }
    return -1
  }
}
