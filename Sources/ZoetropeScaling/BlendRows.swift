// The blending passes, with their tables and scratch rows.
//
// This code is unsafe for speed: rows and tables are addressed by pointer. The only caller, `RegionScaler`, passes rows
// that contain every pixel of the given windows and ranges, and scratch rows that are padded by 8 pixels. No pass reads
// or writes past these rows.

/// The floating-point passes over rows of four channels. They process pixels that are weighted by alpha, and all other
/// pixels for which the fixed-point passes cannot be used.
///
/// Sums are computed in the order of the taps, so the value of a pixel does not depend on the range that is computed in
/// one call.
enum BlendRows<Codec: BlendCodec> {
  typealias Scalar = Codec.Scalar
  typealias Pixels = UnsafeMutablePointer<SIMD4<Scalar>>

  /// Decodes pixels `range` of a source row into `target`.
  static func decode(
    _ codec: Codec, row: UnsafeRawPointer, range: Range<Int>, into target: Pixels
  ) {
    for index in range {
      unsafe target[index] = codec.decode(
        (row + index * Codec.bytesPerPixel).loadUnaligned(as: Codec.Pixel.self))
    }
  }

  /// Computes the weighted sums of `count` source rows, for pixels `range`.
  static func vertical(
    _ codec: Codec, rows: UnsafePointer<UnsafeRawPointer>, weights: UnsafePointer<Scalar>,
    count: Int, range: Range<Int>, into target: Pixels
  ) {
    for index in range {
      let offset = index * Codec.bytesPerPixel
      var sum = SIMD4<Scalar>()
      for tap in 0..<count {
        let pixel = unsafe codec.decode((rows[tap] + offset).loadUnaligned(as: Codec.Pixel.self))
        sum = unsafe Scalar.multiplyAdd(sum, pixel, weights[tap])
      }
      unsafe target[index] = sum
    }
  }

  /// Returns the weighted sum of one window. Even and odd taps are summed separately, because each addition to a sum
  /// has to wait for the previous addition.
  @inline(__always)
  static func window(
    row: Pixels, start: Int, count: Int, weights: UnsafePointer<Scalar>
  ) -> SIMD4<Scalar> {
    var even = SIMD4<Scalar>()
    var odd = SIMD4<Scalar>()
    var tap = 0
    while tap + 1 < count {
      even = unsafe Scalar.multiplyAdd(even, row[start + tap], weights[tap])
      odd = unsafe Scalar.multiplyAdd(odd, row[start + tap + 1], weights[tap + 1])
      tap += 2
    }
    if tap < count {
      even = unsafe Scalar.multiplyAdd(even, row[start + tap], weights[tap])
    }
    return Scalar.add(even, odd)
  }

  /// Computes the weighted sum of the window of each target pixel in `range`, and stores the sums as encoded pixels in
  /// `target`.
  static func horizontalEncoded(
    _ codec: Codec, row: Pixels, table: KernelTable<Scalar>, range: Range<Int>,
    into target: UnsafeMutableRawPointer
  ) {
    for index in range {
      let start = unsafe Int(table.starts[index])
      let sum = unsafe window(
        row: row, start: start, count: Int(table.ends[index]) - start,
        weights: table.weights + index * table.taps)
      unsafe (target + index * Codec.bytesPerPixel).storeBytes(
        of: codec.encode(sum), as: Codec.Pixel.self)
    }
  }

  /// Computes the weighted sum of the window of each target pixel in `range`, and stores the sums in `target` without
  /// encoding them.
  static func horizontal(
    row: Pixels, table: KernelTable<Scalar>, range: Range<Int>, into target: Pixels
  ) {
    for index in range {
      let start = unsafe Int(table.starts[index])
      unsafe target[index] = window(
        row: row, start: start, count: Int(table.ends[index]) - start,
        weights: table.weights + index * table.taps)
    }
  }

  /// Computes the weighted sums of `count` decoded rows, for pixels `range`, and stores them as encoded pixels in
  /// `target`.
  static func verticalEncoded(
    _ codec: Codec, rows: UnsafePointer<UnsafeRawPointer>, weights: UnsafePointer<Scalar>,
    count: Int, range: Range<Int>, into target: UnsafeMutableRawPointer
  ) {
    for index in range {
      var sum = SIMD4<Scalar>()
      for tap in 0..<count {
        let pixel = unsafe rows[tap].load(
          fromByteOffset: index * MemoryLayout<SIMD4<Scalar>>.stride, as: SIMD4<Scalar>.self)
        sum = unsafe Scalar.multiplyAdd(sum, pixel, weights[tap])
      }
      unsafe (target + index * Codec.bytesPerPixel).storeBytes(
        of: codec.encode(sum), as: Codec.Pixel.self)
    }
  }
}

