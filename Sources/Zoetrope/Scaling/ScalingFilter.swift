#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// How pixels are weighed when a picture changes its size.
///
/// When a side shrinks, the filter grows with the ratio, so that every source pixel counts; this
/// is the convention of Pillow's `resize`, and the results compare with it.
public enum ScalingFilter: String, Sendable, Hashable, CaseIterable {
  /// The nearest source pixel, unchanged: the fastest, and the one for pixel art.
  case nearest
  /// The mean of the source pixels that a target pixel covers.
  case box
  /// A triangle over two source pixels.
  case bilinear
  /// Catmull-Rom (a = -0.5) over four source pixels; overshoots at edges, which looks sharp.
  case bicubic
  /// A sinc windowed by a wider one, over six source pixels: the sharpest, and the slowest.
  case lanczos3

  /// How far from its middle the filter reaches, in pixels of the coarser side.
  var support: Double {
    switch self {
    case .nearest: 0
    case .box: 0.5
    case .bilinear: 1
    case .bicubic: 2
    case .lanczos3: 3
    }
  }

  /// The weight of a source pixel `distance` away from the middle of a target pixel.
  func weight(at distance: Double) -> Double {
    let x = abs(distance)
    switch self {
    case .nearest: return 0
    // Half-open, so that a source pixel on the border of two target pixels counts once.
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
