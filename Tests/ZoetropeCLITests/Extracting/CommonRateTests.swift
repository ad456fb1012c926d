import Testing
import Zoetrope

@testable import ZoetropeCLI

/// The frame rate of a video that shows every frame for exactly its time.
@Suite(.timeLimit(.minutes(10))) struct CommonRateTests {
  private func delays(_ fractions: [(UInt32, UInt32)]) -> [FrameDelay] {
    fractions.map { FrameDelay(numerator: $0.0, denominator: $0.1) }
  }

  @Test(
    arguments: [
      ([(4, 100), (10, 100)], 50, 1, [2, 5]), ([(7, 100)], 100, 7, [1]),
      ([(1, 30), (1, 24)], 120, 1, [4, 5]), ([(1001, 30000), (2002, 30000)], 30000, 1001, [1, 2]),
      ([(5, 1), (10, 1)], 1, 5, [1, 2]), ([(1, 1000), (1, 500)], 1000, 1, [1, 2]),
      ([(0, 100), (4, 100)], 25, 1, [0, 1]),
    ] as [([(UInt32, UInt32)], Int, Int, [Int])])
  func `stored delays are multiples of the inverse of the rate`(
    _ fractions: [(UInt32, UInt32)], _ numerator: Int, _ denominator: Int, _ counts: [Int]
  ) throws {
    let found = try #require(PictureRate.common(of: delays(fractions), policy: .exact))
    #expect(found.rate == PictureRate(numerator: numerator, denominator: denominator))
    #expect(found.counts == counts)
  }

  @Test func `a policy's replacement counts like a stored delay`() throws {
    let found = try #require(
      PictureRate.common(of: delays([(0, 100), (1, 30), (3, 100)]), policy: .browser))
    #expect(found.rate == PictureRate(numerator: 300, denominator: 1))
    #expect(found.counts == [30, 10, 9])
  }

  @Test(
    arguments: [
      [(0, 100)], [(1, 1001)], [(1, 900), (1, 1000)], [(65535, 65534), (65533, 65535)],
      [(.max, .max - 1), (.max - 2, .max)], [],
    ] as [[(UInt32, UInt32)]])
  func `there is no common rate above 1000, or for no frames`(_ fractions: [(UInt32, UInt32)]) {
    #expect(PictureRate.common(of: delays(fractions), policy: .exact) == nil)
  }

  @Test(arguments: [
    (25, 1, 1000), (30, 1, 990), (100, 7, 1000), (15, 2, 997), (1000, 1, 1000), (1, 5, 1000),
  ])
  func `a rate is multiplied to at most 1000`(_ above: Int, _ below: Int, _ most: Int) {
    let rate = PictureRate(numerator: above, denominator: below).multipliedToMost
    #expect(rate.numerator / rate.denominator == most)
    #expect(rate.numerator % above == 0)
  }
}
