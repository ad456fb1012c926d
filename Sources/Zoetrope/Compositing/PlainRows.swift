/// Rows drawn one pixel at a time, as the specifications put it: what the fast rows are tested by,
/// and what draws on 16-bit canvases.
///
/// Unsafe: `row` must hold the frame's whole row, `target` must have room for `count` pixels.
package enum PlainRows {
  /// One colour of 16 bits a channel.
  struct Sample {
    var red, green, blue, alpha: UInt32
  }

  /// Draws `count` pixels of a row from column `start` on an 8-bit canvas.
  @unsafe package static func draw8(
    _ pixels: FramePixels, _ row: UnsafeRawPointer, from start: Int, count: Int,
    blend: BlendOperation, into target: UnsafeMutablePointer<UInt32>
  ) {
    for column in 0..<count {
      guard let sample = unsafe Self.sample(pixels, row, start + column) else { continue }
      let pixel = RGBA(
        red: UInt8(sample.red >> 8), green: UInt8(sample.green >> 8),
        blue: UInt8(sample.blue >> 8), alpha: UInt8(sample.alpha >> 8))
      let result = unsafe blend == .source ? pixel : over(pixel, RGBA(word: target[column]))
      unsafe target[column] = result.word
    }
  }

  /// Draws `count` pixels of a row from column `start` on a 16-bit canvas.
  @unsafe package static func draw16(
    _ pixels: FramePixels, _ row: UnsafeRawPointer, from start: Int, count: Int,
    blend: BlendOperation, into target: UnsafeMutablePointer<UInt16>
  ) {
    for column in 0..<count {
      guard var sample = unsafe Self.sample(pixels, row, start + column) else { continue }
      let pixel = unsafe target + column * 4
      if blend == .over {
        let below = unsafe Sample(
          red: UInt32(pixel[0]), green: UInt32(pixel[1]), blue: UInt32(pixel[2]),
          alpha: UInt32(pixel[3]))
        sample = over(sample, below)
      }
      unsafe pixel[0] = UInt16(sample.red)
      unsafe pixel[1] = UInt16(sample.green)
      unsafe pixel[2] = UInt16(sample.blue)
      unsafe pixel[3] = UInt16(sample.alpha)
    }
  }

  /// The pixel at `column`; nil where a GIF leaves the canvas as it is.
  @unsafe private static func sample(
    _ pixels: FramePixels, _ row: UnsafeRawPointer, _ column: Int
  ) -> Sample? {
    func byte(_ offset: Int) -> UInt32 {
      unsafe UInt32(row.load(fromByteOffset: offset, as: UInt8.self)) * 257
    }
    func word(_ offset: Int) -> UInt32 {
      unsafe UInt32(UInt16(bigEndian: row.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }
    switch pixels.layout {
    case .indexed8:
      let index = unsafe row.load(fromByteOffset: column, as: UInt8.self)
      if index == pixels.transparentIndex { return nil }
      let color = RGBA(word: pixels.palette[Int(index)])
      return Sample(
        red: UInt32(color.red) * 257, green: UInt32(color.green) * 257,
        blue: UInt32(color.blue) * 257, alpha: UInt32(color.alpha) * 257)
    case .grey8:
      let grey = byte(column)
      return Sample(red: grey, green: grey, blue: grey, alpha: 0xffff)
    case .greyAlpha8:
      let grey = byte(column * 2)
      return Sample(red: grey, green: grey, blue: grey, alpha: byte(column * 2 + 1))
    case .rgb8:
      return Sample(
        red: byte(column * 3), green: byte(column * 3 + 1), blue: byte(column * 3 + 2),
        alpha: 0xffff)
    case .rgba8:
      return Sample(
        red: byte(column * 4), green: byte(column * 4 + 1), blue: byte(column * 4 + 2),
        alpha: byte(column * 4 + 3))
    case .grey16:
      let grey = word(column * 2)
      return Sample(red: grey, green: grey, blue: grey, alpha: 0xffff)
    case .greyAlpha16:
      let grey = word(column * 4)
      return Sample(red: grey, green: grey, blue: grey, alpha: word(column * 4 + 2))
    case .rgb16:
      return Sample(
        red: word(column * 6), green: word(column * 6 + 2), blue: word(column * 6 + 4),
        alpha: 0xffff)
    case .rgba16:
      return Sample(
        red: word(column * 8), green: word(column * 8 + 2), blue: word(column * 8 + 4),
        alpha: word(column * 8 + 6))
    }
  }

  /// `over` in straight alpha, exact, each channel rounded half up once (PNG 3rd edition, 4.9.7).
  package static func over(_ top: RGBA, _ below: RGBA) -> RGBA {
    func wide(_ pixel: RGBA) -> Sample {
      Sample(
        red: UInt32(pixel.red), green: UInt32(pixel.green), blue: UInt32(pixel.blue),
        alpha: UInt32(pixel.alpha))
    }
    let result = over(wide(top), wide(below), unit: 255)
    return RGBA(
      red: UInt8(result.red), green: UInt8(result.green), blue: UInt8(result.blue),
      alpha: UInt8(result.alpha))
  }

  private static func over(_ top: Sample, _ below: Sample, unit: UInt64 = 65535) -> Sample {
    // With alpha = n / unit, the result's alpha is `weight` / unit², and a channel is the sum of
    // the two channels weighted by their parts of `weight`.
    let topWeight = UInt64(top.alpha) * unit
    let belowWeight = UInt64(below.alpha) * (unit - UInt64(top.alpha))
    let weight = topWeight + belowWeight
    guard weight > 0 else { return Sample(red: 0, green: 0, blue: 0, alpha: 0) }
    func channel(_ top: UInt32, _ below: UInt32) -> UInt32 {
      let sum = UInt64(top) * topWeight + UInt64(below) * belowWeight
      return UInt32((2 * sum + weight) / (2 * weight))
    }
    return Sample(
      red: channel(top.red, below.red), green: channel(top.green, below.green),
      blue: channel(top.blue, below.blue), alpha: UInt32((2 * weight + unit) / (2 * unit)))
  }
}
