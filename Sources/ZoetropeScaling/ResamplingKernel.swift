/// The resampling weights of one axis: the source pixels that each target pixel depends on, and their weights.
///
/// Every target pixel has the same number of taps, padded with weights of 0, so that the passes need no special case at
/// the edges. Windows at the end of the source are moved back inside instead of being cut.
struct ResamplingKernel: Sendable {
  /// The way in which a pass reads the taps, which determines their padding and order.
  enum Layout {
    /// Two rows at a time.
    case vertical
    /// Four pixels at a time, in the order 0, 2, 1, 3 (see ``FixedRows``).
    case horizontal
  }

  /// The number of source pixels along this axis.
  let sourceCount: Int
  /// The number of target pixels along this axis.
  let count: Int
  /// The number of weights stored for each target pixel, a multiple of 2 or 4. If the source is
  /// tiny, the padding may extend past its end.
  let taps: Int
  /// The first source pixel of each target pixel's window.
  let starts: [Int32]
  /// For each target pixel, the source pixel after the last one with a weight other than 0.
  let ends: [Int32]
  /// `count` rows of `taps` weights, each row with sum 1.
  let weights: [Double]
  /// The weights in single precision.
  let floatWeights: [Float]
  /// The weights in fixed point, with two taps per word (the first one low) and `taps / 2` words
  /// per row. Each row sums to exactly `1 << bits`, so that a picture of one colour stays
  /// unchanged.
  let pairs: [UInt32]
  /// The 24-bit weights for ``ProductRows``. Each two taps have their high parts in one word and
  /// their low parts in the next. Empty for the horizontal axis, and if windows are too long.
  let finePairs: [UInt32]
  /// The number of fraction bits in `pairs`: 14 if a weight may reach 1, up to 18 for long windows.
  let bits: Int
  /// Whether the fixed-point passes may be used. False if a weight does not fit in 16 bits, or if
  /// magnitudes sum to more than the range of ``FixedRows``. The floating-point passes then compute
  /// every pixel.
  let isFixedPoint: Bool

  /// Creates weights for `count` target pixels over `length` source pixels from `start` on.
  ///
  /// - Precondition: `sourceCount` and `count` are positive and `filter` is not nearest.
  init(
    sourceCount: Int, start: Double, length: Double, count: Int, filter: ScalingFilter,
    layout: Layout
  ) {
    let ratio = length / Double(count)
    let stretch = max(ratio, 1)
    let support = filter.support * stretch
    var windows: [(first: Int, weights: [Double])] = []
    windows.reserveCapacity(count)
    var longest = 1
    let isIdentity = length == Double(count) && start == start.rounded()
    for index in 0..<count {
      // Every filter is 0 at integer distances other than 0, so each pixel depends on one source
      // pixel.
      if isIdentity {
        windows.append((min(index + Int(start), sourceCount - 1), [1]))
        continue
      }
      let middle = start + (Double(index) + 0.5) * ratio
      let window = Self.window(
        middle: middle, support: support, stretch: stretch, limit: sourceCount, filter: filter)
      longest = max(longest, window.weights.count)
      windows.append(window)
    }
    let taps = layout == .vertical ? (longest + 1) & ~1 : (longest + 3) & ~3
    var starts: [Int32] = []
    var ends: [Int32] = []
    var weights = [Double](repeating: 0, count: count * taps)
    starts.reserveCapacity(count)
    ends.reserveCapacity(count)
    var largest = 0.0
    var heaviest = 0.0
    for (index, window) in windows.enumerated() {
      let first = max(0, min(window.first, sourceCount - taps))
      starts.append(Int32(first))
      ends.append(Int32(window.first + window.weights.count))
      for (offset, weight) in window.weights.enumerated() {
        weights[index * taps + window.first - first + offset] = weight
        largest = max(largest, abs(weight))
      }
      heaviest = max(heaviest, window.weights.reduce(0) { $0 + abs($1) })
    }
    self.sourceCount = sourceCount
    self.count = count
    self.taps = taps
    self.starts = starts
    self.ends = ends
    self.weights = weights
    floatWeights = weights.map { Float($0) }
    // No filter exceeds these limits at any ratio tried. The maxima, for Lanczos, are 1.29 and 1.58.
    isFixedPoint = largest * 16384 < 32766 && heaviest <= 1.6
    var bits = 14
    while bits < 18, largest * Double(2 << bits) < 32766 { bits += 1 }
    self.bits = bits
    finePairs =
      layout == .vertical && isFixedPoint && taps <= ProductRows.maximumTaps
      ? Self.finePairs(weights, taps: taps)
      : []
    pairs =
      isFixedPoint
      ? Self.fixedPairs(weights, taps: taps, bits: bits, layout: layout)
      : []
  }

