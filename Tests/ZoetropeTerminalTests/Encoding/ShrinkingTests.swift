import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeTerminal

/// Pictures larger than they are shown are made smaller before they are sent.
@Suite(.timeLimit(.minutes(10)), .computes)
struct ShrinkingTests {
  private let screen = ScreenSize(columns: 12, rows: 7, cell: PixelSize(width: 5, height: 10))

  private func encoder(
    _ mode: DrawingMode, _ size: PixelSize, fit: FrameLayout.Fit = .fit, zoom: Double = 1
  ) -> any FrameEncoding {
    let layout = FrameLayout(
      of: size, in: CellRect(column: 0, row: 0, columns: 10, rows: 4), screen: screen, fit: fit,
      zoom: zoom)
    return mode.encoder(
      layout: layout, screen: screen, pictureSize: size, capabilities: TerminalCapabilities(),
      imageID: 8)
  }

  /// Fine stripes, which are grey from afar.
  private func stripes(_ size: PixelSize) -> Sketch {
    var sketch = Sketch(width: size.width, height: size.height)
    for y in stride(from: 0, to: size.height, by: 2) {
      sketch.fill(
        PixelRect(x: 0, y: y, width: size.width, height: 1),
        RGBA(red: 255, green: 255, blue: 255))
    }
    return sketch
  }

  @Test(arguments: [GraphicsProtocol.kittyEdits, .kittyImages])
  func `kitty gets as many pixels as it shows, and every change of them`(
    _ graphics: GraphicsProtocol
  ) throws {
    let size = PixelSize(width: 100, height: 80)
    var encoder = encoder(.graphics(graphics), size)
    #expect(encoder.pixelSize == PixelSize(width: 50, height: 40))
    let scaler = try FrameScaler(from: size, to: encoder.pixelSize)
    var random = SplitMix(state: 9)
    var sketch = stripes(size)
    var kitty = MiniGraphics.Kitty()
    var pen = PenState.unknown
    for step in 0..<14 {
      var bytes: [UInt8] = []
      // The later plays of a loop continue from a copy without the picture.
      if step % 7 == 3 {
        encoder = encoder.withoutPicture()
        encoder.resume(showing: sketch.bitmap)
      }
      if step > 0 { sketch.change(&random, colors: 40) }
      encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
      var terminal = MiniTerminal(columns: 12, rows: 7)
      terminal.apply(bytes)
      kitty.apply(terminal.strings)
      let wanted = try scaler.scale(sketch.bitmap)
      let image = try #require(kitty.placed.first.flatMap { kitty.images[$0] })
      #expect(image.width == 50 && image.height == 40 && kitty.problems.isEmpty)
      let isSame = (0..<40).allSatisfy { y in
        (0..<50).allSatisfy { image.pixels[y * 50 + $0] == wanted.pixels(row: y)[$0] }
      }
      #expect(isSame, "step \(step)")
    }
  }

  @Test func `the part that is zoomed into is made smaller by itself`() throws {
    let size = PixelSize(width: 400, height: 320)
    var encoder = encoder(.graphics(.kittyEdits), size, zoom: 2)
    #expect(encoder.pixelSize == PixelSize(width: 50, height: 40))
    var sketch = Sketch(width: 400, height: 320)
    // Outside the middle half, none of this is visible.
    sketch.fill(
      PixelRect(x: 0, y: 0, width: 400, height: 79), RGBA(red: 255, green: 0, blue: 0))
    var pen = PenState.unknown
    var bytes: [UInt8] = []
    encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
    var terminal = MiniTerminal(columns: 12, rows: 7)
    terminal.apply(bytes)
    var kitty = MiniGraphics.Kitty()
    kitty.apply(terminal.strings)
    let image = try #require(kitty.images[8])
    #expect(image.pixels.count == 50 * 40 && image.pixels.allSatisfy { $0 == .black })
  }

  @Test func `iTerm2 gets two pixels for each point`() throws {
    let size = PixelSize(width: 400, height: 320)
    var encoder = encoder(.graphics(.iterm2), size)
    #expect(encoder.pixelSize == PixelSize(width: 100, height: 80))
    var pen = PenState.unknown
    var bytes: [UInt8] = []
    encoder.encode(stripes(size).bitmap, changed: nil, pen: &pen, into: &bytes)
    var terminal = MiniTerminal(columns: 12, rows: 7)
    terminal.apply(bytes)
    let body = try #require(terminal.strings.first?.body)
    let colon = try #require(body.firstIndex(of: 58))
    let picture = try #require(MiniGraphics.png(MiniGraphics.base64(body[(colon + 1)...])))
    #expect(picture.size == encoder.pixelSize)
    #expect(picture.pixels.allSatisfy { (100...155).contains($0.green) })
  }

