import SystemPackage
import Zoetrope

import ZoetropeCaching
import ZoetropeCodec
import ZoetropeCore
import ZoetropeFrames
import ZoetropePlayback
import ZoetropeStore
import ZoetropeTestSupport

/// The life of one image: opened, shown by a few players that share its frames, idle in between.
struct LifeCycle {
  let seed: UInt64
  let path: String

  /// Gives what was wrong: properties that did not hold, and things that were left when it was over.
  func run() async -> [String] {
    var random = SplitMix64(seed: seed)
    guard let image = try? AnimatedImage(contentsOf: FilePath(path)) else {
      return ["\(path) does not open"]
    }
    let budget = MemoryBudget(byteLimit: [0, 1 << 16, 1 << 22].randomElement(using: &random) ?? 0)
    let cache = MemoryFrameCache(budget: budget)
    let rendering = Bool.random(using: &random) ? Self.rendering(image, &random) : nil
    var faults: [String] = []
    let live: LiveObjects
    do {
      let shared =
        if let rendering {
          SharedFrames(image, rendering: rendering, cache: cache, budget: budget)
        } else {
          SharedFrames(image, keeping: Int.random(in: 0...2, using: &random))
        }
      live = shared.live
      let pictures = ExpectedPictures(image, rendering)
      // Many players once in a while, else one to three, and idle times between groups of them.
      for _ in 0..<Int.random(in: 1...2, using: &random) {
        let count =
          Int.random(in: 0..<40, using: &random) == 0 ? 24 : Int.random(in: 1...3, using: &random)
        let seeds = (0..<count).map { _ in random.next() }
        faults += await withTaskGroup(of: [String].self) { group in
          for seed in seeds {
            group.addTask { await PlayerLife(shared: shared, pictures: pictures, seed: seed).run() }
          }
          return await group.reduce(into: []) { $0 += $1 }
        }
        let index = Int.random(in: 0..<image.frames.count, using: &random)
        if let frame = try? await shared.frame(at: index), frame.bitmap != pictures[index] {
          faults.append("an idle frame \(index) has other pixels")
        }
      }
    }
    await Self.settle { LiveObjects.Kind.allCases.allSatisfy { live.count($0) == 0 } }
    for kind in LiveObjects.Kind.allCases where live.count(kind) != 0 {
      faults.append("\(live.count(kind)) of \(kind) left")
    }
    cache.removeAll()
    await Self.settle { budget.used(for: .frames) == 0 && cache.statistics.heldByteCount == 0 }
    if budget.used(for: .frames) != 0 { faults.append("\(budget.used(for: .frames)) bytes left") }
    faults += cache.faults()
    return faults.map { "seed \(seed), \(path): \($0)" }
  }

  /// Some size, fit and filter.
  private static func rendering(_ image: AnimatedImage, _ random: inout SplitMix64) -> Rendering {
    func side(_ length: Int, _ random: inout SplitMix64) -> Int {
      Int.random(in: 1...min(2 * length, 120), using: &random)
    }
    let target = TargetSize(
      width: side(image.canvasSize.width, &random), height: side(image.canvasSize.height, &random))
    return Rendering(
      target: target, fit: [.fit, .fill, .stretch].randomElement(using: &random) ?? .fit,
      filter: ScalingFilter.allCases.randomElement(using: &random) ?? .bilinear)
  }

  /// Waits until `condition` holds, for ten seconds at most: what the last decode leaves goes by itself.
  private static func settle(_ condition: () -> Bool) async {
    for _ in 0..<10_000 where !condition() { try? await Task.sleep(for: .milliseconds(1)) }
  }
}
