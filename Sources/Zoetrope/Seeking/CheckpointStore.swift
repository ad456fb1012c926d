internal import Synchronization

/// The canvases of one image from which replays start, shared by all its readers.
///
/// Charged to a ``MemoryBudget``; gives up the checkpoint that is worth least when asked to. What it
/// gives up costs time, never correctness.
package final class CheckpointStore: Sendable {
  /// Bytes that the canvases of one image may take, whatever the budget has left.
  package static let defaultByteLimit = 64 << 20

  package let budget: MemoryBudget
  package let byteLimit: Int
  /// Whether measured times replace estimates; false for tests that are to come out alike.
  private let isMeasuring: Bool
  /// Bytes of one canvas.
  package let canvasCost: Int
  private let state: Mutex<State>
  package let share = BudgetShare(.checkpoints)

  fileprivate struct State: Sendable {
    var policy: CheckpointPolicy
    var canvases: [Int: Bitmap] = [:]
    /// Bytes that readers hold on their way back, within the same limit.
    var reserved = 0
  }

  /// An empty store for an animation of `frames`.
  package init(
    frames: [FrameControl], canvasSize: PixelSize, format: PixelFormat,
    budget: MemoryBudget = .shared, byteLimit: Int = CheckpointStore.defaultByteLimit,
    isMeasuring: Bool = true
  ) {
    // A compressed byte costs about four times what a pixel does; only the ratio between frames counts.
    let costs = ReplayCosts(
      estimates: frames.map {
        min($0.rect.size.area, 1 << 61) + min(4 * $0.byteRange.count, 1 << 61)
      }
    )
    let independent = frames.indices.filter { frames[$0].isIndependent }
    let cost = max(format.bytesPerRow(width: canvasSize.width) * canvasSize.height, 64)
    let policy = CheckpointPolicy(
      costs: costs, independent: independent, startCost: isMeasuring ? Self.startCost(cost) : 0)
    state = Mutex(State(policy: policy))
    canvasCost = cost
    self.budget = budget
    self.byteLimit = byteLimit
    self.isMeasuring = isMeasuring
  }

  /// Nanoseconds, like measured costs, that a replay has to take for a checkpoint to spare it.
  ///
  /// The canvas goes to a new block before it is drawn on, whose pages the system has to enter: some
  /// 0.75 ns a byte, as long as decoding a small frame takes. One for each frame on the way made a first
  /// pass twice as long; at this distance they are an eighth of it, and a jump replays 4 ms at most
  /// where one copy does not take longer than that by itself.
  private static func startCost(_ canvasCost: Int) -> Int {
    let copy = canvasCost / 4 * 3
    return max(copy, min(8 * copy, 4_000_000))
  }

  deinit { budget.refundAll(of: share) }

  /// Bytes that it may hold now, what is reserved included.
  private var limit: Int { min(byteLimit, budget.limit(for: .checkpoints)) }
  /// Canvases that it may hold now.
  package var capacity: Int {
    state.withLock { max(limit - $0.reserved, 0) / canvasCost }
  }
  /// Canvases' worth of bytes that one reader may keep on its way back: a quarter of the room.
  package var trailCapacity: Int { max(limit / canvasCost / 4, 2) }
  /// Canvases that it holds.
  package var count: Int { state.withLock { $0.canvases.count } }
  /// Bytes that it holds.
  package var byteCount: Int { state.withLock { $0.canvases.count } * canvasCost }
  /// The most frames that are drawn to reach one.
  package var longestReplay: Int { state.withLock { $0.policy.longestReplay } }

  /// Whether drawing the frames of `stretch` takes no longer than copying a canvas 16 times or so, at
  /// most 4 ms: what a step back may take now and then without being felt. False without measurements.
  package func isShort(_ stretch: Range<Int>) -> Bool {
    guard isMeasuring else { return false }
    return state.withLock { $0.policy.costs.sum(stretch) } <= min(canvasCost, 4_000_000)
  }

  /// Takes note of how long drawing frame `index` took.
  package func record(_ time: Duration, of index: Int) {
    guard isMeasuring else { return }
    let (seconds, attoseconds) = time.components
    let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    state.withLock { $0.policy.costs.record(nanoseconds, of: index) }
  }

  /// Keeps the canvas that frame `index` is drawn on, if it is worth it; `canvas` is asked only then,
  /// with no lock held.
  ///
  /// - Returns: Whether it was.
  @discardableResult
  package func offer<Failure: Error>(
    _ index: Int, _ canvas: () throws(Failure) -> Bitmap
  ) throws(Failure) -> Bool {
    budget.stamp(share)
    let capacity = capacity
    guard state.withLock({ $0.policy.accepts(index, capacity: capacity) }) else { return false }
    let bitmap = try canvas()
    // Freed when this goes, after the lock is given back.
    var dropped: [Bitmap] = []
    let keeps = state.withLock { state in
      guard state.canvases[index] == nil else { return false }
      while state.canvases.count >= max(capacity, 1), let old = state.dropLeast() {
        dropped.append(old)
        budget.refund(canvasCost, of: share)
      }
      state.policy.keep(index)
      state.canvases[index] = bitmap
      budget.charge(canvasCost, to: self)
      return true
    }
    budget.settle()
    return keeps
  }

  /// Makes room for `byteCount` bytes more (or less) that a reader holds on its way back and charges to
  /// the budget itself.
  package func reserve(_ byteCount: Int) {
    let limit = limit
    var dropped: [Bitmap] = []
    state.withLock { state in
      state.reserved += byteCount
      while state.reserved + state.canvases.count * canvasCost > limit, let old = state.dropLeast()
      {
        dropped.append(old)
      }
    }
    budget.refund(dropped.count * canvasCost, of: share)
  }

  /// Where a replay to frame `index` starts best: the nearest frame before it that needs no canvas,
  /// or the nearest with its canvas.
  package func start(for index: Int) -> (index: Int, canvas: Bitmap?) {
    budget.stamp(share)
    return state.withLock { state in
      let start = state.policy.start(upTo: index)
      return (start, state.canvases[start])
    }
  }
}

extension CheckpointStore.State {
  fileprivate mutating func dropLeast() -> Bitmap? {
    policy.dropLeast().flatMap { canvases.removeValue(forKey: $0) }
  }
}

extension CheckpointStore: BudgetMember {
  package func shed(_ byteCount: Int) -> Int {
    var dropped: [Bitmap] = []
    state.withLock { state in
      while dropped.count * canvasCost < byteCount, let old = state.dropLeast() {
        dropped.append(old)
      }
    }
    let freed = dropped.count * canvasCost
    budget.refund(freed, of: share)
    return freed
  }
}
