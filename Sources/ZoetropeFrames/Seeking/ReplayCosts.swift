/// The cost of drawing each frame of an animation. The sum of the costs of any range of frames is available in constant
/// time.
///
/// The cost of a frame is estimated until it is measured. The estimates are multiplied by the ratio between the
/// measurements made so far and the estimates for the same frames. Before the first measurement, only the ratios
/// between costs are meaningful.
///
/// The sums are recomputed whenever another 1/256 of the frames has been measured, so a measurement costs 256 additions
/// on average, whatever the number of frames.
///
/// Each cost is clamped so that the sum of all costs never exceeds a quarter of `Int.max`, whatever the estimates are
/// and however many frames are appended.
package struct ReplayCosts: Sendable {
  private var estimate: [Int]
  private var measured: [Int?]
  private var measuredSum = 0
  private var measuredEstimates = 0
  /// The factor by which estimates are multiplied.
  private var scale = 1.0
  /// The sum of the costs before each frame, followed by the sum of all costs. The sums do not include the measurements
  /// that ``newCount`` counts.
  private var sums = [0]
  /// The number of measurements that were recorded after ``sums`` was computed.
  private var newCount = 0
  private let most: Int

  /// The number of bytes of memory that are used per frame.
  package static let bytesPerFrame = 2 * MemoryLayout<Int>.stride + MemoryLayout<Int?>.stride

  /// Creates costs from estimates in any unit. An estimate below 1 counts as 1.
  package init(estimates: consuming [Int]) {
    most = Self.greatestSum / max(estimates.count, Self.mostAppended)
    for index in estimates.indices { estimates[index] = min(max(estimates[index], 1), most) }
    estimate = estimates
    measured = Array(repeating: nil, count: estimates.count)
    addUp()
  }

  private static let greatestSum = Int.max / 4
  /// Appending a frame always succeeds up to this number of frames. Even then, the cost of a frame can be as high as a
  /// minute.
  private static let mostAppended = 1 << 25

  /// Appends the cost of another frame, unless the sum of all costs could then become too large.
  mutating func append(_ estimate: Int) {
    guard (count + 1) <= Self.greatestSum / most else { return }
    self.estimate.append(min(max(estimate, 1), most))
    measured.append(nil)
    sums.append(sums[count - 1] + cost(of: count - 1))
  }

  /// The number of frames.
  package var count: Int { estimate.count }

  /// Records that drawing frame `index` took `nanoseconds`. If the frame has been measured before, the mean of the
  /// previous value and the new one is recorded, to smooth outliers.
  package mutating func record(_ nanoseconds: Int, of index: Int) {
    guard index < count else { return }
    var value = min(max(nanoseconds, 1), most)
    if let old = measured[index] {
      value = (old + value) / 2
      measuredSum -= old
    } else {
      measuredEstimates += estimate[index]
    }
    measuredSum += value
    measured[index] = value
    newCount += 1
    if newCount > count / 256 { addUp() }
  }

  private mutating func addUp() {
    if measuredEstimates > 0 { scale = Double(measuredSum) / Double(measuredEstimates) }
    newCount = 0
    sums.removeAll(keepingCapacity: true)
    sums.reserveCapacity(count + 1)
    sums.append(0)
    for index in 0..<count { sums.append(sums[index] + cost(of: index)) }
  }

  private func cost(of index: Int) -> Int {
    measured[index] ?? Int(min(Double(estimate[index]) * scale, Double(most)))
  }

  /// Returns the cost of drawing the frames of `range` in sequence.
  package func sum(_ range: Range<Int>) -> Int { sums[range.upperBound] - sums[range.lowerBound] }
}
