package import ZoetropeFrames

/// Draws pictures with block characters, which have two colours per cell.
///
/// The encoder paints only cells that change. With a hold threshold of 0, the contents of the screen depend only on the
/// last picture, not on the pictures before it.
package struct CellEncoder: FrameEncoding {
  package let area: CellRect
  package let pixelSize: PixelSize
  /// The number of cells painted so far.
  package private(set) var paintedCellCount = 0
  let glyphs: CellGlyphs
  let options: EncodingOptions
  let screenColumns: Int
  private let mapper: ColorMapper
  private var chooser: SplitChooser
  private var cells: CellSource
  private var shown: [ShownCell]

  /// Creates an encoder for the cells of `area`.
  ///
  /// - Parameters:
  ///   - area: The cells to draw to.
  ///   - screen: The size of the terminal's screen.
  ///   - crop: The part of each picture to show, or nil for the whole picture.
  ///   - glyphs: The characters to draw with.
  ///   - colors: The colours that the terminal can show. For a terminal without colours, use ``DotEncoder``.
  ///   - options: The encoding options.
  package init(
    area: CellRect, screen: ScreenSize, crop: PixelRect? = nil, glyphs: CellGlyphs,
    colors: ColorDepth = .full, options: EncodingOptions = EncodingOptions()
  ) {
    self.area = area
    self.glyphs = glyphs
    self.options = options
    screenColumns = screen.columns
    let fine = glyphs != .half
    pixelSize = PixelSize(
      width: area.columns * (fine ? 8 : 1), height: area.rows * (fine ? 8 : 2))
    mapper = ColorMapper(depth: colors)
    chooser = SplitChooser(glyphs)
    cells = CellSource(
      area: area, crop: crop, bandCuts: BlockGlyph.bandCuts(for: glyphs), halves: fine ? 2 : 1,
      hasColumns: fine, options: options)
    shown = Array(repeating: .unknown, count: max(area.columns * area.rows, 0))
  }

  package mutating func invalidate() {
    cells.forgetPicture()
    for index in shown.indices { shown[index] = .unknown }
  }

  package var stateHash: Int { shown.hashValue }

  /// Returns a copy of the encoder that does not retain a picture.
  package func withoutPicture() -> Self {
    var copy = self
    copy.cells = cells.withoutPicture()
    copy.chooser = SplitChooser(glyphs)
    return copy
  }

  /// Restores the picture that ``withoutPicture()`` left out.
  package mutating func resume(showing bitmap: Bitmap) { cells.resume(after: bitmap) }

  package var stateByteCount: Int { shown.count * MemoryLayout<ShownCell>.stride }

  /// Appends the bytes that make the terminal show `bitmap`. If nothing changes, appends nothing.
  package mutating func encode(
    _ bitmap: Bitmap, changed: PixelRect?, pen: inout PenState, into output: inout [UInt8]
  ) {
    guard !area.isEmpty, !bitmap.size.isEmpty else { return }
    cells.begin(bitmap, changed: changed)
    for row in 0..<area.rows {
      let range = cells.sample(row: row, of: bitmap)
      for column in range {
        chooser.load(cells.sampler, cell: column, cellCount: area.columns)
        let wanted = choose(column: column, row: row)
        if let wanted { paint(wanted, column: column, row: row, pen: &pen, into: &output) }
      }
    }
  }

  /// Returns the new contents of the cell that was last loaded, or nil if the cell may stay as it is.
  private func choose(column: Int, row: Int) -> ShownCell? {
    let now = shown[row * area.columns + column]
    let hold = options.holdThreshold
    // The total is a sum of pixel fractions, so it is only approximately 1 if every pixel is opaque.
    if options.backdrop.isBare, chooser.total.w < 0.999 {
      let wanted = bareCell()
      let isHeld =
        now.split == wanted.split && now.ink.distance(to: wanted.ink) <= hold
        && now.paper.distance(to: wanted.paper) <= hold
      return isHeld ? nil : wanted
    }
    if glyphs == .half {
      var wanted = cell(split: 1)
      if now.split != .max, now.ink.distance(to: wanted.ink) <= hold,
        now.paper.distance(to: wanted.paper) <= hold
      {
        return nil
      }
      // Replace the two colours with their mean if the mean differs from each of them by at most half the threshold.
      if wanted.ink != wanted.paper, wanted.ink.distance(to: wanted.paper) <= hold & ~1 {
        wanted.paper = mapper.color(of: chooser.total)
        wanted.ink = wanted.paper
      }
      return wanted
    }
    let allowed = Float(hold) / 255
    let slack = allowed * allowed
    let best = chooser.best(margin: max(slack, 1e-6))
    if now.split != .max, hold > 0, chooser.explained(Int(now.split)) >= best.explained - slack {
      let kept = cell(split: Int(now.split))
      if now.ink.distance(to: kept.ink) <= hold, now.paper.distance(to: kept.paper) <= hold {
        return nil
      }
    }
    var wanted = cell(split: best.index)
    if mapper.depth != .full { wanted = bestOfPalette(first: wanted) }
    if wanted.ink == wanted.paper { wanted.split = 0 }
    return wanted == now ? nil : wanted
  }

  /// Returns the contents of the loaded cell if it is drawn with split `split`: the colours of both parts, mapped to
  /// the terminal's colours.
  @inline(__always)
  private func cell(split: Int) -> ShownCell {
    let paper = mapper.color(of: split == 0 ? chooser.total : chooser.paperLight(split))
    let ink = split == 0 ? paper : mapper.color(of: chooser.inkLight(split))
    return ShownCell(split: UInt16(split), ink: ink, paper: paper)
  }

  /// Returns the contents of the loaded cell if some of its pixels are transparent. If opaque pixels cover less than
  /// half of one of the two parts, this part has the terminal's own background.
  private func bareCell() -> ShownCell {
    let split = chooser.bestOutline()
    func color(_ light: SIMD4<Float>) -> TerminalColor {
      light.w < 0.5 ? .default : mapper.color(of: light / light.w)
    }
    if split == 0 {
      let paper = color(chooser.total)
      return ShownCell(split: 0, ink: paper, paper: paper)
    }
    let ink = color(chooser.inkLight(split))
    let paper = color(chooser.paperLight(split))
    return ShownCell(split: ink == paper ? 0 : UInt16(split), ink: ink, paper: paper)
  }

  /// Returns the contents of the loaded cell with the least error after mapping colours to the palette.
  private func bestOfPalette(first: ShownCell) -> ShownCell {
    var best = first
    var least = error(of: first)
    for index in chooser.glyphs.indices {
      // Mapping colours to the palette can only increase the error, so a split that explains too little cannot win.
      if -chooser.explained(index) >= least - 1e-6 { continue }
      let candidate = cell(split: index)
      let error = error(of: candidate)
      if error < least - 1e-6 {
        least = error
        best = candidate
      }
    }
    return best
  }

  /// Returns the squared error of drawing `candidate` in the loaded cell, minus the sum of squares of the cell, which
  /// is the same for all candidates.
  private func error(of candidate: ShownCell) -> Float {
    let index = Int(candidate.split)
    let area = chooser.glyphs[index].area
    let inkError = chooser.inkLight(index) - mapper.light(of: candidate.ink)
    let paperError = chooser.paperLight(index) - mapper.light(of: candidate.paper)
    let squares = inkError * inkError * area + paperError * paperError * (1 - area)
    return squares.x + squares.y + squares.z - chooser.explained(index)
  }

  /// Paints one cell. Of the glyph and its inverse, the method uses the one that takes fewer bytes.
  private mutating func paint(
    _ wanted: ShownCell, column: Int, row: Int, pen: inout PenState, into output: inout [UInt8]
  ) {
    pen.move(toColumn: area.column + column, row: area.row + row, into: &output)
    let glyph = chooser.glyphs[
      wanted.split != .max && wanted.ink == wanted.paper ? 0 : Int(wanted.split)]
    var painted = wanted
    let snap = options.holdThreshold / 2
    let scalar: UInt32
    if glyph.shape == .whole {
      // A cell of one colour is always drawn as a space. A font's full block may leave part of the cell uncovered,
      // where the background would show as a line.
      if let near = Self.near(wanted.paper, pen.background, snap) {
        painted.paper = near
      } else {
        pen.setColors(foreground: nil, background: wanted.paper, into: &output)
      }
      scalar = glyph.scalar
      painted.ink = painted.paper
    } else {
      let straightInk = Self.near(wanted.ink, pen.foreground, snap)
      let straightPaper = Self.near(wanted.paper, pen.background, snap)
      var straight = straightInk == nil ? PenState.cost(of: wanted.ink) : 0
      straight += straightPaper == nil ? PenState.cost(of: wanted.paper) : 0
      let turnedInk = Self.near(wanted.ink, pen.background, snap)
      let turnedPaper = Self.near(wanted.paper, pen.foreground, snap)
      var turned = turnedInk == nil ? PenState.cost(of: wanted.ink) : 0
      turned += turnedPaper == nil ? PenState.cost(of: wanted.paper) : 0
      // Ink cannot have the colour of the terminal's own background.
      let isTurned =
        wanted.paper == .default
        ? false : wanted.ink == .default || (glyph.opposite != 0 && turned < straight)
      if isTurned {
        painted.ink = turnedInk ?? wanted.ink
        painted.paper = turnedPaper ?? wanted.paper
        scalar = glyph.opposite
        pen.setColors(foreground: painted.paper, background: painted.ink, into: &output)
      } else {
        painted.ink = straightInk ?? wanted.ink
        painted.paper = straightPaper ?? wanted.paper
        scalar = glyph.scalar
        pen.setColors(foreground: painted.ink, background: painted.paper, into: &output)
      }
    }
    output.append(scalar: scalar)
    paintedCellCount += 1
    pen.advance(screenColumns: screenColumns)
    shown[row * area.columns + column] = painted
  }

  /// Returns the pen's colour `pen` if it differs from `wanted` by at most `limit`, so that it can be used instead;
  /// otherwise, returns nil.
  @inline(__always)
  private static func near(
    _ wanted: TerminalColor, _ pen: TerminalColor?, _ limit: Int
  ) -> TerminalColor? {
    guard let pen, wanted.distance(to: pen) <= limit else { return nil }
    return pen
  }
}

/// The contents of a cell: the split, and the colours of its two parts.
///
/// The value does not say which of the two parts is drawn as ink, because this makes no visible difference.
struct ShownCell: Sendable, Hashable, BitwiseCopyable {
  var split: UInt16
  var ink: TerminalColor
  var paper: TerminalColor

  /// The contents of a cell about which nothing is known.
  static let unknown = ShownCell(split: .max, ink: .default, paper: .default)
}
