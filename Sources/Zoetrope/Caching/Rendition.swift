/// What was done to an image's frames before they were cached, beside choosing the frame.
///
/// Everything that decides pixels is in here and nothing else: delays, play counts and the choice of
/// decoder (both give the same pixels) are not.
public struct Rendition: Sendable, Hashable {
  /// Width and height of the bitmaps.
  public let size: PixelSize
  /// Their format.
  public let format: PixelFormat
  /// What was done with the rows of damaged frames.
  public let damage: DamagePolicy
  /// How the canvas was fitted into ``size``; 0 when nothing was scaled.
  package let fitCode: UInt8
  /// How pixels were interpolated; 0 when nothing was scaled.
  package let filterCode: UInt8

  /// Raised whenever a release composes, scales or converts the same bytes to other pixels, so that
  /// a store on disk never serves what an older release made.
  package static let version: UInt16 = 1

  package init(
    size: PixelSize, format: PixelFormat = .rgba8, damage: DamagePolicy = .salvage,
    fitCode: UInt8 = 0, filterCode: UInt8 = 0
  ) {
    self.size = size
    self.format = format
    self.damage = damage
    self.fitCode = fitCode
    self.filterCode = filterCode
  }

  /// The image's own size, unscaled.
  public static func canvas(
    _ size: PixelSize, format: PixelFormat = .rgba8, damage: DamagePolicy = .salvage
  ) -> Rendition {
    Rendition(size: size, format: format, damage: damage)
  }
}
