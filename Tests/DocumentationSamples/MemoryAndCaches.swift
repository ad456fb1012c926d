import Zoetrope

func sampleOfABudget(_ image: AnimatedImage) async throws {
  MemoryBudget.shared.byteLimit = 64 << 20
  let cache = MemoryFrameCache(byteLimit: 32 << 20)
  for try await frame in image.play(cache: cache) {
    show(frame.bitmap, at: frame.presentationTime)
  }
  print(cache.statistics.hitRate, MemoryBudget.shared.byteCount)
}
