import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeTerminal

/// Cells of one colour, which must look like one.
@Suite(.timeLimit(.minutes(10)), .computes)
struct SolidColorTests {
  private let area = CellRect(column: 0, row: 0, columns: 12, rows: 8)

  private func bytes(
    _ sketch: Sketch, _ glyphs: CellGlyphs, _ colors: ColorDepth = .full, pen: PenState = .unknown
  ) -> [UInt8] {
    var encoder = CellEncoder(
      area: area, screen: ScreenSize(columns: 20, rows: 10), glyphs: glyphs, colors: colors)
    var pen = pen
    var bytes: [UInt8] = []
    encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
    return bytes
  }

  @Test(arguments: CellGlyphs.allCases)
  func `a cell of one colour is a space on that colour, whatever colours the pen has`(
    _ glyphs: CellGlyphs
  ) {
    let white = RGBA(red: 255, green: 255, blue: 255)
    var pen = PenState.unknown
    pen.foreground = TerminalColor(red: 255, green: 255, blue: 255)
    pen.background = TerminalColor(red: 0, green: 0, blue: 0)
    let bytes = bytes(Sketch(width: 48, height: 32, color: white), glyphs, pen: pen)
    #expect(!String(decoding: bytes, as: UTF8.self).contains("\u{2588}"))
    var terminal = MiniTerminal(columns: 20, rows: 10)
    terminal.apply(bytes)
    for row in 0..<8 {
      for column in 0..<12 {
        #expect(terminal[column, row].scalar == 0x20)
        #expect(terminal[column, row].background == pen.foreground)
      }
    }
  }

  @Test(
    arguments: [ColorDepth.basic, .indexed],
    [
      RGBA(red: 255, green: 255, blue: 255), .black, RGBA(red: 255, green: 0, blue: 0),
      RGBA(red: 0, green: 255, blue: 255), RGBA(red: 0xFE, green: 0xFE, blue: 0xFE),
      RGBA(red: 0x69, green: 0x5A, blue: 0x74), RGBA(red: 0x1F, green: 0x36, blue: 0x5B),
    ])
  func `a flat area is flat in few colours, too`(_ colors: ColorDepth, _ color: RGBA) {
    for glyphs in [CellGlyphs.half, .fine] {
      var terminal = MiniTerminal(columns: 20, rows: 10)
      terminal.apply(bytes(Sketch(width: 48, height: 32, color: color), glyphs, colors))
      let pictures = terminal.pictures
      let found = Set((0..<8).flatMap { row in (0..<12).map { pictures[row * 20 + $0] } })
      #expect(found.count == 1, "\(glyphs)")
    }
  }

  @Test func `every colour of a palette maps to itself`() {
    let indexed = ColorMapper(depth: .indexed)
    for index in UInt8(16)...255 {
      #expect(indexed.reduce(ColorMapper.entry(index)) == .indexed(index))
    }
    let basic = ColorMapper(depth: .basic)
    for index in UInt8(0)..<16 {
      #expect(basic.reduce(ColorMapper.entry(index)) == .basic(index))
    }
  }

  /// By the distance of RGB values, each would become a grey.
  @Test(arguments: [(0x1E2D50, 4), (0x904040, 1), (0x78FA78, 10)] as [(UInt32, UInt8)])
  func `in 16 colours a colour keeps its hue`(_ word: UInt32, _ index: UInt8) {
    let mapper = ColorMapper(depth: .basic)
    #expect(mapper.reduce(TerminalColor(word: word)) == .basic(index))
  }
}
