/// A width and a height in pixels.
public struct PixelSize: Sendable, Hashable {
  /// Pixels in a row.
  public var width: Int
  /// Rows.
  public var height: Int

  /// Makes a size; neither side is checked.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// Whether there is no pixel in it.
  public var isEmpty: Bool { width <= 0 || height <= 0 }

  /// Pixels in all; 0 when a side is not positive, `Int.max` when the product does not fit.
  public var area: Int {
    guard !isEmpty else { return 0 }
    let (product, overflow) = width.multipliedReportingOverflow(by: height)
    return overflow ? .max : product
  }
}

extension PixelSize: CustomStringConvertible {
  /// `WIDTHxHEIGHT`.
  public var description: String { "\(width)x\(height)" }
}
