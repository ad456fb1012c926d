internal import Synchronization

/// The checkpoints of one image, which all readers of the image share.
///
/// The store is charged to a ``MemoryBudget``, and releases its least valuable checkpoints on demand. Losing a
/// checkpoint costs time, never correctness.
package final class CheckpointStore: Sendable {
  /// The maximum number of bytes that the checkpoints of one image take, however much room the budget has.
  package static let defaultByteLimit = 64 << 20

  package let budget: MemoryBudget
  package let byteLimit: Int
  /// Whether measured times replace estimated costs. False in tests that must be repeatable.
  private let isMeasuring: Bool
  /// The number of bytes of one canvas.
  package let canvasCost: Int
  private let state: Mutex<State>
  package let share = BudgetShare(.checkpoints)

  fileprivate struct State: Sendable {
    var policy: CheckpointPolicy
    var canvases: [Int: Bitmap] = [:]
    /// The number of bytes that readers hold for stepping back. They count towards the same limit as the checkpoints.
    var reserved = 0
  }

  /// Creates an empty store for an animation that consists of `frames`.
  package init(
    frames: [FrameControl], canvasSize: PixelSize, format: PixelFormat,
    budget: MemoryBudget = .shared, byteLimit: Int = CheckpointStore.defaultByteLimit,
    isMeasuring: Bool = true
  ) {
    let costs = ReplayCosts(estimates: frames.map(Self.estimate))
    let independent = frames.indices.filter { frames[$0].isIndependent }
    let cost = format.cost(of: canvasSize)
    let policy = CheckpointPolicy(
      costs: costs, independent: independent, startCost: isMeasuring ? Self.startCost(cost) : 0)
    state = Mutex(State(policy: policy))
    canvasCost = cost
    self.budget = budget
    self.byteLimit = byteLimit
    self.isMeasuring = isMeasuring
  }

  /// Estimates the cost of drawing a frame from the size of the frame and the number of its bytes. A compressed byte
  /// costs about four times as much as a pixel. Only the ratios between the costs of frames matter.
  private static func estimate(_ frame: FrameControl) -> Int {
    min(frame.rect.size.area, 1 << 61) + min(4 * frame.byteRange.count, 1 << 61)
  }

  /// Adds to the policy those frames that have arrived since the previous call.
  func grow(with arrivals: any FrameArrivals) {
    let known = state.withLock { $0.policy.count }
    let frames = arrivals.arrival(after: known).frames
    state.withLock { state in
      // Another reader may have added some of these frames in the meantime.
      for frame in frames.dropFirst(state.policy.count - known) {
        state.policy.append(Self.estimate(frame), isIndependent: frame.isIndependent)
      }
    }
  }

  /// Returns the cost of a replay, in nanoseconds, above which a checkpoint is worthwhile.
  ///
  /// Before the canvas of a checkpoint is drawn on, it is copied to a new block of memory, whose pages the system must
  /// map. This takes about 0.75 ns per byte of the canvas, and in total about as long as decoding a small frame. A
  /// checkpoint per frame would therefore double the time of a first pass. With the spacing chosen here, the copies add
  /// an eighth to that time, and a jump replays at most 4 ms, unless a single copy takes longer.
  private static func startCost(_ canvasCost: Int) -> Int {
    let copy = canvasCost / 4 * 3
    return max(copy, min(8 * copy, 4_000_000))
  }

  deinit { budget.refundAll(of: share) }

  /// The maximum number of bytes that may be held now, including the reserved bytes.
  private var limit: Int { min(byteLimit, budget.limit(for: .checkpoints)) }
  /// The maximum number of canvases that may be held now.
  package var capacity: Int {
    state.withLock { max(limit - $0.reserved, 0) / canvasCost }
  }
  /// The memory that one reader may use for stepping back, counted in canvases. It is a quarter of the limit, and at
  /// least two canvases.
  package var trailCapacity: Int { max(limit / canvasCost / 4, 2) }
  /// The number of canvases held.
  package var count: Int { state.withLock { $0.canvases.count } }
  /// The largest number of frames that must be drawn to show a requested frame, counted from the checkpoint or
  /// independent frame at which drawing starts.
  package var longestReplay: Int { state.withLock { $0.policy.longestReplay } }

  /// Returns whether drawing the frames of `stretch` takes at most 1 ns per byte of canvas (the time of about 16 plain
  /// copies) and at most 4 ms. An occasional step back may take that long without being noticed. Returns false if times
  /// are not measured.
  package func isShort(_ stretch: Range<Int>) -> Bool {
    guard isMeasuring else { return false }
    return state.withLock { $0.policy.costs.sum(stretch) } <= min(canvasCost, 4_000_000)
  }

  /// Records that drawing frame `index` took `time`.
  package func record(_ time: Duration, of index: Int) {
    guard isMeasuring else { return }
    let (seconds, attoseconds) = time.components
    let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    state.withLock { $0.policy.costs.record(nanoseconds, of: index) }
  }

  /// Keeps the canvas on which frame `index` is drawn, if that is worthwhile. `canvas`, which returns the canvas, is
  /// called only in that case, with no lock held.
  ///
  /// - Returns: Whether the canvas was kept.
  @discardableResult
  package func offer<Failure: Error>(
    _ index: Int, _ canvas: () throws(Failure) -> Bitmap
  ) throws(Failure) -> Bool {
    budget.stamp(share)
    let capacity = capacity
    guard state.withLock({ $0.policy.accepts(index, capacity: capacity) }) else { return false }
    let bitmap = try canvas()
    // The evicted canvases are collected here so that they are freed after the lock is released.
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

  /// Adds `byteCount`, which may be negative, to the number of bytes that readers hold for stepping back, and evicts
  /// checkpoints to make room for these bytes. The reader itself charges the bytes to the budget.
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

  /// Returns the best start of a replay to frame `index`: the nearest independent frame at or before `index` or, if it
  /// is nearer, the nearest checkpoint with its canvas.
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
