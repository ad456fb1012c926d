import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeWriting

@Suite(.timeLimit(.minutes(10))) struct CentisecondDelayTests {
  private static func stored(
    _ delays: [ExactTime], _ shortDelays: AnimationWriterOptions.ShortDelays = .merge
  ) -> [CentisecondDelays.Kept] {
    var planner = CentisecondDelays(shortDelays)
    return delays.compactMap { planner.add($0) } + planner.finish()
  }

  private static func total(_ kept: [CentisecondDelays.Kept]) -> Int {
    kept.reduce(0) { $0 + $1.delays.reduce(0) { $0 + Int($1) } }
  }

  @Test func `a thousand frames of a thirtieth of a second take 33⅓ seconds`() {
    let kept = Self.stored(Array(repeating: ExactTime(1, 30), count: 1000))
    #expect(kept.map(\.frame) == Array(0..<1000))
    #expect(Self.total(kept) == 3333)
    #expect(kept.prefix(6).map(\.delays) == [[3], [4], [3], [3], [4], [3]])
  }

  @Test(arguments: [60, 120, 144, 1000] as [Int128])
  func `frames too short for browsers are merged, and the time stays`(rate: Int128) {
    let kept = Self.stored(Array(repeating: ExactTime(1, rate), count: Int(rate) * 10))
    #expect(Self.total(kept) == 1000)
    #expect(kept.allSatisfy { $0.delays[0] >= 2 })
    // No more are lost than must be: between two and four centiseconds each.
    #expect(kept.count >= 250 && kept.count <= 500)
  }

  @Test func `of frames that are merged the one shown longest is kept`() {
    let delays = [ExactTime(1, 500), ExactTime(12, 1000), ExactTime(8, 1000), ExactTime(1, 1)]
    #expect(
      Self.stored(delays) == [
        CentisecondDelays.Kept(frame: 1, delays: [2]),
        CentisecondDelays.Kept(frame: 3, delays: [100]),
      ])
  }

  @Test func `times before zero are rounded like those after it`() {
    let halves = [-3, -2, -1, 0, 1, 2, 3] as [Int128]
    #expect(halves.map { ExactTime($0, 200).rounded(to: 100) } == [-1, -1, 0, 0, 1, 1, 2])
  }

  @Test func `a last frame that is too short gives its time to the one before`() {
    let delays = [ExactTime(1, 10), ExactTime(1, 100)]
    #expect(Self.stored(delays) == [CentisecondDelays.Kept(frame: 0, delays: [11])])
  }

  @Test func `an animation that is too short in all has one frame of two centiseconds`() {
    #expect(Self.stored([ExactTime(1, 1000)]) == [CentisecondDelays.Kept(frame: 0, delays: [2])])
  }

  @Test func `a delay of zero is stored as browsers show it`() {
    #expect(Self.stored([.zero, .zero]).map(\.delays) == [[10], [10]])
    #expect(Self.stored([.zero, .zero], .keep).map(\.delays) == [[0], [0]])
  }

  @Test func `exact delays may be shorter`() {
    let kept = Self.stored(Array(repeating: ExactTime(1, 60), count: 6), .keep)
    #expect(kept.map(\.delays) == [[2], [1], [2], [2], [1], [2]])
  }

  @Test func `a delay of more than 655 seconds is split`() {
    #expect(Self.stored([ExactTime(1000, 1)])[0].delays == [65_535, 34_465])
    // No part is shorter than two centiseconds.
    #expect(Self.stored([ExactTime(65_536, 100)])[0].delays == [65_533, 3])
  }

  @Test func `the total is exact to half a centisecond for any delays`() {
    var random = SplitMix64(seed: 8)
    for _ in 0..<200 {
      let delays = (0..<Int.random(in: 1...50, using: &random)).map { _ in
        ExactTime(
          Int128(Int.random(in: 1...2000, using: &random)),
          Int128(Int.random(in: 1...9000, using: &random)))
      }
      let sum = delays.reduce(.zero, +)
      let kept = Self.stored(delays)
      #expect(
        abs(Int128(Self.total(kept)) - sum.rounded(to: 100)) <= (sum < ExactTime(2, 100) ? 2 : 0))
      #expect(kept.map(\.frame) == kept.map(\.frame).sorted())
    }
  }
}
