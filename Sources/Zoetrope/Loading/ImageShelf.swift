internal import Synchronization

/// Recently opened images, keyed by the caller's names, so that showing an image again needs no load.
///
/// The memory of the images (compressed bytes, lists of frames, metadata) counts against the budget and is limited to a
/// quarter of the budget; the least recently used image is dropped first. Each open file also takes a descriptor, so at
/// most ``countLimit`` images are kept, and images that hold open files are dropped when descriptors run out.
package final class ImageShelf: Sendable {
  package static let countLimit = 64

  private let budget: MemoryBudget
  private let state = Mutex(State())
  package let share = BudgetShare(.images)

  private struct State: Sendable {
    var images: [LoadIdentifier: (image: AnimatedImage, cost: Int, turn: Int)] = [:]
    var turn = 0
    var cost = 0

    /// Removes the least recently used image that meets `condition`.
    mutating func removeOldest(
      where condition: ((image: AnimatedImage, cost: Int)) -> Bool = { _ in true }
    ) -> AnimatedImage? {
      let candidates = images.filter { condition(($0.value.image, $0.value.cost)) }
      let oldest = candidates.min { $0.value.turn < $1.value.turn }
      return oldest.flatMap { remove($0.key) }
    }

    mutating func remove(_ id: LoadIdentifier) -> AnimatedImage? {
      guard let old = images.removeValue(forKey: id) else { return nil }
      cost -= old.cost
      return old.image
    }
  }

  /// This shelf's number among the holders of idle files.
  private let holder = IdleFiles.shared.newNumber()

  package init(budget: MemoryBudget) {
    self.budget = budget
    IdleFiles.shared.add(self, holder)
  }

  deinit {
    IdleFiles.shared.remove(holder)
    budget.refundAll(of: share)
  }

  /// The number of images.
  package var count: Int { state.withLock { $0.images.count } }

  /// Returns the image stored under `id`, or nil if there is none.
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
  ///
  /// - Parameter retirement: If this flag is raised before ``remove(_:)`` is called, the image is not stored after it.
  package func put(
    _ image: AnimatedImage, for id: LoadIdentifier, unless retirement: CancelFlag? = nil
  ) {
    budget.stamp(share)
    // Releasing an image closes its file or frees its bytes, so images are released only after unlocking.
    var dropped: [AnimatedImage] = []
    state.withLock { state in
      if retirement?.isRaised == true { return }
      let before = state.cost
      if let old = state.remove(id) { dropped.append(old) }
      state.turn += 1
      let cost = image.residentCost
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
      while before - state.cost < byteCount {
        // First drop images that have at least this size, so that few images are enough. Dropping many small images
        // would free little, and they would have to be opened again.
        let least = (byteCount - (before - state.cost)) / Self.countLimit
        guard let old = state.removeOldest(where: { $0.cost >= least }) ?? state.removeOldest()
        else { break }
        dropped.append(old)
      }
      budget.refund(before - state.cost, of: share)
      return before - state.cost
    }
  }
}

extension ImageShelf: IdleFileHolder {
  package func closeIdleFile() -> Bool {
    let closed = state.withLock { state in
      let before = state.cost
      // An image whose bytes are not all in memory holds an open file.
      let old = state.removeOldest { $0.image.source.residentByteCount < $0.image.byteCount }
      budget.refund(before - state.cost, of: share)
      return old
    }
    return closed != nil
  }
}

/// What is known of an image that was opened before, so that its cached poster can be found.
struct KnownImage {
  let identity: ContentIdentity
  /// The image's identity in the cache's keys.
  let cached: ContentIdentity
  let canvasSize: PixelSize
}

/// What is known of the images of a loader, including those that have left its shelf.
final class KnownImages: Sendable {
  private let images = Mutex<[LoadIdentifier: KnownImage]>([:])

  func image(for id: LoadIdentifier) -> KnownImage? { images.withLock { $0[id] } }

  /// Stores `image` under `id`, unless `retirement` was raised before ``remove(_:ifIdentityIs:)`` was called.
  func put(_ image: KnownImage, for id: LoadIdentifier, unless retirement: CancelFlag? = nil) {
    images.withLock { images in
      if retirement?.isRaised == true { return }
      // Clear the map when it is full. Only the posters of images that have left the shelf are lost.
      if images.count >= 1024 { images.removeAll(keepingCapacity: true) }
      images[id] = image
    }
  }

  /// Removes the image named `id`. If `identity` is not nil, does so only if the image has that identity.
  func remove(_ id: LoadIdentifier, ifIdentityIs identity: ContentIdentity? = nil) {
    images.withLock { images in
      if identity == nil || images[id]?.identity == identity { images[id] = nil }
    }
  }
}
