/// A search for the colours that best represent those of a histogram, by Wu's cuts followed by rounds of k-means, in
/// Oklab.
///
/// Colours with a large share of the pixels keep their exact values. No entry represents both opaque and translucent
/// colours, except that the nearest entry to a translucent colour may be opaque. Sums are exact integers, and the
/// sequence of operations is fixed, so the result depends only on the histogram.
package struct PaletteFinder: Sendable {
  /// A colour of the histogram.
  private struct Sample {
    var position: Oklab
    var color: UInt32
    var weight: Int
    var isOpaque: Bool { color >= 0xff00_0000 }
  }

  /// The number of k-means rounds after the cuts. More rounds would gain little.
  private static let roundCount = 3
  /// A number n such that a colour is kept exactly only if at least 1/n of all pixels have it.
  private static let pinnedShare = 400
  /// The root mean squared error, in units of ``Oklab``, that is too small to be seen. Once the error is this small, no
  /// further colours are added.
  private static let invisible = 12.0

  private var samples: [Sample] = []
  private var pinned: [UInt32] = []
  /// Transparent black if there are translucent colours, and otherwise empty.
  private var clear: [UInt32] = []
  private let count: Int

  /// Returns a palette of at most `count` entries, as words of ``RGBA``: translucent colours before opaque ones, each
  /// group in ascending order of lightness.
  package static func palette(of histogram: ColorHistogram, count: Int) -> [UInt32] {
    var finder = PaletteFinder(histogram, count: max(count, 1))
    return finder.find()
  }

  private init(_ histogram: ColorHistogram, count: Int) {
    self.count = count
    let points = histogram.points
    let converter = Oklab.Converter.shared
    // Scale the weights down so that their products with coordinates stay exact in 64 bits.
    let shift = max(0, Int.bitWidth - 32 - histogram.total.leadingZeroBitCount)
    samples = points.map {
      Sample(
        position: converter.color($0.color), color: $0.color, weight: max($0.weight >> shift, 1))
    }
    if samples.contains(where: { !$0.isOpaque }) { clear = [0] }
    if points.count <= count {
      pinned = points.map(\.color)
      return
    }
    let least = max(histogram.total / Self.pinnedShare, 1)
    let candidates = points.filter { $0.isExact && $0.weight >= least }
      .sorted { ($1.weight, $0.color) < ($0.weight, $1.color) }
    pinned = candidates.prefix(count / 2).map(\.color)
  }

  private mutating func find() -> [UInt32] {
    if samples.count <= count { return Self.sorted(pinned) }
    let kept = Set(pinned)
    var centers = cut(samples.filter { !kept.contains($0.color) }, into: count - pinned.count)
    for _ in 0..<Self.roundCount { centers = refined(centers) }
    return Self.sorted(pinned + centers)
  }

  private static func sorted(_ colors: [UInt32]) -> [UInt32] {
    let converter = Oklab.Converter.shared
    return Set(colors).map { ($0 >> 24 == 255 ? 1 : 0, converter.color($0).lightness, $0) }
      .sorted { $0 < $1 }.map(\.2)
  }

  // MARK: Cutting

  private struct Box {
    var range: Range<Int>
    /// The best cut of the box: the axis, the greatest coordinate of the lower part, and the gain. Nil if all samples
    /// of the box are equal.
    var cut: (axis: Int, last: Int32, gain: Double)?
  }

  /// Repeatedly cuts the box whose best cut reduces the error most, until there are `count` boxes, and returns the mean
  /// colours of the boxes. Opaque and translucent samples are never in the same box.
  private func cut(_ samples: [Sample], into count: Int) -> [UInt32] {
    let kinds = [samples.filter(\.isOpaque), samples.filter { !$0.isOpaque }]
    var samples: [Sample] = []
    var boxes: [Box] = []
    var (error, weight) = (0.0, 0)
    for kind in kinds.filter({ !$0.isEmpty }).prefix(count) {
      samples += kind
      boxes.append(Self.box(samples, samples.count - kind.count..<samples.count))
      var all = Sums()
      var squares = 0
      for sample in kind {
        all.add(sample)
        squares += sample.weight * sample.position.distance(to: .black)
      }
      error += Double(squares) - all.spread
      weight += all.weight
    }
    let tolerable = Double(weight) * Self.invisible * Self.invisible
    while boxes.count < count, error > tolerable {
      var best: Int?
      for place in boxes.indices where boxes[place].cut != nil {
        guard let current = best else {
          best = place
          continue
        }
        if (boxes[place].cut?.gain ?? 0) > (boxes[current].cut?.gain ?? 0) { best = place }
      }
      guard let best, let cut = boxes[best].cut else { break }
      error -= cut.gain
      let range = boxes[best].range
      let part = samples[range]
      let lower = part.filter { Self.coordinate($0.position, cut.axis) <= cut.last }
      let upper = part.filter { Self.coordinate($0.position, cut.axis) > cut.last }
      samples.replaceSubrange(range, with: lower + upper)
      let middle = range.lowerBound + lower.count
      boxes[best] = Self.box(samples, range.lowerBound..<middle)
      boxes.append(Self.box(samples, middle..<range.upperBound))
    }
    return boxes.map { Self.mean(samples[$0.range]) }
  }

  private static func coordinate(_ position: Oklab, _ axis: Int) -> Int32 {
    position.vector[axis]
  }

  /// The sum of the weights of some samples, and the sum of their weighted coordinates.
  private struct Sums {
    var weight = 0
    var position: SIMD4<Int> = .zero

    mutating func add(_ sample: Sample) {
      weight += sample.weight
      position &+= SIMD4(truncatingIfNeeded: sample.position.vector) &* sample.weight
    }

    static func + (one: Sums, other: Sums) -> Sums {
      Sums(weight: one.weight + other.weight, position: one.position &+ other.position)
    }

    static func - (one: Sums, other: Sums) -> Sums {
      Sums(weight: one.weight - other.weight, position: one.position &- other.position)
    }

    /// The squared length of ``position``, divided by the weight. Wu's method maximises the sum of this value over all
    /// boxes.
    var spread: Double {
      let sums = SIMD4<Double>(position)
      let squares = sums * sums
      return (squares.x + squares.y + squares.z + squares.w) / Double(weight)
    }
  }

  private static let bucketCount = 64

  private static func box(_ samples: [Sample], _ range: Range<Int>) -> Box {
    var all = Sums()
    for sample in samples[range] { all.add(sample) }
    var box = Box(range: range)
    for axis in 0..<4 {
      var (low, high) = (Int32.max, Int32.min)
      for sample in samples[range] {
        let place = coordinate(sample.position, axis)
        (low, high) = (min(low, place), max(high, place))
      }
      guard low < high else { continue }
      // The width of a bucket, in units of the coordinate.
      let width = (high - low) / Int32(bucketCount) + 1
      var buckets = [Sums](repeating: Sums(), count: bucketCount)
      for sample in samples[range] {
        buckets[Int((coordinate(sample.position, axis) - low) / width)].add(sample)
      }
      var lower = Sums()
      for bucket in 0..<bucketCount - 1 where buckets[bucket].weight > 0 {
        lower = lower + buckets[bucket]
        let upper = all - lower
        guard upper.weight > 0 else { break }
        let gain = lower.spread + upper.spread - all.spread
        if gain > box.cut?.gain ?? 0 {
          box.cut = (axis, low + width * Int32(bucket + 1) - 1, gain)
        }
      }
    }
    return box
  }

  /// Returns the mean colour in sRGB, which is accurate enough because the samples of a box are close together.
  private static func mean(_ samples: ArraySlice<Sample>) -> UInt32 {
    var mean = Mean()
    for sample in samples { mean.add(sample) }
    return mean.color ?? 0xff00_0000
  }

  private struct Mean {
    var weight = 0
    /// The sum of the weighted alphas. A colour counts in proportion to its visibility, so it is also weighted by its
    /// alpha.
    var alpha = 0
    var colors: SIMD3<Int> = .zero

    mutating func add(_ sample: Sample) {
      let (color, seen) = (RGBA(word: sample.color), sample.weight * Int(sample.color >> 24))
      weight += sample.weight
      alpha += seen
      colors &+= SIMD3(Int(color.red), Int(color.green), Int(color.blue)) &* seen
    }

    var color: UInt32? {
      guard weight > 0 else { return nil }
      let samples = (colors &+ alpha / 2) / alpha
      return RGBA(
        red: UInt8(samples.x), green: UInt8(samples.y), blue: UInt8(samples.z),
        alpha: UInt8((alpha + weight / 2) / weight)
      ).word
    }
  }

  // MARK: k-means

  /// Returns the means of the samples closest to each of `centers`. A centre without samples does not move.
  private func refined(_ centers: [UInt32]) -> [UInt32] {
    let entries = centers + pinned + clear
    let all = NearestColor(entries)
    let opaque = clear.isEmpty ? all : NearestColor(entries, isOpaque: true)
    var means = [Mean](repeating: Mean(), count: entries.count)
    for sample in samples {
      let place = (sample.isOpaque ? opaque : all).nearest(to: sample.position).index
      if sample.isOpaque || entries[place] < 0xff00_0000 { means[place].add(sample) }
    }
    return centers.indices.map { means[$0].color ?? centers[$0] }
  }
}

