internal import Glibc

/// Compresses palette indices to the image data of a GIF frame (GIF89a section 22 and appendix F).
///
/// The phrases written so far form a trie, which is stored in one flat hash table. A slot contains
/// `(code << 8 | index) << 12 | next code`, or 0 if it is free. The table has 8,192 slots of four bytes, which fit in a
/// first-level cache. It is at most half full. When all 4,096 codes are taken, the table is cleared after the next
/// code.
///
/// Unsafe code: a slot number has 13 bits. At most 4,090 slots are taken, so every probe ends at a free slot. Only
/// indices within the bounds of the input are read.
package final class LZWCompressor {
  private static let slotBits = 13
  /// The number of pixels between two checks for cancellation. Compressing this many pixels takes about ten
  /// milliseconds.
  private static let stretch = 1 << 20
  private static let codeLimit = 4096

  private let table = PixelStorage(byteCount: 4 << slotBits)
  private let chunk = LZWCodeWriter.makeChunk()

  /// Creates a compressor with a working memory of 96 KB.
  package init() {}

  /// Returns the minimum code size for indices up to `greatest`: the number of bits of `greatest`, but at least two.
  package static func minimumCodeSize(greatestIndex greatest: UInt8) -> Int {
    max(2, UInt8.bitWidth - greatest.leadingZeroBitCount)
  }

  /// Appends the minimum code size, one or more sub-blocks that encode `indices`, and the terminator.
  ///
  /// - Precondition: Every index is below `1 << minimumCodeSize`.
  /// - Parameter isCancelled: A function that is polled after about every million pixels.
  /// - Throws: `outOfMemory`; `cancelled` once `isCancelled` returns true.
  package func append(
    _ indices: borrowing RawSpan, minimumCodeSize: Int, to target: inout [UInt8],
    isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) {
    let count = indices.byteCount
    precondition((2...8).contains(minimumCodeSize) && count > 0)
    precondition(IndexedBlitter.greatestIndex(in: indices) < 1 << minimumCodeSize)
    target.append(UInt8(minimumCodeSize))
    var writer = LZWCodeWriter(chunk)
    let clear = 1 << minimumCodeSize
    var (width, next) = (minimumCodeSize + 1, clear + 2)
    writer.put(clear, width)
    clearTable()
    var code = Int(indices[0])
    var start = 1
    while start < count {
      if start > 1 { try GIFFrameSearch.check(isCancelled) }
      let end = min(count, start + Self.stretch)
      try unsafe indices.withUnsafeBytes { (bytes) throws(AnimatedImageError) in
        try unsafe compress(
          bytes, start..<end, clear: clear, &code, &width, &next, &writer, into: &target)
      }
      start = end
    }
    writer.put(code, width)
    // A decoder adds an entry for the last phrase as for any other, which may widen the end code.
    if next == 1 << width, width < 12 { width += 1 }
    writer.put(clear + 1, width)
    try writer.finish(into: &target)
    target.append(0)
  }

  /// Compresses the indices in `range`, at most about a million of them. `code` is the phrase that is not finished at
  /// the start of the range, and is replaced by the phrase that is not finished at its end.
  @inline(__always)
  private func compress(
    _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, clear: Int, _ code: inout Int,
    _ width: inout Int, _ next: inout Int, _ writer: inout LZWCodeWriter, into target: inout [UInt8]
  ) throws(AnimatedImageError) {
    let slots = unsafe table.baseAddress.assumingMemoryBound(to: UInt32.self)
    let mask = 1 &<< Self.slotBits &- 1
    var phrase = code
    pixels: for place in range {
      let index = unsafe bytes[place]
      let key = UInt32(truncatingIfNeeded: phrase &<< 8 | Int(index))
      var slot = Int((key &* 0x9e37_79b1) &>> UInt32(32 &- Self.slotBits))
      var entry = unsafe slots[slot]
      while entry != 0 {
        if entry &>> 12 == key {
          phrase = Int(entry & 0xfff)
          continue pixels
        }
        slot = (slot &+ 1) & mask
        entry = unsafe slots[slot]
      }
      writer.put(phrase, width)
      if next < Self.codeLimit {
        unsafe slots[slot] = key &<< 12 | UInt32(truncatingIfNeeded: next)
        // A decoder adds this entry when it reads the next code, and reads the code after that with one more bit.
        if next == 1 &<< width { width &+= 1 }
        next &+= 1
      } else {
        writer.put(clear, width)
        clearTable()
        next = clear &+ 2
        width = clear.trailingZeroBitCount &+ 1
      }
      phrase = Int(index)
      if writer.isFull { try writer.drain(into: &target) }
    }
    code = phrase
  }

  private func clearTable() { unsafe memset(table.baseAddress, 0, 4 << Self.slotBits) }
}

