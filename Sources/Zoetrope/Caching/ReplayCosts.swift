/// What drawing each frame costs, and the sum over any run of frames in logarithmic time.
///
/// A frame's cost is estimated from its header until it was measured; estimates are put on the
/// scale of the measurements, since only ratios matter before the first one.
package struct ReplayCosts: Sendable {
  private var measured: SumTree
  private var estimated: SumTree
  private var measuredEstimates = 0
  private var cost: [Int?]
  private let estimate: [Int]

  /// Costs of frames with these estimates, in any unit; each counts at least 1.
  package init(estimates: [Int]) {
    estimate = estimates.map { max($0, 1) }
    cost = Array(repeating: nil, count: estimates.count)
    measured = SumTree(count: estimates.count)
    estimated = SumTree(estimate)
  }

  /// Frames.
  package var count: Int { estimate.count }

  /// Takes a measurement, in nanoseconds. The mean with the one before keeps a hiccup from counting
  /// for long.
  package mutating func record(_ nanoseconds: Int, of index: Int) {
    let value = max(nanoseconds, 1)
    if let old = cost[index] {
      let mean = (old + value) / 2
      measured.add(mean - old, at: index)
      cost[index] = mean
    } else {
      measured.add(value, at: index)
      estimated.add(-estimate[index], at: index)
      measuredEstimates += estimate[index]
      cost[index] = value
    }
  }

  /// What drawing the frames of `range` one after the other costs.
  package func sum(_ range: Range<Int>) -> Int {
    let known = measured.sum(range)
    let guessed = estimated.sum(range)
    guard guessed > 0, measuredEstimates > 0 else { return known + guessed }
    let scale = Double(measured.sum(0..<count)) / Double(measuredEstimates)
    return known + Int(Double(guessed) * scale)
  }
}

/// Sums of runs of an array that changes: a Fenwick tree.
struct SumTree: Sendable {
  private var nodes: [Int]

  init(count: Int) { nodes = Array(repeating: 0, count: count + 1) }

  init(_ values: [Int]) {
    self.init(count: values.count)
    for (index, value) in values.enumerated() { add(value, at: index) }
  }

  mutating func add(_ value: Int, at index: Int) {
    var node = index + 1
    while node < nodes.count {
      nodes[node] += value
      node += node & -node
    }
  }

  func sum(_ range: Range<Int>) -> Int { prefix(range.upperBound) - prefix(range.lowerBound) }

  private func prefix(_ count: Int) -> Int {
    var node = count
    var sum = 0
    while node > 0 {
      sum += nodes[node]
      node -= node & -node
    }
    return sum
  }
}
