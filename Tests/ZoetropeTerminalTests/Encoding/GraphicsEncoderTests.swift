import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeTerminal

@Suite(.timeLimit(.minutes(10)), .computes)
struct GraphicsEncoderTests {
  let screen = ScreenSize(columns: 12, rows: 7, cell: PixelSize(width: 5, height: 10))
  let area = CellRect(column: 1, row: 1, columns: 10, rows: 4)

  @Test(arguments: [KittyEncoder.Method.edits, .twoImages], [false, true])
  func `kitty shows every picture pixel for pixel`(
    _ method: KittyEncoder.Method, _ hasAlpha: Bool
  ) {
    var random = SplitMix(state: 5)
    var sketch = Sketch(width: 50, height: 40)
    var encoder = KittyEncoder(
      area: area, pictureSize: PixelSize(width: 50, height: 40), method: method, imageID: 9)
    var kitty = MiniGraphics.Kitty()
    var pen = PenState.unknown
    for step in 0..<120 {
      var bytes: [UInt8] = []
      encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
      var terminal = MiniTerminal(columns: 12, rows: 6)
      terminal.apply(bytes)
      kitty.apply(terminal.strings)
      guard kitty.placed.count == 1, let id = kitty.placed.first,
        kitty.images[id]?.pixels == sketch.pixels, kitty.problems.isEmpty
      else {
        Issue.record("step \(step): \(kitty.problems)")
        return
      }
      sketch.change(&random, colors: 300)
      if hasAlpha, step > 30 {
        sketch.fill(PixelRect(x: step % 40, y: 3, width: 7, height: 9), .clear)
      }
    }
    var bytes: [UInt8] = []
    encoder.remove(pen: &pen, into: &bytes)
    var terminal = MiniTerminal(columns: 12, rows: 6)
    terminal.apply(bytes)
    kitty.apply(terminal.strings)
    #expect(kitty.images.isEmpty)
  }

  @Test func `both images of kitty are removed, whichever of them is on the screen`() {
    var encoder = KittyEncoder(
      area: area, pictureSize: PixelSize(width: 4, height: 4), method: .twoImages, imageID: 8)
    var kitty = MiniGraphics.Kitty()
    var pen = PenState.unknown
    func apply(_ bytes: [UInt8]) {
      var terminal = MiniTerminal(columns: 12, rows: 6)
      terminal.apply(bytes)
      kitty.apply(terminal.strings)
    }
    var bytes: [UInt8] = []
    encoder.encode(
      Sketch(width: 4, height: 4).bitmap, changed: nil, pen: &pen, into: &bytes)
    apply(bytes)
    #expect(kitty.placed == [8])
    // Encoded ahead of its time, and never sent.
    bytes = []
    encoder.encode(
      Sketch(width: 4, height: 4, color: RGBA(red: 9, green: 9, blue: 9)).bitmap, changed: nil,
      pen: &pen, into: &bytes)
    bytes = []
    encoder.remove(pen: &pen, into: &bytes)
    apply(bytes)
    #expect(kitty.images.isEmpty && kitty.placed.isEmpty)
  }

