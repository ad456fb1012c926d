package import ZoetropeFrames

/// A reply or an unsolicited report from a terminal, in the form that ``TerminalProbe`` and ``LinkFence`` need.
public struct TerminalReply: Sendable, Hashable {
  package let content: Content

  package init(_ content: Content) { self.content = content }

  /// The reply to ``LinkFence/query``, which says that the terminal has read everything that was sent before the query.
  public static let ready = TerminalReply(.ready)
  /// A sequence whose meaning is not known.
  package static let other = TerminalReply(.other)

  /// The new size of the screen, if this reply reports one.
  public var screenSize: ScreenSize? {
    if case .resized(let size) = content { size } else { nil }
  }

  /// Whether this is the reply to the last query of ``TerminalProbe``.
  package var isAttributes: Bool { if case .attributes = content { true } else { false } }

  package enum Content: Sendable, Hashable {
    /// The primary device attributes. The numbers are the parameters after `?`.
    case attributes([Int])
    /// The terminal's name and version, as reported by XTVERSION.
    case version(String)
    /// The state of a private mode: 0 for unknown, 1 for set, 2 for reset, 3 for permanently set and 4 for permanently
    /// reset.
    case mode(Int, state: Int)
    /// The reply to `CSI 5 n`, which says that the terminal has read everything that was sent before the query.
    case ready
    /// The cursor's row and column, counted from 1.
    case cursor(row: Int, column: Int)
    /// The size of a cell in pixels.
    case cellSize(PixelSize)
    /// The size of the text area in pixels.
    case textAreaPixels(PixelSize)
    /// The size of the text area in cells.
    case textAreaCells(columns: Int, rows: Int)
    /// A colour of the terminal. The number identifies the colour, for example 11 for the background.
    case color(Int, TerminalColor)
    /// A reply of kitty's graphics protocol, with the id of the image and a message such as `OK`.
    case graphics(id: Int, message: String)
    /// The reply to XTSMGRAPHICS: the item, the status (0 for success), and the values.
    case graphicsLimits(item: Int, status: Int, values: [Int])
    /// The flags of kitty's keyboard protocol that are set.
    case keyboard(Int)
    /// The new size of the screen, reported in the input (mode 2048).
    case resized(ScreenSize)
    /// The reply to DECRQSS: the text of a setting, or nil if the terminal rejects the request.
    case setting(String?)
    /// A complete, well-formed sequence whose meaning is not known.
    case other
  }
}

extension PixelSize {
  /// Whether a cell can have this size. Larger cells would make pictures so large that they do not fit in memory.
  var isCell: Bool { !isEmpty && width <= 256 && height <= 256 }
}
