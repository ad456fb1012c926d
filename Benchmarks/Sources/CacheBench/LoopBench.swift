import Zoetrope

/// Compares the hit rate for a loop of 100 frames, with room for half of them, with LRU and second chance.
enum LoopBench {
  private static let frames = 100
  private static let room = 50
  private static let plays = 20

  static func run() {
    let cache = MemoryFrameCache(
      budget: MemoryBudget(byteLimit: room * CacheBench.bitmap.byteCount))
    let animation = CacheBench.animation(1)
    for _ in 0..<plays {
      for index in 0..<frames where cache.frame(for: animation[index]) == nil {
        cache.storeIfPossible(CachedFrame(CacheBench.bitmap), for: animation[index])
      }
    }
    CacheBench.report("loop.hit-rate.cache", cache.statistics.hitRate * 100, "%")
    CacheBench.report("loop.hit-rate.lru", leastRecentlyUsed() * 100, "%")
    CacheBench.report("loop.hit-rate.second-chance", secondChance() * 100, "%")
  }

  private static func leastRecentlyUsed() -> Double {
    var order: [Int] = []
    var hits = 0
    for step in 0..<plays * frames {
      let index = step % frames
      if let place = order.firstIndex(of: index) {
        hits += 1
        order.remove(at: place)
      } else if order.count == room {
        order.removeFirst()
      }
      order.append(index)
    }
    return Double(hits) / Double(plays * frames)
  }

  private static func secondChance() -> Double {
    var ring: [(index: Int, isReferenced: Bool)] = []
    var hand = 0
    var hits = 0
    for step in 0..<plays * frames {
      let index = step % frames
      if let place = ring.firstIndex(where: { $0.index == index }) {
        hits += 1
        ring[place].isReferenced = true
      } else if ring.count < room {
        ring.append((index, false))
      } else {
        while ring[hand].isReferenced {
          ring[hand].isReferenced = false
          hand = (hand + 1) % room
        }
        ring[hand] = (index, false)
        hand = (hand + 1) % room
      }
    }
    return Double(hits) / Double(plays * frames)
  }
}
