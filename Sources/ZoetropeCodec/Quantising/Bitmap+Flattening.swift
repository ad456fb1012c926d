extension Bitmap {
  /// Returns the picture in ``PixelFormat/rgba8``. Partly transparent pixels become opaque or fully transparent, unless
  /// `transparency` keeps them. Returns the picture itself if nothing has to change.
  ///
  /// - Parameter partialCount: A count to which the number of partly transparent pixels in `area` is added, unless they
  ///   are kept.
  /// - Throws: `parameter` if the picture has premultiplied alpha; `outOfMemory` if allocation fails; `cancelled` once
  ///   `isCancelled` returns true.
  package func flattened(
    _ transparency: Transparency, in area: PixelRect, partialCount: inout Int,
    isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) -> Bitmap {
    let picture =
      format == .rgba16
      ? try narrowed(isCancelled) : try straightRGBA(isCancelled: isCancelled)
    if transparency == .kept { return picture }
    let all = PixelRect(size)
    guard try picture.partlyTransparentCount(in: all, isCancelled) > 0 else { return picture }
    partialCount += try picture.partlyTransparentCount(in: area, isCancelled)
    var buffer = try PixelBuffer(asking: size, zeroed: false)
    try buffer.copy(picture, isCancelled: isCancelled)
    let stride = buffer.bytesPerRow
    var bytes = buffer.mutableBytes
    for y in 0..<height {
      try all.poll(row: y, isCancelled)
      let row = picture.row(y)
      for x in 0..<width {
        let word = row.load(UInt32.self, at: x &* 4)
        // The colours of fully transparent pixels are kept here. They are removed elsewhere, from every picture.
        if word >= 0xff00_0000 || word < 0x0100_0000 { continue }
        bytes.storeBytes(
          of: transparency.flattened(word), toByteOffset: y &* stride &+ x &* 4, as: UInt32.self)
      }
    }
    return buffer.finish()
  }

  private func partlyTransparentCount(
    in area: PixelRect, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> Int {
    var count = 0
    for y in area.y..<area.maxY {
      try area.poll(row: y, isCancelled)
      let row = row(y)
      // Adding 1 to the alpha, which wraps around, leaves 0 or 1 for opaque and for fully transparent pixels.
      for x in area.x..<area.maxX
      where row.load(UInt32.self, at: x &* 4) &+ 0x0100_0000 >= 0x0200_0000 { count &+= 1 }
    }
    return count
  }

  /// Returns the picture with its samples rounded to 8 bits.
  private func narrowed(_ isCancelled: () -> Bool) throws(AnimatedImageError) -> Bitmap {
    var buffer = try PixelBuffer(asking: size, zeroed: false)
    let stride = buffer.bytesPerRow
    var bytes = buffer.mutableBytes
    for y in 0..<height {
      try PixelRect(size).poll(row: y, isCancelled)
      let row = row(y)
      for sample in 0..<width &* 4 {
        let value = UInt32(row.load(UInt16.self, at: sample &* 2))
        bytes.storeBytes(
          of: UInt8((value &* 255 &+ 32_895) &>> 16), toByteOffset: y &* stride &+ sample,
          as: UInt8.self)
      }
    }
    return buffer.finish()
  }
}
