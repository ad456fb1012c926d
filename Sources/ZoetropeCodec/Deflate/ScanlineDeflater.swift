internal import Glibc

/// A fast Deflate encoder for the scanlines of pictures.
///
/// Matches are sought at three places only: the pixel to the left and, unless the rows are filtered, the row above and
/// the last place with the same hash. Each block has its own Huffman codes of at most 12 bits, so that four literals
/// fit in one store. There are no stored blocks, because even in noise a literal takes only 8 bits.
///
/// Unsafe code: ``compress(_:range:form:into:)`` checks that `range` lies in the source and that ``bound(_:)`` bytes
/// fit the target. Eight bytes are loaded only if at least eight bytes of `range` remain. Matches never refer to bytes
/// before the start of `range`: a distance never exceeds the current place, and relative to ``origin``, places left in
/// the table by other ranges are negative. A block has at most `capacity` sequences. Bits are stored eight bytes at a
/// time, which may overrun the stream by up to eight bytes; the bound includes these bytes.
final class ScanlineDeflater {
  /// The properties of the scanlines.
  struct Form {
    /// The distance, in bytes, to the pixel to the left.
    var bytesPerPixel: Int
    /// The distance, in bytes, to the row above.
    var line: Int
    /// Whether the rows are filtered, which has removed most repetitions.
    var isFiltered: Bool
  }

  private static let blockBytes = 256 << 10
  private static let capacity = 16 << 10
  private static let hashBits: UInt64 = 15
  private static let longest = 258
  private static let window = 32 << 10
  /// The maximum length of a code in bits.
  private static let limit = 12

  /// The last place of each hash, plus ``origin``. Places from earlier ranges are below ``origin``, so the table, which
  /// is larger than many pictures, need not be cleared for each picture.
  private let table = PixelStorage(byteCount: 4 << hashBits)
  private var origin: Int
  /// The sequences of the current block, each as `literals << 32 | length << 16 | distance - 1`.
  private let sequences = PixelStorage(byteCount: 8 * capacity)
  /// The counters of the current block: four counters per literal, so that increments for equal neighbours do not wait
  /// for each other, followed by one counter per length symbol and one per distance symbol.
  private let tallies = PixelStorage(byteCount: 4 * tallyCount)
  private static let lengthTallies = 4 * 256
  private static let distanceTallies = lengthTallies + 29
  private static let tallyCount = distanceTallies + 30

  /// Creates a deflater.
  ///
  /// - Parameter origin: The initial value of ``origin``.
  init(origin: Int = 1) {
    precondition(1...Int(UInt32.max) ~= origin)
    self.origin = origin
  }

  /// Returns the maximum number of bytes that ``compress(_:range:form:into:)`` may write for a range of `count` bytes.
  ///
  /// A literal takes up to 12 bits, and a match, which replaces at least four bytes, takes up to 42 bits. Each block
  /// except the last covers at least 64 KB, and the codes of a block take less than 1 KB.
  static func bound(_ count: Int) -> Int {
    count + count / 2 + ((count >> 16 + 2) << 10) + 64
  }

  /// Compresses the bytes of `source` in `range` into a zlib stream at the start of `target`, and returns the number of
  /// bytes written.
  func compress(
    _ source: PixelStorage, range: Range<Int>, form: Form, into target: PixelStorage
  ) -> Int {
    precondition(range.lowerBound >= 0 && range.upperBound <= source.byteCount)
    precondition(target.byteCount >= Self.bound(range.count) && range.count < UInt32.max)
    precondition(1...8 ~= form.bytesPerPixel && form.line > 0)
    let base = unsafe UnsafeRawPointer(source.baseAddress) + range.lowerBound
    var bits = unsafe BitWriter(target.baseAddress)
    // Write the zlib header for a window of 32 KB and the fastest level.
    bits.put(0x0178, 16)
    bits.flush()
    if origin + range.count > UInt32.max {
      unsafe memset(table.baseAddress, 0, table.byteCount)
      origin = 1
    }
    defer { origin += range.count }
    var start = 0
    repeat {
      let block = unsafe scan(base, from: start, to: range.count, form)
      unsafe write(
        base + start, literals: block.literals, sequenceCount: block.count,
        isLast: block.end == range.count, to: &bits)
      start = block.end
    } while start < range.count
    bits.finish()
    let count = unsafe bits.position - target.baseAddress
    let sum = Adler32.of(source, range: range).bigEndianBytes
    for place in 0..<4 {
      unsafe target.baseAddress.storeBytes(
        of: sum[place], toByteOffset: count + place, as: UInt8.self)
    }
    return count + 4
  }

