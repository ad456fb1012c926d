internal import Synchronization
public import Zoetrope

/// A cache that forwards everything to another one, and records requests as numbers.
public final class RecordingCache: FrameCaching {
  private let cache: MemoryFrameCache
  private let state = Mutex((requests: [Int](), numbers: [FrameKey: Int]()))

  /// Records the requests to `cache`.
  public init(_ cache: MemoryFrameCache) { self.cache = cache }

  /// The requested frames in order, numbered by their first request.
  public var requests: [Int] { state.withLock { $0.requests } }

  /// Records the request and passes it on.
  public func frame(for key: FrameKey) -> CachedFrame? {
    state.withLock { state in
      let number = state.numbers[key] ?? state.numbers.count
      state.numbers[key] = number
      state.requests.append(number)
    }
    return cache.frame(for: key)
  }

  /// Passes the frame on.
  public func storeIfPossible(_ frame: CachedFrame, for key: FrameKey) {
    cache.storeIfPossible(frame, for: key)
  }
  /// Removes the image's frames.
  public func remove(_ content: ContentIdentity) { cache.remove(content) }
  /// Removes all frames.
  public func removeAll() { cache.removeAll() }
}

extension RecordingCache: QuickCaching {
  package func hold(_ animation: AnimationKey) -> FrameHold { cache.hold(animation) }
  package func lastBitmap(
    in range: Range<Int>, of animation: AnimationKey
  ) -> (index: Int, bitmap: Bitmap)? { nil }
}
