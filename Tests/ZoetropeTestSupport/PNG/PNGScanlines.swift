internal import Zoetrope

/// Turns a picture into the filtered rows that a PNG compresses.
public struct PNGScanlines: Sendable, Hashable {
  /// How samples are stored.
  public var layout: PNGLayout
  /// The filter of each row, 0 to 4, used in turn; rows of all Adam7 passes are counted through.
  public var filters: [UInt8] = [0]
  /// Rows whose filter byte is replaced after filtering: row number to byte.
  public var filterBytes: [Int: UInt8] = [:]

  /// Rows with filter 0.
  public init(_ layout: PNGLayout) { self.layout = layout }

  /// The filtered rows of `picture`; for a palette, every sample must have its index.
  public func encode(_ picture: Picture) -> [UInt8] {
    var bytes: [UInt8] = []
    var row = 0
    for pass in passes where pass.x < picture.rect.width && pass.y < picture.rect.height {
      var previous: [UInt8] = []
      for y in stride(from: pass.y, to: picture.rect.height, by: pass.dy) {
        let samples = stride(from: pass.x, to: picture.rect.width, by: pass.dx).map {
          picture.samples[y * picture.rect.width + $0]
        }
        let packed = pack(samples)
        let filter = filters.isEmpty ? 0 : filters[row % filters.count]
        bytes.append(filterBytes[row] ?? filter)
        bytes += filtered(packed, previous: previous, by: filter)
        previous = packed
        row += 1
      }
    }
    return bytes
  }

  /// The start and step of each pass: PNG, 8.1.
  private var passes: [(x: Int, y: Int, dx: Int, dy: Int)] {
    guard layout.isInterlaced else { return [(0, 0, 1, 1)] }
    return [
      (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
      (0, 1, 1, 2),
    ]
  }

  private func pack(_ samples: [PixelSample]) -> [UInt8] {
    let values = samples.flatMap { layout.values(of: $0) }
    if layout.depth == 16 { return values.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] } }
    if layout.depth == 8 { return values.map { UInt8(truncatingIfNeeded: $0) } }
    var bytes: [UInt8] = []
    var filled = 8
    for value in values {
      if filled == 8 {
        bytes.append(0)
        filled = 0
      }
      filled += layout.depth
      let bits = UInt8(truncatingIfNeeded: value) & UInt8((1 << layout.depth) - 1)
      bytes[bytes.count - 1] |= bits << UInt8(8 - filled)
    }
    return bytes
  }

  /// PNG, 9.2: None, Sub, Up, Average, Paeth. Other values leave the row as it is.
  private func filtered(_ row: [UInt8], previous: [UInt8], by filter: UInt8) -> [UInt8] {
    let distance = max(1, layout.colorType.channels * layout.depth / 8)
    return row.indices.map { index in
      let left = index >= distance ? Int(row[index - distance]) : 0
      let above = previous.isEmpty ? 0 : Int(previous[index])
      let corner =
        index >= distance && !previous.isEmpty ? Int(previous[index - distance]) : 0
      let guess =
        switch filter {
        case 1: left
        case 2: above
        case 3: (left + above) / 2
        case 4: Self.paeth(left, above, corner)
        default: 0
        }
      return row[index] &- UInt8(guess)
    }
  }

  private static func paeth(_ left: Int, _ above: Int, _ corner: Int) -> Int {
    let estimate = left + above - corner
    let (a, b, c) = (abs(estimate - left), abs(estimate - above), abs(estimate - corner))
    if a <= b, a <= c { return left }
    return b <= c ? above : corner
  }
}
