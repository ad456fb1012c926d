import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeTerminal

/// Transparent pixels on a terminal whose background is not known.
@Suite(.timeLimit(.minutes(10)), .computes)
struct TransparencyTests {
  private static let options = EncodingOptions(holdThreshold: 0, backdrop: .terminal)
  private static let green = RGBA(red: 0, green: 200, blue: 0)
  private static let greenCell = TerminalColor(red: 0, green: 200, blue: 0)

  @Test(arguments: CellGlyphs.allCases, [ColorDepth.full, .indexed, .basic])
  func `cells without opaque pixels have the terminal's own background`(
    _ glyphs: CellGlyphs, _ colors: ColorDepth
  ) {
    var sketch = Sketch(width: 32, height: 64, color: .clear)
    // Cell (1, 1) as a whole, the lower half of (2, 2), the left half of (0, 3).
    sketch.fill(PixelRect(x: 8, y: 16, width: 8, height: 16), Self.green)
    sketch.fill(PixelRect(x: 16, y: 40, width: 8, height: 8), Self.green)
    sketch.fill(PixelRect(x: 0, y: 48, width: 4, height: 16), Self.green)
    var encoder = CellEncoder(
      area: CellRect(column: 0, row: 0, columns: 4, rows: 4),
      screen: ScreenSize(columns: 6, rows: 6), glyphs: glyphs, colors: colors,
      options: Self.options)
    var pen = PenState.unknown
    var bytes: [UInt8] = []
    encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
    var terminal = MiniTerminal(columns: 6, rows: 6)
    terminal.apply(bytes)
    for row in 0..<4 {
      for column in 0..<4 {
        let cell = terminal[column, row]
        switch (column, row) {
        case (1, 1): #expect(cell.scalar == 0x20 && cell.background != .default)
        case (2, 2):
          #expect(cell.scalar == 0x2584 && cell.background == .default)
          #expect(cell.foreground != .default)
        case (0, 3):
          // Half blocks have no left half: half of each pixel is opaque, which is enough.
          if glyphs == .half {
            #expect(cell.background != .default)
          } else {
            #expect(cell.scalar == 0x258C && cell.background == .default)
          }
        default: #expect(cell.scalar == 0x20 && cell.background == .default)
        }
      }
    }
    if colors == .full { #expect(terminal[1, 1].background == Self.greenCell) }
    // What became transparent shows the background again.
    bytes = []
    encoder.encode(
      Sketch(width: 32, height: 64, color: .clear).bitmap, changed: nil, pen: &pen, into: &bytes)
    terminal.apply(bytes)
    #expect(terminal.cells.allSatisfy { $0.scalar == 0x20 && $0.background == .default })
  }

  @Test(arguments: CellGlyphs.allCases)
  func `an upper half is drawn with ink above`(_ glyphs: CellGlyphs) {
    var sketch = Sketch(width: 8, height: 16, color: .clear)
    sketch.fill(PixelRect(x: 0, y: 0, width: 8, height: 8), Self.green)
    var encoder = CellEncoder(
      area: CellRect(column: 0, row: 0, columns: 1, rows: 1),
      screen: ScreenSize(columns: 2, rows: 2), glyphs: glyphs, options: Self.options)
    var pen = PenState.unknown
    // The ink that the cell needs is the background: what is cheaper is wrong here.
    pen.background = Self.greenCell
    var bytes: [UInt8] = []
    encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
    var terminal = MiniTerminal(columns: 2, rows: 2)
    terminal.apply(bytes)
    #expect(terminal[0, 0].scalar == 0x2580)
    #expect(terminal[0, 0].foreground == Self.greenCell)
    #expect(terminal[0, 0].background == .default)
  }

  @Test(arguments: CellGlyphs.allCases)
  func `opaque pictures are drawn as over any backdrop`(_ glyphs: CellGlyphs) {
    var random = SplitMix(state: 3)
    var sketch = Sketch(width: 40, height: 40)
    var encoders = [Backdrop.black, .terminal].map {
      CellEncoder(
        area: CellRect(column: 0, row: 0, columns: 5, rows: 3),
        screen: ScreenSize(columns: 6, rows: 6), glyphs: glyphs,
        options: EncodingOptions(backdrop: $0))
    }
    var pens = [PenState.unknown, .unknown]
    for _ in 0..<20 {
      var bytes: [[UInt8]] = [[], []]
      for index in 0..<2 {
        encoders[index].encode(
          sketch.bitmap, changed: nil, pen: &pens[index], into: &bytes[index])
      }
      #expect(bytes[0] == bytes[1])
      sketch.change(&random, colors: 30)
    }
  }

  @Test func `sixels leave transparent pixels as they are, and erase what was drawn there`() {
    let screen = ScreenSize(columns: 12, rows: 7, cell: PixelSize(width: 5, height: 10))
    var encoder = SixelEncoder(
      area: CellRect(column: 1, row: 1, columns: 10, rows: 4), screen: screen,
      imageSize: PixelSize(width: 50, height: 36), options: Self.options)
    var random = SplitMix(state: 4)
    var sketch = Sketch(width: 50, height: 36, color: .clear)
    var pen = PenState.unknown
    var shown = MiniGraphics.Sixels(screen: screen)
    for step in 0..<60 {
      var bytes: [UInt8] = []
      encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
      Self.apply(bytes, to: &shown, screen)
      var wrong = 0
      for y in 0..<36 {
        for x in 0..<50 {
          let pixel = sketch.pixels[y * 50 + x]
          let color = shown.pixels[(y + 10) * shown.width + x + 5]
          if pixel.alpha < 128 {
            wrong += color == .max ? 0 : 1
          } else {
            let wanted = TerminalColor(red: pixel.red, green: pixel.green, blue: pixel.blue)
            wrong += color != .max && TerminalColor(word: color).distance(to: wanted) <= 2 ? 0 : 1
          }
        }
      }
      #expect(wrong == 0 && shown.outside == 0, "step \(step)")
      sketch.change(&random, colors: 20)
      sketch.fill(
        PixelRect(x: step * 7 % 50, y: step * 5 % 36, width: 9, height: 12),
        RGBA(red: 1, green: 2, blue: 3, alpha: step % 2 == 0 ? 0 : 200))
    }
  }

  /// Draws sixels, and erases cells where text is erased.
  private static func apply(
    _ bytes: [UInt8], to shown: inout MiniGraphics.Sixels, _ screen: ScreenSize
  ) {
    var terminal = MiniTerminal(columns: screen.columns, rows: screen.rows)
    var rest = bytes[...]
    func erasure() -> (end: Int, count: Int)? {
      for start in rest.indices.dropLast() where rest[start] == 0x1B && rest[start + 1] == 0x5B {
        let digits = rest[(start + 2)...].prefix { (48...57).contains($0) }
        guard digits.endIndex < rest.endIndex, rest[digits.endIndex] == UInt8(ascii: "X") else {
          continue
        }
        return (digits.endIndex, Int(String(decoding: digits, as: UTF8.self)) ?? 0)
      }
      return nil
    }
    while let (end, count) = erasure() {
      terminal.apply(Array(rest[...end]))
      for y in terminal.y * screen.cell.height..<(terminal.y + 1) * screen.cell.height {
        for x in terminal.x * screen.cell.width..<(terminal.x + count) * screen.cell.width {
          shown.pixels[y * shown.width + x] = .max
        }
      }
      rest = rest[(end + 1)...]
    }
    terminal.strings = []
    terminal.apply(Array(rest))
    shown.apply(terminal.strings)
  }

  @Test func `a terminal that does not say its background is left bare`() {
    #expect(TerminalCapabilities().backdrop == .terminal)
    var known = TerminalCapabilities()
    known.background = TerminalColor(red: 1, green: 2, blue: 3)
    #expect(known.backdrop == .color(red: 1, green: 2, blue: 3))
  }
}
