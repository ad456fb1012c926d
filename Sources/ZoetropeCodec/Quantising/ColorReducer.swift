/// Adapts the pictures of an animation, one after the other, to a format with few colours.
///
/// An unchanged pixel keeps the colour already shown for it, whatever palette is in use: it costs no bytes and never
/// flickers. A palette stays in use until its error grows. The first one, found by a survey of all frames or from the
/// first picture, can be the file's global table. It is the only one if partly transparent pixels are kept.
package struct ColorReducer: Sendable {
  /// A picture to be written, and where it may differ from the one before.
  package struct Reduced: Sendable {
    package var picture: Bitmap
    package var changed: PixelRect
  }

  private let reduction: ColorReduction
  /// The palette of the whole animation; nil until it is known.
  private var common: PaletteMapper?
  /// The palette of a scene for which the common one is unsuitable.
  private var scene: PaletteMapper?
  /// The known mean squared error of the palette in use; if a picture's error is far greater, another palette is
  /// sought.
  private var expected: Int?
  /// What the last picture was to show.
  private var wanted: Bitmap?
  /// What it shows.
  private var shown: Bitmap?
  /// Pictures whose colours were reduced.
  package private(set) var reducedCount = 0

  /// - Parameter survey: The colours of all pictures, if they are known.
  package init(_ reduction: ColorReduction, survey: ColorSurvey? = nil) {
    self.reduction = reduction
    if let histogram = survey?.histogram, !histogram.isEmpty {
      common = mapper(histogram)
    }
  }

  /// The file's global table, if most frames are going to share one; in a GIF, a power of two of colours, one of
  /// which no pixel has. Nil if the first picture has a local table.
  package mutating func table(for first: Bitmap) throws(AnimatedImageError) -> [UInt32]? {
    let all = PixelRect(first.size)
    var partialCount = 0
    let picture = try first.flattened(reduction.transparency, in: all, partialCount: &partialCount)
    if fits(picture, from: nil, in: all) { return nil }
    let mapper = common ?? palette(for: picture, from: nil, in: all)
    common = mapper
    if reduction.keepsAlpha { return mapper.palette }
    let count = 1 << (Int.bitWidth - mapper.palette.count.leadingZeroBitCount)
    return mapper.palette
      + [UInt32](repeating: RGBA.black.word, count: count - mapper.palette.count)
  }

  /// A picture that is not part of the animation, in the colours of the file's global table.
  package mutating func still(_ picture: Bitmap) throws(AnimatedImageError) -> Bitmap {
    guard var mapper = common.take() else { return picture }
    defer { common = mapper }
    return try draw(picture, from: nil, on: nil, PixelRect(picture.size), &mapper).0
  }

  /// The picture that is written for `picture`, which is flattened.
  ///
  /// - Parameters:
  ///   - changed: Where it may differ from the one before; nil if anywhere.
  ///   - lastRect: The rectangle of the previous frame. If pixels become transparent, all of it is drawn again.
  package mutating func reduce(
    _ picture: Bitmap, changed: PixelRect?, lastRect: PixelRect?
  ) throws(AnimatedImageError) -> Reduced {
    let all = PixelRect(picture.size)
    var area = changed.map { $0.intersection(all) } ?? all
    guard let before = wanted, let canvas = shown else {
      let result = try fits(picture, from: nil, in: all) ? picture : redrawn(picture, area: all)
      (wanted, shown) = (picture, result)
      return Reduced(picture: result, changed: all)
    }
    area = PixelDifference.bounds(from: before, to: picture, within: area)
    guard !area.isEmpty else { return Reduced(picture: canvas, changed: .empty) }
    let vanished = canvas.pixelsLost(to: picture, in: area)
    // All that the frame after a disposal may have to draw.
    let drawn = vanished.isEmpty ? area : area.union(vanished).union(lastRect ?? .empty)
    var result: Bitmap
    if fits(picture, from: before, in: area) {
      result =
        canvas.storage === before.storage
        ? picture : try drawing(picture, from: before, on: canvas, area)
    } else {
      result = try redrawn(picture, from: before, on: canvas, area: area)
    }
    if !vanished.isEmpty, Self.distinctColors(result, from: nil, in: drawn).colors.count > 255 {
      result = try redrawn(result, on: result, area: drawn)
    }
    (wanted, shown) = (picture, result)
    return Reduced(picture: result, changed: drawn)
  }

  // MARK: Deciding

  /// Whether pixels are written as they are.
  private func fits(_ picture: Bitmap, from before: Bitmap?, in area: PixelRect) -> Bool {
    reduction.colors == .automatic && Self.fits(picture, from: before, in: area)
  }

  /// Whether a frame can hold the pixels of `area` that differ from `before`: 256 colours, or 255 if it needs an
  /// index for unchanged or transparent pixels.
  package static func fits(
    _ picture: Bitmap, from before: Bitmap?, in area: PixelRect
  ) -> Bool {
    let (colors, hasOthers) = distinctColors(picture, from: before, in: area)
    return colors.count < 256 || colors.count == 256 && !hasOthers
  }

  /// The colours in `area`, clear ones left out, of pixels that differ from `before`, at most 257; and whether there are
  /// other pixels.
  private static func distinctColors(
    _ picture: Bitmap, from before: Bitmap?, in area: PixelRect
  ) -> (colors: [UInt32], hasOthers: Bool) {
    var slots = [UInt32](repeating: 0, count: 1 << 10)
    var colors: [UInt32] = []
    var hasOthers = false
    var last: UInt32 = 0
    // Testing an optional for each pixel takes longer than comparing the pixel.
    let (below, hasBase) = (before ?? picture, before != nil)
    for y in area.y..<area.maxY {
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

  private func mapper(_ histogram: ColorHistogram) -> PaletteMapper {
    // One entry is for unchanged or transparent pixels.
    mapper(PaletteFinder.palette(of: histogram, count: reduction.limit - 1))
  }

  private func mapper(_ colors: [UInt32]) -> PaletteMapper {
    // Hardly visible colours may become transparent.
    let palette = reduction.keepsAlpha ? [0] + colors : colors
    return PaletteMapper(palette.isEmpty ? [RGBA.black.word] : palette, mixing: mixing)
  }

  /// A palette for the pixels in `area` that differ from `before`, and a share for the others that are visible.
  private func palette(
    for picture: Bitmap, from before: Bitmap?, in area: PixelRect
  ) -> PaletteMapper {
    // Few colours need no others.
    let few = Self.distinctColors(picture, from: nil, in: area).colors
    if !few.isEmpty, few.count < reduction.limit { return mapper(few) }
    var histogram = ColorHistogram()
    let (below, hasBase) = (before ?? picture, before != nil)
    for y in area.y..<area.maxY {
      let (row, old) = (picture.row(y), below.row(y))
      for x in area.x..<area.maxX {
        let word = row.load(UInt32.self, at: x &* 4)
        guard word >= 0x0100_0000 else { continue }
        let isNew = !hasBase || old.load(UInt32.self, at: x &* 4) != word
        histogram.add(word, weight: isNew ? 4 : 1)
      }
    }
    return mapper(histogram)
  }

  /// `picture` in the colours of a palette: the palette in use, if it is good enough.
  private mutating func redrawn(
    _ picture: Bitmap, from before: Bitmap? = nil, on canvas: Bitmap? = nil, area: PixelRect
  ) throws(AnimatedImageError) -> Bitmap {
    // Taken out, so that its cells are not copied.
    var common = common.take() ?? palette(for: picture, from: before, in: area)
    var (result, error) = try draw(picture, from: before, on: canvas, area, &common)
    self.common = common
    if error.inexactCount > 0 { reducedCount += 1 }
    if reduction.keepsAlpha { return result }
    if var current = scene.take() {
      let (other, otherError) = try draw(picture, from: before, on: canvas, area, &current)
      if otherError.mean * 3 < error.mean * 2 {
        (result, error) = (other, otherError)
        scene = current
      } else {
        expected = error.mean
      }
    }
    guard let expected else {
      expected = error.mean
      return result
    }
    guard error.mean > max(2 * expected, error.tolerable) else { return result }
    var fresh = palette(for: picture, from: before, in: area)
    let (other, otherError) = try draw(picture, from: before, on: canvas, area, &fresh)
    if otherError.mean * 2 < error.mean {
      (scene, self.expected) = (fresh, otherError.mean)
      return other
    }
    // No palette is much better.
    self.expected = error.mean
    return result
  }

  /// The errors of pixels that were drawn.
  struct DrawingError {
    /// Squares of distances.
    var sum = 0
    var count = 0
    /// Pixels whose colour is not in the palette.
    var inexactCount = 0
    var mean: Int { count > 0 ? sum / count : 0 }
    /// A separate palette for a few pixels costs more than it saves.
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
