/// Makes the bitmaps of one ``Rendition`` out of composited frames.
///
/// Keeps the last bitmap before its conversion, so that of the frame after it only what changed is
/// scaled. One owner at a time.
package struct FrameRenderer: Sendable {
  package let rendition: Rendition
  /// Nil when frames keep the canvas's size.
  package let scaler: FrameScaler?
  private var last: (index: Int, bitmap: Bitmap)?

  /// Bytes of the bitmap that is kept for the next frame, when frames are scaled.
  package var bitmapCost: Int {
    rendition.format.bytesPerRow(width: rendition.size.width) * rendition.size.height
  }

  /// A renderer of frames of `canvasSize`, opened with `options`.
  package init(_ rendering: Rendering, of canvasSize: PixelSize, options: DecodingOptions) {
    rendition = Rendition(rendering, of: canvasSize, options: options)
    if rendition.scaling != nil, let target = rendering.target {
      scaler = FrameScaler(
        from: canvasSize, into: target, fit: rendering.fit, filter: rendering.filter,
        linearLight: rendering.linearLight)
    } else {
      scaler = nil
    }
  }

  /// `frame` as the rendition has it. Its dirty rectangle has to be against the frame rendered last,
  /// when that is the one before it.
  ///
  /// - Throws: `cancelled` between rows once `isCancelled` gives true; `limitExceeded` when the system
  ///   has no memory for the bitmap.
  package mutating func render(
    _ frame: CompositedFrame, isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) -> CompositedFrame {
    var bitmap = frame.bitmap
    var dirty = frame.dirtyRect
    if let scaler {
      if let last, last.index + 1 == frame.index, dirty != PixelRect(bitmap.size) {
        (bitmap, dirty) = try scaler.rescale(
          bitmap, previous: last.bitmap, dirty: dirty, isCancelled: isCancelled)
      } else {
        bitmap = try scaler.scale(bitmap, isCancelled: isCancelled)
        dirty = PixelRect(bitmap.size)
      }
      last = (frame.index, bitmap)
    }
    return CompositedFrame(
      index: frame.index, bitmap: try bitmap.converted(asking: rendition.format),
      dirtyRect: dirty, damage: frame.damage)
  }
}
