package import ZoetropeFrames

/// A set of characters that show pictures by their shapes.
package enum DotGlyphs: String, Sendable, Hashable, CaseIterable {
  /// ASCII characters, from light to dense.
  case ascii
  /// Quadrants, which have 2 x 2 dots per cell and are contained in most fonts.
  case quadrants
  /// Braille patterns, which have 2 x 4 dots per cell.
  case braille

  /// The number of dots across a cell. An ASCII character counts as one dot, whose shade varies.
  var columns: Int { self == .ascii ? 1 : 2 }
  /// The number of dots down a cell.
  var rows: Int {
    switch self {
    case .ascii: 1
    case .quadrants: 2
    case .braille: 4
    }
  }

  /// ASCII characters sorted by the amount of ink that they have in common fonts, with the lightest first.
  static let ramp = [UInt8](" .'`,:;~!+=xcvoajhbdqpwm#MW&%B@".utf8)

  private static let quadrantScalars: [UInt32] = [
    0x20, 0x2598, 0x259D, 0x2580, 0x2596, 0x258C, 0x259E, 0x259B,
    0x2597, 0x259A, 0x2590, 0x259C, 0x2584, 0x2599, 0x259F, 0x2588,
  ]

  /// Returns the character that shows the dots in `bits`. The bits are in row order, with the lowest bit at the top
  /// left.
  func scalar(bits: Int) -> UInt32 {
    if self == .quadrants { return Self.quadrantScalars[bits & 15] }
    // Braille dots are numbered down the columns, except for those of the fourth row, which were added later.
    let order: [UInt32] = [0, 3, 1, 4, 2, 5, 6, 7]
    var pattern: UInt32 = 0
    for (bit, dot) in order.enumerated() where bits >> bit & 1 == 1 { pattern |= 1 << dot }
    return 0x2800 + pattern
  }
}

/// Draws pictures with the shapes of characters, in the terminal's own colour or with one colour per cell.
///
/// Brightness is shown by an ordered dither that is fixed to the screen, so static parts do not flicker. The contents
/// of the screen depend only on the last picture.
package struct DotEncoder: FrameEncoding {
  package let area: CellRect
  package let pixelSize: PixelSize
  private let glyphs: DotGlyphs
  private let isInverted: Bool
  private let screenColumns: Int
  private let mapper: ColorMapper?
  private var cells: CellSource
  private var shown: [Shown]

  private struct Shown: Sendable, Hashable {
    var scalar: UInt32
    var color: TerminalColor
  }

  /// Creates an encoder for the cells of `area`.
  ///
  /// - Parameters:
  ///   - area: The cells to draw to.
  ///   - screen: The size of the terminal's screen.
  ///   - crop: The part of each picture to show, or nil for the whole picture.
  ///   - glyphs: The characters to draw with.
  ///   - colors: The colours that the terminal can show. If this is not ``ColorDepth/none``, each character has the
  ///     colour of its cell. Default: ``ColorDepth/none``.
  ///   - isDarkOnLight: Whether the terminal's background is light. Default: false.
  ///   - options: The encoding options.
  package init(
    area: CellRect, screen: ScreenSize, crop: PixelRect? = nil, glyphs: DotGlyphs,
    colors: ColorDepth = .none, isDarkOnLight: Bool = false,
    options: EncodingOptions = EncodingOptions()
  ) {
    self.area = area
    self.glyphs = glyphs
    isInverted = isDarkOnLight
    screenColumns = screen.columns
    pixelSize = PixelSize(
      width: area.columns * glyphs.columns, height: area.rows * glyphs.rows)
    mapper = colors == .none ? nil : ColorMapper(depth: colors)
    cells = CellSource(
      area: area, crop: crop, bandCuts: Array(stride(from: 0, through: 24, by: 24 / glyphs.rows)),
      halves: glyphs.columns, hasColumns: false, options: options)
    shown = Array(
      repeating: Shown(scalar: 0, color: .default), count: max(area.columns * area.rows, 0))
  }

  package mutating func invalidate() {
    cells.forgetPicture()
    for index in shown.indices { shown[index].scalar = 0 }
  }

  package var stateHash: Int { shown.hashValue }

  package func withoutPicture() -> Self {
    var copy = self
    copy.cells = cells.withoutPicture()
    return copy
  }

  package mutating func resume(showing bitmap: Bitmap) { cells.resume(after: bitmap) }

  package var stateByteCount: Int { shown.count * MemoryLayout<Shown>.stride }

  package mutating func encode(
    _ bitmap: Bitmap, changed: PixelRect?, pen: inout PenState, into output: inout [UInt8]
  ) {
    guard !area.isEmpty, !bitmap.size.isEmpty else { return }
    cells.begin(bitmap, changed: changed)
    for row in 0..<area.rows {
      let range = cells.sample(row: row, of: bitmap)
      for column in range {
        let wanted = cell(cells.sampler, column: column, row: row)
        let at = row * area.columns + column
        if wanted == shown[at] { continue }
        shown[at] = wanted
        pen.move(toColumn: area.column + column, row: area.row + row, into: &output)
        if mapper != nil {
          pen.setColors(foreground: wanted.color, background: .default, into: &output)
        }
        output.append(scalar: wanted.scalar)
        pen.advance(screenColumns: screenColumns)
      }
    }
  }

  private func cell(_ sampler: borrowing CellSampler, column: Int, row: Int) -> Shown {
    let samples = sampler.bands.span
    let share = Float(glyphs.rows * glyphs.columns)
    var total = SIMD4<Float>.zero
    var bits = 0
    for line in 0..<glyphs.rows {
      for side in 0..<glyphs.columns {
        let light = samples[(line * area.columns + column) * glyphs.columns + side] * share
        total += light
        let level = brightness(light)
        let threshold = ColorMapper.threshold(
          x: column * glyphs.columns + side, y: row * glyphs.rows + line)
        if level > threshold { bits |= 1 << (line * glyphs.columns + side) }
      }
    }
    let mean = total * (1 / share)
    let scalar: UInt32
    if glyphs == .ascii {
      let shades = Float(DotGlyphs.ramp.count - 1)
      let index = Int((brightness(mean) * shades).rounded())
      scalar = UInt32(DotGlyphs.ramp[min(max(index, 0), DotGlyphs.ramp.count - 1)])
    } else {
      scalar = glyphs.scalar(bits: bits)
    }
    let color = mapper?.color(of: mean) ?? .default
    return Shown(scalar: scalar, color: scalar == 0x20 ? .default : color)
  }

  /// Returns how much ink is needed to show `light`, from 0 to 1.
  private func brightness(_ light: SIMD4<Float>) -> Float {
    let linear = 0.2126 * light.x + 0.7152 * light.y + 0.0722 * light.z
    let clamped = min(max(linear, 0), 1)
    return isInverted ? 1 - clamped : clamped
  }
}
