/// Converts pictures to the format in which they are compared and encoded: RGBA of one depth, with the colours of fully
/// transparent pixels cleared unless the options keep them.
struct PicturePreparation: Sendable {
  let size: PixelSize
  /// The format of the converted pictures: RGBA with 8 or 16 bits per sample.
  let format: PixelFormat
  let keepsHiddenColors: Bool
  /// Polled every few rows.
  private let isCancelled: @Sendable () -> Bool
  /// Whether the colours of fully transparent pixels were cleared in the last picture. If so, the next picture has the
  /// same colours outside its changed area, and they have to be cleared as well.
  private var lostColors = false

  init(
    size: PixelSize, format: PixelFormat, keepsHiddenColors: Bool,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    self.size = size
    self.format = format
    self.keepsHiddenColors = keepsHiddenColors
    self.isCancelled = isCancelled
  }

  /// Returns the picture to write for `bitmap`.
  ///
  /// - Parameter changed: The area in which `bitmap` may differ from the previous one. Nil means the whole bitmap.
  /// - Throws: `parameter` if `bitmap` has another size, or a colour that needs 16 bits; `outOfMemory`; `cancelled`.
  mutating func prepare(
    _ bitmap: Bitmap, changed: PixelRect?
  ) throws(AnimatedImageError) -> Bitmap {
    try check(bitmap)
    let picture = try converted(bitmap)
    if keepsHiddenColors { return picture }
    let all = PixelRect(size)
    let area = lostColors ? all : changed.map { $0.intersection(all) } ?? all
    lostColors =
      format == .rgba16
      ? try hasHiddenColors(picture, area, UInt64.self)
      : try hasHiddenColors(picture, area, UInt32.self)
    guard lostColors else { return picture }
    return format == .rgba16
      ? try cleared(picture, UInt64.self) : try cleared(picture, UInt32.self)
  }

  /// Checks the size of `bitmap`.
  ///
  /// - Throws: `parameter` if `bitmap` does not have the size of the canvas.
  func check(_ bitmap: Bitmap) throws(AnimatedImageError) {
    guard bitmap.size == size else {
      throw AnimatedImageError(
        .parameter, "the frame is \(bitmap.size), but the canvas is \(size)")
    }
  }

  /// Returns `bitmap` in ``format``. Unless ``keepsHiddenColors`` is set, the colours of fully transparent pixels need
  /// not be exact.
  ///
  /// - Throws: `parameter` if a colour that counts has 16 bits that do not fit in 8; `outOfMemory`; `cancelled`.
  private func converted(_ bitmap: Bitmap) throws(AnimatedImageError) -> Bitmap {
    if bitmap.format == format { return bitmap }
    let isDeep = bitmap.format == .rgba16
    let source = try isDeep ? bitmap : bitmap.straightRGBA(isCancelled: isCancelled)
    if isDeep == (format == .rgba16) { return source }
    var buffer = try PixelBuffer(asking: bitmap.size, format: format, zeroed: false)
    let stride = buffer.bytesPerRow
    var target = buffer.mutableBytes
    for y in 0..<bitmap.height {
      try PixelRect(bitmap.size).poll(row: y, isCancelled)
      let row = source.row(y)
      for sample in 0..<bitmap.width * 4 {
        if isDeep {
          let isExact = row[sample &* 2] == row[sample &* 2 &+ 1]
          guard
            isExact || !keepsHiddenColors && row.load(UInt16.self, at: sample / 4 &* 8 &+ 6) == 0
          else {
            throw AnimatedImageError(
              .parameter,
              "a 16-bit frame would lose precision: the first frame or the survey limits the "
                + "file to 8 bits")
          }
          target.storeBytes(
            of: row[sample &* 2], toByteOffset: y &* stride &+ sample, as: UInt8.self)
        } else {
          target.storeBytes(
            of: UInt16(row[sample]) &* 257, toByteOffset: y &* stride &+ sample &* 2,
            as: UInt16.self)
        }
      }
    }
    return buffer.finish()
  }

  private func hasHiddenColors<Word: FixedWidthInteger & BitwiseCopyable>(
    _ picture: Bitmap, _ area: PixelRect, _ type: Word.Type
  ) throws(AnimatedImageError) -> Bool {
    let size = MemoryLayout<Word>.size
    let colors = Word.max >> Word(Word.bitWidth / 4)
    for y in area.y..<area.maxY {
      try area.poll(row: y, isCancelled)
      let row = picture.row(y)
      var found = false
      // Subtracting 1 from a word of 0 wraps around to the maximum, and a word with nonzero alpha is greater than
      // `colors`. Only a word with hidden colours passes the test.
      for x in area.x..<area.maxX where row.load(type, at: x &* size) &- 1 < colors { found = true }
      if found { return true }
    }
    return false
  }

  private func cleared<Word: FixedWidthInteger & BitwiseCopyable>(
    _ picture: Bitmap, _ type: Word.Type
  ) throws(AnimatedImageError) -> Bitmap {
    let size = MemoryLayout<Word>.size
    let colors = Word.max >> Word(Word.bitWidth / 4)
    var buffer = try PixelBuffer(asking: picture.size, format: picture.format, zeroed: false)
    let stride = buffer.bytesPerRow
    var target = buffer.mutableBytes
    for y in 0..<picture.height {
      try PixelRect(picture.size).poll(row: y, isCancelled)
      let row = picture.row(y)
      for x in 0..<picture.width {
        let word = row.load(type, at: x &* size)
        target.storeBytes(
          of: word <= colors ? 0 : word, toByteOffset: y &* stride &+ x &* size, as: type)
      }
    }
    return buffer.finish()
  }
}