  @inline(__always)
  private static func load(_ base: UnsafeRawPointer, _ place: Int) -> UInt64 {
    unsafe base.loadUnaligned(fromByteOffset: place, as: UInt64.self)
  }

  /// Returns the length of the match between the bytes from `place` on and the bytes from `place - distance` on, at
  /// most 258.
  @inline(__always)
  private static func match(
    _ base: UnsafeRawPointer, at place: Int, distance: Int, end: Int
  ) -> Int {
    let most = min(longest, end &- place)
    var length = 0
    while length < most {
      if place &+ length &+ 8 > end {
        while length < most,
          unsafe base.load(fromByteOffset: place &+ length, as: UInt8.self)
            == base.load(fromByteOffset: place &+ length &- distance, as: UInt8.self)
        { length &+= 1 }
        return length
      }
      let differs =
        unsafe load(base, place &+ length) ^ load(base, place &+ length &- distance)
      if differs != 0 { return min(most, length &+ differs.trailingZeroBitCount / 8) }
      length &+= 8
    }
    return most
  }

  /// Finds the sequences of the block that begins at `start`, and counts the symbols of the block.
  ///
  /// - Returns: The end of the block, the number of sequences, and the number of literals after the last sequence.
  private func scan(
    _ base: UnsafeRawPointer, from start: Int, to end: Int, _ form: Form
  ) -> (end: Int, count: Int, literals: Int) {
    let pixel = form.bytesPerPixel
    let line = form.line <= Self.window ? form.line : .max
    let searches = !form.isFiltered
    let step = searches ? 1 : pixel
    // If pixels have one byte, as indices do, a match pays only from five bytes on, unless it repeats the pixel to the
    // left, and up to 16 further places of each match are recorded. Larger pixels match from four bytes on, or from six
    // bytes in the row above.
    let keyShift: UInt64 = pixel == 1 ? 24 : 32
    let lineShift: UInt64 = pixel == 1 ? 24 : 16
    let noted = pixel == 1 ? 16 : 0
    let table = unsafe table.baseAddress.assumingMemoryBound(to: UInt32.self)
    let origin = origin
    let sequences = unsafe sequences.baseAddress.assumingMemoryBound(to: UInt64.self)
    let tallies = unsafe tallies.baseAddress.assumingMemoryBound(to: UInt32.self)
    unsafe memset(tallies, 0, 4 * Self.tallyCount)
    let blockEnd = min(end, start &+ Self.blockBytes)
    // The last 16 bytes are literals, unless an earlier match extends into them.
    let limit = min(blockEnd, end &- 16)
    var count = 0
    var literal = start
    var place = start
    while place < limit, count < Self.capacity {
      let value = unsafe Self.load(base, place)
      var distance = 0
      if place >= pixel,
        unsafe UInt32(truncatingIfNeeded: value)
          == UInt32(truncatingIfNeeded: Self.load(base, place &- pixel))
      {
        distance = pixel
      } else if searches, place >= line,
        unsafe (value ^ Self.load(base, place &- line)) &<< lineShift == 0
      {
        distance = line
      }
      if searches {
        let key = value &<< keyShift
        let slot = Int(truncatingIfNeeded: Self.slot(key))
        let last = unsafe Int(table[slot]) &- origin
        unsafe table[slot] = UInt32(truncatingIfNeeded: origin &+ place)
        if distance == 0, last >= 0, place &- last <= Self.window,
          unsafe Self.load(base, last) &<< keyShift == key
        {
          distance = place &- last
        }
      }
      guard distance > 0 else {
        place &+= step
        continue
      }
      var length = unsafe Self.match(base, at: place, distance: distance, end: end)
      while place > literal, length < Self.longest, place &- distance > 0,
        unsafe base.load(fromByteOffset: place &- 1, as: UInt8.self)
          == base.load(fromByteOffset: place &- 1 &- distance, as: UInt8.self)
      {
        place &-= 1
        length &+= 1
      }
      unsafe Self.tally(base, from: literal, to: place, tallies)
      unsafe sequences[count] =
        UInt64(place &- literal) &<< 32 | UInt64(length) &<< 16 | UInt64(distance &- 1)
      count &+= 1
      unsafe tallies[Self.lengthTallies &+ DeflateSymbol(length: length).number &- 257] &+= 1
      unsafe tallies[Self.distanceTallies &+ DeflateSymbol(distance: distance).number] &+= 1
      if searches, noted > 0 {
        var other = place &+ 1
        let last = min(place &+ min(length, noted &+ 1), limit)
        while other < last {
          let key = unsafe Self.load(base, other) &<< keyShift
          unsafe table[Int(truncatingIfNeeded: Self.slot(key))] =
            UInt32(truncatingIfNeeded: origin &+ other)
          other &+= 1
        }
      }
      place &+= length
      literal = place
    }
    // A match may end past the limit. A block with the maximum number of sequences ends at its last match.
    let stop = count < Self.capacity ? (limit < blockEnd ? end : max(literal, blockEnd)) : place
    unsafe Self.tally(base, from: literal, to: stop, tallies)
    return (stop, count, stop &- literal)
  }

