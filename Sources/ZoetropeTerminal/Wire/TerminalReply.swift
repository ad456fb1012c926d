package import ZoetropeFrames

/// A reply or unsolicited report from a terminal, as ``TerminalProbe`` and ``LinkFence`` need them.
public struct TerminalReply: Sendable, Hashable {
  package let content: Content

  package init(_ content: Content) { self.content = content }

  /// The reply to ``LinkFence/query``: everything sent before it has been read.
  public static let ready = TerminalReply(.ready)
  /// A sequence that has no meaning here.
  package static let other = TerminalReply(.other)

  /// The new size of the screen, if the terminal reports one.
  public var screenSize: ScreenSize? {
    if case .resized(let size) = content { size } else { nil }
  }

  /// Whether it is the reply to the last query of ``TerminalProbe``.
  package var isAttributes: Bool { if case .attributes = content { true } else { false } }

  package enum Content: Sendable, Hashable {
    /// Primary device attributes: the parameters after `?`.
    case attributes([Int])
    /// XTVERSION: name and version.
    case version(String)
    /// The state of a private mode: 0 unknown, 1 set, 2 reset, 3 and 4 permanently set and reset.
    case mode(Int, state: Int)
    /// The reply to `CSI 5 n`: everything sent before it has been read.
    case ready
    /// The cursor's row and column, counted from 1.
    case cursor(row: Int, column: Int)
    /// The size of a cell in pixels.
    case cellSize(PixelSize)
    /// The size of the text area in pixels.
    case textAreaPixels(PixelSize)
    /// The size of the text area in cells.
    case textAreaCells(columns: Int, rows: Int)
    /// A colour of the terminal, such as 11 for the background.
    case color(Int, TerminalColor)
    /// A reply of kitty's graphics protocol: the image's id and a message such as `OK`.
    case graphics(id: Int, message: String)
    /// XTSMGRAPHICS: the item, the status (0 is success), and the values.
    case graphicsLimits(item: Int, status: Int, values: [Int])
    /// The flags of kitty's keyboard protocol.
    case keyboard(Int)
    /// A new size, reported in the input (mode 2048).
    case resized(ScreenSize)
    /// DECRQSS: the text of a setting; nil when the terminal rejects the request.
    case setting(String?)
    /// A complete, well-formed sequence that has no meaning here.
    case other
  }
}

extension PixelSize {
  /// Whether a cell can have this size. Larger cells would make pictures that do not fit in memory.
  var isCell: Bool { !isEmpty && width <= 256 && height <= 256 }
}