  /// Returns the window of one target pixel, whose weights sum to 1.
  ///
  /// Weights that happen to be 0 are kept. Without them the ends of windows would not ascend with
  /// the index, and the search for touched pixels relies on that order.
  private static func window(
    middle: Double, support: Double, stretch: Double, limit: Int, filter: ScalingFilter
  ) -> (first: Int, weights: [Double]) {
    let low = max(0, Int((middle - support + 0.5).rounded(.down)))
    let high = min(limit, Int((middle + support + 0.5).rounded(.down)))
    var weights: [Double] = []
    if low < high {
      weights.reserveCapacity(high - low)
      for position in low..<high {
        weights.append(filter.weight(at: (Double(position) - middle + 0.5) / stretch))
      }
    }
    let sum = weights.reduce(0, +)
    guard abs(sum) > 1e-9 else {
      return (max(0, min(limit - 1, Int(middle))), [1])
    }
    return (low, weights.map { $0 / sum })
  }

  /// Returns the fixed-point weights. Rounds running sums instead of weights, so that errors do not
  /// accumulate along a window and its sum is exact.
  private static func fixedPairs(
    _ weights: [Double], taps: Int, bits: Int, layout: Layout
  ) -> [UInt32] {
    let one = Double(1 << bits)
    var pairs: [UInt32] = []
    pairs.reserveCapacity(weights.count / 2)
    var fixed = [UInt32](repeating: 0, count: taps)
    for row in stride(from: 0, to: weights.count, by: taps) {
      var sum = 0.0
      var done = 0
      for offset in 0..<taps {
        sum += weights[row + offset]
        let total = Int((sum * one).rounded())
        fixed[offset] = UInt32(UInt16(bitPattern: Int16(clamping: total - done)))
        done = total
      }
      switch layout {
      case .vertical:
        for offset in stride(from: 0, to: taps, by: 2) {
          pairs.append(fixed[offset] | fixed[offset + 1] << 16)
        }
      case .horizontal:
        for offset in stride(from: 0, to: taps, by: 4) {
          pairs.append(fixed[offset] | fixed[offset + 2] << 16)
          pairs.append(fixed[offset + 1] | fixed[offset + 3] << 16)
        }
      }
    }
    return pairs
  }

  /// Like `fixedPairs`, with each weight split in two.
  private static func finePairs(_ weights: [Double], taps: Int) -> [UInt32] {
    let one = Double(1 << 24)
    var pairs: [UInt32] = []
    pairs.reserveCapacity(weights.count)
    for row in stride(from: 0, to: weights.count, by: taps) {
      var sum = 0.0
      var done = 0
      var high: UInt32 = 0
      var low: UInt32 = 0
      for offset in 0..<taps {
        sum += weights[row + offset]
        let total = Int((sum * one).rounded())
        let weight = total - done
        done = total
        let upper = (weight + 512) >> 10
        let shift = UInt32(offset & 1) * 16
        high |= UInt32(UInt16(bitPattern: Int16(clamping: upper))) << shift
        low |= UInt32(UInt16(bitPattern: Int16(clamping: weight - upper << 10))) << shift
        if offset & 1 == 1 {
          pairs.append(high)
          pairs.append(low)
          (high, low) = (0, 0)
        }
      }
    }
    return pairs
  }

  /// Returns the target pixels whose windows overlap source pixels `range`.
  func targets(touching range: Range<Int>) -> Range<Int> {
    guard !range.isEmpty else { return 0..<0 }
    // Starts and ends ascend with the index. Windows that were moved back only start earlier.
    let first = Self.partition(count) { Int(ends[$0]) > range.lowerBound }
    let last = Self.partition(count) { Int(starts[$0]) >= range.upperBound }
    return first..<max(first, last)
  }

  /// Returns the source pixels that target pixels `range` depend on.
  func sources(of range: Range<Int>) -> Range<Int> {
    guard !range.isEmpty else { return 0..<0 }
    let first = Int(starts[range.lowerBound])
    return first..<max(first, Int(ends[range.upperBound - 1]))
  }

  /// Returns the first index for which `isPast` returns true. It must also return true for all later ones.
  private static func partition(_ count: Int, _ isPast: (Int) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isPast(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
