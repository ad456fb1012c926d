/// The way in which an image is fitted into a box of another aspect ratio.
public struct ScalingFit: OpenChoice, Sendable, Hashable, CustomStringConvertible {
  package enum Kind: String, CaseIterable, Sendable { case fit, fill, stretch, integer }

  package let kind: Kind
  package init(_ kind: Kind) { self.kind = kind }

  /// As large as possible within the box, keeping the aspect ratio.
  public static let fit = ScalingFit(.fit)
  /// As small as possible while covering the box, keeping the aspect ratio. Cropped evenly on both
  /// sides.
  public static let fill = ScalingFit(.fill)
  /// Exactly the box, ignoring the aspect ratio.
  public static let stretch = ScalingFit(.stretch)
  /// Like ``fit``, but only by an integer factor or the inverse of one (a half, a third and so on),
  /// so that all source pixels become blocks of the same size. For pixel art.
  public static let integer = ScalingFit(.integer)
}

/// A part of a source picture whose edges may lie between pixels.
package struct SourceBox: Sendable, Hashable {
  package var x: Double
  package var y: Double
  package var width: Double
  package var height: Double

  /// Creates the box of a whole picture of `size`.
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
