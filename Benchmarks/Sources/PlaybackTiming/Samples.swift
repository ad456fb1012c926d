/// Measured times in microseconds, and their statistics.
struct Samples {
  private(set) var values: [Double]

  init(values: [Double] = []) { self.values = values }

  mutating func append(_ time: Duration) { values.append(time / .microseconds(1)) }

  mutating func append(microseconds: Double) { values.append(microseconds) }

  /// Returns the value below which the fraction `part` of all values lies.
  func quantile(_ part: Double) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[min(Int(Double(sorted.count) * part), sorted.count - 1)]
  }

  /// `p50=… p99=… max=… n=…`, in microseconds.
  var summary: String {
    let (middle, high, most) = (quantile(0.5), quantile(0.99), values.max() ?? 0)
    return "p50=\(Int(middle)) p99=\(Int(high)) max=\(Int(most)) n=\(values.count)"
  }

  /// Returns the growth per second, for samples taken `rate` times a second: the median of the slopes between the
  /// medians of any two seconds.
  ///
  /// Least squares would not do, because a single wake-up that is delayed by milliseconds tilts the line by more than
  /// any drift worth finding.
  func robustSlope(rate: Int) -> Double {
    let medians = stride(from: 0, to: values.count - rate + 1, by: rate).map { start in
      Samples(values: Array(values[start..<start + rate])).quantile(0.5)
    }
    var slopes = Samples()
    for last in medians.indices {
      for first in 0..<last {
        slopes.append(microseconds: (medians[last] - medians[first]) / Double(last - first))
      }
    }
    return slopes.quantile(0.5)
  }

  /// Returns the growth per second by least squares, for samples taken every `interval` seconds.
  func slope(interval: Double) -> Double {
    let count = Double(values.count)
    let meanTime = (count - 1) * interval / 2
    let mean = values.reduce(0, +) / count
    var above = 0.0
    var below = 0.0
    for (index, value) in values.enumerated() {
      let time = Double(index) * interval - meanTime
      above += time * (value - mean)
      below += time * time
    }
    return below > 0 ? above / below : 0
  }
}
