/// How the pixels of a file's frames are stored, and the layout in which the fast decoder hands them on.
struct PNGSampleFormat {
  /// What comes out. A grey that some value of is transparent, and grey of fewer than 8 bits, are
  /// indices of a palette of greys.
  let layout: FramePixels.Layout
  /// Bits that a pixel takes in the file.
  let bitsPerPixel: Int
  /// Whether a frame is stored as the seven pictures of ``Adam7``.
  let isInterlaced: Bool

  /// The format of a file's frames; nil for a colour type or depth that does not exist.
  init?(_ header: ImageHeader) {
    let isKeyed = header.hasTransparentColor
    switch (header.colorType, header.bitDepth) {
    case (0, 8): layout = isKeyed ? .indexed8 : .grey8
    case (0, 16): layout = isKeyed ? .keyedGrey16 : .grey16
    case (2, 8): layout = isKeyed ? .keyedRGB8 : .rgb8
    case (2, 16): layout = isKeyed ? .keyedRGB16 : .rgb16
    case (0, 1), (0, 2), (0, 4), (3, 1), (3, 2), (3, 4), (3, 8): layout = .indexed8
    case (4, 8): layout = .greyAlpha8
    case (4, 16): layout = .greyAlpha16
    case (6, 8): layout = .rgba8
    case (6, 16): layout = .rgba16
    default: return nil
    }
    isInterlaced = header.isInterlaced
    bitsPerPixel =
      min(Int(header.bitDepth), 8) < 8 ? Int(header.bitDepth) : layout.bytesPerPixel * 8
  }

  /// Bytes of a decoded pixel.
  var pixelSize: Int { layout.bytesPerPixel }

  /// Bytes from a sample to the one that the filters take for the pixel to its left.
  var filterSize: Int { max(bitsPerPixel / 8, 1) }

  /// Whether the frame is complete once its rows are unfiltered; else its pixels are still packed or
  /// in the order of the passes, and ``PNGRaster`` puts them in rows of their own.
  var isDirect: Bool { bitsPerPixel >= 8 && !isInterlaced }

  /// Bytes of a row of `width` pixels without its filter byte; nil when there are too many.
  func rowByteCount(width: Int) -> Int? {
    let (bits, isTooLarge) = width.multipliedReportingOverflow(by: bitsPerPixel)
    return isTooLarge || bits > Int.max - 7 ? nil : (bits + 7) / 8
  }

  /// Bytes of the rows of a frame with their filter bytes, passes after one another; nil when there are
  /// too many.
  func storedByteCount(of size: PixelSize) -> Int? {
    guard isInterlaced else { return pictureByteCount(size) }
    // Each pass has at most as many bytes as the frame, a quarter of them or half of them in fact.
    guard let whole = pictureByteCount(size), whole < Int.max / 8 else { return nil }
    return Adam7.passes.reduce(0) { $0 + (pictureByteCount($1.size(of: size)) ?? 0) }
  }

  /// Bytes of one picture's rows.
  func pictureByteCount(_ size: PixelSize) -> Int? {
    guard size.width > 0, size.height > 0 else { return 0 }
    guard let rowBytes = rowByteCount(width: size.width) else { return nil }
    let (bytes, isTooLarge) = (rowBytes + 1).multipliedReportingOverflow(by: size.height)
    return isTooLarge ? nil : bytes
  }
}

/// The order of pixels in an interlaced PNG: seven pictures, each a grid of the frame's pixels (PNG 3rd
/// edition 8.1).
enum Adam7 {
  struct Pass {
    /// The first pixel in a row or column, and how many lie from one to the next.
    let column, columnStep, row, rowStep: Int

    /// The picture's size, of which either number may be 0.
    func size(of frame: PixelSize) -> PixelSize {
      PixelSize(
        width: max(frame.width - column + columnStep - 1, 0) / columnStep,
        height: max(frame.height - row + rowStep - 1, 0) / rowStep)
    }
  }

  static let passes = [
    Pass(column: 0, columnStep: 8, row: 0, rowStep: 8),
    Pass(column: 4, columnStep: 8, row: 0, rowStep: 8),
    Pass(column: 0, columnStep: 4, row: 4, rowStep: 8),
    Pass(column: 2, columnStep: 4, row: 0, rowStep: 4),
    Pass(column: 0, columnStep: 2, row: 2, rowStep: 4),
    Pass(column: 1, columnStep: 2, row: 0, rowStep: 2),
    Pass(column: 0, columnStep: 1, row: 1, rowStep: 2),
  ]
}
