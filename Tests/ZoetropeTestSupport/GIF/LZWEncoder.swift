/// Writes palette indices as a GIF code stream.
///
/// It tracks the state of a decoder, so that it can also write codes that a decoder must reject.
public struct LZWEncoder {
  private let options: LZWOptions
  private let minimumCodeSize: Int
  private var bytes: [UInt8] = []
  private var bitBuffer: UInt32 = 0
  private var bitCount = 0
  private var table: [UInt32: UInt32] = [:]
  private var width: Int
  /// The code that a decoder will define when it reads the next one; nil just after a clear.
  private var nextCode: UInt32?
  private var prefix: UInt32?

  private var clearCode: UInt32 { 1 << UInt32(minimumCodeSize) }
  private var endCode: UInt32 { clearCode + 1 }

  private init(options: LZWOptions, minimumCodeSize: Int) {
    self.options = options
    self.minimumCodeSize = minimumCodeSize
    width = minimumCodeSize + 1
  }

  /// The smallest minimum code size that GIF allows for these indices: 2 to 8.
  public static func minimumCodeSize(for indices: [UInt8]) -> Int {
    let largest = Int(indices.max() ?? 0)
    return max(2, Int.bitWidth - largest.leadingZeroBitCount)
  }

  /// The bytes of the code stream for `indices`, not yet split into sub-blocks.
  ///
  /// An index that does not fit the minimum code size of `options` is truncated to its low bits.
  public static func encode(_ indices: [UInt8], options: LZWOptions = .init()) -> [UInt8] {
    let size = options.minimumCodeSize ?? minimumCodeSize(for: indices)
    var encoder = LZWEncoder(options: options, minimumCodeSize: min(max(size, 0), 11))
    return encoder.run(indices)
  }

  private mutating func run(_ indices: [UInt8]) -> [UInt8] {
    if options.startsWithClear { clear() }
    let (stop, rest) = faultPosition(in: indices)
    append(indices[..<stop])
    flush()
    switch options.fault {
    case .stop: return finish()
    case .endCode: write(endCode)
    case .badCode:
      writeBadCode()
      append(rest)
      flush()
    case nil:
      append(repeatElement(0, count: options.surplusPixels))
      flush()
    }
    if options.endsWithEndCode, options.fault == nil { write(endCode) }
    return finish() + options.tail
  }

  private func faultPosition(in indices: [UInt8]) -> (stop: Int, rest: ArraySlice<UInt8>) {
    let stop =
      switch options.fault {
      case .endCode(let count), .badCode(let count), .stop(let count):
        min(max(count, 0), indices.count)
      case nil: indices.count
      }
    return (stop, indices[stop...])
  }

  private mutating func append(_ indices: some Sequence<UInt8>) {
    var sinceClear = 0
    for index in indices {
      let pixel = UInt32(index) & (clearCode - 1)
      if let interval = options.clearInterval, sinceClear == interval {
        flush()
        clear()
        sinceClear = 0
      }
      sinceClear += 1
      guard let current = prefix else {
        prefix = pixel
        continue
      }
      let key = current << 8 | pixel
      if let code = table[key] {
        prefix = code
        continue
      }
      write(current)
      if let next = nextCode, next < 4096 { table[key] = next }
      if nextCode == 4096, options.fullTable == .clear { clear() }
      prefix = pixel
    }
  }

  /// Writes the string that is being matched.
  private mutating func flush() {
    if let current = prefix { write(current) }
    prefix = nil
  }

  private mutating func clear() {
    emit(clearCode)
    table.removeAll(keepingCapacity: true)
    width = minimumCodeSize + 1
    nextCode = nil
  }

  /// Writes a code past the next free one or, if none fits, an undefined one after a clear code.
  private mutating func writeBadCode() {
    let bad = (nextCode ?? endCode + 1) + 1
    guard bad < 1 << UInt32(width) else {
      clear()
      return emit((1 << UInt32(width)) - 1)
    }
    write(bad)
  }

  /// Writes a code as a decoder counts it: each one after the first defines another.
  private mutating func write(_ code: UInt32) {
    emit(code)
    let defined = nextCode.map { min($0 + 1, 4096) } ?? endCode + 1
    nextCode = defined
    if defined >= 1 << UInt32(width), width < 12 { width += 1 }
  }

  private mutating func emit(_ code: UInt32) {
    bitBuffer |= code << UInt32(bitCount)
    bitCount += width
    while bitCount >= 8 {
      bytes.append(UInt8(truncatingIfNeeded: bitBuffer))
      bitBuffer >>= 8
      bitCount -= 8
    }
  }

  private mutating func finish() -> [UInt8] {
    if bitCount > 0 { bytes.append(UInt8(truncatingIfNeeded: bitBuffer)) }
    (bitBuffer, bitCount) = (0, 0)
    return bytes
  }
}