/// The vertical pass over premultiplied colours in integers, with 24-bit weights. It is the counterpart of
/// ``FixedRows`` for pixels that are not opaque.
///
/// If alpha is small, dividing by alpha magnifies the rounding errors of the weights, so that 16-bit weights are not
/// precise enough. Each weight is therefore split into `high * 1024 + low`, and each part is multiplied and added in
/// 16-bit pairs, which gives exact sums. Single precision is as accurate, but takes three times as long.
///
/// The product of two bytes is below 65536. After subtracting 32768, the product fits in a signed 16-bit integer. To
/// compensate for the subtraction, each sum starts with 32768 times the sum of its weights.
///
/// Range: the high parts of a window sum to at most `1.6 * 2^14` in magnitude, and the low parts to at most
/// `maximumTaps * 512`. Both, multiplied by 65535, are below 2^31.
///
/// Bounds: rows are padded to a multiple of 8 pixels, because a step reads and writes 8 pixels.
enum ProductRows {
  /// The maximum number of taps for which the sum of the low parts cannot overflow.
  static let maximumTaps = 60

  /// Multiplies the channels of pixels `range` of a source row by the pixels' straight alpha, and subtracts 32768 from
  /// each product. The range is rounded outwards to multiples of 4.
  static func multiply(
    row: UnsafeRawPointer, range: Range<Int>, into target: UnsafeMutableRawPointer
  ) {
    var index = range.lowerBound & ~3
    while index < range.upperBound {
      let bytes = unsafe (row + index * 4).loadUnaligned(as: SIMD16<UInt8>.self)
      let out = unsafe target + index * 8
      unsafe out.storeBytes(
        of: products(SIMD8<UInt16>(widening: bytes.lowHalf)), as: SIMD8<UInt16>.self)
      unsafe (out + 16).storeBytes(
        of: products(SIMD8<UInt16>(widening: bytes.highHalf)), as: SIMD8<UInt16>.self)
      index += 4
    }
  }

  /// Returns the products of two pixels: in each pixel, alpha is replaced by 255, and then all channels are multiplied
  /// by the original alpha. Each product is reduced by 32768.
  @inline(__always)
  private static func products(_ two: SIMD8<UInt16>) -> SIMD8<UInt16> {
    let alpha = SIMD8<UInt16>(
      two[3], two[3], two[3], two[3], two[7], two[7], two[7], two[7])
    let full = two | SIMD8<UInt16>(0, 0, 0, 255, 0, 0, 0, 255)
    return (full &* alpha) ^ SIMD8<UInt16>(repeating: 0x8000)
  }

  /// Computes the weighted sums of `2 * pairs` rows of products, for pixels `range`, rounded outwards to multiples of
  /// 2.
  ///
  /// `weights` consists of two words for each pair of taps: the high parts of both taps, followed by their low parts.
  static func vertical(
    rows: UnsafePointer<UnsafeRawPointer>, weights: UnsafePointer<UInt32>, pairs: Int,
    range: Range<Int>, into target: UnsafeMutablePointer<SIMD4<Float>>
  ) {
    let start = unsafe bias(weights: weights, pairs: pairs)
    let highStart = SIMD4<Int32>(repeating: start.high)
    let lowStart = SIMD4<Int32>(repeating: start.low)
    var index = range.lowerBound & ~1
    while index < range.upperBound {
      var (high0, high1) = (highStart, highStart)
      var (low0, low1) = (lowStart, lowStart)
      for pair in 0..<pairs {
        let upper = unsafe (rows[2 * pair] + index * 8).loadUnaligned(as: SIMD8<Int16>.self)
        let lower = unsafe (rows[2 * pair + 1] + index * 8)
          .loadUnaligned(as: SIMD8<Int16>.self)
        let weight = unsafe UnsafeRawPointer(weights + 2 * pair)
          .loadUnaligned(as: SIMD2<UInt32>.self)
        let first = FixedRows.interleaveLow(upper, lower)
        let second = FixedRows.interleaveHigh(upper, lower)
        let high = FixedRows.spread(weight[0])
        let low = FixedRows.spread(weight[1])
        high0 &+= FixedRows.multiplyAdd(first, high)
        low0 &+= FixedRows.multiplyAdd(first, low)
        high1 &+= FixedRows.multiplyAdd(second, high)
        low1 &+= FixedRows.multiplyAdd(second, low)
      }
      unsafe target[index] = combine(high0, low0)
      unsafe target[index + 1] = combine(high1, low1)
      index += 2
    }
  }