  @Test func `a picture of an unknown scale is sent as it is`() {
    let size = PixelSize(width: 900, height: 700)
    let unknown = ScreenSize(columns: 12, rows: 7)
    let layout = FrameLayout(
      of: size, in: CellRect(column: 0, row: 0, columns: 10, rows: 4), screen: unknown)
    for mode in [DrawingMode.graphics(.kittyEdits), .graphics(.iterm2)] {
      let encoder = mode.encoder(
        layout: layout, screen: unknown, pictureSize: size, capabilities: TerminalCapabilities())
      #expect(encoder.pixelSize == size)
    }
  }

  /// The encoder of a picture of 4 x 3 pixels that is shown enlarged by a whole factor.
  private func enlarging(
    _ mode: DrawingMode, filter: ScalingFilter, passthrough: Passthrough = .none
  ) -> any FrameEncoding {
    let size = PixelSize(width: 4, height: 3)
    let layout = FrameLayout(
      of: size, in: CellRect(column: 0, row: 0, columns: 10, rows: 4), screen: screen, fit: .integer
    )
    return mode.encoder(
      layout: layout, screen: screen, pictureSize: size, capabilities: TerminalCapabilities(),
      imageID: 8, passthrough: passthrough, options: EncodingOptions(filter: filter))
  }

  @Test(arguments: [GraphicsProtocol.kittyEdits, .kittyImages])
  func `with a filter, kitty gets an enlarged picture and leaves its pixels alone`(
    _ graphics: GraphicsProtocol
  ) throws {
    // 50 x 40 pixels have room for 12 times 4 x 3.
    var encoder = enlarging(.graphics(graphics), filter: .nearest)
    #expect(encoder.pixelSize == PixelSize(width: 48, height: 36))
    var random = SplitMix(state: 3)
    var sketch = Sketch(width: 4, height: 3)
    var kitty = MiniGraphics.Kitty()
    var pen = PenState.unknown
    for step in 0..<12 {
      var bytes: [UInt8] = []
      sketch.change(&random, colors: 9)
      encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
      var terminal = MiniTerminal(columns: 12, rows: 7)
      terminal.apply(bytes)
      kitty.apply(terminal.strings)
      #expect(!String(decoding: bytes, as: UTF8.self).contains(",c="))
      let image = try #require(kitty.placed.first.flatMap { kitty.images[$0] })
      #expect(image.width == 48 && image.height == 36)
      let isSame = (0..<36).allSatisfy { y in
        (0..<48).allSatisfy {
          image.pixels[y * 48 + $0] == sketch.bitmap.pixels(row: y / 12)[$0 / 12]
        }
      }
      #expect(isSame, "step \(step)")
    }
  }

  @Test func `inside tmux the cells of an enlarged picture are still named`() {
    var encoder = enlarging(.graphics(.kittyEdits), filter: .nearest, passthrough: .tmux)
    var pen = PenState.unknown
    var bytes: [UInt8] = []
    encoder.encode(Sketch(width: 4, height: 3).bitmap, changed: nil, pen: &pen, into: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self).contains(",c=10,r=4"))
  }

  @Test func `an enlarged picture has at most a million pixels, by a whole factor`() {
    func sent(_ side: Int, _ shown: Int) -> PixelSize {
      PictureHistory.sentSize(
        of: PixelSize(width: side, height: side), shown: PixelSize(width: shown, height: shown))
    }
    #expect(sent(64, 1024) == PixelSize(width: 1024, height: 1024))
    #expect(sent(64, 2048) == PixelSize(width: 1024, height: 1024))
    #expect(sent(100, 2000) == PixelSize(width: 1000, height: 1000))
    // A picture that is larger to begin with is never enlarged, and always scaled down.
    #expect(sent(1500, 2000) == PixelSize(width: 1500, height: 1500))
    #expect(sent(3000, 2000) == PixelSize(width: 2000, height: 2000))
  }

  @Test func `sixels are smoothed with a requested filter`() {
    func bytes(_ filter: ScalingFilter) -> Int {
      var encoder = enlarging(.graphics(.sixel), filter: filter)
      #expect(encoder.pixelSize == PixelSize(width: 48, height: 36))
      var pen = PenState.unknown
      var sketch = Sketch(width: 4, height: 3)
      sketch.fill(PixelRect(x: 1, y: 0, width: 2, height: 2), RGBA(red: 255, green: 255, blue: 255))
      var all = 0
      for color in 0..<3 {
        var output: [UInt8] = []
        encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &output)
        #expect(!output.isEmpty)
        all += output.count
        encoder = encoder.withoutPicture()
        encoder.resume(showing: sketch.bitmap)
        sketch.fill(
          PixelRect(x: color, y: 0, width: 1, height: 3), RGBA(red: 255, green: 0, blue: 0))
      }
      return all
    }
    // Smooth edges have many colours.
    #expect(bytes(.bilinear) > 2 * bytes(.nearest))
  }
}
