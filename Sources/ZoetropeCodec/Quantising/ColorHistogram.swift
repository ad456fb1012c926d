/// How often colours occur, in 65,536 bins of similar ones; 1.5 MiB.
///
/// Each bin knows the mean of its colours, and which one colour has the majority, if any: flat areas of a drawing keep
/// their exact colour that way.
package struct ColorHistogram: Sendable {
  /// A colour of a picture, or the mean of several.
  package struct Point: Sendable {
    /// A word of ``RGBA``, opaque.
    package var color: UInt32
    package var weight: Int
    /// Whether every pixel that counts here has this colour.
    package var isExact: Bool
  }

  private struct Bin: Sendable {
    /// The weight, and the weighted sums of the bits of red, green and blue that the bin does not tell.
    var sums: SIMD4<UInt32> = .zero
    /// The candidate for the majority, and its votes minus those against it (Boyer and Moore).
    var candidate: UInt32 = 0
    var votes: UInt32 = 0
  }

  private var bins: [Bin]
  private(set) package var total = 0

  /// Above this a bin takes no more: sums of three bits stay below 2³².
  private static let weightLimit: UInt32 = 1 << 28

  package init() {
    bins = [Bin](repeating: Bin(), count: 1 << 16)
  }

  package var isEmpty: Bool { total == 0 }

  /// Counts an opaque colour.
  @inline(__always)
  package mutating func add(_ word: UInt32, weight: UInt32 = 1) {
    let (red, green, blue) = (word & 255, word >> 8 & 255, word >> 16 & 255)
    let index = Int(red >> 3 | (green >> 2) << 5 | (blue >> 3) << 11)
    guard bins[index].sums.x < Self.weightLimit, weight < Self.weightLimit else { return }
    bins[index].sums &+= SIMD4(
      weight, (red & 7) &* weight, (green & 3) &* weight, (blue & 7) &* weight)
    total &+= Int(weight)
    if bins[index].candidate == word {
      bins[index].votes &+= weight
    } else if bins[index].votes >= weight {
      bins[index].votes &-= weight
    } else {
      bins[index].candidate = word
      bins[index].votes = weight &- bins[index].votes
    }
  }

  /// Counts the opaque pixels in `columns` of a row.
  package mutating func add(_ row: borrowing RawSpan, _ columns: Range<Int>, weight: UInt32 = 1) {
    for x in columns {
      let word = row.load(UInt32.self, at: x &* 4)
      if word >= 0xff00_0000 { add(word, weight: weight) }
    }
  }

  /// All colours, in the order of their bins: for each bin its majority, and the mean of the rest.
  package var points: [Point] {
    var points: [Point] = []
    for (index, bin) in bins.enumerated() where bin.sums.x > 0 {
      var (weight, red, green, blue) = (
        Int(bin.sums.x), Int(bin.sums.y), Int(bin.sums.z), Int(bin.sums.w)
      )
      if Int(bin.votes) * 2 > weight {
        let votes = Int(bin.votes)
        points.append(Point(color: bin.candidate, weight: votes, isExact: true))
        weight -= votes
        red -= Int(bin.candidate & 7) * votes
        green -= Int(bin.candidate >> 8 & 3) * votes
        blue -= Int(bin.candidate >> 16 & 7) * votes
      }
      guard weight > 0 else { continue }
      func sample(_ high: Int, _ sum: Int) -> UInt32 { UInt32(high + (sum + weight / 2) / weight) }
      let mean =
        sample((index & 31) << 3, red) | sample((index >> 5 & 63) << 2, green) << 8
        | sample((index >> 11) << 3, blue) << 16 | 0xff00_0000
      points.append(Point(color: mean, weight: weight, isExact: false))
    }
    return points
  }
}
