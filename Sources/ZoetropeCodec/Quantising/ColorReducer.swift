/// A reducer that adapts the pictures of an animation, one after the other, to a format with few colours.
///
/// An unchanged pixel keeps the colour already shown for it, whatever palette is in use, so it costs no bytes and never
/// flickers. A palette stays in use until its error grows. The first palette, computed from a survey of all frames or
/// from the first picture, can be the file's global table. If partly transparent pixels are kept, the first palette is
/// the only one.
package struct ColorReducer: Sendable {
  /// A picture to be written, and the area in which it may differ from the previous picture.
  package struct Reduced: Sendable {
    package var picture: Bitmap
    package var changed: PixelRect
  }

  private let reduction: ColorReduction
  /// Whether every pixel of the animation is known to be opaque.
  private let isOpaque: Bool
  /// Polled every few rows, because mapping the pixels of a large picture takes seconds.
  let isCancelled: @Sendable () -> Bool
  /// The palette of the whole animation, or nil until it is known.
  private var common: PaletteMapper?
  /// The picture that ``common`` was computed from, until the first picture is reduced. Nil if it was computed from a
  /// survey.
  private var source: Bitmap?
  /// The palette of the current scene, or nil if the common palette suits the scene.
  private var scene: PaletteMapper?
  /// The mean squared error that the palette in use is known to have, or nil before the colours of a picture are first
  /// reduced. If a picture's error is far greater, another palette is computed.
  private var expected: Int?
  /// The last picture with its original colours.
  private var wanted: Bitmap?
  /// The last picture with the colours that were written.
  private var shown: Bitmap?
  /// The number of pictures whose colours were reduced.
  package private(set) var reducedCount = 0

  /// An upper bound for the number of bytes that finding a palette takes, in addition to the histogram of the colours.
  package static let paletteByteCount = 8 << 20

  /// Creates a reducer. If there is a survey, the caller should first check that there is memory for a palette.
  ///
  /// - Parameters:
  ///   - survey: The colours of all pictures, or nil if they are not known.
  ///   - isCancelled: A closure that returns true to end the work early. The method at work then throws `cancelled`.
  package init(
    _ reduction: ColorReduction, survey: ColorSurvey? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    self.reduction = reduction
    isOpaque = survey?.isOpaque ?? false
    self.isCancelled = isCancelled
    if let histogram = survey?.histogram, !histogram.isEmpty {
      common = mapper(histogram)
    }
  }

  /// Returns the file's global table if most frames will share it, or nil if the first picture needs no reduction and
  /// has a local table. In a GIF, the number of colours is a power of two, and at least one colour of the table is used
  /// by no pixel.
  package mutating func table(for first: Bitmap) throws(AnimatedImageError) -> [UInt32]? {
    let all = PixelRect(first.size)
    var partialCount = 0
    let picture = try first.flattened(
      reduction.transparency, in: all, partialCount: &partialCount, isCancelled: isCancelled)
    if try fits(picture, from: nil, in: all) { return nil }
    let mapper =
      if let common { common } else { try palette(for: picture, from: nil, in: all) }
    if common == nil { source = picture }
    common = mapper
    if reduction.keepsAlpha { return mapper.palette }
    let count = 1 << (Int.bitWidth - mapper.palette.count.leadingZeroBitCount)
    return mapper.palette
      + [UInt32](repeating: RGBA.black.word, count: count - mapper.palette.count)
  }

  /// Returns `picture`, which is not part of the animation, drawn in the colours of the file's global table. Without a
  /// global table, returns `picture` itself.
  package mutating func still(_ picture: Bitmap) throws(AnimatedImageError) -> Bitmap {
    guard var mapper = common.take() else { return picture }
    defer { common = mapper }
    return try draw(picture, from: nil, on: nil, PixelRect(picture.size), &mapper).0
  }

  /// Returns `picture` as a frame of its own: the pixels in `area` that differ from `canvas` are drawn in the colours
  /// of a new palette, which leaves one entry for unchanged pixels. The pictures before and after it play no part.
  ///
  /// - Parameters:
  ///   - picture: A picture without partly transparent pixels, which equals `canvas` outside `area`.
  ///   - canvas: The canvas on which the frame is drawn.
  package func frame(
    _ picture: Bitmap, over canvas: Bitmap, in area: PixelRect
  ) throws(AnimatedImageError) -> Bitmap {
    var mapper = try palette(for: picture, from: canvas, in: area)
    return try draw(picture, from: canvas, on: canvas, area, &mapper).0
  }

  /// Returns the picture to write for `picture`, which must have been flattened.
  ///
  /// - Parameters:
  ///   - changed: The area in which `picture` may differ from the previous picture, or nil if it may differ anywhere.
  ///   - lastRect: The rectangle of the previous frame. If pixels become transparent, the whole rectangle is drawn
  ///     again.
  package mutating func reduce(
    _ picture: Bitmap, changed: PixelRect?, lastRect: PixelRect?
  ) throws(AnimatedImageError) -> Reduced {
    let all = PixelRect(picture.size)
    var area = changed.map { $0.intersection(all) } ?? all
    // A picture whose rectangle is drawn twice counts once.
    let counted = reducedCount
    defer { reducedCount = min(reducedCount, counted + 1) }
    guard let before = wanted, let canvas = shown else {
      let result = try fits(picture, from: nil, in: all) ? picture : redrawn(picture, area: all)
      (wanted, shown, source) = (picture, result, nil)
      return Reduced(picture: result, changed: all)
    }
    area = try PixelDifference.bounds(
      from: before, to: picture, within: area, isCancelled: isCancelled)
    guard !area.isEmpty else { return Reduced(picture: canvas, changed: .empty) }
    let vanished = try canvas.pixelsLost(to: picture, in: area, isCancelled: isCancelled)
    // The area that the frame may have to draw if the disposal of the previous frame makes the vanished pixels
    // transparent.
    let drawn = vanished.isEmpty ? area : area.union(vanished).union(lastRect ?? .empty)
    var result: Bitmap
    if try fits(picture, from: before, in: area) {
      result =
        canvas.storage === before.storage
        ? picture : try drawing(picture, from: before, on: canvas, area)
    } else {
      result = try redrawn(picture, from: before, on: canvas, area: area)
    }
    // The next frame may need an index for transparent pixels too, even if no pixel in this rectangle is transparent.
    if !vanished.isEmpty,
      try Self.distinctColors(result, from: nil, in: drawn, isCancelled).colors.count > 255
    {
      result = try redrawn(result, on: result, area: drawn)
    }
    (wanted, shown) = (picture, result)
    return Reduced(picture: result, changed: drawn)
  }

  // MARK: Deciding

  /// Returns whether the pixels of `area` that differ from `before` can be written without reducing their colours.
  ///
  /// Only a frame that covers the canvas, or one of an opaque animation, may have 256 colours: another one needs an
  /// index for unchanged pixels if its rectangle grows, which happens if pixels outside it become transparent in the
  /// next picture.
  private func fits(
    _ picture: Bitmap, from before: Bitmap?, in area: PixelRect
  ) throws(AnimatedImageError) -> Bool {
    guard reduction.colors == .automatic else { return false }
    let (colors, hasOthers) = try Self.distinctColors(picture, from: before, in: area, isCancelled)
    return colors.count < 256
      || colors.count == 256 && !hasOthers && (isOpaque || area == PixelRect(picture.size))
  }

  /// Returns whether a frame can contain the pixels of `area` that differ from `before`. It can if these pixels have at
  /// most 256 colours, or at most 255 if the frame needs an index for unchanged or transparent pixels.
  ///
  /// - Throws: `cancelled` once `isCancelled` returns true.
  package static func fits(
    _ picture: Bitmap, from before: Bitmap?, in area: PixelRect, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> Bool {
    let (colors, hasOthers) = try distinctColors(picture, from: before, in: area, isCancelled)
    return colors.count < 256 || colors.count == 256 && !hasOthers
  }

  /// Returns the colours, at most 257, of those pixels in `area` that differ from `before` and are not fully
  /// transparent. Also returns whether other pixels were found in `area`.
  private static func distinctColors(
    _ picture: Bitmap, from before: Bitmap?, in area: PixelRect, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> (colors: [UInt32], hasOthers: Bool) {
    var slots = [UInt32](repeating: 0, count: 1 << 10)
    var colors: [UInt32] = []
    var hasOthers = false
    var last: UInt32 = 0
    // Testing an optional for each pixel would take longer than comparing the pixel.
    let (below, hasBase) = (before ?? picture, before != nil)
    for y in area.y..<area.maxY {
      try area.poll(row: y, isCancelled)
      let (row, old) = (picture.row(y), below.row(y))
      for x in area.x..<area.maxX {
        let word = row.load(UInt32.self, at: x &* 4)
        if word < 0x0100_0000 || hasBase && old.load(UInt32.self, at: x &* 4) == word {
          hasOthers = true
          continue
        }
        if word == last { continue }
        last = word
        var slot = Int((word &* 0x9e37_79b1) &>> 22)
        while slots[slot] != 0, slots[slot] != word { slot = (slot &+ 1) & 1023 }
        if slots[slot] == 0 {
          slots[slot] = word
          colors.append(word)
          if colors.count > 256 { return (colors, hasOthers) }
        }
      }
    }
    return (colors, hasOthers)
  }

  // MARK: Palettes

  private var mixing: PaletteMapper.Mixing {
    switch reduction.dithering.kind {
    case .automatic: .light
    case .ordered: .full
    case .none, .diffusion: .none
    }
  }

  func checkCancellation() throws(AnimatedImageError) {
    if isCancelled() { throw AnimatedImageError(.cancelled, "stopped while reducing colours") }
  }

  private func mapper(_ histogram: ColorHistogram) -> PaletteMapper {
    // One entry is reserved for unchanged or transparent pixels.
    mapper(PaletteFinder.palette(of: histogram, count: reduction.limit - 1))
  }

  private func mapper(_ colors: [UInt32]) -> PaletteMapper {
    // Transparent black is added, because barely visible colours may become transparent.
    let palette = reduction.keepsAlpha ? [0] + colors : colors
    return PaletteMapper(palette.isEmpty ? [RGBA.black.word] : palette, mixing: mixing)
  }

  /// Returns a palette for the pixels in `area` that differ from `before`, with some weight for the other visible
  /// pixels.
  private func palette(
    for picture: Bitmap, from before: Bitmap?, in area: PixelRect
  ) throws(AnimatedImageError) -> PaletteMapper {
    // If there are few colours, use exactly those.
    let few = try Self.distinctColors(picture, from: nil, in: area, isCancelled).colors
    if !few.isEmpty, few.count < reduction.limit { return mapper(few) }
    var histogram = try ColorHistogram()
    let (below, hasBase) = (before ?? picture, before != nil)
    for y in area.y..<area.maxY {
      try checkCancellation()
      let (row, old) = (picture.row(y), below.row(y))
      for x in area.x..<area.maxX {
        let word = row.load(UInt32.self, at: x &* 4)
        guard word >= 0x0100_0000 else { continue }
        let isNew = !hasBase || old.load(UInt32.self, at: x &* 4) != word
        histogram.add(word, weight: isNew ? 4 : 1)
      }
    }
    try PixelMemory.require(Self.paletteByteCount)
    return mapper(histogram)
  }

  /// Returns `picture` in the colours of a palette: the palette in use if it is good enough, or else a new one.
  private mutating func redrawn(
    _ picture: Bitmap, from before: Bitmap? = nil, on canvas: Bitmap? = nil, area: PixelRect
  ) throws(AnimatedImageError) -> Bitmap {
    // A picture that is written first is usually the one that its palette was computed from. It is another one if the
    // first frame is merged into others.
    var isForOthers = common != nil
    if let source {
      isForOthers = try !PixelDifference.bounds(
        from: source, to: picture, isCancelled: isCancelled
      ).isEmpty
    }
    // The mapper is moved out of `self`, so that changing it does not copy its cells.
    var common =
      if let common = common.take() { common } else {
        try palette(for: picture, from: before, in: area)
      }
    var (result, error) = try draw(picture, from: before, on: canvas, area, &common)
    self.common = common
    if error.inexactCount > 0 { reducedCount += 1 }
    if reduction.keepsAlpha { return result }
    if var current = scene.take() {
      let (other, otherError) = try draw(picture, from: before, on: canvas, area, &current)
      if otherError.mean * 3 < error.mean * 2 {
        (result, error) = (other, otherError)
        scene = current
      } else if error.mean <= max(3 * (expected ?? 0) / 2, error.tolerable) {
        // Back to the common palette, which costs no bytes. If neither suits, another one is computed below.
        expected = error.mean
      }
    }
    // The first picture may be far from a palette that was computed from a survey of all pictures, too.
    let isExpected = error.mean <= max(2 * (expected ?? 0), error.tolerable)
    guard !isExpected, expected != nil || isForOthers else {
      if expected == nil { expected = error.mean }
      return result
    }
    var fresh = try palette(for: picture, from: before, in: area)
    let (other, otherError) = try draw(picture, from: before, on: canvas, area, &fresh)
    if otherError.mean * 2 < error.mean {
      (scene, self.expected) = (fresh, otherError.mean)
      return other
    }
    // The new palette is not much better, so from now on this error is expected of the palette in use.
    self.expected = error.mean
    return result
  }

  /// The errors of the pixels that were drawn for a picture.
  struct DrawingError {
    /// The sum of the squared distances between the pixels' colours and the nearest palette entries.
    var sum = 0
    var count = 0
    /// The number of pixels whose colour is not in the palette.
    var inexactCount = 0
    var mean: Int { count > 0 ? sum / count : 0 }
    /// The tolerable mean squared error. It is higher if there are few pixels, for which a separate palette would cost
    /// more than it saves.
    var tolerable: Int { count >= 4096 ? 60 * 60 : 100 * 100 }
  }

  private func draw(
    _ picture: Bitmap, from before: Bitmap?, on canvas: Bitmap?, _ area: PixelRect,
    _ mapper: inout PaletteMapper
  ) throws(AnimatedImageError) -> (Bitmap, DrawingError) {
    if reduction.dithering == .diffusion {
      return try diffusing(picture, from: before, on: canvas, area, &mapper)
    }
    return try ordering(picture, from: before, on: canvas, area, &mapper)
  }
}
