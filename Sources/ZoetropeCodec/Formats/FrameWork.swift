/// A frame to encode: the canvas after it and the canvas before it.
package struct FrameWork: Sendable {
  /// The canvas after the frame.
  package var picture: Bitmap
  /// The canvas before the frame, of the same size and format, or nil if it is clear.
  package var base: Bitmap?
  /// A rectangle that covers all pixels in which the two differ. Never empty.
  package var rect: PixelRect
  /// An existing frame whose bytes may be copied instead of encoding.
  package var source: SourceFrame?

  package init(picture: Bitmap, base: Bitmap?, rect: PixelRect) {
    self.picture = picture
    self.base = base
    self.rect = rect
  }
}

/// An existing GIF frame that draws the same picture on the same canvas.
package struct SourceFrame: Sendable {
  /// The descriptor, the colour table and the compressed indices.
  package var bytes: [UInt8]
  package var transparentIndex: UInt8?

  package init(bytes: [UInt8], transparentIndex: UInt8?) {
    self.bytes = bytes
    self.transparentIndex = transparentIndex
  }
}