  @Test func `a small change costs kitty a small edit`() {
    var sketch = Sketch(width: 320, height: 240)
    for index in sketch.pixels.indices {
      sketch.pixels[index] = RGBA(
        word: UInt32(truncatingIfNeeded: index &* 2_654_435_761) | 0xFF00_0000)
    }
    var encoder = KittyEncoder(
      area: area, pictureSize: PixelSize(width: 320, height: 240), imageID: 9)
    var pen = PenState.unknown
    var bytes: [UInt8] = []
    encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
    sketch.fill(PixelRect(x: 100, y: 100, width: 3, height: 2), .black)
    bytes = []
    encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == "\u{1B}_Ga=f,i=9,r=1,X=1,q=2,x=100,y=100,s=3,v=2,f=24;AAAAAAAAAAAAAAAAAAAAAAAA\u{1B}\\")
  }

  @Test(arguments: [30, 400])
  func `sixels show every picture, and exactly while 256 colours do`(_ colors: Int) {
    var random = SplitMix(state: 6)
    var sketch = Sketch(width: 50, height: 40)
    let size = PixelSize(width: 50, height: 40)
    var encoder = SixelEncoder(area: area, screen: screen, imageSize: size)
    #expect(encoder.pixelSize == PixelSize(width: 50, height: 36))
    encoder = SixelEncoder(
      area: CellRect(column: 1, row: 1, columns: 10, rows: 5), screen: screen, imageSize: size)
    #expect(encoder.pixelSize == size)
    var pen = PenState.unknown
    var sixels = MiniGraphics.Sixels(screen: screen)
    for step in 0..<120 {
      var bytes: [UInt8] = []
      encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
      var terminal = MiniTerminal(columns: 12, rows: 6)
      terminal.apply(bytes)
      sixels.apply(terminal.strings)
      var worst = 0
      for y in 0..<40 {
        for x in 0..<50 {
          let pixel = sketch.pixels[y * 50 + x]
          let shown = sixels.pixels[(y + 10) * sixels.width + x + 5]
          let color = TerminalColor(word: shown)
          worst = max(
            worst,
            color.distance(
              to: TerminalColor(red: pixel.red, green: pixel.green, blue: pixel.blue)))
        }
      }
      guard worst <= (colors == 30 ? 2 : 60), sixels.outside == 0, !sixels.isOpaqueBackground
      else {
        Issue.record("step \(step): \(worst) \(sixels.outside)")
        return
      }
      sketch.change(&random, colors: colors)
    }
  }

  @Test(arguments: [2, 4, 16, 100, 256])
  func `sixels of too many colours use only registers that the terminal has`(_ count: Int) {
    var random = SplitMix(state: 9)
    var sketch = Sketch(width: 50, height: 36)
    for index in sketch.pixels.indices {
      sketch.pixels[index] = RGBA(
        word: UInt32(truncatingIfNeeded: random.next()) | 0xFF00_0000)
    }
    var encoder = SixelEncoder(
      area: area, screen: screen, imageSize: PixelSize(width: 50, height: 36),
      registerCount: count)
    var pen = PenState.unknown
    var bytes: [UInt8] = []
    encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
    let numbers = String(decoding: bytes, as: UTF8.self).split(separator: "#").dropFirst()
      .compactMap { Int($0.prefix { $0.isNumber }) }
    #expect(numbers.allSatisfy { $0 < count })
    #expect(Set(numbers).count > count / 2)
  }

  @Test func `a palette of any number of registers has black and white`() {
    for count in 2...256 {
      let palette = SixelPalette(limit: count)
      for place in 0..<64 {
        let (x, y) = (place % 8, place / 8)
        #expect(palette.color(palette.index(of: 0, x: x, y: y)) == 0)
        let last = palette.index(of: 0xFF_FF_FF, x: x, y: y)
        #expect(last < count && palette.color(last) == 0xFF_FF_FF)
      }
    }
  }

  @Test(arguments: [30, 400])
  func `sixels that are given up leave nothing, and the next are whole`(_ colors: Int) {
    var random = SplitMix(state: 8)
    var sketch = Sketch(width: 60, height: 60)
    for _ in 0..<20 { sketch.change(&random, colors: colors) }
    let screen = ScreenSize(columns: 12, rows: 7, cell: PixelSize(width: 5, height: 10))
    let whole = SixelEncoder(
      area: CellRect(column: 0, row: 0, columns: 12, rows: 6), screen: screen,
      imageSize: PixelSize(width: 60, height: 60))
    func encode(_ encoder: inout SixelEncoder, upTo limit: Int) -> (bytes: [UInt8]?, asked: Int) {
      var (writer, output, asked) = (
        FrameWriter(encoder: encoder, isSynchronized: true), [UInt8](), 0
      )
      let isWhole = writer.frame(
        sketch.bitmap, into: &output,
        while: {
          asked += 1
          return asked < limit
        })
      encoder = writer.encoder as? SixelEncoder ?? encoder
      #expect(isWhole || output.isEmpty)
      return (isWhole ? output : nil, asked)
    }
    var encoder = whole
    let (expected, count) = encode(&encoder, upTo: .max)
    // Every row that is read and every band that is drawn was preceded by a call of `isWanted`.
    #expect(count >= 60 + 60 / 6)
    sketch.change(&random, colors: colors)
    for limit in stride(from: 1, through: count, by: 7) {
      encoder = whole
      let given = encode(&encoder, upTo: limit)
      // Nothing is done once the answer is no.
      #expect(given.bytes == nil && given.asked == limit)
      var fresh = whole
      #expect(encode(&encoder, upTo: .max).bytes == encode(&fresh, upTo: .max).bytes)
    }
    #expect(expected != nil)
  }

  @Test(arguments: [4, 7, 10, 17])
  func `sixels never reach into the last row of the screen, where they would scroll it`(
    _ height: Int
  ) {
    // The bands of a part begin at its row of cells, so they end elsewhere than those of the whole.
    let screen = ScreenSize(columns: 12, rows: 6, cell: PixelSize(width: 5, height: height))
    var random = SplitMix(state: 7)
    var sketch = Sketch(width: 50, height: 6 * height)
    var encoder = SixelEncoder(
      area: CellRect(column: 1, row: 0, columns: 10, rows: 6), screen: screen,
      imageSize: PixelSize(width: 50, height: 6 * height))
    var pen = PenState.unknown
    var sixels = MiniGraphics.Sixels(screen: screen)
    for step in 0..<80 {
      var bytes: [UInt8] = []
      encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
      var terminal = MiniTerminal(columns: 12, rows: 6)
      terminal.apply(bytes)
      sixels.apply(terminal.strings)
      guard sixels.outside == 0 else {
        Issue.record("step \(step)")
        return
      }
      sketch.change(&random, colors: 20)
      // Its last row always.
      sketch.fill(
        PixelRect(x: step % 40, y: 6 * height - 3, width: 5, height: 3),
        RGBA(red: UInt8(step), green: 0, blue: 0))
    }
  }

  @Test func `a still picture sends no sixel twice`() {
    let sketch = Sketch(width: 20, height: 20, color: RGBA(red: 9, green: 9, blue: 9))
    var encoder = SixelEncoder(
      area: area, screen: screen, imageSize: PixelSize(width: 20, height: 20))
    var pen = PenState.unknown
    var bytes: [UInt8] = []
    encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == "\u{1B}[2;2H\u{1B}P7;1q\"1;1;20;30#0;2;4;4;4#0!20~-!20~-!20~-!20B\u{1B}\\")
    bytes = []
    encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
    #expect(bytes.isEmpty)
  }

  @Test(arguments: [5, 4000], [false, true])
  func `iTerm2 gets a file with every pixel`(_ colors: Int, _ hasAlpha: Bool) throws {
    var random = SplitMix(state: 8)
    var sketch = Sketch(width: 60, height: 33)
    for _ in 0..<30 { sketch.change(&random, colors: colors) }
    if hasAlpha { sketch.fill(PixelRect(x: 2, y: 3, width: 7, height: 9), .clear) }
    var encoder = ITerm2Encoder(area: area, pictureSize: PixelSize(width: 60, height: 33))
    var pen = PenState.unknown
    var bytes: [UInt8] = []
    encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
    var terminal = MiniTerminal(columns: 12, rows: 6)
    terminal.apply(bytes)
    let body = try #require(terminal.strings.first?.body)
    let colon = try #require(body.firstIndex(of: 58))
    let file = MiniGraphics.base64(body[(colon + 1)...])
    let head = String(decoding: body[..<colon], as: UTF8.self)
    #expect(head.contains("size=\(file.count);width=10;height=4"))
    let picture = try #require(MiniGraphics.png(file))
    #expect(picture.pixels == sketch.pixels)
    bytes = []
    encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
    #expect(bytes.isEmpty)
  }

  @Test func `inside tmux kitty's image is placed by characters`() {
    var encoder = KittyEncoder(
      area: CellRect(column: 0, row: 0, columns: 2, rows: 2),
      pictureSize: PixelSize(width: 1, height: 1), imageID: 0x010203, passthrough: .tmux)
    var pen = PenState.unknown
    var bytes: [UInt8] = []
    encoder.encode(
      Sketch(width: 1, height: 1).bitmap, changed: nil, pen: &pen, into: &bytes)
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == "\u{1B}Ptmux;\u{1B}\u{1B}_Ga=T,i=66051,U=1,q=2,c=2,r=2,s=1,v=1,f=24;AAAA\u{1B}\u{1B}\\"
        + "\u{1B}\\\u{1B}[38;2;1;2;3;49m\u{1B}[1H\u{10EEEE}\u{305}\u{305}\u{10EEEE}\u{305}\u{30D}"
        + "\r\n\u{10EEEE}\u{30D}\u{305}\u{10EEEE}\u{30D}\u{30D}")
  }
}
