internal import Synchronization

/// Images that were opened before, by what the caller calls them, so that a second show needs no load.
///
/// Their compressed bytes are charged to the budget, of which they may take a quarter; the image used
/// longest ago goes first. A file on disk costs an open descriptor instead: at most ``countLimit``.
package final class ImageShelf: Sendable {
  package static let countLimit = 64

  private let budget: MemoryBudget
  private let state = Mutex(State())
  package let share = BudgetShare(.images)

  private struct State: Sendable {
    var images: [LoadIdentifier: (image: AnimatedImage, cost: Int, turn: Int)] = [:]
    var turn = 0
    var cost = 0

    /// Takes the image away that was used longest ago, of those with a cost if only they count.
    mutating func removeOldest(withCost: Bool = false) -> AnimatedImage? {
      let candidates = images.lazy.filter { !withCost || $0.value.cost > 0 }
      guard let oldest = candidates.min(by: { $0.value.turn < $1.value.turn })?.key else {
        return nil
      }
      return remove(oldest)
    }

    mutating func remove(_ id: LoadIdentifier) -> AnimatedImage? {
      guard let old = images.removeValue(forKey: id) else { return nil }
      cost -= old.cost
      return old.image
    }
  }

  package init(budget: MemoryBudget) { self.budget = budget }

  deinit { budget.refundAll(of: share) }

  /// Images held.
  package var count: Int { state.withLock { $0.images.count } }

  /// The image that was put there under `id`, if it is still there.
  package func image(for id: LoadIdentifier) -> AnimatedImage? {
    budget.stamp(share)
    return state.withLock { state in
      state.turn += 1
      guard let image = state.images[id]?.image else { return nil }
      state.images[id]?.turn = state.turn
      return image
    }
  }

  /// Puts `image` there under `id`, in place of what was.
  package func put(_ image: AnimatedImage, for id: LoadIdentifier) {
    budget.stamp(share)
    // Images close files and free bytes when they go: after the lock is given back.
    var dropped: [AnimatedImage] = []
    state.withLock { state in
      let before = state.cost
      if let old = state.remove(id) { dropped.append(old) }
      state.turn += 1
      // A file is read as needed and takes no memory.
      let cost = image.source is FileSource ? 0 : image.byteCount
      state.images[id] = (image, cost, state.turn)
      state.cost += cost
      while state.images.count > Self.countLimit, let old = state.removeOldest() {
        dropped.append(old)
      }
      budget.charge(state.cost - before, to: self)
    }
    budget.settle()
  }

  /// Takes the image of that name away.
  package func remove(_ id: LoadIdentifier) {
    let old = state.withLock { state in
      let before = state.cost
      let old = state.remove(id)
      budget.charge(state.cost - before, to: self)
      return old
    }
    _ = consume old
  }
}

extension ImageShelf: BudgetMember {
  package func shed(_ byteCount: Int) -> Int {
    var dropped: [AnimatedImage] = []
    return state.withLock { state in
      let before = state.cost
      // Files cost nothing here: closing them would free no byte.
      while before - state.cost < byteCount, let old = state.removeOldest(withCost: true) {
        dropped.append(old)
      }
      budget.refund(before - state.cost, of: share)
      return before - state.cost
    }
  }
}
