extension LZWDecoder {
  /// The state of one expansion: the positions of reading and writing, and the current code width.
  ///
  /// Pointers are used because these loops dominate the cost of decoding a GIF. The accesses have these bounds:
  /// - Codes are read eight bytes at a time only up to eight bytes before the end, and otherwise one byte at a time.
  /// - In `table`, the greatest index is `next`, which is at most 4097 (`tableCount` - 1). A code used as an index is
  ///   below 4096 and below `next`.
  /// - In the output, a string starts at or after `base`, and its copy ends at most 31 bytes past `end`.
  @safe struct Expansion {
    /// The number of words in the table: one for each of the codes 0 to 4095, one from which the length of the last
    /// string is computed, and one that is never read.
    static let tableCount = 4098
    typealias Chunk = SIMD16<UInt8>

    let source: UnsafeRawPointer
    let byteCount: Int
    /// The start of the headroom, at which position 0 lies.
    let base: UnsafeMutableRawPointer
    /// The position just past the last pixel.
    let end: Int
    let table: UnsafeMutablePointer<UInt32>
    let minimumCodeSize: Int
    let clearCode: Int
    /// The position at which the next string is written.
    var position = LZWDecoder.headroom
    /// The bit position in the source at which the next code starts.
    var bitPosition = 0
    var width: Int
    /// The table index at which the start of the next string will be recorded. All existing strings have lower indices.
    var next: Int

    init(
      source: UnsafeRawPointer, byteCount: Int, base: UnsafeMutablePointer<UInt8>, end: Int,
      table: UnsafeMutablePointer<UInt32>, minimumCodeSize: Int
    ) {
      // Positions, including that of the end code in the table, must fit in 32 bits. They do so even for a frame of the
      // maximum size in GIF.
      precondition(end <= Int(UInt32.max) - 64)
      unsafe self.source = source
      self.byteCount = byteCount
      unsafe self.base = UnsafeMutableRawPointer(base)
      self.end = end
      unsafe self.table = table
      self.minimumCodeSize = minimumCodeSize
      clearCode = 1 << minimumCodeSize
      width = minimumCodeSize + 1
      next = clearCode + 2
      for value in 0..<256 { unsafe base[value] = UInt8(truncatingIfNeeded: value) }
    }
  }
}

extension LZWDecoder.Expansion {
  var endCode: Int { clearCode &+ 1 }
  /// Whether the dictionary still grows. The length of the last string, 4095, is computed from `table[4096]`.
  var isGrowing: Bool { next <= 4096 }

  /// Records the one-pixel strings in the table. They lie in the headroom, where the byte at each position equals the
  /// position.
  func prepareTable() {
    for code in 0...clearCode { unsafe table[code] = UInt32(truncatingIfNeeded: code) }
  }

  /// Discards all strings of more than one pixel.
  mutating func clear() {
    width = minimumCodeSize &+ 1
    next = clearCode &+ 2
    // The entry makes the clear code and the end code look like long strings, so that the fast loop needs no extra test
    // for them. The loop reads bytes at the recorded position, so the position must lie inside the output.
    unsafe table[endCode] = UInt32(truncatingIfNeeded: position &+ 40)
  }

  /// Expands codes until the last pixel is written, the codes run out, or a code is invalid.
  mutating func run() -> LZWResult {
    clear()
    return proceed()
  }

  /// Continues an expansion at the point where an earlier call ran out of codes. Otherwise works like ``run()``.
  mutating func proceed() -> LZWResult {
    while true {
      if isGrowing {
        expandShortStrings(isGrowing: true)
      } else {
        expandShortStrings(isGrowing: false)
      }
      if let result = expandOneCode() { return result }
    }
  }

