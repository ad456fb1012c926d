/// A frame to encode, given as the canvas before the frame and the canvas after it.
package struct FrameWork: Sendable {
  /// The canvas after the frame.
  package var picture: Bitmap
  /// The canvas before the frame, of the same size and format, or nil if the canvas is fully transparent.
  package var base: Bitmap?
  /// A rectangle that covers all pixels in which ``picture`` differs from ``base``. The rectangle is never empty.
  package var rect: PixelRect
  /// Whether the frame's rectangle becomes transparent after the frame. Some players fill the rectangle with a colour
  /// instead, unless the frame has a transparent index.
  package var isCleared = false
  /// An existing frame whose bytes may be copied instead of encoding the picture, or nil if there is none.
  package var source: SourceFrame?

  package init(picture: Bitmap, base: Bitmap?, rect: PixelRect) {
    self.picture = picture
    self.base = base
    self.rect = rect
  }
}

/// An existing GIF frame that, drawn over the base of a ``FrameWork``, gives the picture of that ``FrameWork``.
package struct SourceFrame: Sendable {
  /// The bytes of the image descriptor, the colour table and the compressed indices.
  package var bytes: [UInt8]
  package var transparentIndex: UInt8?

  package init(bytes: [UInt8], transparentIndex: UInt8?) {
    self.bytes = bytes
    self.transparentIndex = transparentIndex
  }
}