  /// Returns 32768 times the sum of the high parts, and 32768 times the sum of the low parts.
  private static func bias(
    weights: UnsafePointer<UInt32>, pairs: Int
  ) -> (high: Int32, low: Int32) {
    var high: Int32 = 0
    var low: Int32 = 0
    for pair in 0..<pairs {
      let (highs, lows) = unsafe (weights[2 * pair], weights[2 * pair + 1])
      high +=
        Int32(Int16(truncatingIfNeeded: highs)) + Int32(Int16(truncatingIfNeeded: highs >> 16))
      low += Int32(Int16(truncatingIfNeeded: lows)) + Int32(Int16(truncatingIfNeeded: lows >> 16))
    }
    return (high << 15, low << 15)
  }

  @inline(__always)
  private static func combine(_ high: SIMD4<Int32>, _ low: SIMD4<Int32>) -> SIMD4<Float> {
    let scale = Float(1) / 16384
    return SIMD4<Float>(converting: high) * scale
      + SIMD4<Float>(converting: low) * (scale / 1024)
  }
}

/// The source rows of the current vertical window, converted to products. Each row is converted when it is first
/// needed.
///
/// Bounds: each row is stored in a slot, which has room for `width` pixels, rounded up to the steps of ``ProductRows``.
/// A window has at most `slots` rows, so no two rows of a window share a slot.
@unsafe
struct ProductRing {
  private let slots: Int
  private let rowBytes: Int
  private var block: PixelStorage?
  private var rows: [Int]
  /// The addresses that ``addresses(_:count:make:)`` returned last. The memory that contains them never moves.
  private let list: PixelStorage

  init(slots: Int, width: Int) {
    unsafe self.slots = slots
    unsafe rowBytes = (width + 15) / 8 * 8 * 8
    unsafe rows = [Int](repeating: -1, count: slots)
    unsafe list = PixelStorage(byteCount: slots * MemoryLayout<UnsafeRawPointer>.stride)
  }

  /// Returns the addresses of the rows of `window`. The address of the last row is repeated until there are `count`
  /// addresses. The result is valid until the next call.
  ///
  /// - Throws: `outOfMemory` if the rows cannot be allocated.
  mutating func addresses(
    _ window: Range<Int>, count: Int, make: (Int, UnsafeMutableRawPointer) -> Void
  ) throws(AnimatedImageError) -> UnsafePointer<UnsafeRawPointer> {
    let base = try unsafe Self.allocated(&block, rowBytes * slots)
    let pointers = unsafe list.baseAddress.bindMemory(to: UnsafeRawPointer.self, capacity: slots)
    for tap in 0..<count {
      let row = min(window.lowerBound + tap, window.upperBound - 1)
      let address = unsafe base.baseAddress + row % slots * rowBytes
      if unsafe rows[row % slots] != row {
        unsafe make(row, address)
        unsafe rows[row % slots] = row
      }
      unsafe pointers[tap] = UnsafeRawPointer(address)
    }
    return unsafe UnsafePointer(pointers)
  }

  /// Returns `block`, which is allocated with `byteCount` bytes if it is nil.
  fileprivate static func allocated(
    _ block: inout PixelStorage?, _ byteCount: Int
  ) throws(AnimatedImageError) -> PixelStorage {
    if let block { return block }
    let made = try PixelStorage(asking: byteCount, zeroed: false)
    block = made
    return made
  }
}

/// The horizontally scaled source rows of the current vertical window, separately for both kinds of arithmetic. Each
/// row is computed when it is first needed.
///
/// Bounds: each row is stored in a slot, which has room for `width` target pixels, with the padding that ``FixedRows``
/// reads. A window has at most `slots` rows, so no two rows of a window share a slot.
@unsafe
struct RowRing<Scalar: BlendScalar> {
  private let slots: Int
  private let wordBytes: Int
  private let numberBytes: Int
  private let wordBlock: PixelStorage
  private var numberBlock: PixelStorage?
  private let wideBlock: PixelStorage
  private var numberSourceBlock: PixelStorage?
  private let sourceWidth: Int
  private var wordRows: [Int]
  private var numberRows: [Int]

  /// Creates a ring without rows.
  ///
  /// - Throws: `outOfMemory` if the memory for fixed-point rows cannot be allocated.
  init(slots: Int, width: Int, sourceWidth: Int) throws(AnimatedImageError) {
    unsafe self.slots = slots
    unsafe wordBytes = (width + 15) / 8 * 8 * 8
    unsafe numberBytes = width * MemoryLayout<SIMD4<Scalar>>.stride
    let words = try unsafe PixelStorage(asking: wordBytes * slots)
    let wide = try PixelStorage(asking: (sourceWidth + 16) * 8)
    unsafe wordBlock = words
    unsafe wideBlock = wide
    unsafe self.sourceWidth = sourceWidth
    unsafe wordRows = [Int](repeating: -1, count: slots)
    unsafe numberRows = [Int](repeating: -1, count: slots)
  }