  /// Returns the next code, or nil if fewer bits remain than a code has.
  func peekCode() -> Int? {
    guard bitPosition &+ width <= byteCount &* 8 else { return nil }
    var byte = bitPosition &>> 3
    var bits: UInt32 = 0
    // A code of up to twelve bits lies within three bytes, whatever its bit offset.
    var shift = UInt32(0)
    while shift < 24 && byte < byteCount {
      bits |= UInt32(unsafe source.load(fromByteOffset: byte, as: UInt8.self)) &<< shift
      byte &+= 1
      shift &+= 8
    }
    let code = bits &>> UInt32(truncatingIfNeeded: bitPosition & 7)
    return Int(truncatingIfNeeded: code) & ((1 &<< width) &- 1)
  }

  /// Expands one code with all checks. Returns the result if the code ends the expansion, and nil otherwise.
  ///
  /// Handles everything that the fast loop does not: clear and end codes, changes of the code width, and the start and
  /// end of the data.
  mutating func expandOneCode() -> LZWResult? {
    guard position < end else { return completed() }
    guard let code = peekCode() else {
      return stopped(.dataExhausted, byteOffset: byteCount)
    }
    if code == clearCode {
      bitPosition &+= width
      clear()
      return nil
    }
    if code == endCode { return stopped(.endCodeEarly, byteOffset: bitPosition &>> 3) }
    if code >= next { return stopped(.invalidCode, byteOffset: bitPosition &>> 3) }
    if isGrowing { unsafe table[next] = UInt32(truncatingIfNeeded: position) }
    let start = Int(unsafe table[code])
    let length = code < clearCode ? 1 : Int(unsafe table[code &+ 1]) &- start &+ 1
    let kept = min(length, end &- position)
    // A truncated string is copied without its last byte, so that byte needs no correction.
    copyString(from: start, length: kept, isNewest: code == next &- 1 && kept == length)
    position &+= kept
    bitPosition &+= width
    if isGrowing {
      if next >= 1 &<< width && width < 12 { width &+= 1 }
      next &+= 1
    }
    return nil
  }

  /// Copies a string to `position`. `isNewest` is true if the string's last byte is also the first byte of the copy.
  ///
  /// In a newest string of up to 16 bytes, that shared byte would be read before it is written, so it is corrected
  /// afterwards. In a longer string, each 16-byte half of a chunk is read at least 16 bytes behind the position at
  /// which it is written.
  @inline(__always)
  func copyString(from start: Int, length: Int, isNewest: Bool) {
    let from = unsafe base + start
    let to = unsafe base + position
    var done = 0
    repeat {
      let first = unsafe from.loadUnaligned(fromByteOffset: done, as: Chunk.self)
      unsafe to.storeBytes(of: first, toByteOffset: done, as: Chunk.self)
      let second = unsafe from.loadUnaligned(fromByteOffset: done &+ 16, as: Chunk.self)
      unsafe to.storeBytes(of: second, toByteOffset: done &+ 16, as: Chunk.self)
      done &+= 32
    } while done < length
    if isNewest && length <= 16 {
      let byte = unsafe from.load(as: UInt8.self)
      unsafe to.storeBytes(of: byte, toByteOffset: length &- 1, as: UInt8.self)
    }
  }

  private func stopped(_ status: LZWResult.Status, byteOffset: Int) -> LZWResult {
    LZWResult(
      status: status, pixelCount: position &- LZWDecoder.headroom, byteOffset: byteOffset)
  }

  /// Returns whether nothing, or only one zero byte, follows the end code, which ends at byte `offset`. Some encoders,
  /// such as ffmpeg's, write one more byte if the end code fills the last byte.
  private func isEmpty(from offset: Int) -> Bool {
    guard offset == byteCount - 1 else { return offset >= byteCount }
    return unsafe source.load(fromByteOffset: offset, as: UInt8.self) == 0
  }

  private func completed() -> LZWResult {
    var result = stopped(.complete, byteOffset: (bitPosition &+ 7) &>> 3)
    if let code = peekCode() {
      let behind = (bitPosition &+ width &+ 7) &>> 3
      result.trailer = code == endCode && isEmpty(from: behind) ? .endCode : .surplus
    } else {
      result.trailer = .missing
    }
    return result
  }
}

