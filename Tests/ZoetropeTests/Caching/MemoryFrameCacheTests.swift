import Testing
import Zoetrope

@Suite(.timeLimit(.minutes(10))) struct MemoryFrameCacheTests {
  private let bitmap = makeBitmap()

  private func makeCache(frames: Int, countLimit: Int = .max) -> MemoryFrameCache {
    MemoryFrameCache(
      countLimit: countLimit, budget: MemoryBudget(byteLimit: frames * bitmap.byteCount))
  }

  @Test func `a hit gives back the very storage that was put in`() throws {
    let cache = makeCache(frames: 4)
    let key = makeAnimation(1)[0]
    cache.storeIfPossible(bitmap, for: key)
    let found = try #require(cache.bitmap(for: key))
    #expect(found.storage === bitmap.storage)
    #expect(cache.bitmap(for: makeAnimation(1)[1]) == nil)
    #expect(cache.statistics.hits == 1)
    #expect(cache.statistics.misses == 1)
  }

  @Test func `bytes, size, format, damage policy and scaling each make another key`() {
    let base = makeAnimation(1)
    let size = base.rendition.size
    let scaled = { (fit: ScalingFit, filter: ScalingFilter) in
      Rendition(size: size, scaling: .init(fit: fit, filter: filter))
    }
    let others = [
      makeAnimation(2),
      makeAnimation(1, width: 17),
      AnimationKey(content: base.content, rendition: .canvas(size, format: .bgra8)),
      AnimationKey(content: base.content, rendition: .canvas(size, damage: .partialRows)),
      AnimationKey(content: base.content, rendition: scaled(.fit, .box)),
      AnimationKey(content: base.content, rendition: scaled(.fill, .box)),
    ]
    #expect(Set(others + [base]).count == others.count + 1)
  }

  @Test func `the cost held is the bytes of the bitmaps and never passes the budget`() {
    let cache = makeCache(frames: 10)
    for index in 0..<50 {
      cache.storeIfPossible(bitmap, for: makeAnimation(index % 3)[index])
      #expect(cache.budget.byteCount == cache.statistics.byteCount)
      #expect(cache.statistics.byteCount <= cache.budget.byteLimit)
    }
    #expect(cache.statistics.byteCount == 10 * bitmap.byteCount)
    #expect(cache.statistics.evictions == 40)
    #expect(cache.faults() == [])
  }

  @Test func `the count limit holds too`() {
    let cache = makeCache(frames: 100, countLimit: 3)
    for index in 0..<9 { cache.storeIfPossible(bitmap, for: makeAnimation(1)[index]) }
    #expect(cache.statistics.count == 3)
    #expect(cache.budget.byteCount == 3 * bitmap.byteCount)
  }

  @Test func `storing a key again replaces the bitmap and its cost`() {
    let cache = makeCache(frames: 100)
    let key = makeAnimation(1)[0]
    cache.storeIfPossible(bitmap, for: key)
    let larger = makeBitmap(64, 64)
    cache.storeIfPossible(larger, for: key)
    #expect(cache.statistics.count == 1)
    #expect(cache.budget.byteCount == larger.byteCount)
  }

  @Test func `a bitmap larger than the budget is kept only while its animation is held`() {
    let cache = MemoryFrameCache(budget: MemoryBudget(byteLimit: 100))
    let animation = makeAnimation(1)
    cache.storeIfPossible(bitmap, for: animation[0])
    #expect(cache.statistics.rejections == 1)
    let hold = cache.hold(animation)
    cache.storeIfPossible(bitmap, for: animation[0])
    #expect(cache.bitmap(for: animation[0]) != nil)
    hold.end()
    #expect(cache.bitmap(for: animation[0]) == nil)
    #expect(cache.budget.byteCount == 0)
  }

  @Test func `a loop that does not fit hits for the part that fits`() {
    let cache = makeCache(frames: 50)
    let animation = makeAnimation(1)
    for _ in 0..<3 { play(animation, frames: 100, in: cache) }
    let before = cache.statistics
    play(animation, frames: 100, in: cache)
    let hits = cache.statistics.hits - before.hits
    #expect(hits >= 44 && hits <= 50, "\(hits) of 100 frames with room for 50")
  }

  @Test func `animations that are no longer played are evicted first`() {
    let cache = makeCache(frames: 50)
    play(makeAnimation(1), frames: 40, in: cache)
    for _ in 0..<2 { play(makeAnimation(2), frames: 50, in: cache) }
    let before = cache.statistics
    play(makeAnimation(2), frames: 50, in: cache)
    #expect(cache.statistics.hits - before.hits == 50)
  }

  @Test func `one pass over a long animation leaves a small one that is playing alone`() {
    let cache = makeCache(frames: 100)
    let small = makeAnimation(1)
    play(small, frames: 10, in: cache)
    for index in 0..<2000 {
      cache.storeIfPossible(bitmap, for: makeAnimation(2)[index])
      if index % 10 == 0 { _ = cache.bitmap(for: small[index / 10 % 10]) }
    }
    let before = cache.statistics
    play(small, frames: 10, in: cache)
    #expect(cache.statistics.hits - before.hits == 10)
  }

  @Test func `a hundred players hold the budget plus floors and none goes without`() {
    let cache = makeCache(frames: 50)
    let animations = (0..<100).map { makeAnimation($0) }
    let holds = animations.map { cache.hold($0) }
    for index in 0..<60 {
      for animation in animations {
        cache.storeIfPossible(bitmap, for: animation[index])
        if index > 0 { #expect(cache.bitmap(for: animation[index - 1]) != nil) }
        #expect(cache.bitmap(for: animation[index]) != nil)
        let statistics = cache.statistics
        #expect(statistics.byteCount <= max(cache.budget.byteLimit, statistics.heldByteCount))
      }
    }
    #expect(cache.statistics.heldByteCount == 200 * bitmap.byteCount)
    holds.forEach { $0.end() }
    #expect(cache.statistics.byteCount <= cache.budget.byteLimit)
    #expect(cache.faults() == [])
  }

  @Test func `two caches on one budget hold it together and the idle one gives way`() {
    let budget = MemoryBudget(byteLimit: 10 * bitmap.byteCount)
    let idle = MemoryFrameCache(budget: budget)
    let busy = MemoryFrameCache(budget: budget)
    for index in 0..<10 { idle.storeIfPossible(bitmap, for: makeAnimation(1)[index]) }
    for index in 0..<8 { busy.storeIfPossible(bitmap, for: makeAnimation(2)[index]) }
    #expect(idle.statistics.count == 2)
    #expect(busy.statistics.count == 8)
    #expect(budget.byteCount == 10 * bitmap.byteCount)
  }

  @Test func `a cache that is released gives its bytes back`() {
    let budget = MemoryBudget(byteLimit: 1 << 20)
    do {
      let cache = MemoryFrameCache(budget: budget)
      cache.storeIfPossible(bitmap, for: makeAnimation(1)[0])
      #expect(budget.byteCount == bitmap.byteCount)
    }
    #expect(budget.byteCount == 0)
  }

  @Test func `removing an image leaves others and takes its floor`() {
    let cache = makeCache(frames: 10)
    let hold = cache.hold(makeAnimation(1))
    for number in 1...2 { cache.storeIfPossible(bitmap, for: makeAnimation(number)[0]) }
    cache.remove(makeAnimation(1).content)
    #expect(cache.bitmap(for: makeAnimation(1)[0]) == nil)
    #expect(cache.bitmap(for: makeAnimation(2)[0]) != nil)
    cache.removeAll()
    #expect(cache.budget.byteCount == 0)
    hold.end()
    #expect(cache.faults() == [])
  }

  @Test func `pressure shrinks the cache at once and leaves the floors`() {
    let cache = makeCache(frames: 80)
    let hold = cache.hold(makeAnimation(1))
    play(makeAnimation(1), frames: 40, in: cache)
    play(makeAnimation(2), frames: 40, in: cache)
    cache.budget.pressure = .severe
    #expect(cache.statistics.count == 10)
    cache.budget.byteLimit = 0
    #expect(cache.statistics.count == 2)
    cache.budget.pressure = .none
    hold.end()
    #expect(cache.statistics.count == 0)
  }

  private func play(_ animation: AnimationKey, frames: Int, in cache: MemoryFrameCache) {
    for index in 0..<frames where cache.bitmap(for: animation[index]) == nil {
      cache.storeIfPossible(bitmap, for: animation[index])
    }
  }
}
