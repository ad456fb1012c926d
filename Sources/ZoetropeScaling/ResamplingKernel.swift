/// The resampling weights along one axis: the source pixels that each target pixel depends on, and their weights.
///
/// Every target pixel has the same number of taps. Shorter windows are padded with weights of 0, so that the passes
/// need no special case at the edges. A window that would extend past the end of the source is moved back so that it
/// lies inside.
struct ResamplingKernel: Sendable {
  /// The way in which a pass reads the taps. The layout determines the padding of the weights and their order.
  enum Layout {
    /// The pass reads two rows at a time.
    case vertical
    /// The pass reads four pixels at a time, with weights in the order 0, 2, 1, 3 (see ``FixedRows``).
    case horizontal
  }

  /// The number of source pixels along this axis.
  let sourceCount: Int
  /// The number of target pixels along this axis.
  let count: Int
  /// The number of weights stored for each target pixel, which is a multiple of 2 (vertical) or 4 (horizontal). If the
  /// source has fewer pixels than that, the padding extends past the end of the source.
  let taps: Int
  /// The first source pixel in the window of each target pixel.
  let starts: [Int32]
  /// For each target pixel, the index after the last source pixel of its window, without the padding.
  let ends: [Int32]
  /// For each target pixel, `taps` weights that add up to 1.
  let weights: [Double]
  /// The elements of ``weights`` in single precision.
  let floatWeights: [Float]
  /// The weights in fixed point: `taps / 2` words for each target pixel, with two taps per word, the first of them in
  /// the low half. The weights of a target pixel sum to exactly `1 << bits`, so that a bitmap of a single colour stays
  /// unchanged.
  let pairs: [UInt32]
  /// The 24-bit weights for ``ProductRows``. For each pair of taps, the high parts are in one word, and the low parts
  /// are in the next word. The array is empty for the horizontal axis, if windows are too long, and if ``isFixedPoint``
  /// is false.
  let finePairs: [UInt32]
  /// The number of fraction bits in ``pairs``: 14 if a weight may reach 1, and up to 18 if windows are long.
  let bits: Int
  /// Whether the fixed-point passes may be used. The value is false if a weight does not fit in 16 bits, or if the
  /// magnitudes of a window's weights sum to more than the range of ``FixedRows``. In this case, the floating-point
  /// passes compute every pixel.
  let isFixedPoint: Bool

  /// Creates the weights of `count` target pixels. Together, the target pixels cover `length` source pixels from
  /// `start` on.
  ///
  /// - Precondition: `sourceCount` and `count` are positive, and `filter` is not ``ScalingFilter/nearest``.
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
      // Every filter is 0 at integer distances other than 0, so each target pixel depends on one source pixel.
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
    // With all ratios that were tried, no filter exceeds these limits. The maxima, reached by Lanczos, are 1.29 for a
    // weight and 1.58 for a sum of magnitudes.
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

  /// Returns the window of one target pixel: the index of its first source pixel, and weights that sum to 1.
  ///
  /// Weights that happen to be 0 are kept. If they were left out, the ends of windows would not ascend with the index,
  /// and the search for the target pixels that a source pixel touches relies on this order.
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

  /// Returns the weights in fixed point. The method rounds running sums instead of single weights, so that rounding
  /// errors do not accumulate along a window, and the sum of the window is exact.
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

  /// Returns the weights in fixed point with 24 fraction bits, with each weight split into a high part and a low part.
  /// Rounding works as in `fixedPairs`.
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
    // Starts and ends ascend with the index. A window that was moved back starts earlier than it would otherwise, which
    // can only add target pixels.
    let first = ends.partitioningIndex { Int($0) > range.lowerBound }
    let last = starts.partitioningIndex { Int($0) >= range.upperBound }
    return first..<max(first, last)
  }

  /// Returns the source pixels that target pixels `range` depend on.
  func sources(of range: Range<Int>) -> Range<Int> {
    guard !range.isEmpty else { return 0..<0 }
    let first = Int(starts[range.lowerBound])
    return first..<max(first, Int(ends[range.upperBound - 1]))
  }
}
