public import Zoetrope

/// A picture to encode, or an expected one: samples, row after row.
///
/// It has a position on the canvas, so that drawing into a frame uses canvas coordinates.
public struct Picture: Sendable, Hashable {
  /// Where it lies on the canvas.
  public let rect: PixelRect
  /// The samples, `rect.width * rect.height` of them.
  public var samples: [PixelSample]

  /// A picture of one colour. Default: transparent black.
  public init(_ rect: PixelRect, filledWith sample: PixelSample = .clear) {
    self.rect = rect
    samples = [PixelSample](repeating: sample, count: rect.size.area)
  }

  /// The sample at a point of the canvas; writes outside the picture are dropped.
  public subscript(x: Int, y: Int) -> PixelSample {
    get { contains(x, y) ? samples[(y - rect.y) * rect.width + x - rect.x] : .clear }
    set {
      guard contains(x, y) else { return }
      samples[(y - rect.y) * rect.width + x - rect.x] = newValue
    }
  }

  private func contains(_ x: Int, _ y: Int) -> Bool {
    x >= rect.x && y >= rect.y && x < rect.maxX && y < rect.maxY
  }

  /// The palette index of every sample: its own, or that of the first equal colour of `palette`;
  /// nil at the first sample that has neither.
  public func indices(in palette: [PixelSample]) -> [UInt8]? {
    var known: [PixelSample: UInt8] = [:]
    for (index, color) in palette.enumerated().reversed() where index < 256 {
      known[color] = UInt8(index)
    }
    var result: [UInt8] = []
    result.reserveCapacity(samples.count)
    for sample in samples {
      guard let index = sample.index ?? known[sample] else { return nil }
      result.append(index)
    }
    return result
  }

  /// The pixels as R, G, B, A bytes, with every transparent one set to zeros.
  public var canonicalBytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(samples.count * 4)
    for sample in samples {
      let color = sample.rgba
      bytes +=
        color.alpha == 0 ? [0, 0, 0, 0] : [color.red, color.green, color.blue, color.alpha]
    }
    return bytes
  }
}
