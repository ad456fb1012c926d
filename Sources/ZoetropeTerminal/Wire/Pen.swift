/// What is known about the terminal's cursor and colours between two writes.
///
/// All writers to the same terminal share this value, so that each can omit moves and colours that are already in
/// effect. If a value becomes uncertain, set the property to nil.
package struct PenState: Sendable, Hashable {
  /// The cursor's column, counted from 0, or nil if unknown.
  package var column: Int?
  /// The cursor's row, counted from 0, or nil if unknown.
  package var row: Int?
  /// The colour of the next glyph, or nil if unknown.
  package var foreground: TerminalColor?
  /// The colour behind the next glyph, or nil if unknown.
  package var background: TerminalColor?
  /// Whether positions are relative to the cursor position that was saved with `ESC 7`, because its place on the screen
  /// is unknown. The position must have been saved in column 0 and without attributes.
  package var isAnchored = false

  /// A state in which nothing is known.
  package static let unknown = PenState()

  /// Creates a state. Everything that is left out is unknown.
  package init(
    column: Int? = nil, row: Int? = nil, foreground: TerminalColor? = nil,
    background: TerminalColor? = nil
  ) {
    self.column = column
    self.row = row
    self.foreground = foreground
    self.background = background
  }

  /// Marks the cursor's position as unknown.
  package mutating func forgetPosition() {
    column = nil
    row = nil
  }
}

extension PenState {
  /// Moves the cursor with as few bytes as possible.
  ///
  /// A line feed is never sent from the lowest row to which anything is written, so the screen does not scroll. After a
  /// glyph in the last column, the position is unknown, because a wrap may be pending.
  mutating func move(toColumn newColumn: Int, row newRow: Int, into output: inout [UInt8]) {
    defer {
      column = newColumn
      row = newRow
    }
    if isAnchored { return moveFromAnchor(toColumn: newColumn, row: newRow, into: &output) }
    guard let row else {
      Self.appendPosition(column: newColumn, row: newRow, into: &output)
      return
    }
    if let column, row == newRow, column <= newColumn {
      if column < newColumn { Self.appendForward(newColumn - column, into: &output) }
      return
    }
    let absolute = 4 + Self.digits(newRow + 1) + (newColumn == 0 ? -1 : Self.digits(newColumn + 1))
    let down = newRow - row
    if down >= 0 {
      let forward = newColumn == 0 ? 0 : newColumn == 1 ? 3 : 3 + Self.digits(newColumn)
      if 1 + down + forward <= absolute {
        output.append(13)
        for _ in 0..<down { output.append(10) }
        if newColumn > 0 { Self.appendForward(newColumn, into: &output) }
        return
      }
    }
    Self.appendPosition(column: newColumn, row: newRow, into: &output)
  }

  /// Moves the cursor by a carriage return, line feeds and moves to the right, starting from the saved position if
  /// necessary. The rows must exist.
  private mutating func moveFromAnchor(
    toColumn newColumn: Int, row newRow: Int, into output: inout [UInt8]
  ) {
    if row.map({ $0 > newRow }) ?? true {
      output.append(ascii: "\u{1B}8")
      (column, row, foreground, background) = (0, 0, .default, .default)
    }
    let down = newRow - (row ?? 0)
    if down > 0 || column.map({ $0 > newColumn }) ?? true {
      // The line feed may scroll the screen, and terminals then fill the new row with the background colour.
      if down > 0, background != .default { reset(into: &output) }
      output.append(13)
      for _ in 0..<down { output.append(10) }
      column = 0
    }
    let forward = newColumn - (column ?? 0)
    if forward > 0 { Self.appendForward(forward, into: &output) }
  }

  /// Records that a glyph was written to a screen of `screenColumns` columns.
  @inline(__always)
  mutating func advance(screenColumns: Int) {
    guard let column else { return }
    self.column = column + 1 < screenColumns ? column + 1 : nil
  }

  private static func digits(_ value: Int) -> Int { value < 10 ? 1 : value < 100 ? 2 : 3 }

  private static func appendForward(_ count: Int, into output: inout [UInt8]) {
    output.append(ascii: "\u{1B}[")
    if count > 1 { output.append(decimal: count) }
    output.append(67)
  }

  private static func appendPosition(column: Int, row: Int, into output: inout [UInt8]) {
    output.append(ascii: "\u{1B}[")
    output.append(decimal: row + 1)
    if column > 0 {
      output.append(59)
      output.append(decimal: column + 1)
    }
    output.append(72)
  }

  /// Sets the given colours, except for colours that are already in effect. If an argument is nil, the colour does not
  /// change.
  @inline(__always)
  mutating func setColors(
    foreground: TerminalColor?, background: TerminalColor?, into output: inout [UInt8]
  ) {
    let newForeground = foreground.flatMap { $0 == self.foreground ? nil : $0 }
    let newBackground = background.flatMap { $0 == self.background ? nil : $0 }
    if newForeground == nil && newBackground == nil { return }
    output.append(ascii: "\u{1B}[")
    if let newForeground {
      Self.append(newForeground, base: 30, into: &output)
      self.foreground = newForeground
    }
    if let newBackground {
      if newForeground != nil { output.append(59) }
      Self.append(newBackground, base: 40, into: &output)
      self.background = newBackground
    }
    output.append(109)
  }

  /// Appends the SGR parameters for `color`. `base` is 30 for the foreground and 40 for the background.
  @inline(__always)
  private static func append(_ color: TerminalColor, base: Int, into output: inout [UInt8]) {
    switch color.kind {
    case 0:
      output.append(decimal: base + 8)
      output.append(ascii: ";2;")
      output.append(decimal: Int(color.red))
      output.append(59)
      output.append(decimal: Int(color.green))
      output.append(59)
      output.append(decimal: Int(color.blue))
    case 1:
      output.append(decimal: base + 8)
      output.append(ascii: ";5;")
      output.append(decimal: Int(color.word & 255))
    case 2:
      let index = Int(color.word & 15)
      output.append(decimal: index < 8 ? base + index : base + 60 + index - 8)
    default:
      output.append(decimal: base + 9)
    }
  }

  /// Returns the number of bytes of the SGR parameters for `color`, including the separator.
  @inline(__always)
  static func cost(of color: TerminalColor) -> Int {
    switch color.kind {
    case 0:
      7 + digits(Int(color.red)) + digits(Int(color.green)) + digits(Int(color.blue))
    case 1: 6 + digits(Int(color.word & 255))
    default: 3
    }
  }

  /// Resets colours and attributes to those of the terminal.
  package mutating func reset(into output: inout [UInt8]) {
    output.append(ascii: "\u{1B}[m")
    foreground = .default
    background = .default
  }
}
