extension Bitmap {
  /// Returns this bitmap converted to `format`, or the bitmap itself if it already has that format.
  ///
  /// The result is deterministic, and each step rounds to nearest. Conversions between two formats other than
  /// ``PixelFormat/rgba8`` go through ``PixelFormat/rgba8``. The following rules apply:
  /// - 16-bit channels are converted to 8 bits (`v / 257`) before any other step; 8-bit channels are converted to 16
  ///   bits by `v * 257`;
  /// - multiplying a colour `c` by alpha `a` gives `c * a / 255`; dividing gives `c * 255 / a` clamped to 255, or 0 if
  ///   alpha is 0; dividing a premultiplied colour and then multiplying it again gives the same byte;
  /// - pixels are blended over black before they are converted to a format without alpha; when pixels are converted
  ///   from such a format, they are opaque;
  /// - conversions to and from levels of 5 and 6 bits round to nearest, so that such levels survive the round trip to 8
  ///   bits and back;
  /// - a grey level is `0.2126 R + 0.7152 G + 0.0722 B`, computed from the coded values after blending, with halves
  ///   rounded up.
  ///
  /// Conversions between formats with straight alpha preserve the colours of pixels whose alpha is 0.
  ///
  /// - Throws: `outOfMemory` if allocation fails.
  public func converted(to format: PixelFormat) throws(AnimatedImageError) -> Bitmap {
    if format == self.format { return self }
    var buffer = try PixelBuffer(asking: size, format: format, zeroed: false)
    try convert(rows: 0..<height, into: &buffer)
    return buffer.finish()
  }

  /// Converts rows `rows` of this bitmap to the format of `buffer`, which has the same size as the bitmap.
  package func convert(rows: Range<Int>, into buffer: inout PixelBuffer) throws(AnimatedImageError)
  {
    guard !size.isEmpty else { return }
    let hub = try PixelStorage(asking: PixelFormat.rgba8.bytesPerRow(width: width))
    PixelRows.convert(self, rows: rows, into: buffer, hub: hub)
  }
}

extension Bitmap {
  /// Returns this bitmap scaled into a box.
  ///
  /// To scale several bitmaps of the same size, create one ``FrameScaler``, which computes the weights only once.
  /// Bitmaps in ``PixelFormat/rgb565`` and ``PixelFormat/gray8`` are converted to ``PixelFormat/rgbx8``, scaled and
  /// converted back, unless `filter` is ``ScalingFilter/nearest``.
  ///
  /// - Parameters:
  ///   - target: The box.
  ///   - fit: How the bitmap is fitted into the box. Default: ``ScalingFit/fit``.
  ///   - filter: The resampling filter. Default: ``ScalingFilter/bilinear``.
  ///   - linearLight: Whether to resample in linear light instead of sRGB values. Default: false.
  /// - Throws: The errors of ``FrameScaler``: `limitExceeded` if a side is above 1,048,576; `outOfMemory` if allocation
  ///   fails.
  public func scaled(
    to target: TargetSize, fit: ScalingFit = .fit, filter: ScalingFilter = .bilinear,
    linearLight: Bool = false
  ) throws(AnimatedImageError) -> Bitmap {
    try FrameScaler(
      from: size, into: target, fit: fit, filter: filter, linearLight: linearLight
    ).scale(self)
  }
}

/// The rules for converting single pixels.
///
/// Every rule rounds to nearest, with halves rounded up.
enum PixelConversion {
  /// Returns `value * alpha / 255`, rounded to nearest.
  @inline(__always)
  static func multiply(_ value: UInt8, by alpha: UInt8) -> UInt8 {
    let product = UInt32(value) * UInt32(alpha) + 128
    return UInt8(truncatingIfNeeded: (product + product >> 8) >> 8)
  }

  /// Returns `value * 255 / alpha`, rounded to nearest and clamped to 255, or 0 if alpha is 0.
  @inline(__always)
  static func divide(_ value: UInt8, by alpha: UInt8) -> UInt8 {
    guard alpha != 0 else { return 0 }
    let divisor = UInt32(alpha)
    return UInt8(clamping: (UInt32(value) * 255 + divisor / 2) / divisor)
  }

  /// Converts a 16-bit channel to 8 bits: returns `value / 257`, rounded to nearest.
  @inline(__always)
  static func narrow(_ value: UInt16) -> UInt8 {
    UInt8(truncatingIfNeeded: (UInt32(value) * 255 + 32895) >> 16)
  }

  /// Converts an 8-bit channel to 16 bits: returns `value * 257`.
  @inline(__always)
  static func widen(_ value: UInt8) -> UInt16 { UInt16(value) * 257 }

  /// Converts a pixel to a word with the nearest levels of 5, 6 and 5 bits. Alpha is ignored.
  @inline(__always)
  static func pack565(_ pixel: RGBA) -> UInt16 {
    let red = (UInt16(pixel.red) * 31 + 127) / 255
    let green = (UInt16(pixel.green) * 63 + 127) / 255
    let blue = (UInt16(pixel.blue) * 31 + 127) / 255
    return red << 11 | green << 5 | blue
  }

  /// Converts a word with levels of 5, 6 and 5 bits to an opaque pixel with the nearest 8-bit levels.
  @inline(__always)
  static func unpack565(_ word: UInt16) -> RGBA {
    let red = (UInt32(word >> 11) * 255 + 15) / 31
    let green = (UInt32(word >> 5 & 63) * 255 + 31) / 63
    let blue = (UInt32(word & 31) * 255 + 15) / 31
    return RGBA(red: UInt8(red), green: UInt8(green), blue: UInt8(blue))
  }

  /// Returns `0.2126 R + 0.7152 G + 0.0722 B`, rounded to nearest, with halves rounded up.
  @inline(__always)
  static func luma(_ pixel: RGBA) -> UInt8 {
    let sum =
      2126 * UInt32(pixel.red) + 7152 * UInt32(pixel.green) + 722 * UInt32(pixel.blue)
    return UInt8(truncatingIfNeeded: (sum + 5000) / 10000)
  }

  /// Returns the pixel with its colours multiplied by its alpha.
  @inline(__always)
  static func premultiply(_ pixel: RGBA) -> RGBA {
    RGBA(
      red: multiply(pixel.red, by: pixel.alpha), green: multiply(pixel.green, by: pixel.alpha),
      blue: multiply(pixel.blue, by: pixel.alpha), alpha: pixel.alpha)
  }

  /// Returns the pixel with red and blue exchanged.
  @inline(__always)
  static func swapped(_ pixel: RGBA) -> RGBA {
    RGBA(red: pixel.blue, green: pixel.green, blue: pixel.red, alpha: pixel.alpha)
  }

  /// Returns the pixel blended over opaque black.
  @inline(__always)
  static func flatten(_ pixel: RGBA) -> RGBA {
    var flat = premultiply(pixel)
    flat.alpha = 255
    return flat
  }

  /// Returns the pixel with its colours divided by its alpha.
  @inline(__always)
  static func unpremultiply(_ pixel: RGBA) -> RGBA {
    RGBA(
      red: divide(pixel.red, by: pixel.alpha), green: divide(pixel.green, by: pixel.alpha),
      blue: divide(pixel.blue, by: pixel.alpha), alpha: pixel.alpha)
  }
}
