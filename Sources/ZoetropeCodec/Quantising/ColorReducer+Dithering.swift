extension ColorReducer {
  /// Returns a copy of `canvas` on which `body` has drawn. `body` is called for each row of `area` with that row of
  /// `picture`, the row's number, and the same row of the copy. It draws the pixels that have changed since the
  /// previous picture.
  private func redrawing(
    _ picture: Bitmap, on canvas: Bitmap?, _ area: PixelRect,
    _ body: (_ row: borrowing RawSpan, _ y: Int, _ target: inout MutableRawSpan) -> Void
  ) throws(AnimatedImageError) -> Bitmap {
    var buffer = try PixelBuffer(asking: picture.size, zeroed: canvas == nil)
    if let canvas { try buffer.copy(canvas, isCancelled: isCancelled) }
    let stride = buffer.bytesPerRow
    var bytes = buffer.mutableBytes
    for y in area.y..<area.maxY {
      try checkCancellation()
      var target = bytes._mutatingExtracting(y * stride..<y * stride + picture.width * 4)
      body(picture.row(y), y, &target)
    }
    return buffer.finish()
  }

  /// Returns a copy of `canvas` with the changed pixels of `picture` drawn in their exact colours. A pixel has changed
  /// if it differs from the pixel of `before`.
  func drawing(
    _ picture: Bitmap, from before: Bitmap, on canvas: Bitmap, _ area: PixelRect
  ) throws(AnimatedImageError) -> Bitmap {
    try redrawing(picture, on: canvas, area) { row, y, target in
      let old = before.row(y)
      for x in area.x..<area.maxX {
        let word = row.load(UInt32.self, at: x &* 4)
        if word != old.load(UInt32.self, at: x &* 4) {
          target.storeBytes(of: word, toByteOffset: x &* 4, as: UInt32.self)
        }
      }
    }
  }

  /// The 8x8 Bayer matrix, which contains each of 0...63 once.
  private static let thresholds: [UInt32] = (0..<64).map { place in
    let (x, y) = (UInt32(place & 7), UInt32(place >> 3))
    let z = x ^ y
    // Interleave the bits of z and y, from the lowest bit of the coordinates to the highest.
    let low = (z & 1) << 5 | (y & 1) << 4
    let middle = (z & 2) << 2 | (y & 2) << 1
    return low | middle | (z & 4) >> 1 | (y & 4) >> 2
  }

  /// Draws the changed pixels with entries of the palette. Where two entries are mixed, their pattern is fixed to the
  /// canvas.
  func ordering(
    _ picture: Bitmap, from before: Bitmap?, on canvas: Bitmap?, _ area: PixelRect,
    _ mapper: inout PaletteMapper
  ) throws(AnimatedImageError) -> (Bitmap, DrawingError) {
    var error = DrawingError()
    let thresholds = Self.thresholds
    let palette = mapper.palette
    // Testing an optional for each pixel would take longer than comparing the pixel.
    let (below, hasBase) = (before ?? picture, before != nil)
    let result = try redrawing(picture, on: canvas, area) { row, y, target in
      let old = below.row(y)
      let line = (y & 7) << 3
      for x in area.x..<area.maxX {
        let word = row.load(UInt32.self, at: x &* 4)
        if hasBase, old.load(UInt32.self, at: x &* 4) == word { continue }
        var color = word
        if word < 0x0100_0000 {
          color = 0
        } else if mapper.index(of: word) == nil {
          let choice = mapper.choice(word)
          let isSecond = thresholds[line | x & 7] < choice.share
          color = palette[isSecond ? choice.second : choice.first]
          error.sum &+= choice.error &* choice.error
          error.inexactCount &+= 1
        }
        error.count &+= 1
        target.storeBytes(of: color, toByteOffset: x &* 4, as: UInt32.self)
      }
    }
    return (result, error)
  }

  /// Returns the premultiplied samples of a pixel. With premultiplied samples, the errors of barely visible pixels are
  /// not carried to visible pixels.
  private static func samples(_ word: UInt32) -> SIMD4<Int32> {
    let pixel = RGBA(word: word)
    let (samples, alpha) = (
      SIMD4(Int32(pixel.red), Int32(pixel.green), Int32(pixel.blue), 255), Int32(pixel.alpha)
    )
    return alpha == 255 ? samples : (samples &* alpha &+ 127) / 255
  }

  /// Returns the pixel with the given premultiplied samples, which carried errors may have moved out of range.
  private static func word(_ samples: SIMD4<Int32>) -> UInt32 {
    let alpha = min(max(samples.w, 0), 255)
    guard alpha > 0 else { return 0 }
    var colors = samples.clamped(lowerBound: .zero, upperBound: SIMD4(repeating: alpha))
    if alpha < 255 { colors = (colors &* 255 &+ alpha / 2) / alpha }
    return RGBA(
      red: UInt8(colors.x), green: UInt8(colors.y), blue: UInt8(colors.z), alpha: UInt8(alpha)
    ).word
  }

  /// Draws the changed pixels with the nearest entries of the palette. The error of each pixel is carried to the next
  /// pixel of the row and to the row below (Floyd and Steinberg). The direction alternates from row to row. Errors are
  /// not carried across unchanged pixels.
  func diffusing(
    _ picture: Bitmap, from before: Bitmap?, on canvas: Bitmap?, _ area: PixelRect,
    _ mapper: inout PaletteMapper
  ) throws(AnimatedImageError) -> (Bitmap, DrawingError) {
    var error = DrawingError()
    let palette = mapper.palette
    let (below, hasBase) = (before ?? picture, before != nil)
    // Errors times 16 for the current row and the next row, with one extra pixel on either side.
    var current = [SIMD4<Int32>](repeating: .zero, count: area.width + 2)
    var next = current
    let result = try redrawing(picture, on: canvas, area) { row, y, target in
      let old = below.row(y)
      swap(&current, &next)
      for place in next.indices { next[place] = .zero }
      let isForward = (y - area.y) & 1 == 0
      let step = isForward ? 1 : -1
      for number in 0..<area.width {
        let place = isForward ? number : area.width - 1 - number
        let x = area.x + place
        let word = row.load(UInt32.self, at: x &* 4)
        if hasBase, old.load(UInt32.self, at: x &* 4) == word { continue }
        error.count &+= 1
        guard word >= 0x0100_0000 else {
          target.storeBytes(of: 0, toByteOffset: x &* 4, as: UInt32.self)
          continue
        }
        if mapper.index(of: word) != nil {
          target.storeBytes(of: word, toByteOffset: x &* 4, as: UInt32.self)
          continue
        }
        let distance = mapper.choice(word).error
        error.sum &+= distance &* distance
        error.inexactCount &+= 1
        var sum = Self.samples(word) &+ (current[place + 1] &+ 8) &>> 4
        sum.clamp(lowerBound: .zero, upperBound: SIMD4(repeating: 255))
        // An opaque pixel must stay opaque.
        if word >= 0xff00_0000 { sum.w = 255 }
        let asked = Self.word(sum)
        let isClear = asked < 0x0100_0000
        let color =
          isClear ? 0 : palette[mapper.index(of: asked) ?? mapper.choice(asked).first]
        target.storeBytes(of: color, toByteOffset: x &* 4, as: UInt32.self)
        let rest = sum &- Self.samples(color)
        current[place + 1 + step] &+= rest &* 7
        next[place + 1 - step] &+= rest &* 3
        next[place + 1] &+= rest &* 5
        next[place + 1 + step] &+= rest
      }
    }
    return (result, error)
  }
}
