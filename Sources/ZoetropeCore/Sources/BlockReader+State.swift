extension BlockReader.State {
  mutating func callerStep(blockCount: Int) -> BlockReader.Step {
    switch slots.first {
    case .done(let bytes, let count):
      slots.removeFirst()
      base += 1
      return .give(bytes: bytes, count: count)
    case .failed(let error): return .fail(error)
    case .claimed, nil: break
    }
    if let step = claim(blockCount: blockCount) { return step }
    isCallerWaiting = true
    return .wait
  }

  mutating func helperStep(blockCount: Int) -> BlockReader.Step {
    guard !isStopped, base + slots.count < blockCount else { return .end }
    if let step = claim(blockCount: blockCount) { return step }
    isHelperWaiting = true
    return .wait
  }

  private mutating func claim(blockCount: Int) -> BlockReader.Step? {
    let block = base + slots.count
    guard block < blockCount, slots.count < BlockReader.window else { return nil }
    slots.append(.claimed)
    return .read(block: block, into: spares.popLast() ?? [])
  }

  /// A block was read; says whether the caller has to be woken.
  mutating func finish(_ block: Int, _ slot: BlockReader.Slot) -> Bool {
    slots[block - base] = slot
    guard block == base, isCallerWaiting else { return false }
    isCallerWaiting = false
    return true
  }

  /// Keeps the memory of a block; says whether the helper has to be woken.
  mutating func takeBack(_ bytes: [UInt8]) -> Bool {
    spares.append(bytes)
    defer { isHelperWaiting = false }
    return isHelperWaiting
  }
}
