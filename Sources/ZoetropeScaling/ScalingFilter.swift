internal import Glibc

/// A filter for resampling a bitmap.
///
/// If a bitmap is reduced, the filter's support grows with the ratio of reduction, so that every source pixel counts.
/// Pillow's `resize` works in the same way.
public struct ScalingFilter: OpenChoice, Sendable, Hashable, CustomStringConvertible {
  package enum Kind: String, CaseIterable, Sendable {
    case nearest, box, bilinear, bicubic, lanczos3
  }

  package let kind: Kind
  package init(_ kind: Kind) { self.kind = kind }

  /// Copies the nearest source pixel. This filter is the fastest, and is suited to pixel art.
  public static let nearest = ScalingFilter(.nearest)
  /// Averages the source pixels that a target pixel covers.
  public static let box = ScalingFilter(.box)
  /// Weights source pixels with a triangle, which spans two source pixels if a bitmap is enlarged.
  public static let bilinear = ScalingFilter(.bilinear)
  /// Weights source pixels with a Catmull-Rom spline (a = -0.5), which spans four source pixels if a bitmap is
  /// enlarged. The filter overshoots at edges, which makes edges look sharp.
  public static let bicubic = ScalingFilter(.bicubic)
  /// Weights source pixels with a sinc function windowed by a wider sinc, which spans six source pixels if a bitmap is
  /// enlarged. This filter is the sharpest and the slowest.
  public static let lanczos3 = ScalingFilter(.lanczos3)

  /// The radius of the filter in source pixels if a bitmap is enlarged, and in target pixels if it is reduced.
  var support: Double {
    switch kind {
    case .nearest: 0
    case .box: 0.5
    case .bilinear: 1
    case .bicubic: 2
    case .lanczos3: 3
    }
  }

  /// Returns the weight of a source pixel at `distance` from the centre of a target pixel. The unit of `distance` is
  /// that of ``support``.
  func weight(at distance: Double) -> Double {
    let x = abs(distance)
    switch kind {
    case .nearest: return 0
    // The interval is half-open, so that a source pixel whose centre lies on the border of two target pixels counts
    // once.
    case .box: return distance > -0.5 && distance <= 0.5 ? 1 : 0
    case .bilinear: return x < 1 ? 1 - x : 0
    case .bicubic:
      if x < 1 { return (1.5 * x - 2.5) * x * x + 1 }
      return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0
    case .lanczos3: return x < 3 ? Self.sinc(x) * Self.sinc(x / 3) : 0
    }
  }

  private static func sinc(_ x: Double) -> Double {
    x == 0 ? 1 : sin(x * .pi) / (x * .pi)
  }
}
