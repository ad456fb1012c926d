/// Counts in how many places of a picture each colour is needed.
///
/// A place is eight columns of a band: about what a small change covers, where a colour is chosen
/// once however many pixels it has. Counted by pixels, flat parts would get the short numbers
/// and dithered ones, which choose all the time, the long ones: 4 % more bytes on a moving spot.
struct ColorUses: Sendable {
  /// Places, by the number of the colour.
  private(set) var counts: [Int]
  /// The places of the band in which each colour has been seen, one bit each.
  private var seen: [UInt64]
  private var band = -1

  init(count: Int) {
    counts = Array(repeating: 0, count: count)
    seen = Array(repeating: 0, count: count)
  }

  /// Notes a pixel; rows come in order.
  @inline(__always)
  mutating func add(_ index: Int, x: Int, y: Int) {
    if y / 6 != band {
      band = y / 6
      for index in seen.indices { seen[index] = 0 }
    }
    // Pictures of more than 512 columns share bits, which only counts a place less.
    let bit: UInt64 = 1 << UInt64(x >> 3 & 63)
    if seen[index] & bit == 0 {
      seen[index] |= bit
      counts[index] += 1
    }
  }
}
