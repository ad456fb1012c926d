/// Decides for which frames a canvas is kept. The policy is a value without pixels.
///
/// *Checkpoint k* is the canvas on which frame `k` is drawn, and from which a replay can start. A replay can start at
/// an independent frame without a canvas, so independent frames never become checkpoints. The worth of a checkpoint is
/// the replay that it saves: the cost of drawing from the previous starting point to the checkpoint, times the number
/// of frames that are reached from the checkpoint. All canvases of an image have the same size, so ordering checkpoints
/// by worth is the same as ordering them by worth per byte.
package struct CheckpointPolicy: Sendable {
  /// The frame indices of the checkpoints, in ascending order.
  package private(set) var kept: [Int] = []
  /// The cost of drawing each frame.
  package var costs: ReplayCosts
  private var independent: [Int]
  /// The cost of starting a replay at a checkpoint. A checkpoint that saves less than this cost is not worth its
  /// memory.
  private let startCost: Int

  /// Creates a policy without checkpoints. `independent` lists, in ascending order, the frames that need no other
  /// frame. Frame 0 always counts as independent.
  package init(costs: ReplayCosts, independent: [Int], startCost: Int = 0) {
    self.startCost = startCost
    self.costs = costs
    self.independent = independent.first == 0 ? independent : [0] + independent
  }

  /// The number of frames in the animation.
  package var count: Int { costs.count }

  /// Appends a frame to the end of an animation that is still arriving. This takes amortized constant time.
  mutating func append(_ estimate: Int, isIndependent: Bool) {
    if isIndependent, count > 0 { independent.append(count) }
    costs.append(estimate)
  }

  /// Returns the last frame at or before `index` at which drawing can start.
  package func start(upTo index: Int) -> Int {
    max(Self.last(independent, upTo: index) ?? 0, Self.last(kept, upTo: index) ?? 0)
  }

  /// Returns the first frame after `index` at which drawing can start, or ``count`` if there is none.
  package func nextStart(after index: Int) -> Int {
    min(Self.first(independent, after: index) ?? count, Self.first(kept, after: index) ?? count)
  }

  /// The largest number of frames that must be drawn to show a requested frame, counted from the checkpoint or
  /// independent frame at which drawing starts.
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

  /// Returns whether it is worthwhile to keep a canvas for frame `index` when there is room for `capacity` canvases.
  ///
  /// Starting points are spread so that the replays between them cost about the same. A candidate close to another
  /// starting point is therefore rejected. When no room is left, a candidate must be worth a quarter more than the
  /// least valuable checkpoint, so that two checkpoints of equal worth do not keep evicting each other.
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

  /// Adds a checkpoint for frame `index`.
  package mutating func keep(_ index: Int) {
    let place = kept.partitioningIndex { $0 >= index }
    guard place == kept.count || kept[place] != index else { return }
    kept.insert(index, at: place)
  }

  /// Removes the least valuable checkpoint and returns its frame index, or returns nil if there are no checkpoints.
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

  /// Returns the worth of a checkpoint for frame `index`, clamped to half of `Int.max`. If costs are measured, this is
  /// the number of nanoseconds saved if each frame that is reached from the checkpoint is requested once.
  private func worth(of index: Int) -> Int {
    let worth = costs.sum(start(upTo: index - 1)..<index)
      .multipliedClamped(by: nextStart(after: index) - index)
    return min(worth, .max / 2)
  }

  private static func last(_ sorted: [Int], upTo value: Int) -> Int? {
    let place = sorted.partitioningIndex { $0 > value }
    return place > 0 ? sorted[place - 1] : nil
  }

  private static func first(_ sorted: [Int], after value: Int) -> Int? {
    let place = sorted.partitioningIndex { $0 > value }
    return place < sorted.count ? sorted[place] : nil
  }
}
