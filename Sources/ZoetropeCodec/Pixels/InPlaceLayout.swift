/// The memory layout of a decoded frame whose block becomes the canvas.
///
/// A frame that replaces most of the canvas is not drawn. Instead its decoder writes the pixels to their canvas
/// positions in a block of the canvas's size, and the canvas takes this block in exchange for its own (`Canvas.adopt`).
/// If such frames were drawn, the pixels would move from the core that decoded them to the core that composites, and
/// decoding the next frame would move the memory back. Writing a cache line that another core has read takes 7 ns,
/// which amounts to 30 µs for a frame of 256 KB that inflates in 55 µs.
///
/// The samples are inflated to the end of the block and then moved towards its start, row after row, to their places.
/// Each destination row ends at least 64 bytes before its source row ends, and a pixel takes no fewer bytes than its
/// sample, so forward expansion is safe in place.
package struct InPlaceLayout {
  /// The number of bytes after the samples that an inflater may overwrite.
  static let back = 64

  let size: PixelSize
  /// The number of bytes from one row of the canvas to the next.
  let bytesPerRow: Int
  /// The number of bytes of a block: the canvas, a filter byte for each row, the distance between destination and
  /// source rows, and ``back``.
  let byteCount: Int
  private let isOpaque: Bool

  /// Creates the layout for a canvas of `size`.
  ///
  /// - Parameter isOpaque: Whether every pixel of every frame is opaque.
  init(_ size: PixelSize, isOpaque: Bool) {
    self.size = size
    self.isOpaque = isOpaque
    bytesPerRow = PixelFormat.rgba8.bytesPerRow(width: size.width)
    byteCount = bytesPerRow * size.height + size.height + 64 + Self.back
  }

  /// Returns whether the block of a frame should become the canvas. The pixels outside the frame are then copied from
  /// the previous canvas, so the frame should cover more than half of the canvas.
  func suits(_ control: FrameControl) -> Bool {
    (control.blend == .source || isOpaque) && PixelRect(size).contains(control.rect)
      && control.rect.size.area > size.area / 2
  }

  /// Returns the offset at which `count` bytes of samples start.
  func start(ofSamples count: Int) -> Int { byteCount - Self.back - count }
}
