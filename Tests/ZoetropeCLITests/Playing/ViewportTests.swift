import Testing
import Zoetrope
import ZoetropeTerminal

@testable import ZoetropePlayer

@Suite(.timeLimit(.minutes(1))) struct ViewportTests {
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

  @Test func `zooming with the wheel keeps what is at the pointer there`() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      var viewport = Viewport()
      viewport.zoom(by: 3)
      let column = Int.random(in: 30..<50, using: &random)
      let row = Int.random(in: 9..<15, using: &random)
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
