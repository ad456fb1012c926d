/// Decides at which frames a canvas is kept. A pure value without pixels.
///
/// *Checkpoint k* is the canvas that frame `k` is drawn on, where a replay can start. Independent
/// frames are free starting points and never become checkpoints. A checkpoint is worth the replay
/// that it saves: the cost from the starting point before it, times the number of frames reached
/// through it. All canvases of an image have the same size, so ordering by worth and by worth per
/// byte is the same.
package struct CheckpointPolicy: Sendable {
  /// Indices of the checkpoints kept, ascending.
  package private(set) var kept: [Int] = []
  /// The cost of drawing each frame.
  package var costs: ReplayCosts
  private var independent: [Int]
  /// The cost of starting at a checkpoint. One that saves less is not worth its memory.
  private let startCost: Int

  /// A policy without checkpoints. `independent` lists the frames that need no other, in order;
  /// frame 0 always counts as independent.
  package init(costs: ReplayCosts, independent: [Int], startCost: Int = 0) {
    self.startCost = startCost
    self.costs = costs
    self.independent = independent.first == 0 ? independent : [0] + independent
  }

  /// Number of frames in the animation.
  package var count: Int { costs.count }

  /// Adds a frame at the end of an animation that is still arriving. Takes logarithmic time.
  mutating func append(_ estimate: Int, isIndependent: Bool) {
    if isIndependent, count > 0 { independent.append(count) }
    costs.append(estimate)
  }

  /// The last frame at or before `index` where drawing can start.
  package func start(upTo index: Int) -> Int {
    max(Self.last(independent, upTo: index) ?? 0, Self.last(kept, upTo: index) ?? 0)
  }

  /// The first frame after `index` where drawing can start; ``count`` if there is none.
  package func nextStart(after index: Int) -> Int {
    min(Self.first(independent, after: index) ?? count, Self.first(kept, after: index) ?? count)
  }

  /// The maximum number of frames drawn to reach any frame from its starting point.
  package var longestReplay: Int {
    var longest = 0
    var index = 0
    while index < count {
      let next = nextStart(after: index)
      longest = max(longest, next - index)
      index = next
    }
    return longest
  }

  /// Whether a canvas for frame `index` is worth keeping, given room for `capacity` canvases.
  ///
  /// Starting points are spread so that the replays between them cost the same; one close to
  /// another is rejected. When there is no room left, a new one must be worth a quarter more than
  /// the least valuable checkpoint, so that two of equal worth do not keep evicting each other.
  package func accepts(_ index: Int, capacity: Int) -> Bool {
    guard capacity > 0, index > 0, index < count, Self.last(independent, upTo: index) != index,
      Self.last(kept, upTo: index) != index
    else { return false }
    let spacing = costs.sum(0..<count) / (capacity + 1)
    guard costs.sum(start(upTo: index)..<index) >= max(spacing, startCost, 1) else { return false }
    let next = nextStart(after: index)
    if next < count, costs.sum(index..<next) < spacing / 2 { return false }
    guard kept.count >= capacity, let least = leastWorth else { return true }
    return worth(of: index) > least.worth + least.worth / 4
  }

  /// Adds `index` to the checkpoints.
  package mutating func keep(_ index: Int) {
    let place = Self.place(of: index, in: kept)
    guard place == kept.count || kept[place] != index else { return }
    kept.insert(index, at: place)
  }

  /// Removes and returns the least valuable checkpoint; nil if there is none.
  package mutating func dropLeast() -> Int? {
    guard let least = leastWorth else { return nil }
    kept.remove(at: least.place)
    return least.index
  }

  private var leastWorth: (place: Int, index: Int, worth: Int)? {
    var least: (place: Int, index: Int, worth: Int)?
    for (place, index) in kept.enumerated() {
      let worth = worth(of: index)
      if worth < least?.worth ?? .max { least = (place, index, worth) }
    }
    return least
  }

  /// Nanoseconds saved over all frames reached through a checkpoint at `index`, at most half of
  /// `Int.max`.
  private func worth(of index: Int) -> Int {
    let (worth, overflow) = costs.sum(start(upTo: index - 1)..<index)
      .multipliedReportingOverflow(by: nextStart(after: index) - index)
    return overflow ? .max / 2 : min(worth, .max / 2)
  }

  /// The position of the first element that is not less than `value`.
  private static func place(of value: Int, in sorted: [Int]) -> Int {
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      if sorted[middle] < value { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private static func last(_ sorted: [Int], upTo value: Int) -> Int? {
    let place = place(of: value + 1, in: sorted)
    return place > 0 ? sorted[place - 1] : nil
  }

  private static func first(_ sorted: [Int], after value: Int) -> Int? {
    let place = place(of: value + 1, in: sorted)
    return place < sorted.count ? sorted[place] : nil
  }
}

/// The cost of drawing each frame, and the sum over any range of frames in constant time.
///
/// A frame's cost is estimated from its header until it is measured. Estimates are scaled by the
/// ratio of measurements to their estimates; before the first measurement, only ratios matter.
///
/// The sums are added up anew after every 256th part of the frames was measured, so that a measurement
/// costs 256 additions whatever the number of frames.
///
/// Each cost is clamped so that the sum never exceeds a quarter of `Int.max`, whatever the headers
/// say and however many frames are appended.
package struct ReplayCosts: Sendable {
  private var estimate: [Int]
  private var measured: [Int?]
  private var measuredSum = 0
  private var measuredEstimates = 0
  /// What an estimate is multiplied by.
  private var scale = 1.0
  /// The sums of the costs before each frame, and of all; as of the last time they were added up.
  private var sums = [0]
  /// Measurements since then.
  private var newCount = 0
  private let most: Int

  /// Bytes of memory for each frame.
  package static let bytesPerFrame = 2 * MemoryLayout<Int>.stride + MemoryLayout<Int?>.stride

  /// Costs from estimates in any unit; each counts as at least 1.
  package init(estimates: [Int]) {
    let most = Self.greatestSum / max(estimates.count, Self.mostAppended)
    self.most = most
    estimate = estimates.map { min(max($0, 1), most) }
    measured = Array(repeating: nil, count: estimates.count)
    addUp()
  }

  private static let greatestSum = Int.max / 4
  /// Frames that may be appended in any case: each then costs up to a minute.
  private static let mostAppended = 1 << 25

  /// Adds a frame at the end, unless the sum could become too large.
  mutating func append(_ estimate: Int) {
    guard (count + 1) <= Self.greatestSum / most else { return }
    self.estimate.append(min(max(estimate, 1), most))
    measured.append(nil)
    sums.append(sums[count - 1] + cost(of: count - 1))
  }

  /// Number of frames.
  package var count: Int { estimate.count }

  /// Records a measurement in nanoseconds. Averages it with the previous one, to smooth outliers.
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
    sums.append(0)
    for index in 0..<count { sums.append(sums[index] + cost(of: index)) }
  }

  private func cost(of index: Int) -> Int {
    measured[index] ?? Int(min(Double(estimate[index]) * scale, Double(most)))
  }

  /// The cost of drawing the frames of `range` in sequence.
  package func sum(_ range: Range<Int>) -> Int { sums[range.upperBound] - sums[range.lowerBound] }
}
