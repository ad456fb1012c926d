import Testing
import Zoetrope
import ZoetropeTerminal
import ZoetropeTestSupport

@testable import ZoetropePlayer

@Suite(.timeLimit(.minutes(10))) struct ViewportTests {
  /// Cells of 10 x 20 pixels, so that a picture of 400 x 240 fits with a factor of 2.
  private let screen = ScreenSize(columns: 80, rows: 24, cell: PixelSize(width: 10, height: 20))
  private let room = CellRect(column: 0, row: 0, columns: 80, rows: 24)
  private let size = PixelSize(width: 400, height: 240)

  private func layout(_ viewport: Viewport) -> FrameLayout {
    FrameLayout(
      of: size, in: room, screen: screen, zoom: viewport.zoom, pan: (viewport.x, viewport.y))
  }

  @Test func `the visible part moves by fractions of its size, to the edges`() {
    var viewport = Viewport()
    func move(_ x: Double, _ y: Double) -> Bool {
      viewport.pan(x: x, y: y, size: size, layout: layout(viewport))
    }
    #expect(!move(0.125, 0))
    viewport.zoom(by: 2)
    #expect(layout(viewport).crop == PixelRect(x: 100, y: 60, width: 200, height: 120))
    #expect(move(0.125, -0.125))
    #expect(layout(viewport).crop == PixelRect(x: 125, y: 45, width: 200, height: 120))
    for _ in 0..<9 { _ = move(0.125, 0) }
    #expect(layout(viewport).crop?.maxX == 400)
    #expect(!move(0.125, 0))
    viewport.zoom(by: 0)
    #expect(viewport == Viewport() && layout(viewport).crop == nil)
  }

  @Test func `zooming with the wheel keeps what is at the pointer in place`() {
    for (column, row) in (9..<15).flatMap({ row in (30..<50).map { ($0, row) } }) {
      var viewport = Viewport()
      viewport.zoom(by: 3)
      func pixel() -> (x: Double, y: Double) {
        let crop = layout(viewport).crop ?? PixelRect(size)
        return (
          Double(crop.x) + (Double(column) + 0.5) / 80 * Double(crop.width),
          Double(crop.y) + (Double(row) + 0.5) / 24 * Double(crop.height)
        )
      }
      let before = pixel()
      viewport.zoom(by: 1.25, atColumn: column, row: row, size: size) { layout($0) }
      let after = pixel()
      #expect(viewport.zoom == 3.75)
      // Crops are whole pixels.
      #expect(abs(before.x - after.x) <= 1.5 && abs(before.y - after.y) <= 1.5)
    }
  }

  @Test func `the zoom has limits`() {
    var viewport = Viewport()
    for _ in 0..<40 { viewport.zoom(by: 1.25) }
    #expect(viewport.zoom == 32)
    for _ in 0..<90 { viewport.zoom(by: 0.8) }
    #expect(viewport.zoom == 0.05)
  }
}

@Suite(.timeLimit(.minutes(10))) struct StageTests {
  private let screen = ScreenSize(columns: 80, rows: 24, cell: PixelSize(width: 10, height: 20))

  private func stage(_ mode: DrawingMode) -> Stage {
    Stage(
      capabilities: TerminalCapabilities(), settings: PlayerSettings(), mode: mode, screen: screen,
      room: CellRect(column: 0, row: 0, columns: 80, rows: 22))
  }

  @Test func `only a picture of the same size is replaced without erasing the screen`() {
    var stage = stage(.graphics(.sixel))
    let bitmap = Bitmap.drawn(size: PixelSize(width: 160, height: 120)) { _, _ in }
    stage.place(bitmap)
    // 800 x 440 pixels have room for 3 times 160 x 120.
    #expect(stage.keepsPlace && stage.shown?.layout.imageSize == PixelSize(width: 480, height: 360))
    // Zoomed, 9 and 11 times fill the same cells, but not the same pixels.
    let zooms = stage.zoom(by: 3)
    #expect(zooms && !stage.keepsPlace)
    stage.place(bitmap)
    #expect(stage.shown?.layout.imageSize == PixelSize(width: 792, height: 432))
    let pans = stage.pan(x: 0.125, y: 0)
    #expect(pans && stage.keepsPlace)
    stage.place(bitmap)
    let zoomsMore = stage.zoom(by: 11.0 / 9)
    #expect(zoomsMore && !stage.keepsPlace)
    // Another file is seen whole.
    stage.forgetFile()
    #expect(stage.viewport == Viewport() && stage.isPixelArt == nil)
  }
}