/// A search for the nearest of a few colours. It proceeds outwards from the lightness of the given colour.
package struct NearestColor: Sendable {
  /// The colours in ascending order of lightness.
  private var positions: [Oklab] = []
  private var indices: [Int] = []

  /// Creates a search among `colors`.
  ///
  /// - Parameter isOpaque: Whether only opaque colours are considered, if there are any.
  package init(_ colors: [UInt32], isOpaque: Bool = false) {
    let converter = Oklab.Converter.shared
    let leavesOut = isOpaque && colors.contains { $0 >= 0xff00_0000 }
    let sorted = colors.enumerated().filter { !leavesOut || $0.element >= 0xff00_0000 }
      .map { (converter.color($0.element), $0.offset) }
      .sorted { ($0.0.lightness, $0.1) < ($1.0.lightness, $1.1) }
    positions = sorted.map(\.0)
    indices = sorted.map(\.1)
  }

  /// Returns the first place in the order of lightness whose colour is at least as light as `lightness`.
  private func place(of lightness: Int32) -> Int {
    var (low, high) = (0, positions.count)
    while low < high {
      let middle = (low + high) / 2
      if positions[middle].lightness < lightness { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the places, in the order of lightness, of the colours whose lightness differs from `lightness` by at most
  /// `reach`.
  func places(within reach: Int32, of lightness: Int32) -> Range<Int> {
    place(of: lightness - reach)..<place(of: lightness + reach + 1)
  }

  /// Returns the number of the colour at a place in the order of lightness.
  @inline(__always)
  func index(at place: Int) -> Int { indices[place] }

  /// Returns the number of the nearest colour and the square of its distance. Among equally near colours, the first
  /// found wins. The search order depends only on the colours.
  ///
  /// - Parameter limit: A number that is greater than the square of the least distance. The search is faster if the
  ///   limit is low. Default: no limit.
  package func nearest(
    to color: Oklab, below limit: Int = .max
  ) -> (index: Int, distance: Int) {
    let middle = place(of: color.lightness)
    var (up, down) = (middle, middle - 1)
    var best = (place: 0, distance: limit)
    while up < positions.count || down >= 0 {
      if up < positions.count {
        let step = Int(positions[up].lightness - color.lightness)
        if step * step >= best.distance {
          up = positions.count
        } else {
          let distance = positions[up].distance(to: color)
          if distance < best.distance { best = (up, distance) }
          up += 1
        }
      }
      if down >= 0 {
        let step = Int(color.lightness - positions[down].lightness)
        if step * step >= best.distance {
          down = -1
        } else {
          let distance = positions[down].distance(to: color)
          if distance < best.distance { best = (down, distance) }
          down -= 1
        }
      }
    }
    return (indices[best.place], best.distance)
  }
}