  @inline(__always)
  private static func slot(_ key: UInt64) -> UInt64 {
    (key &* 0x9E37_79B1_85EB_CA87) &>> (64 &- hashBits)
  }

  @inline(__always)
  private static func tally(
    _ base: UnsafeRawPointer, from start: Int, to end: Int,
    _ tallies: UnsafeMutablePointer<UInt32>
  ) {
    var place = start
    while place &+ 4 <= end {
      let four = unsafe base.loadUnaligned(fromByteOffset: place, as: UInt32.self)
      unsafe tallies[Int(four & 0xff)] &+= 1
      unsafe tallies[256 &+ Int(four &>> 8 & 0xff)] &+= 1
      unsafe tallies[512 &+ Int(four &>> 16 & 0xff)] &+= 1
      unsafe tallies[768 &+ Int(four &>> 24)] &+= 1
      place &+= 4
    }
    while place < end {
      unsafe tallies[Int(base.load(fromByteOffset: place, as: UInt8.self))] &+= 1
      place &+= 1
    }
  }

  /// Writes a block: the lengths of its codes, then the sequences, and then the literals after the last sequence.
  /// `literals` is the number of these literals.
  private func write(
    _ base: UnsafeRawPointer, literals: Int, sequenceCount: Int, isLast: Bool,
    to bits: inout BitWriter
  ) {
    let tallies = unsafe tallies.baseAddress.assumingMemoryBound(to: UInt32.self)
    var counts = [UInt32](repeating: 0, count: 286)
    for byte in 0..<256 {
      unsafe counts[byte] =
        tallies[byte] &+ tallies[256 + byte] &+ tallies[512 + byte] &+ tallies[768 + byte]
    }
    counts[256] = 1
    for place in 0..<29 { unsafe counts[257 + place] = tallies[Self.lengthTallies + place] }
    var distanceCounts = [UInt32](repeating: 0, count: 30)
    for place in 0..<30 { unsafe distanceCounts[place] = tallies[Self.distanceTallies + place] }
    let symbols = HuffmanCode(counts: counts, limit: Self.limit)
    let distances = HuffmanCode(counts: distanceCounts, limit: Self.limit)
    bits.put(isLast ? 1 : 0, 1)
    bits.put(2, 2)
    Self.write(symbols.lengths, distances.lengths, to: &bits)
    unsafe symbols.words.withUnsafeBufferPointer { words in
      unsafe distances.words.withUnsafeBufferPointer { distances in
        guard let words = words.baseAddress, let distances = distances.baseAddress else { return }
        unsafe write(
          base, literals: literals, sequenceCount: sequenceCount, words, distances, to: &bits)
      }
    }
  }

  /// Writes the sequences and the literals after the last sequence. `words` contains the codes of 286 symbols, and
  /// `distances` those of 30 distance symbols.
  private func write(
    _ base: UnsafeRawPointer, literals: Int, sequenceCount: Int, _ words: UnsafePointer<UInt32>,
    _ distances: UnsafePointer<UInt32>, to target: inout BitWriter
  ) {
    // A local copy stays in registers.
    var bits = target
    let sequences = unsafe sequences.baseAddress.assumingMemoryBound(to: UInt64.self)
    var place = 0
    for index in 0..<sequenceCount {
      let sequence = unsafe sequences[index]
      let count = Int(truncatingIfNeeded: sequence &>> 32)
      unsafe Self.write(base + place, count: count, words, to: &bits)
      let length = Int(truncatingIfNeeded: sequence &>> 16 & 0xffff)
      let byLength = DeflateSymbol(length: length)
      unsafe bits.put(word: words[byLength.number])
      bits.put(byLength.extra, byLength.extraBits)
      let byDistance = DeflateSymbol(distance: Int(truncatingIfNeeded: sequence & 0xffff) &+ 1)
      unsafe bits.put(word: distances[byDistance.number])
      bits.put(byDistance.extra, byDistance.extraBits)
      bits.flush()
      place &+= count &+ length
    }
    unsafe Self.write(base + place, count: literals, words, to: &bits)
    unsafe bits.put(word: words[256])
    bits.flush()
    target = bits
  }

