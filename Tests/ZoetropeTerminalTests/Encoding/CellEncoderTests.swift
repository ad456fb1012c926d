import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeTerminal

@Suite(.timeLimit(.minutes(10)), .computes)
struct CellEncoderTests {
  struct Mode: Sendable, CustomTestStringConvertible {
    let glyphs: CellGlyphs
    let colors: ColorDepth
    var testDescription: String { "\(glyphs.rawValue), \(colors.rawValue)" }
  }

  static let modes = CellGlyphs.allCases.flatMap { glyphs in
    [ColorDepth.full, .indexed, .basic].map { Mode(glyphs: glyphs, colors: $0) }
  }

  @Test(arguments: modes)
  func `hundreds of random deltas show what full repaints show`(_ mode: Mode) {
    var random = SplitMix(state: 7)
    var checked = 0
    let isLarge = mode.glyphs == .sextants || mode.glyphs == .octants
    for round in 0..<4 {
      let columns = (isLarge ? [2, 1, 2, 3] : [3, 2, 5, 1])[round % 4]
      let rows = (isLarge ? [1, 2, 1, 1] : [2, 3, 1, 4])[round % 4]
      let touchesEdge = round % 2 == 0
      let screen = ScreenSize(columns: columns + (touchesEdge ? 2 : 5), rows: rows + 1)
      let area = CellRect(column: 2, row: 1, columns: columns, rows: rows)
      func encoder() -> CellEncoder {
        CellEncoder(
          area: area, screen: screen, glyphs: mode.glyphs, colors: mode.colors, options: .exact)
      }
      var delta = encoder()
      var terminal = MiniTerminal(columns: screen.columns, rows: screen.rows)
      var pen = PenState.unknown
      var sketch = Sketch(width: [13, 9, 4, 7][round % 4], height: [11, 17, 4, 10][round % 4])
      for step in 0..<16 {
        let bitmap = sketch.bitmap
        var bytes: [UInt8] = []
        delta.encode(bitmap, changed: nil, pen: &pen, into: &bytes)
        terminal.apply(bytes)
        var full = encoder()
        var fresh = MiniTerminal(columns: screen.columns, rows: screen.rows)
        var freshPen = PenState.unknown
        var all: [UInt8] = []
        full.encode(bitmap, changed: nil, pen: &freshPen, into: &all)
        fresh.apply(all)
        guard terminal.looksLike(fresh), terminal.accidents == 0, fresh.accidents == 0 else {
          Issue.record("round \(round), step \(step)")
          return
        }
        checked += 1
        sketch.change(&random, colors: mode.colors == .full ? 500 : 40)
      }
    }
    #expect(checked == 64)
  }

  @Test(arguments: CellGlyphs.allCases)
  func `cells that do not change are not painted`(_ glyphs: CellGlyphs) {
    let screen = ScreenSize(columns: 16, rows: 6)
    var encoder = CellEncoder(
      area: CellRect(column: 0, row: 0, columns: 16, rows: 6), screen: screen, glyphs: glyphs,
      options: .exact)
    var sketch = Sketch(width: 60, height: 50)
    var random = SplitMix(state: 3)
    for _ in 0..<20 { sketch.change(&random, colors: 300) }
    var pen = PenState.unknown
    var bytes: [UInt8] = []
    var terminal = MiniTerminal(columns: 16, rows: 6)
    encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
    terminal.apply(bytes)
    for _ in 0..<40 {
      let before = terminal.pictures
      let painted = terminal.paintedCount
      sketch.change(&random, colors: 300)
      bytes = []
      encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
      terminal.apply(bytes)
      let changed = zip(before, terminal.pictures).filter { $0 != $1 }.count
      #expect(terminal.paintedCount - painted == changed)
    }
    #expect(encoder.paintedCellCount == terminal.paintedCount)
    bytes = []
    encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
    #expect(bytes.isEmpty)
  }

  @Test func `a held cell is never farther from its picture than the threshold`() {
    let screen = ScreenSize(columns: 10, rows: 5)
    let area = CellRect(column: 0, row: 0, columns: 10, rows: 5)
    var held = CellEncoder(
      area: area, screen: screen, glyphs: .half, options: EncodingOptions(holdThreshold: 4))
    var heldPen = PenState.unknown
    var shown = MiniTerminal(columns: 10, rows: 5)
    for step in 0..<100 {
      var sketch = Sketch(width: 10, height: 10)
      for index in sketch.pixels.indices {
        sketch.pixels[index] = RGBA(
          red: UInt8((step + index) % 256), green: UInt8((step * 2 + index) % 256), blue: 90)
      }
      var bytes: [UInt8] = []
      held.encode(sketch.bitmap, changed: nil, pen: &heldPen, into: &bytes)
      shown.apply(bytes)
      for row in 0..<5 {
        for column in 0..<10 {
          let picture = CellPicture(shown[column, row])
          for half in 0..<2 {
            let pixel = sketch.pixels[(row * 2 + half) * 10 + column]
            let wanted = TerminalColor(red: pixel.red, green: pixel.green, blue: pixel.blue)
            let color = picture.lines[half * 12] & 1 == 1 ? picture.set : picture.clear
            #expect(color.distance(to: wanted) <= 4)
          }
        }
      }
    }
  }

