import Synchronization
import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

/// No call that may wait for a disk runs in a task, whose thread belongs to the cooperative pool.
@Suite(.timeLimit(.minutes(10))) struct StoreThreadTests {
  private enum Local {
    @TaskLocal static var isInTask = false
  }

  /// A blocking cache that counts calls made in a task.
  private final class Witness: FrameCaching {
    private let store: FrameStore
    let calls = Mutex((inTask: 0, elsewhere: 0))

    init(_ store: FrameStore) { self.store = store }

    private func note() {
      calls.withLock { if Local.isInTask { $0.inTask += 1 } else { $0.elsewhere += 1 } }
    }

    var mayBlock: Bool { true }
    var backing: (any FrameCaching)? { store }
    func frame(for key: FrameKey) -> CachedFrame? {
      note()
      return store.frame(for: key)
    }
    func storeIfPossible(_ frame: CachedFrame, for key: FrameKey) {
      note()
      store.storeIfPossible(frame, for: key)
    }
    func remove(_ content: ContentIdentity) { store.remove(content) }
    func removeAll() { store.removeAll() }
    func identity(
      of image: AnimatedImage, isCancelled: () -> Bool
    ) throws(AnimatedImageError) -> ContentIdentity {
      note()
      return try store.identity(of: image, isCancelled: isCancelled)
    }
  }

  private let scratch: ScratchDirectory
  private let path = FilePath(FixtureLibrary().root).appending("Demo/variable-delay.gif")

  init() throws { scratch = try ScratchDirectory() }

  @Test func `lookups run on the library's own threads, whatever asks`() async throws {
    let witness = Witness(try FrameStore(at: scratch.path.appending("store")))
    let path = path
    try await Local.$isInTask.withValue(true) {
      let image = try await AnimatedImage.open(path)
      for _ in 0..<2 {
        _ = try await image.bitmap(at: 1, cache: witness)
        _ = try await SharedFrames(image, cache: witness).frame(at: 2)
        let loader = FrameLoader(cache: witness, budget: MemoryBudget(byteLimit: 8 << 20))
        _ = try await loader.bitmap(forFileAt: path)
        for await phase in loader.phases(forFileAt: path) {
          guard case .playing(let scheduler) = phase else { continue }
          for await _ in scheduler.play().stream { break }
        }
      }
    }
    let calls = witness.calls.withLock { $0 }
    #expect(calls.inTask == 0)
    #expect(calls.elsewhere > 8)
  }

  @Test func `a poster that another process stored is shown before the file is read`() async throws
  {
    let directory = scratch.path.appending("store")
    let rendering = Rendering(target: TargetSize(width: 20, height: 15))
    var expected: Bitmap?
    for round in 0..<3 {
      // A new loader and a new store, as in another process.
      let store = try FrameStore(at: directory)
      let loader = FrameLoader(
        cache: MemoryFrameCache(budget: MemoryBudget(byteLimit: 8 << 20), backing: store))
      var names: [String] = []
      for await phase in loader.phases(forFileAt: path, rendering: rendering) {
        switch phase {
        case .loading: names.append("loading")
        case .poster(let bitmap):
          names.append("poster")
          if let expected { #expect(bitmap == expected) } else { expected = bitmap }
        case .playing: names.append("playing")
        case .failed(let error): Issue.record("\(error)")
        }
      }
      let wanted =
        round == 0 ? ["loading", "poster", "playing"] : ["poster", "playing"]
      #expect(names == wanted)
      #expect(store.lastError == nil)
    }
  }

  @Test func `playing looks up as many stored frames ahead as are decoded ahead`() async throws {
    let image = try AnimatedImage(contentsOf: path)
    let directory = scratch.path.appending("store")
    try await FrameStore(at: directory).prefetch(of: image, renderings: [Rendering()])
    let store = try FrameStore(at: directory)
    let clock = ManualClock()
    let scheduler = FrameScheduler(
      sharing: SharedFrames(image, cache: store),
      options: PlaybackOptions(decodeAhead: 3), clock: clock)
    var frames = scheduler.play().stream.makeAsyncIterator()
    _ = await frames.next()
    // One is shown; the others are in memory before they are due.
    await eventually { store.statistics.hits >= 4 }
    #expect(store.statistics.hits == 4)
    #expect(store.statistics.misses == 0)
  }
}
