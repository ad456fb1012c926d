import Testing
import Zoetrope

@testable import ZoetropeTerminal

@Suite(.timeLimit(.minutes(10)))
struct FrameLayoutTests {
  let screen = ScreenSize(columns: 80, rows: 24, cell: PixelSize(width: 10, height: 20))
  let room = CellRect(column: 0, row: 0, columns: 80, rows: 24)

  @Test func `numbers that are not finite count as the defaults`() {
    let size = PixelSize(width: 100, height: 80)
    let room = CellRect(column: 0, row: 0, columns: 10, rows: 4)
    let screen = ScreenSize(columns: 12, rows: 7, cell: PixelSize(width: 5, height: 10))
    for fit in [FrameLayout.Fit.fit, .fill, .integer, .original] {
      let plain = FrameLayout(of: size, in: room, screen: screen, fit: fit)
      for number in [Double.nan, .infinity, -.infinity] {
        let zoomed = FrameLayout(of: size, in: room, screen: screen, fit: fit, zoom: number)
        #expect(zoomed == plain)
        let grid = FrameLayout(
          of: size, in: room, screen: screen, fit: fit, grid: (number, 0))
        #expect(grid == plain)
      }
      let panned = FrameLayout(of: size, in: room, screen: screen, fit: fit, pan: (.nan, .nan))
      #expect(panned == plain)
    }
  }

