extension Bitmap {
  /// The same picture in ``PixelFormat/rgba8``; itself when it already is.
  ///
  /// Throws ``AnimatedImageError/Code/parameter`` for premultiplied alpha, whose straight colours
  /// cannot be recovered exactly, and for 16 bits; ``AnimatedImageError/Code/limitExceeded`` when the
  /// system has no memory for it.
  func straightRGBA() throws(AnimatedImageError) -> Bitmap {
    switch format {
    case .rgba8, .rgbx8: return self
    case .bgra8, .rgb565, .grey8: break
    default: throw AnimatedImageError(.parameter, "\(format) cannot be written as it is")
    }
    var buffer = try PixelBuffer(asking: size)
    let rowBytes = buffer.bytesPerRow
    var target = buffer.mutableBytes
    for y in 0..<height {
      let source = row(y)
      for x in 0..<width {
        target.storeBytes(
          of: pixel(x, of: source), toByteOffset: y * rowBytes + x * 4, as: UInt32.self)
      }
    }
    return buffer.finish()
  }

  private func pixel(_ x: Int, of row: borrowing RawSpan) -> UInt32 {
    func byte(_ offset: Int) -> UInt32 {
      UInt32(unsafe row.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
    }
    switch format {
    case .grey8: return byte(x) &* 0x01_0101 | 0xff00_0000
    case .rgb565:
      let word = byte(x * 2) | byte(x * 2 + 1) << 8
      let (red, green, blue) = (word >> 11, word >> 5 & 63, word & 31)
      // The top bits are repeated below: 31 becomes 255 and 0 stays 0.
      return red << 3 | red >> 2 | (green << 2 | green >> 4) << 8 | (blue << 3 | blue >> 2) << 16
        | 0xff00_0000
    default:
      return byte(x * 4 + 2) | byte(x * 4 + 1) << 8 | byte(x * 4) << 16 | byte(x * 4 + 3) << 24
    }
  }
}
