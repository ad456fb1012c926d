/// A small seeded generator of random numbers; the same seed always gives the same numbers.
public struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// A generator that starts from `seed`.
  public init(seed: UInt64) { state = seed }

  /// The next number.
  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
    return word ^ (word >> 31)
  }
}

// The standard library's functions are generic, and cost ten times as much in a debug build. These are
// preferred to them and give the same numbers.

extension Int {
  /// A number in `range`.
  public static func random(in range: Range<Int>, using generator: inout SplitMix64) -> Int {
    precondition(!range.isEmpty)
    return range.lowerBound &+ generator.below(range.upperBound &- range.lowerBound)
  }

  /// A number in `range`.
  public static func random(in range: ClosedRange<Int>, using generator: inout SplitMix64) -> Int {
    let span = range.upperBound &- range.lowerBound
    // The range covers all numbers.
    if span == -1 { return Int(truncatingIfNeeded: generator.next()) }
    return range.lowerBound &+ generator.below(span &+ 1)
  }
}

extension UInt8 {
  /// A number in `range`.
  public static func random(
    in range: ClosedRange<UInt8>, using generator: inout SplitMix64
  ) -> UInt8 {
    let span = UInt16(range.upperBound &- range.lowerBound) &+ 1
    if span == 256 { return UInt8(truncatingIfNeeded: generator.next()) }
    while true {
      let product = UInt16(UInt8(truncatingIfNeeded: generator.next())) &* span
      // As in `below`.
      if product & 0xff >= (256 &- span) % span {
        return range.lowerBound &+ UInt8(truncatingIfNeeded: product &>> 8)
      }
    }
  }
}

extension SplitMix64 {
  /// A number from 0 up to, but not including, `limit`, which is taken as unsigned.
  fileprivate mutating func below(_ limit: Int) -> Int {
    let limit = UInt64(UInt(bitPattern: limit))
    while true {
      let (high, low) = next().multipliedFullWidth(by: limit)
      // The lowest remainders would make some numbers more frequent than others.
      if low >= limit || low >= (0 &- limit) % limit { return Int(truncatingIfNeeded: high) }
    }
  }
}
