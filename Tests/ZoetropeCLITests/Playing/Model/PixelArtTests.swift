import Testing
import Zoetrope
import ZoetropeTerminal
import ZoetropeTestSupport

@testable import ZoetropePlayer

@Suite(.timeLimit(.minutes(10))) struct PixelArtTests {
  private let screen = ScreenSize(columns: 80, rows: 24, cell: PixelSize(width: 9, height: 18))
  private let room = CellRect(column: 0, row: 0, columns: 80, rows: 22)

  /// A picture with this many colours.
  private func picture(_ width: Int, _ height: Int, colors: Int) -> Bitmap {
    Bitmap.drawn(size: PixelSize(width: width, height: height)) { y, bytes in
      for x in 0..<width {
        let color = UInt32((y * width + x) % colors) | 0xFF00_0000
        bytes.storeBytes(of: color.littleEndian, toByteOffset: x * 4, as: UInt32.self)
      }
    }
  }

  @Test(arguments: [
    (16, 16, 4, true), (256, 256, 64, true), (257, 16, 4, false), (16, 257, 4, false),
    (64, 64, 65, false),
  ])
  func `pixel art is small and has few colours`(
    _ width: Int, _ height: Int, _ colors: Int, _ isArt: Bool
  ) {
    #expect(PixelArt.isLikely(picture(width, height, colors: colors)) == isArt)
  }

  private func fit(
    _ fit: PictureFit, _ width: Int, _ height: Int, isPixelArt: Bool = true,
    mode: DrawingMode = .graphics(.kittyEdits), zoom: Double = 1
  ) -> (layout: FrameLayout, filter: ScalingFilter?) {
    var viewport = Viewport()
    viewport.zoom(by: zoom)
    return fit.layout(
      of: PixelSize(width: width, height: height), isPixelArt: isPixelArt, in: room, screen: screen,
      mode: mode, isCentered: true, viewport: viewport)
  }

  @Test func `by default it is enlarged by a whole factor with the nearest filter`() {
    // 720 x 396 pixels have room for 24 times 16.
    let (layout, filter) = fit(PictureFit(), 16, 16)
    #expect(layout.imageSize == PixelSize(width: 384, height: 384) && layout.crop == nil)
    #expect(filter == .nearest)
    // Any other picture fills the room and is smoothed.
    let other = fit(PictureFit(), 16, 16, isPixelArt: false)
    #expect(other.layout.imageSize == PixelSize(width: 396, height: 396) && other.filter == nil)
  }

  @Test func `zoomed, the factor stays whole and only whole pixels are shown`() {
    for zoom in [1.25, 1.5625, 2, 4, 9.3] {
      let (layout, filter) = fit(PictureFit(), 16, 16, zoom: zoom)
      let shown = layout.crop?.size ?? PixelSize(width: 16, height: 16)
      #expect(layout.imageSize.width % shown.width == 0 && filter == .nearest)
      #expect(layout.imageSize.width / shown.width == layout.imageSize.height / shown.height)
    }
  }

  @Test func `where no factor of two fits, it is fitted as any picture, with sharp pixels`() {
    let (layout, filter) = fit(PictureFit(), 250, 250)
    #expect(layout.imageSize == PixelSize(width: 396, height: 396) && filter == .nearest)
  }

  @Test func `characters stand for whole pixels, half a cell or more`() {
    // 80 x 44 half cells have room for 2 times 16.
    let even = fit(PictureFit(), 16, 16, mode: .blocks(.fine)).layout
    #expect(even.area == CellRect(column: 24, row: 3, columns: 32, rows: 16))
    // An odd number of rows takes an even factor: 2 instead of 3.
    let odd = fit(PictureFit(), 4, 13, mode: .blocks(.half)).layout
    #expect(odd.area.columns == 8 && odd.area.rows == 13)
    let third = fit(PictureFit(), 3, 15, mode: .blocks(.half)).layout
    #expect(third.area.columns == 6 && third.area.rows == 15)
    // Shapes have no pixels.
    #expect(fit(PictureFit(), 16, 16, mode: .dots(.braille)).filter == .nearest)
    #expect(fit(PictureFit(), 16, 16, mode: .dots(.braille)).layout.area.rows == 22)
  }

  @Test func `a requested fit or filter wins`() {
    let smooth = fit(PictureFit(filter: .bilinear), 16, 16)
    #expect(smooth.filter == .bilinear && smooth.layout.imageSize.width == 396)
    let nearest = fit(PictureFit(filter: .nearest), 16, 16, isPixelArt: false)
    #expect(nearest.filter == .nearest && nearest.layout.imageSize.width == 384)
    let fitted = fit(PictureFit(fit: .fit), 16, 16)
    #expect(fitted.filter == .nearest && fitted.layout.imageSize.width == 396)
    let small = fit(PictureFit(fit: .original), 16, 16)
    #expect(small.layout.imageSize.width == 16)
  }
}
