/// Measured times in microseconds and what is told of them.
struct Samples {
  private(set) var values: [Double] = []

  mutating func append(_ time: Duration) { values.append(time / .microseconds(1)) }

  mutating func append(microseconds: Double) { values.append(microseconds) }

  /// `p50=… p99=… max=… n=…`, in microseconds.
  var summary: String {
    let sorted = values.sorted()
    let at = { (part: Double) in
      sorted.isEmpty ? 0 : sorted[min(Int(Double(sorted.count) * part), sorted.count - 1)]
    }
    return "p50=\(Int(at(0.5))) p99=\(Int(at(0.99))) max=\(Int(sorted.last ?? 0)) n=\(sorted.count)"
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