  /// Scratch memory for one source row as 16-bit channels.
  var wideSource: UnsafeMutableRawPointer { unsafe wideBlock.baseAddress }

  /// Returns scratch memory for one source row of decoded pixels.
  ///
  /// - Throws: `outOfMemory` if it cannot be allocated.
  mutating func numberSource() throws(AnimatedImageError) -> UnsafeMutablePointer<SIMD4<Scalar>> {
    let bytes = unsafe sourceWidth * MemoryLayout<SIMD4<Scalar>>.stride
    let block = try unsafe ProductRing.allocated(&numberSourceBlock, bytes)
    return unsafe block.baseAddress.assumingMemoryBound(to: SIMD4<Scalar>.self)
  }

  /// Returns whether the scaled source row `row` is present as 16-bit channels, and marks the row as present. If the
  /// result is false, the caller must compute the row.
  mutating func hasWords(_ row: Int) -> Bool {
    let had = unsafe wordRows[row % slots] == row
    unsafe wordRows[row % slots] = row
    return had
  }

  /// Returns whether the scaled source row `row` is present as floating-point numbers, and marks the row as present. If
  /// the result is false, the caller must compute the row.
  mutating func hasNumbers(_ row: Int) -> Bool {
    let had = unsafe numberRows[row % slots] == row
    unsafe numberRows[row % slots] = row
    return had
  }

  func words(_ row: Int) -> UnsafeMutableRawPointer {
    unsafe wordBlock.baseAddress + row % slots * wordBytes
  }

  /// Returns the place of the scaled source row `row` as floating-point numbers.
  ///
  /// - Throws: `outOfMemory` if the rows cannot be allocated.
  mutating func numbers(
    _ row: Int
  ) throws(AnimatedImageError) -> UnsafeMutablePointer<SIMD4<Scalar>> {
    let block = try unsafe ProductRing.allocated(&numberBlock, numberBytes * slots)
    return unsafe (block.baseAddress + row % slots * numberBytes)
      .assumingMemoryBound(to: SIMD4<Scalar>.self)
  }
}

/// The addresses of a kernel's tables, which are valid only while the kernel's `withTable` runs.
@unsafe
struct KernelTable<Scalar: BlendScalar> {
  let starts: UnsafePointer<Int32>
  let ends: UnsafePointer<Int32>
  /// The weights: `taps` elements for each target pixel.
  let weights: UnsafePointer<Scalar>
  /// The fixed-point weights: `taps / 2` words for each target pixel. They must not be read if the kernel has no
  /// fixed-point weights.
  let pairs: UnsafePointer<UInt32>
  /// The 24-bit weights in the layout of ``ProductRows``: `taps` words for each target pixel. The value is nil if the
  /// kernel has no such weights.
  let finePairs: UnsafePointer<UInt32>?
  let taps: Int
}

extension ResamplingKernel {
  /// Calls `body` with the addresses of the kernel's tables.
  func withTable<Scalar: BlendScalar, Result>(
    of _: Scalar.Type, _ body: (KernelTable<Scalar>) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result {
    // The array has at least one word, because the buffer of an empty array may have no address.
    let words = pairs.isEmpty ? [0] : pairs
    let numbers = Scalar.weights(of: self)
    return try unsafe starts.withUnsafeBufferPointer {
      (starts) throws(AnimatedImageError) -> Result in
      try unsafe ends.withUnsafeBufferPointer { (ends) throws(AnimatedImageError) -> Result in
        try unsafe numbers.withUnsafeBufferPointer {
          (numbers) throws(AnimatedImageError) -> Result in
          try unsafe words.withUnsafeBufferPointer {
            (words) throws(AnimatedImageError) -> Result in
            try unsafe finePairs.withUnsafeBufferPointer {
              (fine) throws(AnimatedImageError) -> Result in
              guard let starts = starts.baseAddress, let ends = ends.baseAddress,
                let numbers = numbers.baseAddress, let words = words.baseAddress
              else { preconditionFailure("a kernel has at least one target pixel") }
              return try unsafe body(
                KernelTable(
                  starts: starts, ends: ends, weights: numbers, pairs: words,
                  finePairs: fine.isEmpty ? nil : fine.baseAddress, taps: taps))
            }
          }
        }
      }
    }
  }
}
