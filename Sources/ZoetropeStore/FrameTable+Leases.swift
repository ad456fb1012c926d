internal import Synchronization

/// Locking of slots while they are read or written.
extension FrameTable {
  /// An object that keeps every process from replacing the pixels of a slot, as long as the object exists.
  final class Lease: Sendable {
    private let table: FrameTable
    private let slot: Int

    fileprivate init(_ table: FrameTable, _ slot: Int) {
      self.table = table
      self.slot = slot
    }

    deinit { table.endLease(of: slot) }
  }

  /// Whether this process neither reads nor writes any slot of the table.
  var isIdle: Bool { state.withLock { $0.leases.allSatisfy { $0 == 0 } } }

  /// Leases `slot` for reading, or returns nil if the slot is being written.
  func lease(_ slot: Int) throws(AnimatedImageError) -> Lease? {
    let isLeased = try state.withLock { (state) throws(AnimatedImageError) in
      guard state.leases[slot] >= 0, state.leases[slot] < .max else { return false }
      if state.leases[slot] == 0 {
        guard try file.setLock(.shared, at: layout.entry(of: slot)) else { return false }
      }
      state.leases[slot] += 1
      return true
    }
    return isLeased ? Lease(self, slot) : nil
  }

  private func endLease(of slot: Int) {
    let isLast = state.withLock { state in
      state.leases[slot] -= 1
      guard state.leases[slot] == 0 else { return false }
      _ = try? file.setLock(.none, at: layout.entry(of: slot))
      return true
    }
    // An empty slot that still takes disk space held a frame that was removed while it was in use, when the space could
    // not be freed.
    if isLast, use(slot) != 0, isEmpty(slot) { try? free(slot) }
  }

  /// Locks `slot` for writing. Returns false if the slot is in use.
  func beginWriting(_ slot: Int) throws(AnimatedImageError) -> Bool {
    try state.withLock { (state) throws(AnimatedImageError) in
      guard state.leases[slot] == 0,
        try file.setLock(.exclusive, at: layout.entry(of: slot))
      else { return false }
      state.leases[slot] = -1
      return true
    }
  }

  func endWriting(_ slot: Int) {
    state.withLock { state in
      state.leases[slot] = 0
      state.checked[slot] = 0
      _ = try? file.setLock(.none, at: layout.entry(of: slot))
    }
  }
}
