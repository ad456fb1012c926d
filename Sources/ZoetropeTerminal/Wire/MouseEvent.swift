/// A report of the mouse, in the SGR form (modes 1002 and 1006).
public struct MouseEvent: Sendable, Hashable {
  /// The kind of event.
  public enum Kind: Sendable, Hashable {
    /// A button was pressed: 1 left, 2 middle, 3 right.
    case press(Int)
    /// A button was released.
    case release(Int)
    /// The pointer moved while this button was held.
    case drag(Int)
    /// The wheel turned by one step.
    case wheelUp, wheelDown, wheelLeft, wheelRight
  }

  /// The kind of event.
  public let kind: Kind
  /// The cell's column, counted from 0.
  public let column: Int
  /// The cell's row, counted from 0.
  public let row: Int
  /// The modifiers that were held. Most terminals do not report the mouse while Shift is held.
  public let modifiers: KeyEvent.Modifiers

  package init(_ kind: Kind, column: Int, row: Int, modifiers: KeyEvent.Modifiers = []) {
    self.kind = kind
    self.column = column
    self.row = row
    self.modifiers = modifiers
  }

  /// The parameters of `CSI < code ; column ; row M`, or of the same with `m` for a release.
  ///
  /// Nil for motion without a button and for buttons beyond the wheel.
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
