/// The layout of a decoded frame in memory that becomes the canvas itself.
///
/// A frame that replaces most of the canvas is not drawn: its decoder leaves the pixels at their canvas
/// positions in a block of the canvas's size. The canvas takes that block and gives its own to a later frame
/// (`Canvas.adopt`). If such frames were drawn, their pixels would move from the core that decoded them to the
/// one that composites, and the next frame would have to take the memory back. Writing to lines that another
/// core has read takes 7 ns each, 30 µs for a frame of 256 KB that inflates in 55 µs.
///
/// The samples are inflated at the block's end and move forward, row after row, to their places.
/// Each destination row ends at least 64 bytes before its source row ends, and a pixel takes no
/// fewer bytes than its sample, so forward expansion is safe in place.
package struct InPlaceLayout {
  /// Bytes after the samples that an inflater may overwrite.
  static let back = 64

  let size: PixelSize
  /// Bytes from one row of the canvas to the next.
  let bytesPerRow: Int
  /// Bytes of a block: the canvas, a filter byte for each row, the distance, and ``back``.
  let byteCount: Int
  private let isOpaque: Bool

  /// The layout for a canvas of `size`; `isOpaque` says that no pixel of any frame is transparent.
  init(_ size: PixelSize, isOpaque: Bool) {
    self.size = size
    self.isOpaque = isOpaque
    bytesPerRow = PixelFormat.rgba8.bytesPerRow(width: size.width)
    byteCount = bytesPerRow * size.height + size.height + 64 + Self.back
  }

  /// Whether a frame should become the canvas: the part of the canvas that it leaves is copied from
  /// the previous canvas, and should be smaller than the frame.
  func suits(_ control: FrameControl) -> Bool {
    (control.blend == .source || isOpaque) && PixelRect(size).contains(control.rect)
      && control.rect.size.area > size.area / 2
  }

  /// Where `count` bytes of samples start.
  func start(ofSamples count: Int) -> Int { byteCount - Self.back - count }
}
