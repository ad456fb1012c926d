extension LZWCursor {
  /// Expands codes four at a time while none is special and none can pass the end.
  ///
  /// One load of 64 bits holds four codes of up to 12 bits at any bit offset. Strings of up to 32
  /// bytes are copied whole without asking for their length, which a branch would guess wrong;
  /// longer ones, and the one string that ends where it is copied to, leave the group of four. The
  /// end is kept 128 bytes away, so no string of a group can pass it. Two copies are compiled, with
  /// and without a dictionary that grows. Tried and slower: one code a refill, copies of 16 bytes
  /// (a wrong guess for each of 17 to 32), handling the newest string without a branch.
  @inline(__always)
  mutating func expandShortStrings(isGrowing: Bool) {
    // Locals, since fields would be stored back through the pointer at each step.
    let (source, base, table) = unsafe (self.source, self.base, self.table)
    let (clearCode, endCode, end) = (UInt(bitPattern: self.clearCode), self.endCode, self.end)
    let mask = (UInt64(1) &<< UInt64(truncatingIfNeeded: width)) &- 1
    let width = self.width
    let lastGroupBit = byteCount &* 8 &- 64
    let lastGroupPosition = end &- 128
    // The code that ends a width must go through `expandOneCode`, so groups end before it.
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

      // A long string or the newest one, without leaving the loop.
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
