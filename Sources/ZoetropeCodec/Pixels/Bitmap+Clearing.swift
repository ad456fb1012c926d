extension Bitmap {
  /// Returns the picture with the pixels of `rect` made transparent.
  ///
  /// - Throws: `outOfMemory` if allocation fails; `cancelled` once `isCancelled` returns true.
  package func cleared(
    in rect: PixelRect, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> Bitmap {
    var buffer = try PixelBuffer(asking: size, format: format, zeroed: false)
    try buffer.copy(self, isCancelled: isCancelled)
    let area = rect.intersection(PixelRect(size))
    let (stride, pixel) = (buffer.bytesPerRow, format.bytesPerPixel)
    for y in area.y..<area.maxY {
      try area.poll(row: y, isCancelled)
      var bytes = buffer.mutableBytes
      var row = bytes._mutatingExtracting(
        y * stride + area.x * pixel..<y * stride + area.maxX * pixel)
      for place in Swift.stride(from: 0, to: area.width * pixel, by: 4) {
        row.storeBytes(of: 0, toByteOffset: place, as: UInt32.self)
      }
    }
    return buffer.finish()
  }

  /// Returns the bounds of the pixels in `rect` that are transparent in `next` but not in this picture. Both pictures
  /// must be RGBA of the same depth.
  ///
  /// - Parameter rect: The area to compare, clipped to the picture. Default: nil, which means the whole picture.
  /// - Throws: `cancelled` once `isCancelled` returns true.
  package func pixelsLost(
    to next: Bitmap, in rect: PixelRect? = nil, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> PixelRect {
    if storage === next.storage { return .empty }
    let all = PixelRect(size)
    let area = rect.map { $0.intersection(all) } ?? all
    let isDeep = format == .rgba16
    func isClear(_ row: borrowing RawSpan, _ x: Int) -> Bool {
      isDeep ? row.load(UInt16.self, at: x &* 8 &+ 6) == 0 : row[x &* 4 &+ 3] == 0
    }
    var (left, right, top, bottom) = (area.maxX, area.x, area.maxY, area.y)
    for y in area.y..<area.maxY {
      try area.poll(row: y, isCancelled)
      let (old, new) = (row(y), next.row(y))
      if rect == nil, old.hasSameBytes(as: new) { continue }
      for x in area.x..<area.maxX where isClear(new, x) && !isClear(old, x) {
        (left, right) = (min(left, x), max(right, x + 1))
        (top, bottom) = (min(top, y), y + 1)
      }
    }
    guard left < right else { return .empty }
    return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
  }

  /// Returns whether any pixel is fully transparent. Only RGBA is examined; the result is false for other formats.
  ///
  /// - Throws: `cancelled` once `isCancelled` returns true.
  package func hasClearPixels(isCancelled: () -> Bool) throws(AnimatedImageError) -> Bool {
    guard [.rgba8, .rgba16].contains(format) else { return false }
    let (step, alpha) = format == .rgba16 ? (8, 6) : (4, 3)
    for y in 0..<height {
      try PixelRect(size).poll(row: y, isCancelled)
      let row = row(y)
      let isFound = (0..<width).contains { x in
        step == 8
          ? row.load(UInt16.self, at: x &* step &+ alpha) == 0 : row[x &* step &+ alpha] == 0
      }
      if isFound { return true }
    }
    return false
  }
}
