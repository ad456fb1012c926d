import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeWriting

@Suite(.timeLimit(.minutes(10)), .computes) struct FractionDelayTests {
  private static func stored(_ delays: [ExactTime]) -> [[FrameDelay]] {
    var planner = FractionDelays()
    return delays.map { planner.store($0) }
  }

  @Test func `a thousand frames of a thirtieth of a second are stored as they are`() {
    let stored = Self.stored(Array(repeating: ExactTime(1, 30), count: 1000))
    #expect(stored.allSatisfy { $0 == [FrameDelay(numerator: 1, denominator: 30)] })
  }

  @Test func `a fraction is reduced`() {
    #expect(
      Self.stored([ExactTime(70_000, 140_000)]) == [[FrameDelay(numerator: 1, denominator: 2)]])
    #expect(Self.stored([.zero]) == [[FrameDelay(numerator: 0, denominator: 1)]])
  }

  @Test func `an approximation is the best that there is`() {
    var random = SplitMix64(seed: 3)
    for _ in 0..<60 {
      let time = ExactTime(
        Int128(Int.random(in: 1...1 << 32, using: &random)),
        Int128(Int.random(in: 1 << 17...1 << 32, using: &random)))
      guard time < ExactTime(65_535, 1) else { continue }
      let found = FractionDelays.nearest(time)
      #expect(found.numerator <= 65_535 && found.denominator <= 65_535)
      // Distances over denominators that are not written, in at most 49 bits; Int128 is slow in debug builds.
      let (top, bottom) = (Int(time.numerator), Int(time.denominator))
      func distance(_ numerator: Int, _ denominator: Int) -> UInt {
        (numerator * bottom - top * denominator).magnitude
      }
      let least = distance(Int(found.numerator), Int(found.denominator))
      for denominator in stride(from: 1, through: 65_535, by: 1) {
        let below = top * denominator / bottom
        for numerator in below...below + 1 where numerator <= 65_535 {
          let nearness = distance(numerator, denominator)
          if nearness.multipliedFullWidth(by: UInt(found.denominator))
            < least.multipliedFullWidth(by: UInt(denominator))
          {
            Issue.record("\(numerator)/\(denominator) is nearer to \(time) than \(found)")
            return
          }
        }
      }
    }
  }

  @Test func `the errors of delays that do not fit do not add up`() {
    let delay = ExactTime(1_000_003, 30_000_001)
    var planner = FractionDelays()
    var (total, stored) = (ExactTime.zero, ExactTime.zero)
    for _ in 0..<1000 {
      total = total + delay
      for part in planner.store(delay) { stored = stored + ExactTime(part) }
      let error = total < stored ? stored - total : total - stored
      // Sums of such fractions are rounded to a ten-thousandth of a microsecond, each time.
      #expect(error < ExactTime(1, 2_000_000))
    }
  }

  @Test func `a delay that fits is exact beside one that does not`() {
    let stored = Self.stored([ExactTime(1_000_003, 30_000_001), ExactTime(1, 24)])
    #expect(stored[1] == [FrameDelay(numerator: 1, denominator: 24)])
  }

  @Test func `a delay of more than 65,535 seconds takes several frames`() {
    let parts = Self.stored([ExactTime(200_000, 1)])[0]
    #expect(parts.count == 4)
    #expect(parts.reduce(.zero) { $0 + ExactTime($1) } == ExactTime(200_000, 1))
  }
}
