/// The vertical pass over colours multiplied by alpha, in whole numbers: what ``FixedRows`` is to
/// opaque pixels, with weights of 24 bits.
///
/// Where alpha is small, dividing by it blows up what the weights lost, so 16 bits are not
/// enough. A weight is split into `high * 1024 + low`, each part goes through its own
/// multiply-and-add of 16-bit pairs, and both sums are exact. Single precision gives the same
/// accuracy at a third of the speed.
///
/// Products of two bytes are below 65536; 32768 less, they fit 16 bits with a sign, and the sum
/// of the weights times 32768 is put back at the start.
///
/// Range: high parts sum to at most `1.6 * 2^14` in magnitude, low parts to `maximumTaps * 512`;
/// times 65535, both are below 2^31.
///
/// Bounds: rows are padded to what a step of 8 pixels reads and writes.
enum ProductRows {
  /// The longest window whose low parts cannot overflow.
  static let maximumTaps = 60

  /// Makes products, less 32768, of straight pixels `range` of a row, the range rounded outwards
  /// to multiples of 4.
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

  /// Two pixels with their colours, and 255, multiplied by alpha.
  @inline(__always)
  private static func products(_ two: SIMD8<UInt16>) -> SIMD8<UInt16> {
    let alpha = SIMD8<UInt16>(
      two[3], two[3], two[3], two[3], two[7], two[7], two[7], two[7])
    let full = two | SIMD8<UInt16>(0, 0, 0, 255, 0, 0, 0, 255)
    return (full &* alpha) ^ SIMD8<UInt16>(repeating: 0x8000)
  }

  /// Sums pixels `range` of `2 * pairs` rows of products, rounded outwards to multiples of 2.
  ///
  /// `weights` are pairs of words: the high parts of two taps, and their low parts.
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

  /// 32768 times the sum of the parts.
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