/// Packs LZW codes into bytes, least significant bit first, and splits the bytes into sub-blocks.
///
/// Unsafe code: bits are stored four bytes at a time. Each store starts before `chunkSize`, and the block of memory is
/// sixteen bytes larger than `chunkSize`.
@safe
struct LZWCodeWriter {
  /// The number of bytes collected before they are moved to the target. It is a multiple of 255, the size of a full
  /// sub-block.
  private static let chunkSize = 255 * 256
  /// Returns a block of memory for a writer. After the chunk it has room for two more codes and for the last bits,
  /// which together take at most seven bytes.
  static func makeChunk() -> PixelStorage { PixelStorage(byteCount: chunkSize + 16) }

  private let chunk: PixelStorage
  private let base: UnsafeMutableRawPointer
  private var position = 0
  private var bits: UInt64 = 0
  private var bitCount = 0

  init(_ chunk: PixelStorage) {
    self.chunk = chunk
    unsafe base = chunk.baseAddress
  }

  /// The number of bytes that wait in the chunk, without the lengths of their sub-blocks.
  var pendingByteCount: Int { position }

  /// Whether ``drain(into:)`` must be called before more codes are added. This is the case if two more codes, of at
  /// most 24 bits in total, may fill the chunk.
  @inline(__always) var isFull: Bool { position >= Self.chunkSize &- 4 }

  /// Adds a code of at most 12 bits. At the time of the call, fewer than 32 bits must be pending.
  @inline(__always)
  mutating func put(_ code: Int, _ width: Int) {
    bits |= UInt64(truncatingIfNeeded: code) &<< UInt64(bitCount)
    bitCount &+= width
    guard bitCount >= 32 else { return }
    unsafe base.storeBytes(
      of: UInt32(truncatingIfNeeded: bits).littleEndian, toByteOffset: position, as: UInt32.self)
    bits &>>= 32
    bitCount &-= 32
    position &+= 4
  }

  /// Moves the complete sub-blocks to `target`, and the remaining bytes to the front of the chunk.
  ///
  /// - Throws: `outOfMemory` if `target` cannot grow.
  @inline(never)
  mutating func drain(into target: inout [UInt8]) throws(AnimatedImageError) {
    let whole = position / 255 * 255
    try append(whole, to: &target)
    unsafe memmove(base, base + whole, position - whole)
    position -= whole
  }

  /// Moves all pending bits and bytes to `target`, padding the last byte with zero bits.
  ///
  /// - Throws: `outOfMemory` if `target` cannot grow.
  mutating func finish(into target: inout [UInt8]) throws(AnimatedImageError) {
    while bitCount > 0 {
      unsafe base.storeBytes(
        of: UInt8(truncatingIfNeeded: bits), toByteOffset: position, as: UInt8.self)
      bits &>>= 8
      bitCount -= 8
      position += 1
    }
    try append(position, to: &target)
  }

  private func append(_ count: Int, to target: inout [UInt8]) throws(AnimatedImageError) {
    try target.makeRoom(adding: count + (count + 254) / 255)
    for start in stride(from: 0, to: count, by: 255) {
      let size = min(255, count - start)
      target.append(UInt8(size))
      target.append(copying: chunk.bytes.extracting(start..<start + size))
    }
  }
}
