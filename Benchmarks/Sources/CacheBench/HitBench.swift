import MallocCount
import Zoetrope

/// Measures hits in a cache of 100 animations with 60 frames each, all played at once.
enum HitBench {
  private static let animations = 100
  private static let frames = 60

  private static func makeCache() -> (MemoryFrameCache, [FrameKey]) {
    let cache = MemoryFrameCache(budget: MemoryBudget(byteLimit: 1 << 30))
    var keys: [FrameKey] = []
    for index in 0..<frames {
      for number in 0..<animations { keys.append(CacheBench.animation(number)[index]) }
    }
    for key in keys { cache.storeIfPossible(CachedFrame(CacheBench.bitmap), for: key) }
    return (cache, keys)
  }

  /// Runs the benchmark. Returns whether no hit allocated.
  static func run() -> Bool {
    let (cache, keys) = makeCache()
    var times: [Double] = []
    times.reserveCapacity(200)
    var found = 0
    let before = cache.statistics.hits
    let allocations = malloc_count()
    for _ in 0..<200 {
      times.append(
        CacheBench.nanoseconds {
          for key in keys where cache.frame(for: key) != nil { found += 1 }
        } / Double(keys.count))
    }
    let allocated = Int(malloc_count() - allocations)
    precondition(found == cache.statistics.hits - before && found == 200 * keys.count)
    CacheBench.report("cache.hit.median", CacheBench.median(times), "ns")
    CacheBench.report("cache.hit.worst-round", times.max() ?? 0, "ns")
    CacheBench.report("cache.hit.allocations-in-\(found)", Double(allocated), "calls")
    return allocated == 0
  }

  /// Runs the same on two threads, which share one cache and its lock.
  static func runOnTwoThreads() async {
    let (cache, keys) = makeCache()
    await withTaskGroup(of: Double.self) { group in
      for _ in 0..<2 {
        group.addTask {
          CacheBench.nanoseconds {
            for _ in 0..<100 { for key in keys { _ = cache.frame(for: key) } }
          } / Double(100 * keys.count)
        }
      }
      var worst = 0.0
      for await time in group { worst = max(worst, time) }
      CacheBench.report("cache.hit.two-threads", worst, "ns")
    }
  }
}
