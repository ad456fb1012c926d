import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeTerminal

@Suite(.timeLimit(.minutes(10)), .computes)
struct DotEncoderTests {
  @Test(arguments: DotGlyphs.allCases, [ColorDepth.none, .full])
  func `hundreds of random deltas show what full repaints show`(
    _ glyphs: DotGlyphs, _ colors: ColorDepth
  ) {
    var random = SplitMix(state: 11)
    let screen = ScreenSize(columns: 5, rows: 3)
    let area = CellRect(column: 0, row: 0, columns: 5, rows: 2)
    func encoder() -> DotEncoder {
      DotEncoder(area: area, screen: screen, glyphs: glyphs, colors: colors, options: .exact)
    }
    var delta = encoder()
    var pen = PenState.unknown
    var terminal = MiniTerminal(columns: 5, rows: 3)
    var sketch = Sketch(width: 17, height: 12)
    for step in 0..<200 {
      var bytes: [UInt8] = []
      delta.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
      terminal.apply(bytes)
      var full = encoder()
      var freshPen = PenState.unknown
      var all: [UInt8] = []
      full.encode(sketch.bitmap, changed: nil, pen: &freshPen, into: &all)
      var fresh = MiniTerminal(columns: 5, rows: 3)
      fresh.apply(all)
      let same = zip(terminal.cells, fresh.cells).allSatisfy {
        $0.scalar == $1.scalar && ($0.scalar == 0x20 || $0.foreground == $1.foreground)
      }
      guard same, terminal.accidents == 0 else {
        Issue.record("step \(step)")
        return
      }
      sketch.change(&random, colors: 200)
    }
    #expect((pen.foreground == nil) == (colors == .none))
  }

  @Test func `black is empty and white is full, the other way round on light backgrounds`() {
    for (glyphs, full) in [(DotGlyphs.quadrants, UInt32(0x2588)), (.braille, 0x28FF)] {
      for isLight in [false, true] {
        for value: UInt8 in [0, 255] {
          let color = RGBA(red: value, green: value, blue: value)
          var encoder = DotEncoder(
            area: CellRect(column: 0, row: 0, columns: 3, rows: 2),
            screen: ScreenSize(columns: 4, rows: 3), glyphs: glyphs, isDarkOnLight: isLight)
          var pen = PenState.unknown
          var bytes: [UInt8] = []
          encoder.encode(
            Sketch(width: 8, height: 8, color: color).bitmap, changed: nil, pen: &pen, into: &bytes)
          var terminal = MiniTerminal(columns: 4, rows: 3)
          terminal.apply(bytes)
          let wanted = (value == 255) != isLight ? full : full == 0x28FF ? 0x2800 : 0x20
          #expect(terminal[1, 1].scalar == wanted)
        }
      }
    }
  }
}
