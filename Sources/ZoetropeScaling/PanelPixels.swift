public import ZoetropeCore

// Pixels as display panels receive them over a bus: packed, with the high byte first, or dithered to one bit.
extension Bitmap {
  /// Returns the pixels of `rect`, row by row without padding, with the high byte of 16-bit words first.
  ///
  /// Panels with ``PixelFormat/rgb565`` expect this byte order over SPI. Bytes of formats without 16-bit words keep
  /// their order. To update a panel, send only a frame's ``CompositedFrame/dirtyRect``.
  ///
  /// - Parameter rect: The part to return, clipped to the picture. Default: nil, the whole picture.
  public func bigEndianBytes(in rect: PixelRect? = nil) -> [UInt8] {
    let rect = clipped(rect)
    let count = format.bytesPerPixel
    var result: [UInt8] = []
    result.reserveCapacity(rect.width * rect.height * count)
    for y in rect.y..<rect.y + rect.height {
      let row = bytes(row: y)
      let columns = rect.x * count..<(rect.x + rect.width) * count
      if format.hasWords {
        // A row consists of whole words.
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

  /// Returns the pixels of `rect` dithered to black and white, with one bit per pixel, 1 for white. A byte contains
  /// eight pixels, the leftmost in the high bit. Each row starts on a new byte.
  ///
  /// Uses an ordered 8x8 pattern that is fixed to the picture. Unlike error diffusion, the pattern does not affect
  /// unchanged pixels, so a panel needs to update only a frame's ``CompositedFrame/dirtyRect``. Luma is that of
  /// ``PixelFormat/grey8``. White stays white and black stays black.
  ///
  /// - Parameter rect: The part to return, clipped to the picture. Default: nil, the whole picture.
  /// - Throws: `outOfMemory` if allocation fails.
  public func ditheredBits(in rect: PixelRect? = nil) throws(AnimatedImageError) -> [UInt8] {
    let grey = try converted(to: .grey8)
    let rect = clipped(rect)
    var result: [UInt8] = []
    result.reserveCapacity((rect.width + 7) / 8 * rect.height)
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

  /// Returns an entry of the Bayer matrix, scaled to 2...253. Luma above it is white.
  private static func threshold(_ x: Int, _ y: Int) -> Int {
    // Interleave the bits of x ^ y and y, lowest first.
    let (mixed, row) = (x ^ y, y)
    var rank = 0
    for bit in 0..<3 {
      rank = rank << 2 | (mixed >> bit & 1) << 1 | row >> bit & 1
    }
    return (rank * 255 + 128) / 64
  }
}
