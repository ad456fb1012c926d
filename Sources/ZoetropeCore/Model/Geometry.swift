/// A width and a height in pixels.
public struct PixelSize: Sendable, Hashable {
  /// Pixels in a row.
  public var width: Int
  /// Rows.
  public var height: Int

  /// Creates a size; neither side is checked.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// Whether it contains no pixels.
  public var isEmpty: Bool { width <= 0 || height <= 0 }

  /// The pixel count; 0 if a side is not positive, `Int.max` on overflow.
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

/// A half-open rectangle of pixels; `x` grows to the right and `y` downwards.
public struct PixelRect: Sendable, Hashable {
  /// The first column inside.
  public var x: Int
  /// The first row inside.
  public var y: Int
  /// Columns.
  public var width: Int
  /// Rows.
  public var height: Int

  /// Creates a rectangle; nothing is checked.
  public init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  /// The rectangle that covers a whole picture of `size`.
  public init(_ size: PixelSize) {
    self.init(x: 0, y: 0, width: size.width, height: size.height)
  }

  /// The rectangle with no pixels.
  public static let empty = PixelRect(x: 0, y: 0, width: 0, height: 0)

  /// Whether it contains no pixels.
  public var isEmpty: Bool { width <= 0 || height <= 0 }
  /// Its width and height.
  public var size: PixelSize { PixelSize(width: width, height: height) }
  /// The first column past the right edge, clamped to `Int`.
  public var maxX: Int { x.addingClamped(width) }
  /// The first row past the bottom edge, clamped to `Int`.
  public var maxY: Int { y.addingClamped(height) }

  /// The pixels in both rectangles; ``empty`` if there are none.
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

  /// The smallest rectangle that contains both; empty rectangles are ignored.
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

  /// Whether every pixel of `other` is inside. Every rectangle contains the empty ones.
  package func contains(_ other: PixelRect) -> Bool {
    other.isEmpty
      || (other.x >= x && other.y >= y && other.maxX <= maxX && other.maxY <= maxY)
  }
}

extension Int {
  /// The sum, clamped.
  fileprivate func addingClamped(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// The difference, clamped.
  fileprivate func subtractingClamped(_ other: Int) -> Int {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }
}

extension PixelRect: CustomStringConvertible {
  /// `WIDTHxHEIGHT+X+Y`.
  public var description: String { "\(width)x\(height)+\(x)+\(y)" }
}
