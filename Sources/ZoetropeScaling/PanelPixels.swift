public import ZoetropeCore

// Pixels in the form in which display panels receive them over a bus: packed, with the high byte of each word first, or
// dithered to one bit.
extension Bitmap {
  /// Returns the pixels of `rect`, row by row without padding, with the high byte of each 16-bit word first.
  ///
  /// Panels with ``PixelFormat/rgb565`` expect this byte order over SPI. In formats without 16-bit words, the order of
  /// bytes does not change. To update a panel, send only the pixels of a frame's ``CompositedFrame/dirtyRect``.
  ///
  /// - Parameter rect: The rectangle to return, which is clipped to the bitmap. Default: nil, the whole bitmap.
  public func bigEndianBytes(in rect: PixelRect? = nil) -> [UInt8] {
    let rect = clipped(rect)
    let count = format.bytesPerPixel
    var result: [UInt8] = []
    result.reserveCapacity(rect.width * rect.height * count)
    for y in rect.y..<rect.y + rect.height {
      let row = bytes(row: y)
      let columns = rect.x * count..<(rect.x + rect.width) * count
      if format.hasWords {
        // A row consists of whole words, so the index after that of a low byte is valid.
        for index in stride(from: columns.lowerBound, to: columns.upperBound, by: 2) {
          result.append(row[index + 1])
          result.append(row[index])
        }
      } else {
        for index in columns { result.append(row[index]) }
      }
    }
    return result
  }

  /// Returns the pixels of `rect`, dithered to black and white, with one bit per pixel.
  ///
  /// A bit of 1 means white. Each byte contains eight pixels, with the leftmost pixel in the high bit, and each row
  /// starts on a new byte.
  ///
  /// The method uses an ordered pattern of 8x8 thresholds, which has a fixed position in the bitmap. Unlike error
  /// diffusion, ordered dithering of unchanged pixels always gives the same bits, so a panel needs to update only a
  /// frame's ``CompositedFrame/dirtyRect``. A pixel becomes white if its luma, calculated as for
  /// ``PixelFormat/gray8``, is above the threshold. White pixels stay white and black pixels stay black.
  ///
  /// - Parameter rect: The rectangle to return, which is clipped to the bitmap. Default: nil, the whole bitmap.
  /// - Throws: `outOfMemory` if allocation fails.
  public func ditheredBits(in rect: PixelRect? = nil) throws(AnimatedImageError) -> [UInt8] {
    let grey = try converted(to: .gray8)
    let rect = clipped(rect)
    var result: [UInt8] = []
    try result.makeRoom(adding: (rect.width + 7) / 8 * rect.height)
    for y in rect.y..<rect.y + rect.height {
      let row = grey.bytes(row: y)
      for start in stride(from: rect.x, to: rect.x + rect.width, by: 8) {
        var byte: UInt8 = 0
        for x in start..<min(start + 8, rect.x + rect.width)
        where Int(row[x]) > Self.threshold(x, y) {
          byte |= 0x80 >> UInt8(x - start)
        }
        result.append(byte)
      }
    }
    return result
  }

  private func clipped(_ rect: PixelRect?) -> PixelRect {
    guard let rect else { return PixelRect(size) }
    return rect.intersection(PixelRect(size))
  }

  /// Returns an element of the Bayer matrix, scaled to 2...253. A pixel is white if its luma is above this threshold.
  private static func threshold(_ x: Int, _ y: Int) -> Int {
    // Interleave the bits of `x ^ y` and `y`, starting with the lowest bits.
    let (mixed, row) = (x ^ y, y)
    var rank = 0
    for bit in 0..<3 {
      rank = rank << 2 | (mixed >> bit & 1) << 1 | row >> bit & 1
    }
    return (rank * 255 + 128) / 64
  }
}
