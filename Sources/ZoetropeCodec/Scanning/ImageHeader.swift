/// The properties that all frames of a file share.
package struct ImageHeader: Sendable, Hashable {
  package var format: AnimationFormat
  package var canvasSize: PixelSize
  /// GIF: the global palette. PNG: PLTE, with the alphas of tRNS. Colours are words of `RGBA`.
  package var palette: [UInt32] = []
  /// PNG: bits per sample.
  package var bitDepth: UInt8 = 8
  /// PNG: the colour type of IHDR.
  package var colorType: UInt8 = 6
  /// PNG: whether frames are stored with Adam7 interlacing.
  package var isInterlaced = false
  /// PNG: the raw tRNS chunk of colour types 0 and 2.
  package var transparency: [UInt8] = []
  /// Whether samples have 16 bits.
  package var isDeep: Bool { bitDepth == 16 }

  package init(format: AnimationFormat, canvasSize: PixelSize) {
    self.format = format
    self.canvasSize = canvasSize
  }
}
