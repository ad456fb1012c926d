/// A width and a height in pixels.
public struct PixelSize: Sendable, Hashable {
  /// The number of pixels in a row.
  public var width: Int
  /// The number of rows.
  public var height: Int

  /// Creates a size. The values are not checked.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// Whether the size contains no pixels.
  public var isEmpty: Bool { width <= 0 || height <= 0 }

  /// The number of pixels. It is 0 if a side is not positive, and `Int.max` if the product of the sides overflows.
  public var area: Int {
    isEmpty ? 0 : width.multipliedClamped(by: height)
  }
}

extension PixelSize: CustomStringConvertible {
  /// The size in the form `WIDTHxHEIGHT`.
  public var description: String { "\(width)x\(height)" }
}

/// A half-open rectangle of pixels. `x` increases to the right and `y` increases downwards.
public struct PixelRect: Sendable, Hashable {
  /// The first column inside the rectangle.
  public var x: Int
  /// The first row inside the rectangle.
  public var y: Int
  /// The number of columns.
  public var width: Int
  /// The number of rows.
  public var height: Int

  /// Creates a rectangle. The values are not checked.
  public init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  /// Creates the rectangle that covers a whole picture of `size`.
  public init(_ size: PixelSize) {
    self.init(x: 0, y: 0, width: size.width, height: size.height)
  }

  /// A rectangle without pixels.
  public static let empty = PixelRect(x: 0, y: 0, width: 0, height: 0)

  /// Whether the rectangle contains no pixels.
  public var isEmpty: Bool { width <= 0 || height <= 0 }
  /// The width and height of the rectangle.
  public var size: PixelSize { PixelSize(width: width, height: height) }
  /// The first column past the right edge, clamped to the range of `Int`.
  public var maxX: Int { x.addingClamped(width) }
  /// The first row past the bottom edge, clamped to the range of `Int`.
  public var maxY: Int { y.addingClamped(height) }

  /// Returns the rectangle of the pixels that lie in both rectangles, or ``empty`` if there are no such pixels.
  public func intersection(_ other: PixelRect) -> PixelRect {
    let left = max(x, other.x)
    let top = max(y, other.y)
    let right = min(maxX, other.maxX)
    let bottom = min(maxY, other.maxY)
    guard left < right, top < bottom else { return .empty }
    return PixelRect(
      x: left, y: top, width: right.subtractingClamped(left), height: bottom.subtractingClamped(top)
    )
  }

  /// Returns the smallest rectangle that contains both this rectangle and `other`. An empty rectangle is ignored.
  public func union(_ other: PixelRect) -> PixelRect {
    if isEmpty { return other }
    if other.isEmpty { return self }
    let left = min(x, other.x)
    let top = min(y, other.y)
    return PixelRect(
      x: left, y: top,
      width: max(maxX, other.maxX).subtractingClamped(left),
      height: max(maxY, other.maxY).subtractingClamped(top))
  }

  /// Returns whether every pixel of `other` lies inside this rectangle. This is always true if `other` is empty.
  package func contains(_ other: PixelRect) -> Bool {
    other.isEmpty
      || (other.x >= x && other.y >= y && other.maxX <= maxX && other.maxY <= maxY)
  }
}

extension Int {
  /// Returns the sum, clamped to the range of `Int`.
  package func addingClamped(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// Returns the difference, clamped to the range of `Int`.
  fileprivate func subtractingClamped(_ other: Int) -> Int {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }

  /// Returns the product, clamped to the range of `Int`.
  package func multipliedClamped(by other: Int) -> Int {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
  }
}

extension PixelRect: CustomStringConvertible {
  /// The rectangle in the form `WIDTHxHEIGHT+X+Y`.
  public var description: String { "\(width)x\(height)+\(x)+\(y)" }
}