extension LZWDecoder.Expansion {
  /// Expands codes in groups of four, as long as no code is special and no string can reach the end of the output.
  ///
  /// One load of 64 bits contains four codes of up to 12 bits at any bit offset. For a string of up to 32 bytes, a full
  /// 32 bytes are copied, because a branch on the length would often be mispredicted. A longer string, or the newest
  /// string, which ends where its copy starts, interrupts the group of four. The loop stays 128 bytes away from the end
  /// of the output, so no string of a group can pass the end. The loop is compiled twice, for a growing and for a full
  /// dictionary.
  ///
  /// These alternatives were slower: one code per load, copies of 16 bytes (which cause a misprediction for each string
  /// of 17 to 32 bytes), and handling the newest string without a branch.
  @inline(__always)
  mutating func expandShortStrings(isGrowing: Bool) {
    // These are local variables because fields would be written back to memory at each step.
    let (source, base, table) = unsafe (self.source, self.base, self.table)
    let (clearCode, endCode, end) = (UInt(bitPattern: self.clearCode), self.endCode, self.end)
    let mask = (UInt64(1) &<< UInt64(truncatingIfNeeded: width)) &- 1
    let width = self.width
    let lastGroupBit = byteCount &* 8 &- 64
    let lastGroupPosition = end &- 128
    // The code after which the width changes must be expanded by `expandOneCode`, so groups end before it.
    let lastGroupCode = isGrowing ? (1 &<< width) &- 5 : Int.max
    var newest = isGrowing ? next &- 1 : 0
    var (bitPosition, position) = (self.bitPosition, self.position)

    group: while newest <= lastGroupCode && bitPosition <= lastGroupBit
      && position <= lastGroupPosition
    {
      var bits = unsafe source.loadUnaligned(fromByteOffset: bitPosition &>> 3, as: UInt64.self)
      bits = UInt64(littleEndian: bits) &>> UInt64(truncatingIfNeeded: bitPosition & 7)

      @inline(__always) func step() -> Bool {
        let code = Int(truncatingIfNeeded: bits & mask)
        if isGrowing {
          unsafe table[newest &+ 1] = UInt32(truncatingIfNeeded: position)
          if code >= newest { return false }
        }
        let start = unsafe table[code]
        var length = unsafe table[code &+ 1] &- start &+ 1
        if UInt(bitPattern: code) < clearCode { length &-= 1 }
        let from = unsafe base + Int(truncatingIfNeeded: start)
        let to = unsafe base + position
        let low = unsafe from.loadUnaligned(fromByteOffset: 0, as: Chunk.self)
        let high = unsafe from.loadUnaligned(fromByteOffset: 16, as: Chunk.self)
        unsafe to.storeBytes(of: low, toByteOffset: 0, as: Chunk.self)
        unsafe to.storeBytes(of: high, toByteOffset: 16, as: Chunk.self)
        if length > 32 { return false }
        bits &>>= UInt64(truncatingIfNeeded: width)
        position &+= Int(truncatingIfNeeded: length)
        if isGrowing { newest &+= 1 }
        return true
      }
      let taken: Int
      stop: do {
        if !step() { (taken = 0); break stop }
        if !step() { (taken = 1); break stop }
        if !step() { (taken = 2); break stop }
        if !step() { (taken = 3); break stop }
        bitPosition &+= 4 &* width
        continue group
      }
      bitPosition &+= taken &* width

      // A long string, or the newest string, is handled without leaving the loop.
      let code = Int(truncatingIfNeeded: bits & mask)
      if code <= endCode || isGrowing && code > newest { break group }
      let start = Int(unsafe table[code])
      let length = Int(unsafe table[code &+ 1]) &- start &+ 1
      if length > end &- position { break group }
      self.position = position
      copyString(from: start, length: length, isNewest: isGrowing && code == newest)
      position &+= length
      bitPosition &+= width
      if isGrowing { newest &+= 1 }
    }
    if isGrowing { next = newest &+ 1 }
    self.bitPosition = bitPosition
    self.position = position
  }
}