  @Test(
    arguments: [
      (FrameLayout.Fit.fit, CellRect(column: 8, row: 0, columns: 64, rows: 24)),
      (.shrink, CellRect(column: 24, row: 6, columns: 32, rows: 12)),
      (.original, CellRect(column: 24, row: 6, columns: 32, rows: 12)),
      (.integer, CellRect(column: 8, row: 0, columns: 64, rows: 24)),
      (.fill, CellRect(column: 0, row: 0, columns: 80, rows: 24)),
      (.stretch, CellRect(column: 0, row: 0, columns: 80, rows: 24)),
    ])
  func `a picture of 320x240 lies where it should`(_ fit: FrameLayout.Fit, _ area: CellRect) {
    let layout = FrameLayout(
      of: PixelSize(width: 320, height: 240), in: room, screen: screen, fit: fit)
    #expect(layout.area == area)
    #expect((layout.crop == nil) == (fit != .fill))
    if fit == .fill { #expect(layout.crop == PixelRect(x: 0, y: 24, width: 320, height: 192)) }
  }

  @Test func `zoom shows the middle, and pan the sides`() {
    let size = PixelSize(width: 400, height: 240)
    let middle = FrameLayout(of: size, in: room, screen: screen, zoom: 2)
    #expect(middle.crop == PixelRect(x: 100, y: 60, width: 200, height: 120))
    let left = FrameLayout(of: size, in: room, screen: screen, zoom: 2, pan: (-1, 1))
    #expect(left.crop == PixelRect(x: 0, y: 120, width: 200, height: 120))
  }

  @Test(arguments: FrameLayout.Fit.allCases)
  func `nothing ever leaves its room`(_ fit: FrameLayout.Fit) {
    var random = SplitMix(state: 2)
    for _ in 0..<300 {
      let size = PixelSize(
        width: Int.random(in: 1...3000, using: &random),
        height: Int.random(in: 1...3000, using: &random))
      let room = CellRect(
        column: 2, row: 1, columns: Int.random(in: 1...90, using: &random),
        rows: Int.random(in: 1...40, using: &random))
      let layout = FrameLayout(
        of: size, in: room, screen: screen, fit: fit,
        zoom: Double.random(in: 0.1...5, using: &random))
      let area = layout.area
      let isInside =
        area.column >= 2 && area.row >= 1 && area.columns >= 1 && area.rows >= 1
        && area.column + area.columns <= 2 + room.columns && area.row + area.rows <= 1 + room.rows
      let crop = layout.crop ?? PixelRect(size)
      #expect(isInside && PixelRect(size).contains(crop) && !crop.isEmpty)
      #expect(layout.imageSize.width <= room.columns * 10)
      #expect(layout.imageSize.height <= room.rows * 20)
    }
  }

  @Test func `a border that the terminal includes does not make cells larger`() {
    let size = ScreenSize(columns: 80, rows: 24, pixelWidth: 644, pixelHeight: 412)
    #expect(size.cell == PixelSize(width: 8, height: 17))
    let unknown = ScreenSize(columns: 80, rows: 24, pixelWidth: 0, pixelHeight: 0)
    #expect(unknown.cell == PixelSize(width: 8, height: 16))
  }

  @Test func `the size of a cell that the terminal reported follows a change of the font`() {
    func cell(
      _ reported: PixelSize?, at start: WindowSize, now: WindowSize
    ) -> PixelSize {
      let screen = ScreenSize(now, cell: reported, reportedAt: start)
      #expect(screen.columns == now.columns && screen.rows == now.rows)
      return screen.cell
    }
    let reported = PixelSize(width: 8, height: 13)
    // A border of 40 pixels, as in an xterm with padding.
    let padded = (columns: 80, rows: 24, pixelWidth: 680, pixelHeight: 352)
    #expect(cell(reported, at: padded, now: (80, 50, 680, 690)) == reported)
    #expect(cell(reported, at: padded, now: (10, 5, 120, 105)) == reported)
    // Pixels that no cell covers.
    #expect(cell(reported, at: padded, now: (80, 24, 687, 364)) == reported)
    // Another font in a window of the same size.
    let larger = PixelSize(width: 9, height: 15)
    #expect(cell(reported, at: padded, now: (71, 20, 680, 352)) == larger)
    let double = PixelSize(width: 16, height: 26)
    #expect(cell(reported, at: padded, now: (40, 12, 680, 352)) == double)
    // The kernel counts pixels of which two by two make one of the terminal.
    let dense = (columns: 80, rows: 24, pixelWidth: 320, pixelHeight: 156)
    #expect(cell(reported, at: dense, now: (100, 30, 400, 195)) == reported)
    #expect(cell(reported, at: dense, now: (40, 12, 320, 156)) == PixelSize(width: 16, height: 28))
    // What is not known changes nothing.
    let unknown = (columns: 80, rows: 24, pixelWidth: 0, pixelHeight: 0)
    #expect(cell(reported, at: unknown, now: (40, 12, 680, 352)) == reported)
    #expect(cell(reported, at: padded, now: (40, 12, 0, 0)) == reported)
    #expect(cell(nil, at: padded, now: (80, 24, 644, 412)) == PixelSize(width: 8, height: 17))
    // A size that no cell has.
    #expect(cell(reported, at: padded, now: (1, 1, 2000, 2000)) == reported)
  }

  @Test(arguments: [Int.min, -1, 0, 1, 70_000, .max])
  func `no number is too large or too small`(_ number: Int) {
    let absurd = PixelSize(width: number, height: number)
    var screen = ScreenSize(columns: 80, rows: 24)
    (screen.columns, screen.rows) = (number, number)
    screen.cell = absurd
    screen.cell.height = number
    #expect(screen.columns >= 1 && screen.rows >= 1 && !screen.cell.isEmpty)
    // A cell of one pixel is small, but a cell.
    #expect(screen.isCellKnown == (number == 1))
    screen.cell = PixelSize(width: 10, height: 20)
    #expect(screen.isCellKnown)
    screen = ScreenSize(
      columns: number, rows: number, cell: PixelSize(width: 256, height: 256))
    let room = CellRect(column: number, row: number, columns: number, rows: number)
    for fit in FrameLayout.Fit.allCases {
      for size in [
        absurd, PixelSize(width: 1, height: number), PixelSize(width: number, height: 1),
      ] {
        let area = FrameLayout(of: size, in: room, screen: screen, fit: fit).area
        #expect(!area.isEmpty && area.columns <= 1000 && area.rows <= 1000)
      }
    }
    let layout = FrameLayout(of: absurd, in: room, screen: screen, fit: .stretch)
    for mode in DrawingMode.all {
      let writer = FrameWriter(
        of: absurd, in: layout, on: screen, capabilities: TerminalCapabilities(), mode: mode)
      if mode == .sixel {
        #expect(writer.pixelSize.width <= 4096 && writer.pixelSize.height <= 4096)
      }
    }
  }

  @Test func `edits of images need the terminal's confirmation, and other modes do not`() {
    var capabilities = TerminalCapabilities()
    for mode in DrawingMode.all where mode != .kitty {
      #expect(mode.confirmed(by: capabilities) == mode)
    }
    capabilities.hasKittyGraphics = true
    #expect(DrawingMode.kitty.confirmed(by: capabilities) == .graphics(.kittyImages))
    capabilities.hasKittyEdits = true
    #expect(DrawingMode.kitty.confirmed(by: capabilities) == .kitty)
  }

  @Test func `every mode can be created from its name`() {
    for mode in DrawingMode.all { #expect(DrawingMode(name: mode.name) == mode) }
    #expect(DrawingMode(name: "octant") == .blocks(.octants))
    #expect(DrawingMode(name: "vga") == nil)
  }

  @Test(arguments: DrawingMode.all)
  func `every mode draws any picture in any place`(_ mode: DrawingMode) {
    var random = SplitMix(state: 9)
    for _ in 0..<12 {
      let size = PixelSize(
        width: Int.random(in: 1...50, using: &random),
        height: Int.random(in: 1...50, using: &random))
      let room = CellRect(
        column: 0, row: 0, columns: Int.random(in: 1...8, using: &random),
        rows: Int.random(in: 1...5, using: &random))
      let layout = FrameLayout(
        of: size, in: room, screen: screen,
        fit: FrameLayout.Fit.allCases.randomElement(using: &random) ?? .fit,
        zoom: Double.random(in: 0.3...3, using: &random))
      let encoder = mode.encoder(
        layout: layout, screen: screen, pictureSize: size, capabilities: TerminalCapabilities())
      var writer = FrameWriter(encoder: encoder, isSynchronized: false)
      var output: [UInt8] = []
      writer.frame(Sketch(width: size.width, height: size.height).bitmap, into: &output)
      #expect(!output.isEmpty)
    }
  }

  /// Sizes that a terminal may claim, and the largest room in which a sixel picture is then drawn.
  @Test(arguments: [
    (80, 24, 65535, 65535), (80, 24, 20000, 10000), (1000, 500, 0, 0), (65535, 65535, 65535, 65535),
    (1, 1, 65535, 65535), (65535, 1, 65535, 1),
  ])
  func `a picture is no larger than can be encoded quickly, whatever the terminal claims`(
    _ columns: Int, _ rows: Int, _ width: Int, _ height: Int
  ) {
    let screen = ScreenSize(columns: columns, rows: rows, pixelWidth: width, pixelHeight: height)
    let whole = CellRect(column: 0, row: 0, columns: screen.columns, rows: screen.rows)
    for mode in DrawingMode.all {
      let room = mode.usable(whole, on: screen, passthrough: .none, isCentered: true)
      #expect(!room.isEmpty && room.columns <= 1000 && room.rows <= 1000, "\(mode)")
      #expect(room.column + room.columns <= columns && room.row + room.rows <= rows)
      guard mode == .graphics(.sixel) else { continue }
      let (width, height) = (room.columns * screen.cell.width, room.rows * screen.cell.height)
      #expect(width <= 4096 && height <= 4096 && width * height <= 3840 * 2160)
    }
  }

  @Test func `an absurd cell size is ignored`() {
    let cell = PixelSize(width: 8, height: 16)
    #expect(ScreenSize(columns: 80, rows: 24, pixelWidth: 65535, pixelHeight: 65535).cell == cell)
    let large = ScreenSize(columns: 80, rows: 24, cell: PixelSize(width: 257, height: 20))
    #expect(large.cell == cell && !large.isCellKnown)
  }
}
