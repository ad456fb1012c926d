import Glibc
import Zoetrope

/// Scaling as it is defined, in double precision, one window at a time: slow and plain.
struct ReferenceScaler {
  var filter: ScalingFilter
  var isLinearLight = false

  /// The weights of target pixel `index` on one axis, and the source pixel they start at.
  func weights(
    _ index: Int, source: Int, target: Int
  ) -> (first: Int, weights: [Double]) {
    let ratio = Double(source) / Double(target)
    let middle = (Double(index) + 0.5) * ratio
    if filter == .nearest {
      // In whole numbers: a middle may lie right on the border of two pixels.
      return ((2 * index + 1) * source / (2 * target), [1])
    }
    let stretch = max(1, ratio)
    let reach: Double =
      switch filter.kind {
      case .nearest: 0
      case .box: 0.5
      case .bilinear: 1
      case .bicubic: 2
      case .lanczos3: 3
      }
    let first = max(0, Int((middle - reach * stretch + 0.5).rounded(.down)))
    let last = min(source, Int((middle + reach * stretch + 0.5).rounded(.down)))
    let raw = (first..<last).map { shape((Double($0) + 0.5 - middle) / stretch) }
    let sum = raw.reduce(0, +)
    return (first, raw.map { $0 / sum })
  }

  private func shape(_ x: Double) -> Double {
    let d = abs(x)
    switch filter.kind {
    case .nearest: return 1
    case .box: return x > -0.5 && x <= 0.5 ? 1 : 0
    case .bilinear: return max(0, 1 - d)
    case .bicubic:
      let a = -0.5
      if d < 1 { return (a + 2) * d * d * d - (a + 3) * d * d + 1 }
      return d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a : 0
    case .lanczos3:
      if d == 0 { return 1 }
      return d < 3 ? 3 * sin(.pi * d) * sin(.pi * d / 3) / (.pi * .pi * d * d) : 0
    }
  }

  /// A straight picture with its colours times alpha, from 0 to 1, row after row.
  func decoded(_ bitmap: Bitmap) -> [SIMD4<Double>] {
    let top: Double = bitmap.format == .rgba16 ? 65535 : 255
    var pixels: [SIMD4<Double>] = []
    for y in 0..<bitmap.height {
      for x in 0..<bitmap.width {
        var value = SIMD4<Double>()
        for c in 0..<4 { value[c] = Double(bitmap.channel(c, x: x, y: y)) / top }
        if isLinearLight { for c in 0..<3 { value[c] = light(value[c]) } }
        let alpha = value[3]
        pixels.append(
          SIMD4(value[0] * alpha, value[1] * alpha, value[2] * alpha, alpha))
      }
    }
    return pixels
  }

  /// The channels of a sum before rounding, from 0 to `top`.
  private func encoded(_ sum: SIMD4<Double>, top: Double) -> SIMD4<Double> {
    let alpha = sum[3]
    guard (alpha * top) >= 0.5 else { return SIMD4() }
    var result = SIMD4<Double>()
    for c in 0..<3 {
      let clamped = min(max(sum[c] / alpha, 0), 1)
      result[c] = (isLinearLight ? code(clamped) : clamped) * top
    }
    result[3] = min(alpha, 1) * top
    return result
  }

  private func light(_ c: Double) -> Double {
    c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4)
  }

  private func code(_ l: Double) -> Double {
    l <= 0.0031308 ? l * 12.92 : 1.055 * pow(l, 1 / 2.4) - 0.055
  }

  /// The greatest difference between `scaled` and the definition, in steps of a channel.
  func largestError(of scaled: Bitmap, from bitmap: Bitmap) -> Double {
    let top: Double = bitmap.format == .rgba16 ? 65535 : 255
    let pixels = decoded(bitmap)
    let across = (0..<scaled.width).map {
      weights($0, source: bitmap.width, target: scaled.width)
    }
    // Rows first, since the weights of the two axes are multiplied.
    var rows: [SIMD4<Double>] = []
    rows.reserveCapacity(bitmap.height * scaled.width)
    for y in 0..<bitmap.height {
      for (first, weights) in across {
        var sum = SIMD4<Double>()
        var place = y * bitmap.width + first
        for weight in weights {
          sum += pixels[place] * weight
          place += 1
        }
        rows.append(sum)
      }
    }
    var worst = 0.0
    for y in 0..<scaled.height {
      let down = weights(y, source: bitmap.height, target: scaled.height)
      for x in 0..<scaled.width {
        var sum = SIMD4<Double>()
        var place = down.first * scaled.width + x
        for weight in down.weights {
          sum += rows[place] * weight
          place += scaled.width
        }
        let expected = encoded(sum, top: top)
        let alpha = scaled.channel(3, x: x, y: y)
        worst = max(worst, abs(expected[3].rounded() - Double(alpha)))
        // On the edge of alpha 0 the colours are either there or cleared; both are right.
        if alpha == 0 || expected[3] < 0.5 + 1e-3 { continue }
        for c in 0..<3 {
          let value = Double(scaled.channel(c, x: x, y: y))
          worst = max(worst, abs(expected[c].rounded() - value))
        }
      }
    }
    return worst
  }
}
