/// The way in which an image is fitted into a box that may have a different aspect ratio.
public struct ScalingFit: OpenChoice, Sendable, Hashable, CustomStringConvertible {
  package enum Kind: String, CaseIterable, Sendable { case fit, fill, stretch, integer }

  package let kind: Kind
  package init(_ kind: Kind) { self.kind = kind }

  /// Makes the image as large as possible within the box, and keeps the aspect ratio.
  public static let fit = ScalingFit(.fit)
  /// Makes the image just large enough to cover the box, and keeps the aspect ratio. What extends past the box is
  /// cropped evenly on both sides.
  public static let fill = ScalingFit(.fill)
  /// Makes the image exactly as large as the box, and ignores the aspect ratio.
  public static let stretch = ScalingFit(.stretch)
  /// Scales the image like ``fit``, but only by a whole number or by 1 divided by a whole number (a half, a third and
  /// so on), so that all source pixels become blocks of the same size. This fit is meant for pixel art.
  public static let integer = ScalingFit(.integer)
}

/// A rectangle of a source bitmap, whose edges may lie between pixels.
package struct SourceBox: Sendable, Hashable {
  package var x: Double
  package var y: Double
  package var width: Double
  package var height: Double

  /// Creates the rectangle of a whole bitmap of `size`.
  package init(_ size: PixelSize) {
    self.init(x: 0, y: 0, width: Double(size.width), height: Double(size.height))
  }

  package init(x: Double, y: Double, width: Double, height: Double) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }
}
