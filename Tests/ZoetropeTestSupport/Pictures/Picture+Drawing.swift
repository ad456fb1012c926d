public import Zoetrope

extension Picture {
  /// The direction in which colours change.
  public enum Axis: String, Sendable {
    /// From left to right.
    case across
    /// From top to bottom.
    case down
    /// From the top left to the bottom right.
    case diagonal
  }

  /// Paints every pixel.
  public mutating func fill(_ sample: PixelSample) {
    for index in samples.indices { samples[index] = sample }
  }

  /// Paints the part of `area` that lies inside.
  public mutating func fill(_ area: PixelRect, _ sample: PixelSample) {
    let inside = area.intersection(rect)
    for y in inside.y..<inside.maxY {
      for x in inside.x..<inside.maxX { self[x, y] = sample }
    }
  }

  /// Paints a disc: the pixels whose centre is no further than `radius` from (`x`, `y`).
  public mutating func disc(x: Int, y: Int, radius: Int, _ sample: PixelSample) {
    for row in (y - radius)...(y + radius) {
      for column in (x - radius)...(x + radius) {
        let (dx, dy) = (column - x, row - y)
        if dx * dx + dy * dy <= radius * radius { self[column, row] = sample }
      }
    }
  }

  /// Paints a straight gradient over the whole picture.
  public mutating func gradient(_ start: PixelSample, _ end: PixelSample, _ axis: Axis) {
    paint(axis) { step, steps in .between(start, end, step: step, of: steps - 1) }
  }

  /// Paints bands of equal width, one of each colour.
  public mutating func bands(_ colors: [PixelSample], _ axis: Axis) {
    guard !colors.isEmpty else { return }
    paint(axis) { step, steps in colors[step * colors.count / steps] }
  }

  /// Paints each pixel at random from `colors`; the same seed always gives the same picture.
  public mutating func noise(seed: UInt64, _ colors: [PixelSample]) {
    guard !colors.isEmpty else { return }
    var generator = SplitMix64(seed: seed)
    for index in samples.indices {
      samples[index] = colors[Int(generator.next() >> 33) % colors.count]
    }
  }

  /// Paints rows of samples from the top; a missing sample leaves what is there.
  public mutating func rows(_ rows: [[PixelSample]]) {
    for (y, row) in rows.enumerated() {
      for (x, sample) in row.enumerated() { self[rect.x + x, rect.y + y] = sample }
    }
  }

  /// Copies the pixels of `other` that lie inside.
  public mutating func copy(_ other: Picture) {
    let inside = other.rect.intersection(rect)
    for y in inside.y..<inside.maxY {
      for x in inside.x..<inside.maxX { self[x, y] = other[x, y] }
    }
  }

  private mutating func paint(_ axis: Axis, _ color: (Int, Int) -> PixelSample) {
    let steps =
      switch axis {
      case .across: rect.width
      case .down: rect.height
      case .diagonal: rect.width + rect.height - 1
      }
    guard steps > 0 else { return }
    for y in 0..<rect.height {
      for x in 0..<rect.width {
        let step =
          switch axis {
          case .across: x
          case .down: y
          case .diagonal: x + y
          }
        samples[y * rect.width + x] = color(step, steps)
      }
    }
  }
}
