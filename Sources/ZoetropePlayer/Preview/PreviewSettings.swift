package import Zoetrope
package import ZoetropeTerminal

/// How pictures are drawn without asking the terminal.
package struct PreviewSettings: Hashable, Sendable {
  /// Nil chooses a mode from the environment.
  package var mode: DrawingMode?
  /// Nil uses the environment's.
  package var colors: ColorDepth?
  /// Nil uses the multiplexer in which the program runs.
  package var passthrough: Passthrough?
  package var backdrop = PlayerBackdrop.terminal
  package var fit = FrameLayout.Fit.contain
  /// Whether every change is sent, however small.
  package var isExact = false
  /// Nil is the whole screen, at the cursor.
  package var place: PicturePlace?
  /// The picture's number, from which kitty's image ids follow; nil chooses one at random.
  package var number: Int?
  /// The size of a cell in pixels; nil uses the kernel's.
  package var cell: PixelSize?

  /// The valid numbers. Each gives two image ids, which have 24 bits inside tmux.
  package static let numbers = 1...0x7F_FFFF

  package init() {}
}
