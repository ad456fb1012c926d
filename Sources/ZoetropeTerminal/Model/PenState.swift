/// What is known of the terminal's cursor and colours between two writes.
///
/// Everybody who writes to the terminal through one stream hands the same value on, so that the
/// next writer can leave out moves and colours that are in force. Forget what is not sure.
public struct PenState: Sendable, Hashable {
  /// The cursor's column from 0, or nil when it is not known.
  public var column: Int?
  /// The cursor's row from 0, or nil when it is not known.
  public var row: Int?
  /// The colour that the next glyph is drawn in, or nil when it is not known.
  public var foreground: TerminalColor?
  /// The colour behind the next glyph, or nil when it is not known.
  public var background: TerminalColor?

  /// Nothing is known.
  public static let unknown = PenState()

  /// Makes a state; what is left out is not known.
  public init(
    column: Int? = nil, row: Int? = nil, foreground: TerminalColor? = nil,
    background: TerminalColor? = nil
  ) {
    self.column = column
    self.row = row
    self.foreground = foreground
    self.background = background
  }

  /// Forgets where the cursor is.
  public mutating func forgetPosition() {
    column = nil
    row = nil
  }
}
