/// Decides at which frames a canvas is kept. A pure value, no pixels.
///
/// *Checkpoint k* stands for the canvas that frame `k` is drawn on, so that a replay can start there.
/// Frames that are independent are starting points for nothing and never become checkpoints.
/// A checkpoint is worth the replay that it spares: the cost from the starting point before it,
/// times the frames that are reached through it. All canvases of an image cost the same bytes, so
/// worth orders them as worth per byte would.
package struct CheckpointPolicy: Sendable {
  /// Checkpoints kept, in order.
  package private(set) var kept: [Int] = []
  /// What drawing costs.
  package var costs: ReplayCosts
  private let independent: [Int]
  /// What starting at a checkpoint costs: one that spares less is not worth its memory.
  private let startCost: Int

  /// A policy with nothing kept. `independent` lists the frames that need no other, in order;
  /// frame 0 is always one.
  package init(costs: ReplayCosts, independent: [Int], startCost: Int = 0) {
    self.startCost = startCost
    self.costs = costs
    self.independent = independent.first == 0 ? independent : [0] + independent
  }

  /// Frames of the animation.
  package var count: Int { costs.count }

  /// The last frame up to `index` at which drawing can start.
  package func start(upTo index: Int) -> Int {
    max(Self.last(independent, upTo: index) ?? 0, Self.last(kept, upTo: index) ?? 0)
  }

  /// The first frame after `index` at which drawing can start; ``count`` when there is none.
  package func nextStart(after index: Int) -> Int {
    min(Self.first(independent, after: index) ?? count, Self.first(kept, after: index) ?? count)
  }

  /// Frames drawn to reach the frame that is furthest from its starting point.
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

  /// Whether a canvas for frame `index` is worth keeping with room for `capacity` of them.
  ///
  /// Starting points are spread so that the replays between them cost the same; a place near an
  /// earlier or a later one is refused. When all room is taken, it has to be worth a quarter more
  /// than the least of those kept, so that two of equal worth do not push each other out for ever.
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

  /// Keeps `index`.
  package mutating func keep(_ index: Int) {
    let place = Self.place(of: index, in: kept)
    guard place == kept.count || kept[place] != index else { return }
    kept.insert(index, at: place)
  }

  /// Gives up the checkpoint that is worth least; nil when there is none.
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

  /// Nanoseconds spared, over all frames reached through a checkpoint at `index`.
  private func worth(of index: Int) -> Int {
    let (worth, overflow) = costs.sum(start(upTo: index - 1)..<index)
      .multipliedReportingOverflow(by: nextStart(after: index) - index)
    return overflow ? .max : worth
  }

  /// The place of the first element that is not less than `value`.
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
