import Testing
import Zoetrope

@Suite struct LatenessHistogramTests {
  @Test func `buckets follow each other without a gap and are narrow`() {
    for bucket in 0..<900 {
      let bounds = LatenessHistogram.bounds(of: bucket)
      let next = LatenessHistogram.bounds(of: bucket + 1)
      #expect(bounds.upperBound == next.lowerBound)
      let width = bounds.upperBound - bounds.lowerBound
      #expect(width <= max(.nanoseconds(1), bounds.lowerBound / 16))
    }
  }

  @Test(arguments: [0, 1, 15, 16, 17, 31, 32, 33, 1000, 123_456_789, Int64.max / 2])
  func `a sample counts in the bucket that holds it`(nanoseconds: Int64) throws {
    var histogram = LatenessHistogram()
    histogram.record(.nanoseconds(nanoseconds))
    let bucket = try #require(histogram.counts.firstIndex(of: 1))
    #expect(LatenessHistogram.bounds(of: bucket).contains(.nanoseconds(nanoseconds)))
    #expect(histogram.quantile(0.5) == .nanoseconds(nanoseconds))
  }

  @Test func `quantiles are right to a sixteenth`() {
    var histogram = LatenessHistogram()
    for microseconds in 1...1000 { histogram.record(.microseconds(microseconds)) }
    for (part, value) in [(0.5, 500.0), (0.99, 990.0), (1, 1000)] {
      let quantile = Double(histogram.quantile(part).wholeNanoseconds) / 1000
      #expect(quantile >= value && quantile <= value * 17 / 16)
    }
    #expect(histogram.count == 1000)
    #expect(histogram.maximum == .milliseconds(1))
  }

  @Test func `no samples have no lateness`() {
    #expect(LatenessHistogram().quantile(0.99) == .zero)
  }
}
