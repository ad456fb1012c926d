import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

/// Hit rates of lists that are scrolled, beside the best that any policy could have.
@Suite(.timeLimit(.minutes(10)), .computes) struct ScrollingTests {
  private static let count = 20
  private static let frameCount = 12
  private static let files = (0..<count).map {
    DeltaGIF.make(width: 30 + $0, height: 30, frameCount: frameCount, patch: 6)
  }

  @Test(arguments: [6, 12], [false, true])
  func `a list that does not fit is found in the cache nearly as often as possible`(
    shown: Int, turns: Bool
  ) throws {
    let frameCost = makeBitmap(20, 20).byteCount
    let budget = MemoryBudget(byteLimit: 120 * frameCost)
    let cache = MemoryFrameCache(budget: budget)
    let images = try Self.files.map { try AnimatedImage(bytes: $0).charged(to: budget) }
    let rendering = Rendering(target: TargetSize(width: 20, height: 20), fit: .fill)
    let list = ScrolledList(count: Self.count, visible: 3, frames: shown, passes: 3, turns: turns)
    var players: [Int: (reader: RenderedReader, next: Int)] = [:]
    var requests: [Int] = []
    var hits: [Bool] = []
    for event in list.passes.joined() {
      switch event {
      case .appear(let number):
        let reader = RenderedReader(images[number], rendering: rendering, cache: cache)
        players[number] = (reader, 0)
      case .show(let number):
        let (reader, next) = try #require(players[number])
        let before = cache.statistics.hits
        _ = try reader.frame(at: next)
        requests.append(number * Self.frameCount + next)
        hits.append(cache.statistics.hits > before)
        players[number]?.next = (next + 1) % Self.frameCount
      case .vanish(let number): players[number] = nil
      }
    }
    #expect(cache.faults() == [] && budget.byteCount <= budget.byteLimit)
    let best = BestCache.hits(of: requests, limit: budget.byteLimit) { _ in frameCost }
    let length = requests.count / list.passes.count
    for pass in 1..<list.passes.count {
      let place = pass * length..<(pass + 1) * length
      let (found, possible) = (hits[place].count { $0 }, best[place].count { $0 })
      #expect(
        Double(found) >= 0.8 * Double(possible), "\(found) of \(possible) hits in pass \(pass + 1)")
    }
  }

  @Test func `the best cache keeps what is needed again first`() {
    let hits = BestCache.hits(of: [1, 2, 3, 1, 2, 3, 1], limit: 2) { _ in 1 }
    #expect(hits == [false, false, false, true, true, false, true])
  }
}
