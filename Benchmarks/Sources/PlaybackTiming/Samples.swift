/// Measured times in microseconds and what is told of them.
struct Samples {
  private(set) var values: [Double]

  init(values: [Double] = []) { self.values = values }

  mutating func append(_ time: Duration) { values.append(time / .microseconds(1)) }

  mutating func append(microseconds: Double) { values.append(microseconds) }

  /// The value below which `part` of all values are.
  func quantile(_ part: Double) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? 0 : sorted[min(Int(Double(sorted.count) * part), sorted.count - 1)]
  }

  /// `p50=… p99=… max=… n=…`, in microseconds.
  var summary: String {
    let (middle, high, most) = (quantile(0.5), quantile(0.99), values.max() ?? 0)
    return "p50=\(Int(middle)) p99=\(Int(high)) max=\(Int(most)) n=\(values.count)"
  }

  /// Growth per second, for samples of which `rate` are taken each second: the median of the slopes
  /// between any two seconds' medians.
  ///
  /// A single wake-up that the machine delays by milliseconds tilts a line of least squares by more
  /// than any drift worth finding.
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

  /// Growth per second by least squares, for samples taken every `interval` seconds.
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
