/// An event that the terminal reported for the mouse, in the SGR form (modes 1002 and 1006).
public struct MouseEvent: Sendable, Hashable {
  /// The kind of a mouse event.
  public enum Kind: Sendable, Hashable {
    /// A button was pressed: 1 is the left, 2 the middle and 3 the right button.
    case press(Int)
    /// A button was released. The buttons have the same numbers as in ``press(_:)``.
    case release(Int)
    /// The pointer moved while a button was held down. The buttons have the same numbers as in ``press(_:)``.
    case drag(Int)
    /// The wheel turned by one step.
    case wheelUp, wheelDown, wheelLeft, wheelRight
  }

  /// The kind of event.
  public let kind: Kind
  /// The column of the cell under the pointer, counted from 0.
  public let column: Int
  /// The row of the cell under the pointer, counted from 0.
  public let row: Int
  /// The modifier keys that were held down. Most terminals do not report the mouse while Shift is held.
  public let modifiers: KeyEvent.Modifiers

  package init(_ kind: Kind, column: Int, row: Int, modifiers: KeyEvent.Modifiers = []) {
    self.kind = kind
    self.column = column
    self.row = row
    self.modifiers = modifiers
  }

  /// Creates an event from the parameters of `CSI < code ; column ; row M`, or of the same sequence ending in `m` for a
  /// release.
  ///
  /// Returns nil for motion without a button, and for buttons beyond those of the wheel.
  init?(code: Int, column: Int, row: Int, isRelease: Bool) {
    var modifiers: KeyEvent.Modifiers = []
    if code & 4 != 0 { modifiers.insert(.shift) }
    if code & 8 != 0 { modifiers.insert(.alt) }
    if code & 16 != 0 { modifiers.insert(.control) }
    let button = code & 3
    let kind: Kind
    switch (code & ~0x1F, isRelease) {
    case (0, false) where button < 3: kind = .press(button + 1)
    case (0, true) where button < 3: kind = .release(button + 1)
    case (32, false) where button < 3: kind = .drag(button + 1)
    case (64, false):
      kind = [.wheelUp, .wheelDown, .wheelLeft, .wheelRight][button]
    default: return nil
    }
    self.init(kind, column: max(column - 1, 0), row: max(row - 1, 0), modifiers: modifiers)
  }
}
