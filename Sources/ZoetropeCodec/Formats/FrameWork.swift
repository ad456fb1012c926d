/// A frame to encode: its picture, and the canvas below it.
package struct FrameWork: Sendable {
  /// The canvas after the frame.
  package var picture: Bitmap
  /// The canvas before it, of the same size and format; nil if the canvas is clear.
  package var base: Bitmap?
  /// Covers all pixels in which the two differ; not empty.
  package var rect: PixelRect
  /// What may be copied for it.
  package var source: SourceFrame?

  package init(picture: Bitmap, base: Bitmap?, rect: PixelRect) {
    self.picture = picture
    self.base = base
    self.rect = rect
  }
}

/// An existing GIF frame that draws the same picture on the same canvas.
package struct SourceFrame: Sendable {
  /// Descriptor, colour table and compressed indices.
  package var bytes: [UInt8]
  package var transparentIndex: UInt8?

  package init(bytes: [UInt8], transparentIndex: UInt8?) {
    self.bytes = bytes
    self.transparentIndex = transparentIndex
  }
}
