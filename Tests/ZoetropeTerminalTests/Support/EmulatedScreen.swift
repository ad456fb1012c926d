import Zoetrope

@testable import ZoetropeTerminal

/// A screen of cells, sixels and kitty's images at once, so that the drawings of all modes are compared in the same
/// way.
struct EmulatedScreen {
  private var cells: MiniTerminal
  private var sixels: MiniGraphics.Sixels
  private var kitty = MiniGraphics.Kitty()
  private var files: [[UInt8]] = []

  init(_ screen: ScreenSize) {
    cells = MiniTerminal(columns: screen.columns, rows: screen.rows)
    sixels = MiniGraphics.Sixels(screen: screen)
  }

  mutating func apply(_ bytes: [UInt8]) {
    cells.strings = []
    cells.apply(bytes)
    kitty.apply(cells.strings)
    sixels.apply(cells.strings)
    let images = cells.strings.filter { $0.kind == 0x5D }.map(\.body)
    if !images.isEmpty { files = images }
  }

  func looksLike(_ other: EmulatedScreen) -> Bool {
    cells.looksLike(other.cells) && sixels.pixels == other.sixels.pixels
      && kitty.placed.count == other.kitty.placed.count
      && zip(kitty.placed, other.kitty.placed).allSatisfy {
        kitty.images[$0] == other.kitty.images[$1]
      } && files == other.files
      && cells.accidents == 0 && kitty.problems.isEmpty && sixels.outside == 0
  }
}
