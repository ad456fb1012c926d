/// The state of one expansion: where it reads, where it writes, how wide codes are.
///
/// Pointers, because these loops are what decoding a GIF costs. Bounds, for every access below:
/// - reads of codes: eight bytes at a time only up to eight bytes before the end, else one by one;
/// - `table`: a code is below 4096 and below `next`, which is at most 4097 = `tableCount` - 1;
/// - output: a string starts at or after `base`, and its copy ends at most 31 bytes past `end`.
@safe struct LZWCursor {
  /// Words of the table: codes 0 to 4095, the position after the last, one never read.
  static let tableCount = 4098
  typealias Chunk = SIMD16<UInt8>

  let source: UnsafeRawPointer
  let byteCount: Int
  /// Start of the headroom; positions count from here.
  let base: UnsafeMutableRawPointer
  /// The position past the last pixel.
  let end: Int
  let table: UnsafeMutablePointer<UInt32>
  let minimumCodeSize: Int
  let clearCode: Int
  /// Where the next string goes.
  var position = LZWExpander.headroom
  /// The bit of the source at which the next code starts.
  var bitPosition = 0
  var width: Int
  /// The index at which the start of the next string is noted; strings exist below it.
  var next: Int

  init(
    source: UnsafeRawPointer, byteCount: Int, base: UnsafeMutablePointer<UInt8>, end: Int,
    table: UnsafeMutablePointer<UInt32>, minimumCodeSize: Int
  ) {
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

  var endCode: Int { clearCode &+ 1 }
  /// Whether the dictionary still takes strings: the last one, 4095, ends at `table[4096]`.
  var isGrowing: Bool { next <= 4096 }

  /// Notes where the strings of one pixel lie: in the headroom, each at its own value.
  func prepareTable() {
    for code in 0...clearCode { unsafe table[code] = UInt32(truncatingIfNeeded: code) }
  }

  /// Forgets every string of more than one pixel.
  mutating func clear() {
    width = minimumCodeSize &+ 1
    next = clearCode &+ 2
    // Makes clear and end code look like strings longer than any short one, so that the fast loop
    // needs no test of its own for them; the address stays inside the output, as it is read.
    unsafe table[endCode] = UInt32(truncatingIfNeeded: position &+ 40)
  }

  /// Expands until the last pixel, the last code or the first bad one.
  mutating func run() -> LZWResult {
    clear()
    while true {
      if isGrowing {
        expandShortStrings(isGrowing: true)
      } else {
        expandShortStrings(isGrowing: false)
      }
      if let result = expandOneCode() { return result }
    }
  }

  /// The next code, or nil when there are not enough bits.
  func peekCode() -> Int? {
    guard bitPosition &+ width <= byteCount &* 8 else { return nil }
    var byte = bitPosition &>> 3
    var bits: UInt32 = 0
    // Twelve bits at any bit offset lie in three bytes.
    var shift = UInt32(0)
    while shift < 24 && byte < byteCount {
      bits |= UInt32(unsafe source.load(fromByteOffset: byte, as: UInt8.self)) &<< shift
      byte &+= 1
      shift &+= 8
    }
    let code = bits &>> UInt32(truncatingIfNeeded: bitPosition & 7)
    return Int(truncatingIfNeeded: code) & ((1 &<< width) &- 1)
  }

  /// Takes one code with every check there is; the result when that ends the expansion.
  ///
  /// Everything the fast loop leaves: clear and end codes, a change of width, both ends of the data.
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
    // The last byte of a string that is cut short is no longer there to be put right.
    copyString(from: start, length: kept, isNewest: code == next &- 1 && kept == length)
    position &+= kept
    bitPosition &+= width
    if isGrowing {
      if next >= 1 &<< width && width < 12 { width &+= 1 }
      next &+= 1
    }
    return nil
  }

  /// Copies a string to `position`; `isNewest` when its last byte is the first one copied.
  ///
  /// A string of up to 16 bytes that ends where it is copied to would read that byte before it is
  /// written. In longer ones each half of a chunk lies 16 bytes or more behind.
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
      status: status, pixelCount: position &- LZWExpander.headroom, byteOffset: byteOffset)
  }

  /// Whether nothing but one zero byte may lie behind the end code, at `offset`: ffmpeg, among others,
  /// flushes one more byte when the end code fills the last.
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
