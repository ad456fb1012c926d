/// The properties that all frames of a file share.
package struct ImageHeader: Sendable, Hashable {
  package var format: AnimationFormat
  package var canvasSize: PixelSize
  /// GIF: the global palette; PNG: PLTE. Colours as `RGBA.word`, alpha from tRNS applied.
  package var palette: [UInt32] = []
  /// PNG: bits per sample.
  package var bitDepth: UInt8 = 8
  /// PNG: the colour type of IHDR.
  package var colorType: UInt8 = 6
  /// PNG: whether frames are stored with Adam7 interlacing.
  package var isInterlaced = false
  /// PNG: the raw tRNS chunk of colour types 0 and 2.
  package var transparency: [UInt8] = []

  package init(format: AnimationFormat, canvasSize: PixelSize) {
    self.format = format
    self.canvasSize = canvasSize
  }
}

/// The file formats that can be decoded.
public enum AnimationFormat: String, Sendable, Hashable {
  /// GIF87a or GIF89a.
  case gif
  /// A PNG with valid animation chunks.
  case apng
  /// A still PNG.
  case png
}

/// How many times an animation plays in total.
///
/// GIF: no loop block is one play, 0 is ``indefinite``, *n* is *n* + 1 plays.
/// APNG: `num_plays` 0 is ``indefinite``, *n* is *n* plays.
public enum PlayCount: Sendable, Hashable {
  /// This many plays in all; at least one.
  case finite(Int)
  /// Until it is stopped.
  case indefinite

  /// One play.
  public static let once = PlayCount.finite(1)
}
