extension Bitmap {
  /// Returns the bitmap converted to `format`, or itself if it already has that format.
  ///
  /// The result is deterministic, and each step rounds to nearest. Conversions between two formats
  /// other than ``PixelFormat/rgba8`` go through it, according to these rules:
  /// - 16 bits become 8 (`v / 257`) before any other step; 8 bits become 16 by `v * 257`;
  /// - multiplying by alpha is `c * a / 255`, and dividing by alpha is `c * 255 / a` clamped to
  ///   255, or 0 for alpha 0; dividing and then multiplying gives the same byte again;
  /// - pixels are blended over black before conversion to a format without alpha, and are opaque when converted back;
  /// - levels of 5 and 6 bits are rounded to nearest both ways, and survive the round trip;
  /// - grey is `0.2126 R + 0.7152 G + 0.0722 B` of the coded values after blending, with halves rounded up.
  ///
  /// Conversions between formats with straight alpha preserve colours with alpha 0.
  ///
  /// - Throws: `outOfMemory` if allocation fails.
  public func converted(to format: PixelFormat) throws(AnimatedImageError) -> Bitmap {
    if format == self.format { return self }
    var buffer = try PixelBuffer(asking: size, format: format, zeroed: false)
    try convert(rows: 0..<height, into: &buffer)
    return buffer.finish()
  }

  /// Converts `rows` to the format of `buffer`, which has the same size.
  package func convert(rows: Range<Int>, into buffer: inout PixelBuffer) throws(AnimatedImageError)
  {
    guard !size.isEmpty else { return }
    let hub = try PixelStorage(asking: PixelFormat.rgba8.bytesPerRow(width: width))
    PixelRows.convert(self, rows: rows, into: buffer, hub: hub)
  }
}

extension Bitmap {
  /// Returns the bitmap scaled into a box.
  ///
  /// For several bitmaps of one size, create one ``FrameScaler``, which stores the weights. Formats other than
  /// ``PixelFormat/rgba16`` and those with four 8-bit channels are scaled as ``PixelFormat/rgbx8`` and converted back.
  ///
  /// - Parameters:
  ///   - target: The box.
  ///   - fit: How the bitmap is fitted into the box.
  ///   - filter: The resampling filter.
  ///   - linearLight: Resamples in linear light instead of sRGB values.
  /// - Throws: The errors of ``FrameScaler``: `limitExceeded` for a side above 1,048,576; `outOfMemory` if
  ///   allocation fails.
  public func scaled(
    to target: TargetSize, fit: ScalingFit = .fit, filter: ScalingFilter = .bilinear,
    linearLight: Bool = false
  ) throws(AnimatedImageError) -> Bitmap {
    try FrameScaler(
      from: size, into: target, fit: fit, filter: filter, linearLight: linearLight
    ).scale(self)
  }
}

/// The conversion rules, pixel by pixel.
///
/// Every rule rounds to nearest, and halves up.
enum PixelConversion {
  /// Returns `value * alpha / 255`, rounded.
  @inline(__always)
  static func multiply(_ value: UInt8, by alpha: UInt8) -> UInt8 {
    let product = UInt32(value) * UInt32(alpha) + 128
    return UInt8(truncatingIfNeeded: (product + product >> 8) >> 8)
  }

  /// Returns `value * 255 / alpha`, rounded and clamped, or 0 for alpha 0.
  @inline(__always)
  static func divide(_ value: UInt8, by alpha: UInt8) -> UInt8 {
    guard alpha != 0 else { return 0 }
    let divisor = UInt32(alpha)
    return UInt8(clamping: (UInt32(value) * 255 + divisor / 2) / divisor)
  }

  /// Converts 16 bits to 8: `value / 257`, rounded.
  @inline(__always)
  static func narrow(_ value: UInt16) -> UInt8 {
    UInt8(truncatingIfNeeded: (UInt32(value) * 255 + 32895) >> 16)
  }

  /// Converts 8 bits to 16: `value * 257`.
  @inline(__always)
  static func widen(_ value: UInt8) -> UInt16 { UInt16(value) * 257 }

  /// Converts a pixel to the nearest levels of 5, 6 and 5 bits.
  @inline(__always)
  static func pack565(_ pixel: RGBA) -> UInt16 {
    let red = (UInt16(pixel.red) * 31 + 127) / 255
    let green = (UInt16(pixel.green) * 63 + 127) / 255
    let blue = (UInt16(pixel.blue) * 31 + 127) / 255
    return red << 11 | green << 5 | blue
  }

  /// Converts levels of 5, 6 and 5 bits to the nearest 8-bit levels of an opaque pixel.
  @inline(__always)
  static func unpack565(_ word: UInt16) -> RGBA {
    let red = (UInt32(word >> 11) * 255 + 15) / 31
    let green = (UInt32(word >> 5 & 63) * 255 + 31) / 63
    let blue = (UInt32(word & 31) * 255 + 15) / 31
    return RGBA(red: UInt8(red), green: UInt8(green), blue: UInt8(blue))
  }

  /// Returns 0.2126 R + 0.7152 G + 0.0722 B, rounded, halves up.
  @inline(__always)
  static func luma(_ pixel: RGBA) -> UInt8 {
    let sum =
      2126 * UInt32(pixel.red) + 7152 * UInt32(pixel.green) + 722 * UInt32(pixel.blue)
    return UInt8(truncatingIfNeeded: (sum + 5000) / 10000)
  }

  /// Returns the pixel with its colours multiplied by alpha.
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

  /// Returns the pixel blended over black.
  @inline(__always)
  static func flatten(_ pixel: RGBA) -> RGBA {
    var flat = premultiply(pixel)
    flat.alpha = 255
    return flat
  }

  /// Returns the pixel with its colours divided by alpha.
  @inline(__always)
  static func unpremultiply(_ pixel: RGBA) -> RGBA {
    RGBA(
      red: divide(pixel.red, by: pixel.alpha), green: divide(pixel.green, by: pixel.alpha),
      blue: divide(pixel.blue, by: pixel.alpha), alpha: pixel.alpha)
  }
}
