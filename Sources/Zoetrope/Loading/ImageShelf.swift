internal import Synchronization

/// Recently opened images by the caller's names, so that showing one again needs no load.
///
/// Their compressed bytes are charged to the budget and limited to a quarter of it; the least recently
/// used image goes first. A file costs an open descriptor instead, so at most ``countLimit`` are kept.
package final class ImageShelf: Sendable {
  package static let countLimit = 64

  private let budget: MemoryBudget
  private let state = Mutex(State())
  package let share = BudgetShare(.images)

  private struct State: Sendable {
    var images: [LoadIdentifier: (image: AnimatedImage, cost: Int, turn: Int)] = [:]
    var turn = 0
    var cost = 0

    /// Removes the least recently used image, or with `withCost` the least recently used one that holds
    /// memory.
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

  /// Number of images.
  package var count: Int { state.withLock { $0.images.count } }

  /// The image stored under `id`, if it is still there.
  package func image(for id: LoadIdentifier) -> AnimatedImage? {
    budget.stamp(share)
    return state.withLock { state in
      state.turn += 1
      guard let image = state.images[id]?.image else { return nil }
      state.images[id]?.turn = state.turn
      return image
    }
  }

  /// Stores `image` under `id`, replacing any previous image.
  package func put(_ image: AnimatedImage, for id: LoadIdentifier) {
    budget.stamp(share)
    // Releasing an image closes its file or frees its bytes: do so after unlocking.
    var dropped: [AnimatedImage] = []
    state.withLock { state in
      let before = state.cost
      if let old = state.remove(id) { dropped.append(old) }
      state.turn += 1
      // A file is read on demand and takes no memory.
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

  /// Removes the image named `id`.
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
      // Only images with a cost: closing files frees no memory.
      while before - state.cost < byteCount, let old = state.removeOldest(withCost: true) {
        dropped.append(old)
      }
      budget.refund(before - state.cost, of: share)
      return before - state.cost
    }
  }
}