  @Test func `the first picture and a delta have these bytes`() {
    var sketch = Sketch(width: 3, height: 4, color: RGBA(red: 255, green: 0, blue: 0))
    sketch.pixels[0] = RGBA(red: 0, green: 0, blue: 255)
    var encoder = CellEncoder(
      area: CellRect(column: 1, row: 2, columns: 3, rows: 2),
      screen: ScreenSize(columns: 10, rows: 5), glyphs: .half, options: .exact)
    var pen = PenState.unknown
    var bytes: [UInt8] = []
    encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == "\u{1B}[3;2H\u{1B}[38;2;255;0;0;48;2;0;0;255m▄\u{1B}[48;2;255;0;0m  "
        + "\r\n\u{1B}[C   ")
    sketch.pixels[5] = RGBA(red: 0, green: 0, blue: 255)
    sketch.pixels[9] = RGBA(red: 0, green: 0, blue: 255)
    bytes = []
    encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == "\u{1B}[3;4H\u{1B}[38;2;0;0;255m▄\r\n\u{1B}[C▄")
  }

  @Test(arguments: CellGlyphs.allCases)
  func `every glyph of a set is the best one for its own picture`(_ set: CellGlyphs) {
    let white = TerminalColor(red: 255, green: 255, blue: 255)
    let black = TerminalColor(red: 0, green: 0, blue: 0)
    for glyph in BlockGlyph.all(in: set) where glyph.shape != .whole {
      var sketch = Sketch(width: 8, height: 24)
      for (line, bits) in CellPicture.raster(glyph.scalar).enumerated() {
        for x in 0..<8 where bits >> UInt8(x) & 1 == 1 {
          sketch.pixels[line * 8 + x] = RGBA(red: 255, green: 255, blue: 255)
        }
      }
      var encoder = CellEncoder(
        area: CellRect(column: 0, row: 0, columns: 1, rows: 1),
        screen: ScreenSize(columns: 2, rows: 2), glyphs: set, options: .exact)
      var pen = PenState.unknown
      var bytes: [UInt8] = []
      encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
      var terminal = MiniTerminal(columns: 2, rows: 2)
      terminal.apply(bytes)
      let wanted = CellPicture(
        MiniTerminal.Cell(scalar: glyph.scalar, foreground: white, background: black))
      #expect(CellPicture(terminal[0, 0]) == wanted, "U+\(String(glyph.scalar, radix: 16))")
    }
  }

  @Test(arguments: [0, 1, 17, 64, 127, 128, 200, 254, 255] as [UInt8])
  func `a flat colour is shown exactly`(_ value: UInt8) {
    let color = RGBA(red: value, green: 255 - value, blue: value / 2)
    let sketch = Sketch(width: 37, height: 19, color: color)
    var encoder = CellEncoder(
      area: CellRect(column: 0, row: 0, columns: 5, rows: 3),
      screen: ScreenSize(columns: 5, rows: 3), glyphs: .octants, options: .exact)
    var pen = PenState.unknown
    var bytes: [UInt8] = []
    encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
    var terminal = MiniTerminal(columns: 5, rows: 3)
    terminal.apply(bytes)
    let wanted = TerminalColor(red: color.red, green: color.green, blue: color.blue)
    #expect(terminal.pictures.allSatisfy { $0.clear == wanted && $0.set == wanted })
  }

  @Test func `octants fill their row of Unicode`() {
    let scalars = BlockGlyph.octantScalars
    #expect(scalars.values.filter { (0x1CD00...0x1CDE5).contains($0) }.count == 230)
    #expect(scalars.values.max() == 0x1FBE7)
    #expect(scalars[0b1111_1110] == 0x1CDE5)
    #expect(scalars[0b100] == 0x1CD00)
  }

  @Test func `transparent pixels show the backdrop`() {
    let sketch = Sketch(width: 4, height: 4, color: .clear)
    var encoder = CellEncoder(
      area: CellRect(column: 0, row: 0, columns: 2, rows: 1),
      screen: ScreenSize(columns: 4, rows: 2), glyphs: .fine,
      options: EncodingOptions(holdThreshold: 0, backdrop: .color(red: 10, green: 20, blue: 30)))
    var pen = PenState.unknown
    var bytes: [UInt8] = []
    encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == "\u{1B}[1H\u{1B}[48;2;10;20;30m  ")
  }
}
