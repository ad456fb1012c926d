import Synchronization
import Zoetrope

/// A cache that calls `whenAsked` before it answers, while ``isHoldingUp`` is set.
final class HeldUpCache: FrameCaching {
  private let cache = MemoryFrameCache(budget: MemoryBudget(byteLimit: 8 << 20))
  private let holdsUp = Atomic<Bool>(false)
  private let whenAsked: @Sendable () -> Void

  init(whenAsked: @escaping @Sendable () -> Void) { self.whenAsked = whenAsked }

  var isHoldingUp: Bool {
    get { holdsUp.load(ordering: .relaxed) }
    set { holdsUp.store(newValue, ordering: .relaxed) }
  }

  func frame(for key: FrameKey) -> CachedFrame? {
    if isHoldingUp { whenAsked() }
    return cache.frame(for: key)
  }

  func storeIfPossible(_ frame: CachedFrame, for key: FrameKey) {
    cache.storeIfPossible(frame, for: key)
  }
  func remove(_ content: ContentIdentity) { cache.remove(content) }
  func removeAll() { cache.removeAll() }
}
