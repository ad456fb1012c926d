import Zoetrope

/// The picture of a sheet, on which frames are drawn.
struct SheetCanvas: ~Copyable {
  private var buffer: PixelBuffer
  private let background: RGBA

  /// Creates a picture that is filled with `background`.
  ///
  /// - Throws: `outOfMemory` if allocation fails.
  init(size: PixelSize, background: RGBA) throws(AnimatedImageError) {
    buffer = try PixelBuffer(asking: size)
    self.background = background
    guard background.alpha != 0 else { return }
    for y in 0..<size.height { fill(y: y, from: 0, to: size.width, background) }
  }

  private mutating func fill(y: Int, from start: Int, to end: Int, _ color: RGBA) {
    let rowStart = y * buffer.bytesPerRow
    var bytes = buffer.mutableBytes
    for x in start..<end {
      bytes.storeBytes(
        of: color.word.littleEndian, toByteOffset: rowStart + x * 4, as: UInt32.self)
    }
  }

  /// Draws `bitmap` over the background. `bitmap` must be 8-bit RGBA. `rect` must have the size of `bitmap` and be on
  /// the canvas.
  mutating func draw(_ bitmap: Bitmap, in rect: PixelRect) {
    let stride = buffer.bytesPerRow
    let background = background
    var bytes = buffer.mutableBytes
    for y in 0..<rect.height {
      let row = bitmap.pixels(row: y)
      let start = (rect.y + y) * stride + rect.x * 4
      for x in 0..<rect.width {
        let color = background.alpha == 0 ? row[x] : row[x].blended(over: background)
        bytes.storeBytes(of: color.word.littleEndian, toByteOffset: start + x * 4, as: UInt32.self)
      }
    }
  }

  /// Writes `text` at the lower edge of `rect`, horizontally centred.
  mutating func write(_ text: String, in rect: PixelRect) {
    let white = RGBA(red: 255, green: 255, blue: 255)
    guard background.alpha == 0 else {
      let isLight =
        3 * Int(background.red) + 6 * Int(background.green) + Int(background.blue) > 1275
      return write(text, in: rect, isLight ? .black : white)
    }
    // Black text with a white outline is readable on any background.
    let rect = PixelRect(x: rect.x, y: rect.y, width: rect.width, height: rect.height - 1)
    write(text, in: rect, white, outline: 1)
    write(text, in: rect, .black)
  }

  /// Writes `text` in `color`. Also fills the pixels at a distance of up to `outline` from the text.
  private mutating func write(_ text: String, in rect: PixelRect, _ color: RGBA, outline: Int = 0) {
    var left = rect.x + (rect.width - SheetFont.width(of: text)) / 2
    let top = rect.maxY - SheetFont.height
    for letter in text {
      for (y, row) in (SheetFont.rows(of: letter) ?? []).enumerated() {
        for x in 0..<5 where row >> UInt8(4 - x) & 1 != 0 {
          let start = max(left + x - outline, rect.x)
          let end = min(left + x + 1 + outline, rect.maxX)
          guard start < end else { continue }
          for line in top + y - outline...top + y + outline {
            fill(y: line, from: start, to: end, color)
          }
        }
      }
      left += SheetFont.advance
    }
  }

  /// Returns the complete picture.
  consuming func finish() -> Bitmap { buffer.finish() }
}
