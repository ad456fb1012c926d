extension Bitmap {
  /// The picture in another format; the picture itself when it has that format already.
  ///
  /// Exact, and the same everywhere: each step rounds to nearest. Between formats that are both
  /// not ``PixelFormat/rgba8`` the way leads over it, so that:
  /// - 16 bits become 8 (`v / 257`) before anything else; 8 become 16 by `v * 257`;
  /// - multiplying by alpha is `c * a / 255`, dividing `c * 255 / a` clamped to 255, with 0 for
  ///   alpha 0; dividing and multiplying again gives the same byte;
  /// - formats without alpha are blended over black first, and come back opaque;
  /// - levels of 5 and 6 bits are the nearest ones both ways, and survive the round trip;
  /// - grey is `0.2126 R + 0.7152 G + 0.0722 B` of the coded values, halves up, after blending.
  ///
  /// Straight colours under alpha 0 are kept between straight formats. The process ends when the
  /// system has no memory for the new picture.
  public func converted(to format: PixelFormat) -> Bitmap {
    do {
      return try converted(asking: format)
    } catch {
      fatalError("\(error)")
    }
  }

  /// As ``converted(to:)``.
  ///
  /// - Throws: `limitExceeded` when the system has no memory for the new picture.
  package func converted(asking format: PixelFormat) throws(AnimatedImageError) -> Bitmap {
    if format == self.format { return self }
    let buffer = try PixelBuffer(asking: size, format: format, zeroed: false)
    guard !size.isEmpty else { return buffer.finish() }
    let hub = try PixelStorage(asking: PixelFormat.rgba8.bytesPerRow(width: width))
    let target = unsafe buffer.baseAddress
    for y in 0..<height {
      // Each row holds `width` pixels of its format, and the hub as many of rgba8.
      let from = unsafe UnsafeRawPointer(storage.baseAddress) + y * bytesPerRow
      let to = unsafe target + y * buffer.bytesPerRow
      if self.format == .rgba8 {
        unsafe PixelRows.encode(from, to: to, format, count: width)
      } else if format == .rgba8 {
        unsafe PixelRows.decode(from, self.format, to: to, count: width)
      } else {
        unsafe PixelRows.decode(from, self.format, to: hub.baseAddress, count: width)
        unsafe PixelRows.encode(hub.baseAddress, to: to, format, count: width)
      }
    }
    return buffer.finish()
  }
}
