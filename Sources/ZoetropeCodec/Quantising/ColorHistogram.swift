/// The frequencies of colours, in 65,536 bins of similar colours. A histogram takes 2 MiB, or 4 MiB if there are
/// translucent colours.
///
/// Each bin yields the mean of its colours. If one colour has the majority in the bin, that colour is yielded
/// separately, so that flat areas of a drawing keep their exact colour.
package struct ColorHistogram: Sendable {
  /// A colour of a picture, or the mean of several colours.
  package struct Point: Sendable {
    /// The colour as `RGBA.word`, which is never fully transparent.
    package var color: UInt32
    package var weight: Int
    /// Whether all pixels counted in ``weight`` have exactly this colour.
    package var isExact: Bool
  }

  private struct Bin: Sendable {
    /// The total weight of the bin's pixels, followed by the weighted sums of those bits of red, green and blue that
    /// are not part of the bin number.
    var sums: SIMD4<UInt32> = .zero
    /// The weighted sum of those bits of alpha that are not part of the bin number.
    var alphas: UInt32 = 0
    /// The candidate for the majority colour, and the votes for this colour minus the votes against it (Boyer and
    /// Moore).
    var candidate: UInt32 = 0
    var votes: UInt32 = 0
  }

  private var bins: [Bin]
  private(set) package var total = 0

  /// Masks of the bits of red, green, blue and alpha that are not part of a bin number.
  private static let (opaqueRest, translucentRest) = (0x0007_0307 as UInt32, 0x0f0f_0f0f as UInt32)

  /// The weight at which a bin counts no more pixels, so that weighted sums of four-bit values stay below 2³².
  private static let weightLimit: UInt32 = 1 << 28

  /// Creates an empty histogram.
  ///
  /// - Throws: `outOfMemory` if allocation fails.
  package init() throws(AnimatedImageError) {
    // There is room for the bins of translucent colours too, because ``add(_:weight:)`` cannot fail. Until these bins
    // are added, the system provides no memory for them.
    var bins: [Bin] = []
    let count = 2 << 16
    try PixelMemory.allocating(count * MemoryLayout<Bin>.stride) { bins.reserveCapacity(count) }
    bins.append(contentsOf: repeatElement(Bin(), count: 1 << 16))
    self.bins = bins
  }

  package var isEmpty: Bool { total == 0 }

  /// Adds a colour that is not fully transparent.
  @inline(__always)
  package mutating func add(_ word: UInt32, weight: UInt32 = 1) {
    let (red, green, blue) = (word & 255, word >> 8 & 255, word >> 16 & 255)
    if word >= 0xff00_0000 {
      let index = Int(red >> 3 | (green >> 2) << 5 | (blue >> 3) << 11)
      add(word, weight, to: index, rest: word & Self.opaqueRest)
    } else {
      if bins.count == 1 << 16 {
        bins.append(contentsOf: repeatElement(Bin(), count: 1 << 16))
      }
      let index = Int(red >> 4 | green & 0xf0 | (blue & 0xf0) << 4 | word >> 16 & 0xf000)
      add(word, weight, to: 1 << 16 | index, rest: word & Self.translucentRest)
    }
  }

  @inline(__always)
  private mutating func add(_ word: UInt32, _ weight: UInt32, to index: Int, rest: UInt32) {
    guard weight < Self.weightLimit, bins[index].sums.x < Self.weightLimit - weight else { return }
    bins[index].sums &+= SIMD4(
      weight, (rest & 15) &* weight, (rest >> 8 & 15) &* weight, (rest >> 16 & 15) &* weight)
    bins[index].alphas &+= (rest >> 24) &* weight
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

  /// Adds the pixels in `columns` of a row, except fully transparent ones.
  package mutating func add(_ row: borrowing RawSpan, _ columns: Range<Int>) {
    // A run of equal pixels counts as one pixel of their total weight, which yields the same bins.
    var (color, weight) = (UInt32(0), UInt32(0))
    for x in columns {
      let word = row.load(UInt32.self, at: x &* 4)
      if word == color {
        weight &+= 1
      } else {
        if color >= 0x0100_0000 { add(color, weight: weight) }
        (color, weight) = (word, 1)
      }
    }
    if color >= 0x0100_0000 { add(color, weight: weight) }
  }

  /// The points of all bins, in the order of the bins: for each bin the majority colour, if there is one, and the mean
  /// of the other colours.
  package var points: [Point] {
    var points: [Point] = []
    for (index, bin) in bins.enumerated() where bin.sums.x > 0 {
      let isOpaque = index < 1 << 16
      let mask = isOpaque ? Self.opaqueRest : Self.translucentRest
      var weight = Int(bin.sums.x)
      var sums = SIMD4(Int(bin.sums.y), Int(bin.sums.z), Int(bin.sums.w), Int(bin.alphas))
      if Int(bin.votes) * 2 > weight {
        let votes = Int(bin.votes)
        points.append(Point(color: bin.candidate, weight: votes, isExact: true))
        weight -= votes
        let rest = bin.candidate & mask
        sums &-=
          SIMD4(Int(rest & 15), Int(rest >> 8 & 15), Int(rest >> 16 & 15), Int(rest >> 24))
          &* votes
      }
      guard weight > 0 else { continue }
      let high =
        isOpaque
        ? SIMD4((index & 31) << 3, (index >> 5 & 63) << 2, (index >> 11) << 3, 255)
        : SIMD4(index & 15, index >> 4 & 15, index >> 8 & 15, index >> 12 & 15) &<< 4
      let samples = high &+ (sums &+ weight / 2) / weight
      let mean = (0..<4).reduce(UInt32(0)) { $0 | UInt32(samples[$1]) << UInt32(8 * $1) }
      points.append(Point(color: mean, weight: weight, isExact: false))
    }
    return points
  }
}
