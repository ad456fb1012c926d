package import Zoetrope
package import ZoetropeTerminal

/// The settings with which pictures are drawn on a terminal that is not queried.
package struct PreviewSettings: Hashable, Sendable {
  /// The drawing mode, or nil to choose a mode from the environment.
  package var mode: DrawingMode?
  /// The colour depth, or nil to use that of the environment.
  package var colors: ColorDepth?
  /// The multiplexer through which graphics are passed, or nil to use the multiplexer in which the program runs.
  package var passthrough: Passthrough?
  package var backdrop = PlayerBackdrop.terminal
  package var fit = FrameLayout.Fit.fit
  /// Whether every change of a picture is sent, however small the change is.
  package var isExact = false
  /// The place of the picture. If it is nil, the picture is drawn at the cursor and may be as large as the screen.
  package var place: PicturePlace?
  /// The number of the picture, from which the ids of its kitty images are computed, or nil to choose a number at
  /// random.
  package var number: Int?
  /// The size of a cell in pixels, or nil to use the size that the kernel reports.
  package var cell: PixelSize?

  /// The range of valid picture numbers. Two image ids are computed from each number, and inside tmux an id has 24
  /// bits.
  package static let numbers = 1...0x7F_FFFF

  package init() {}
}
