public import Zoetrope

/// Something that a terminal says by itself or when asked.
public enum TerminalReply: Sendable, Hashable {
  /// Primary device attributes: the parameters after `?`.
  case attributes([Int])
  /// XTVERSION: name and version.
  case version(String)
  /// The state of a private mode: 0 not known, 1 set, 2 reset, 3 and 4 fixed.
  case mode(Int, state: Int)
  /// `CSI 5 n` answered: everything before it was read.
  case ready
  /// The cursor's row and column, from 1.
  case cursor(row: Int, column: Int)
  /// The size of a cell in pixels.
  case cellSize(PixelSize)
  /// The size of the text area in pixels.
  case textAreaPixels(PixelSize)
  /// The size of the text area in cells.
  case textAreaCells(columns: Int, rows: Int)
  /// A colour of the terminal, such as 11 for the background.
  case color(Int, TerminalColor)
  /// An answer of kitty's graphics protocol: the image's id, and what it says, such as `OK`.
  case graphics(id: Int, message: String)
  /// XTSMGRAPHICS: the item, the status (0 is success), and the values.
  case graphicsLimits(item: Int, status: Int, values: [Int])
  /// The flags of kitty's keyboard protocol.
  case keyboard(Int)
  /// A new size that the terminal tells in the input (mode 2048).
  case resized(ScreenSize)
  /// DECRQSS: the text of a setting; nil when it is not valid.
  case setting(String?)
  /// A sequence that is complete and well formed but means nothing here.
  case other
}
