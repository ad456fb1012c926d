import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeTerminal

/// Graphics inside tmux and screen: the bytes that come out are those that the terminal would get directly.
@Suite(.timeLimit(.minutes(10)), .computes)
struct PassthroughTests {
  let screen = ScreenSize(columns: 40, rows: 20, cell: PixelSize(width: 5, height: 10))
  let area = CellRect(column: 1, row: 1, columns: 36, rows: 16)

  static func noise(_ width: Int, _ height: Int, seed: UInt64) -> Sketch {
    var random = SplitMix(state: seed)
    var sketch = Sketch(width: width, height: height)
    for index in sketch.pixels.indices {
      sketch.pixels[index] = RGBA(
        word: UInt32(truncatingIfNeeded: random.next()) | 0xFF00_0000)
    }
    return sketch
  }

  /// What tmux writes to its terminal: the bodies of its passthrough, every second ESC left out.
  static func tmux(_ bytes: [UInt8]) -> (passed: [UInt8], longest: Int) {
    let start = Array("\u{1B}Ptmux;".utf8)
    var passed: [UInt8] = []
    var longest = 0
    var index = 0
    while index < bytes.count {
      guard bytes[index...].starts(with: start) else {
        index += 1
        continue
      }
      var end = index + start.count
      while !(bytes[end] == 0x1B && bytes[end + 1] == 0x5C) {
        passed.append(bytes[end])
        end += bytes[end] == 0x1B ? 2 : 1
      }
      longest = max(longest, end + 2 - index)
      index = end + 2
    }
    return (passed, longest)
  }

  /// What screen writes to its terminal: the bodies of its strings.
  static func screen(_ bytes: [UInt8]) -> (passed: [UInt8], longest: Int) {
    var passed: [UInt8] = []
    var longest = 0
    var index = 0
    while index + 1 < bytes.count {
      guard bytes[index] == 0x1B, bytes[index + 1] == 0x50 else {
        index += 1
        continue
      }
      var end = index + 2
      while !(bytes[end] == 0x1B && bytes[end + 1] == 0x5C) { end += 1 }
      passed += bytes[index + 2..<end]
      longest = max(longest, end - index - 2)
      index = end + 2
    }
    return (passed, longest)
  }

  @Test(arguments: [Passthrough.tmux, .screen], [KittyEncoder.Method.edits, .twoImages])
  func `kitty's chunks come through`(
    _ passthrough: Passthrough, _ method: KittyEncoder.Method
  ) {
    var encoder = KittyEncoder(
      area: area, pictureSize: PixelSize(width: 120, height: 90), method: method, imageID: 0x010203,
      passthrough: passthrough)
    var kitty = MiniGraphics.Kitty()
    var pen = PenState.unknown
    var sketch = Self.noise(120, 90, seed: 1)
    for step in 0..<6 {
      var bytes: [UInt8] = []
      encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
      let (passed, longest) = passthrough == .tmux ? Self.tmux(bytes) : Self.screen(bytes)
      #expect(longest <= (passthrough == .tmux ? 4400 : 700))
      var terminal = MiniTerminal(columns: 40, rows: 20)
      terminal.apply(passed)
      kitty.apply(terminal.strings)
      #expect(kitty.problems.isEmpty && kitty.placed.count == 1, "step \(step)")
      #expect(kitty.placed.first.flatMap { kitty.images[$0]?.pixels } == sketch.pixels)
      sketch.fill(PixelRect(x: 10 * step, y: 7, width: 40, height: 30), .black)
    }
  }

  @Test(arguments: [Passthrough.tmux, .screen])
  func `sixels come through at their place`(_ passthrough: Passthrough) {
    let size = PixelSize(width: 120, height: 90)
    var plain = SixelEncoder(area: area, screen: screen, imageSize: size)
    var wrapped = SixelEncoder(
      area: area, screen: screen, imageSize: size, passthrough: passthrough)
    var shown = (MiniGraphics.Sixels(screen: screen), MiniGraphics.Sixels(screen: screen))
    var pens = (PenState.unknown, PenState.unknown)
    var sketch = Self.noise(120, 90, seed: 2)
    for step in 0..<4 {
      var bytes: ([UInt8], [UInt8]) = ([], [])
      plain.encode(sketch.bitmap, changed: nil, pen: &pens.0, into: &bytes.0)
      wrapped.encode(sketch.bitmap, changed: nil, pen: &pens.1, into: &bytes.1)
      let passed = (passthrough == .tmux ? Self.tmux(bytes.1) : Self.screen(bytes.1)).passed
      var terminals = (MiniTerminal(columns: 40, rows: 20), MiniTerminal(columns: 40, rows: 20))
      terminals.0.apply(bytes.0)
      terminals.1.apply(passed)
      shown.0.apply(terminals.0.strings)
      shown.1.apply(terminals.1.strings)
      #expect(shown.0.pixels == shown.1.pixels && shown.1.outside == 0, "step \(step)")
      sketch.fill(PixelRect(x: 10 * step, y: 7, width: 40, height: 30), .black)
    }
  }

  @Test func `a file too large for tmux comes in parts`() throws {
    let size = PixelSize(width: 700, height: 500)
    let sketch = Self.noise(700, 500, seed: 3)
    var plain = ITerm2Encoder(area: area, pictureSize: size)
    var split = ITerm2Encoder(area: area, pictureSize: size, passthrough: .tmux)
    var pen = PenState.unknown
    var (whole, parts): ([UInt8], [UInt8]) = ([], [])
    plain.encode(sketch.bitmap, changed: nil, pen: &pen, into: &whole)
    split.encode(sketch.bitmap, changed: nil, pen: &pen, into: &parts)
    let (passed, longest) = Self.tmux(parts)
    #expect(longest <= 1 << 20)
    var terminals = (MiniTerminal(columns: 40, rows: 20), MiniTerminal(columns: 40, rows: 20))
    terminals.0.apply(whole)
    terminals.1.apply(passed)
    let body = try #require(terminals.0.strings.first?.body)
    let colon = try #require(body.firstIndex(of: 58))
    let strings = terminals.1.strings.map(\.body)
    #expect(strings.count >= 4 && strings.last == Array("1337;FileEnd".utf8))
    #expect(strings[0].starts(with: Array("1337;MultipartFile=inline=1;".utf8)))
    let prefix = Array("1337;FilePart=".utf8)
    let joined = strings[1..<strings.count - 1].flatMap { part -> [UInt8] in
      #expect(part.starts(with: prefix))
      return Array(part[prefix.count...])
    }
    #expect(joined == Array(body[(colon + 1)...]))
  }
}
