import Testing
import Zoetrope

@Suite struct PixelRectTests {
  @Test func `rectangles that only touch have no intersection`() {
    let left = PixelRect(x: 0, y: 0, width: 2, height: 2)
    #expect(left.intersection(PixelRect(x: 2, y: 0, width: 2, height: 2)) == .empty)
  }
}

@Suite struct AnimationFormatTests {
  @Test(
    arguments: [
      ("gif", .gif), ("GIF", .gif), ("png", .apng), ("aPNG", .apng), ("webp", nil), (".gif", nil),
      ("", nil),
    ] as [(String, AnimationFormat?)])
  func `the extension of a name selects the format that is written`(
    word: String, format: AnimationFormat?
  ) {
    #expect(AnimationFormat(fileExtension: word) == format)
  }
}

@Suite struct FrameDelayTests {
  @Test(
    arguments: [
      (.milliseconds(100), 1, 10), (.zero, 0, 1), (.seconds(-3), 0, 1), (.seconds(7), 7, 1),
      (.nanoseconds(33_333_333), 33_333_333, 1_000_000_000), (.microseconds(2_500_000), 5, 2),
      // The nearest nanosecond.
      (Duration(secondsComponent: 0, attosecondsComponent: 1_499_999_999), 1, 1_000_000_000),
      (Duration(secondsComponent: 0, attosecondsComponent: 1_500_000_000), 1, 500_000_000),
      // Numerators of more than 32 bits.
      (.nanoseconds(9_000_000_001), 9, 1), (.nanoseconds(9_000_000_017), 450_000_001, 50_000_000),
      (.seconds(1 << 32) - .milliseconds(600), .max, 1), (.seconds(1 << 40), .max, 1),
    ] as [(Duration, UInt32, UInt32)])
  func `a duration becomes the nearest delay`(
    _ duration: Duration, _ numerator: UInt32, _ denominator: UInt32
  ) {
    #expect(
      FrameDelay(duration) == FrameDelay(numerator: numerator, denominator: denominator))
  }

  @Test func `delays of whole nanoseconds survive as durations`() {
    for delay in [(1, 10), (3, 100), (65535, 1000), (1, 8), (4_294_967_295, 1)] {
      let delay = FrameDelay(numerator: UInt32(delay.0), denominator: UInt32(delay.1))
      #expect(FrameDelay(delay.duration).duration == delay.duration)
    }
    #expect(FrameDelay(.nanoseconds(Int64.max)).numerator == .max)
    #expect(FrameDelay(Duration(attoseconds: .max)).numerator == .max)
    #expect(FrameDelay(Duration(attoseconds: .min)).numerator == 0)
  }
}