  @inline(__always)
  private static func write(
    _ base: UnsafeRawPointer, count: Int, _ words: UnsafePointer<UInt32>, to bits: inout BitWriter
  ) {
    var place = 0
    while place &+ 4 <= count {
      let four = unsafe base.loadUnaligned(fromByteOffset: place, as: UInt32.self)
      unsafe bits.put(word: words[Int(four & 0xff)])
      unsafe bits.put(word: words[Int(four &>> 8 & 0xff)])
      unsafe bits.put(word: words[Int(four &>> 16 & 0xff)])
      unsafe bits.put(word: words[Int(four &>> 24)])
      bits.flush()
      place &+= 4
    }
    while place < count {
      unsafe bits.put(word: words[Int(base.load(fromByteOffset: place, as: UInt8.self))])
      bits.flush()
      place &+= 1
    }
  }

  /// Writes the code lengths of a block's symbols (RFC 1951, 3.2.7).
  private static func write(_ symbols: [UInt8], _ distances: [UInt8], to bits: inout BitWriter) {
    let symbolCount = max(257, (symbols.lastIndex { $0 > 0 } ?? 0) + 1)
    let distanceCount = (distances.lastIndex { $0 > 0 } ?? 0) + 1
    let lengths = symbols.prefix(symbolCount) + distances.prefix(distanceCount)
    var items: [(symbol: Int, extra: Int, extraBits: Int)] = []
    items.reserveCapacity(lengths.count)
    var at = 0
    while at < lengths.count {
      let length = lengths[at]
      var run = 1
      while at + run < lengths.count, lengths[at + run] == length { run += 1 }
      at += run
      if length > 0 {
        items.append((Int(length), 0, 0))
        run -= 1
      }
      while run >= 3 {
        let most = length > 0 ? 6 : run >= 11 ? 138 : 10
        let part = min(run, most)
        items.append(
          length > 0 ? (16, part - 3, 2) : part >= 11 ? (18, part - 11, 7) : (17, part - 3, 3))
        run -= part
      }
      for _ in 0..<run { items.append((Int(length), 0, 0)) }
    }
    var counts = [UInt32](repeating: 0, count: 19)
    for item in items { counts[item.symbol] += 1 }
    let code = HuffmanCode(counts: counts, limit: 7)
    let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    let codeCount = max(4, (order.lastIndex { code.lengths[$0] > 0 } ?? 0) + 1)
    bits.put(symbolCount - 257, 5)
    bits.put(distanceCount - 1, 5)
    bits.put(codeCount - 4, 4)
    bits.flush()
    for symbol in order.prefix(codeCount) {
      bits.put(Int(code.lengths[symbol]), 3)
      bits.flush()
    }
    for item in items {
      bits.put(word: code.words[item.symbol])
      bits.put(item.extra, item.extraBits)
      bits.flush()
    }
  }

  /// A writer that stores bits, lowest first. At most 57 bits may be written between two calls of ``flush()``.
  @safe
  private struct BitWriter {
    private(set) var position: UnsafeMutableRawPointer
    private var bits: UInt64 = 0
    private var count: UInt64 = 0

    init(_ target: UnsafeMutableRawPointer) { unsafe position = target }

    @inline(__always)
    mutating func put(_ value: Int, _ width: Int) {
      bits |= UInt64(truncatingIfNeeded: value) &<< count
      count &+= UInt64(truncatingIfNeeded: width)
    }

    @inline(__always)
    mutating func put(word: UInt32) {
      bits |= UInt64(word & 0xffff) &<< count
      count &+= UInt64(word &>> 16)
    }

    @inline(__always)
    mutating func flush() {
      unsafe position.storeBytes(of: bits.littleEndian, as: UInt64.self)
      unsafe position += Int(truncatingIfNeeded: count &>> 3)
      bits &>>= count & ~7
      count &= 7
    }

    /// Pads the last byte and writes it.
    mutating func finish() {
      if count > 0 { count = 8 }
      flush()
    }
  }
}
