/// Changes pictures slightly so that they take fewer bytes. A pixel that is close enough to the one already shown is
/// not changed. In a GIF, other pixels take similar colours where that makes the data shorter.
///
/// Every picture is compared with the one actually shown before it, so errors do not add up: no pixel of any frame
/// differs from the original by more than the tolerance.
///
/// If a GIF frame can hold a picture without a tolerance, it can hold the changed picture, too: the changed pixels are
/// among those that change without a tolerance, so up to 255 colours still fit. With 256 colours, which leave no index
/// for unchanged pixels, those are all colours in the rectangle, and its pixels are drawn as they are.
struct PictureTolerance: Sendable {
  private let square: Int32
  private var matcher: LossyMatcher?

  /// Nil for a tolerance of 0.
  init?(_ tolerance: Int, format: AnimationFormat) {
    guard tolerance > 0 else { return nil }
    square = PerceivedColor.greatestSquare(tolerance)
    matcher = format.hasPalettes ? LossyMatcher(tolerance: tolerance) : nil
  }

  /// Returns the picture to show for `picture`, and where it may differ from the last one; nil if anywhere.
  ///
  /// - Parameters:
  ///   - placer: The placer, which knows the canvas that `picture` is drawn on.
  ///   - changed: Where `picture` may differ from the last picture passed; nil if anywhere.
  mutating func apply(
    _ picture: Bitmap, over placer: FramePlacer, changed: PixelRect?, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> (picture: Bitmap, changed: PixelRect?) {
    let all = PixelRect(picture.size)
    let shown = try placer.canvas(for: picture, within: changed)
    // If the canvas is cleared, the picture may differ elsewhere, too.
    let isShown = shown?.storage === placer.last?.work.picture.storage
    let area = isShown ? changed.map { $0.intersection(all) } ?? all : all
    var buffer = try PixelBuffer(asking: picture.size, format: picture.format, zeroed: false)
    buffer.copy(shown ?? picture)
    var changes = area
    if let shown {
      changes =
        picture.format == .rgba16
        ? hold(picture, shown, area, square, &buffer) { Self.word($0) }
        : hold(picture, shown, area, square, &buffer) { (word: UInt32) in word }
      if changes.isEmpty, isShown { return (shown, changed) }
    }
    var fits = true
    if picture.format == .rgba8, !changes.isEmpty, matcher != nil {
      fits =
        try matcher?.match(picture, over: shown, in: changes, &buffer, isCancelled: isCancelled)
        ?? true
    }
    let result = buffer.finish()
    guard !fits, let shown, !ColorReducer.fits(result, from: shown, in: changes) else {
      return (result, isShown ? changed : nil)
    }
    var exact = try PixelBuffer(asking: picture.size, format: picture.format, zeroed: false)
    exact.copy(shown)
    _ = hold(picture, shown, changes, -1, &exact) { (word: UInt32) in word }
    return (exact.finish(), isShown ? changed : nil)
  }

  /// Writes the pixels in `area` that differ from `shown` by more than `square` to `buffer`; returns their bounds.
  private func hold<Word: FixedWidthInteger & BitwiseCopyable>(
    _ picture: Bitmap, _ shown: Bitmap, _ area: PixelRect, _ square: Int32,
    _ buffer: inout PixelBuffer,
    _ color: (Word) -> UInt32
  ) -> PixelRect {
    let size = MemoryLayout<Word>.size
    let stride = buffer.bytesPerRow
    var bytes = buffer.mutableBytes
    var (left, right, top, bottom) = (area.maxX, area.x, area.maxY, area.y)
    for y in area.y..<area.maxY {
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

  /// Returns the upper bytes of 16-bit samples.
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
