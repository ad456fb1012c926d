extension MappedReader {
  /// What became of a block that somebody looks at ahead of the caller.
  enum Slot {
    case claimed
    case seen(Sight)
  }

  /// What a thread does next.
  enum Step {
    /// The caller uses a block, with what was seen in it when somebody looked ahead.
    case take(block: Int, Sight?)
    case look(block: Int)
    /// Takes the pages of these blocks out of the mapping.
    case release(blocks: Range<Int>)
    /// For ``State/takeWakeUp()`` or ``State/stop()``, the other thread alone.
    case wait
    case end
  }

  struct State {
    let blockCount: Int
    /// Slots of the blocks from `base` on, which the caller takes next.
    var slots: [Slot] = []
    var base = 0
    /// Blocks whose pages were taken out.
    var released = 0
    var isHelperWaiting = false
    var isStopped = false

    init(blockCount: Int) { self.blockCount = blockCount }
  }
}

extension MappedReader.State {
  /// What the caller does next, who is done with the block that it had.
  mutating func callerStep(trail: Int) -> MappedReader.Step {
    guard base < blockCount else { return .end }
    if let blocks = takeTrail(ofAtLeast: trail) { return .release(blocks: blocks) }
    switch slots.first {
    case nil:
      // Nobody has begun it, and to look ahead of oneself is to look twice.
      base += 1
      return .take(block: base - 1, nil)
    case .seen(let sight):
      slots.removeFirst()
      base += 1
      return .take(block: base - 1, sight)
    case .claimed: break
    }
    if let step = claim() { return step }
    // The other thread may be held up for long: what it will have seen is not waited for.
    slots.removeFirst()
    base += 1
    return .take(block: base - 1, nil)
  }

  mutating func helperStep(trail: Int) -> MappedReader.Step {
    guard !isStopped, base + slots.count < blockCount else { return .end }
    if let blocks = takeTrail(ofAtLeast: trail) { return .release(blocks: blocks) }
    if let step = claim() { return step }
    isHelperWaiting = true
    return .wait
  }

  private mutating func claim() -> MappedReader.Step? {
    let block = base + slots.count
    guard block < blockCount, slots.count < MappedReader.lead else { return nil }
    slots.append(.claimed)
    return .look(block: block)
  }

  /// Keeps what was seen in a block, unless the caller has taken it meanwhile.
  mutating func finish(_ block: Int, _ sight: Sight) {
    if block >= base { slots[block - base] = .seen(sight) }
  }

  /// Ends the other thread's waiting when half of the lead is used up; says whether it waited.
  ///
  /// Not at every block: waking it takes longer than looking at one.
  mutating func takeWakeUp() -> Bool {
    guard isHelperWaiting, slots.count <= MappedReader.lead / 2 else { return false }
    isHelperWaiting = false
    return true
  }

  /// Ends the work of the other thread; says whether it waited.
  mutating func stop() -> Bool {
    isStopped = true
    defer { isHelperWaiting = false }
    return isHelperWaiting
  }

  /// The blocks behind the caller's, when they are many.
  private mutating func takeTrail(ofAtLeast count: Int) -> Range<Int>? {
    guard base - 1 - released >= count else { return nil }
    defer { released = base - 1 }
    return released..<base - 1
  }
}

extension MappedReader.Step: Equatable where Sight: Equatable {}
