import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeTerminal

/// Pictures larger than they are shown are made smaller before they are sent.
@Suite(.timeLimit(.minutes(1)), .computes)
struct ShrinkingTests {
  private let screen = ScreenSize(columns: 12, rows: 7, cell: PixelSize(width: 5, height: 10))

  private func encoder(
    _ mode: DrawingMode, _ size: PixelSize, fit: FrameLayout.Fit = .contain, zoom: Double = 1
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
    let size = PixelSize(width: 200, height: 160)
    var encoder = encoder(.graphics(graphics), size)
    #expect(encoder.pixelSize == PixelSize(width: 50, height: 40))
    let scaler = FrameScaler(from: size, to: encoder.pixelSize)
    var random = SplitMix(state: 9)
    var sketch = stripes(size)
    var kitty = MiniGraphics.Kitty()
    var pen = PenState.unknown
    for step in 0..<14 {
      var bytes: [UInt8] = []
      // A copy without the picture is what a loop's later plays go on from.
      if step % 7 == 3 {
        encoder = encoder.withoutPicture()
        encoder.resume(showing: sketch.bitmap)
      }
      if step > 0 { sketch.change(&random, colors: 40) }
      encoder.encode(sketch.bitmap, changed: nil, pen: &pen, into: &bytes)
      var terminal = MiniTerminal(columns: 12, rows: 7)
      terminal.apply(bytes)
      kitty.apply(terminal.strings)
      let wanted = scaler.scale(sketch.bitmap)
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
    // Outside of the middle half, nothing of this is to be seen.
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
}
