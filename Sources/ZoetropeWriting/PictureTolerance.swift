/// Changes pictures slightly so that they take fewer bytes. A pixel whose new colour is close enough to the colour
/// already shown is left unchanged. In a GIF, other pixels also take similar colours where that makes the data shorter.
///
/// Every picture is compared with the picture actually shown before it, so errors do not add up: no pixel of any frame
/// differs from the original by more than the tolerance.
///
/// A GIF frame that can hold a picture without a tolerance can also hold the changed picture. All pixels that are drawn
/// with a tolerance would also be drawn without one, so up to 255 colours still fit. A frame of 256 colours has no
/// index left for unchanged pixels, so it draws all pixels of its rectangle. If the changed picture does not fit into
/// such a frame, these pixels keep their original colours.
struct PictureTolerance: Sendable {
  private let square: Int32
  private var matcher: LossyMatcher?

  /// Returns nil for a tolerance of 0.
  init?(_ tolerance: Int, format: AnimationFormat) {
    guard tolerance > 0 else { return nil }
    square = PerceivedColor.greatestSquare(tolerance)
    matcher = format.hasPalettes ? LossyMatcher(tolerance: tolerance) : nil
  }

  /// Returns the picture to show instead of `picture`, and the area in which it may differ from the last picture shown.
  /// A nil area means the whole picture.
  ///
  /// - Parameters:
  ///   - placer: The placer, which provides the canvas on which `picture` is drawn.
  ///   - changed: The area in which `picture` may differ from the last picture passed to this method. Nil means the
  ///     whole picture.
  /// - Throws: `outOfMemory`; `cancelled` once `isCancelled` returns true.
  mutating func apply(
    _ picture: Bitmap, over placer: FramePlacer, changed: PixelRect?, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> (picture: Bitmap, changed: PixelRect?) {
    let all = PixelRect(picture.size)
    let shown = try placer.canvas(for: picture, within: changed)
    // If part of the canvas has been cleared, the picture may differ from the canvas outside `changed`, too.
    let isShown = shown?.storage === placer.last?.work.picture.storage
    let area = isShown ? changed.map { $0.intersection(all) } ?? all : all
    var buffer = try PixelBuffer(asking: picture.size, format: picture.format, zeroed: false)
    try buffer.copy(shown ?? picture, isCancelled: isCancelled)
    var changes = area
    if let shown {
      changes =
        picture.format == .rgba16
        ? try hold(picture, shown, area, square, &buffer, isCancelled) { Self.word($0) }
        : try hold(picture, shown, area, square, &buffer, isCancelled) { (word: UInt32) in word }
      if changes.isEmpty, isShown { return (shown, changed) }
    }
    var fits = true
    if picture.format == .rgba8, !changes.isEmpty, matcher != nil {
      fits =
        try matcher?.match(picture, over: shown, in: changes, &buffer, isCancelled: isCancelled)
        ?? true
    }
    let result = buffer.finish()
    guard !fits, let shown,
      try !ColorReducer.fits(result, from: shown, in: changes, isCancelled: isCancelled)
    else {
      return (result, isShown ? changed : nil)
    }
    var exact = try PixelBuffer(asking: picture.size, format: picture.format, zeroed: false)
    try exact.copy(shown, isCancelled: isCancelled)
    _ = try hold(picture, shown, changes, -1, &exact, isCancelled) { (word: UInt32) in word }
    return (exact.finish(), isShown ? changed : nil)
  }

  /// Compares `picture` with `shown` in `area`. Copies from `picture` to `buffer` the pixels that differ by more than
  /// the tolerance, and returns the bounds of these pixels. `square` is the square of the tolerance, or -1 to copy all
  /// pixels that differ.
  private func hold<Word: FixedWidthInteger & BitwiseCopyable>(
    _ picture: Bitmap, _ shown: Bitmap, _ area: PixelRect, _ square: Int32,
    _ buffer: inout PixelBuffer, _ isCancelled: () -> Bool,
    _ color: (Word) -> UInt32
  ) throws(AnimatedImageError) -> PixelRect {
    let size = MemoryLayout<Word>.size
    let stride = buffer.bytesPerRow
    var bytes = buffer.mutableBytes
    var (left, right, top, bottom) = (area.maxX, area.x, area.maxY, area.y)
    for y in area.y..<area.maxY {
      try area.poll(row: y, isCancelled)
      let (row, below) = (picture.row(y), shown.row(y))
      for x in area.x..<area.maxX {
        let word = row.load(Word.self, at: x &* size)
        let old = below.load(Word.self, at: x &* size)
        if word == old || PerceivedColor.isNear(color(word), color(old), square) { continue }
        bytes.storeBytes(of: word, toByteOffset: y &* stride &+ x &* size, as: Word.self)
        (left, right) = (min(left, x), max(right, x &+ 1))
        (top, bottom) = (min(top, y), y &+ 1)
      }
    }
    guard left < right else { return .empty }
    return PixelRect(x: left, y: top, width: right - left, height: bottom - top)
  }

  /// Converts a pixel to 8 bits per sample, by taking the upper byte of each 16-bit sample.
  private static func word(_ deep: UInt64) -> UInt32 {
    var word: UInt32 = 0
    for sample in 0..<4 {
      word |=
        UInt32(truncatingIfNeeded: deep &>> UInt64(16 &* sample &+ 8) & 0xff)
        &<< UInt32(8 &* sample)
    }
    return word
  }
}
