/// One key press.
public struct KeyEvent: Sendable, Hashable {
  /// The key.
  public enum Key: Sendable, Hashable {
    /// A key that produces a character, with the layout and Shift applied.
    case character(Character)
    /// Arrows.
    case up, down, left, right
    /// Keys of the editing block.
    case home, end, pageUp, pageDown, insert, delete
    /// Named control keys.
    case enter, tab, backspace, escape
    /// F1 to F24.
    case function(Int)
  }

  /// Keys that were held down.
  public struct Modifiers: OptionSet, Sendable, Hashable {
    /// The bits: 1 Shift, 2 Alt, 4 Control, 8 Super.
    public let rawValue: Int
    /// Creates a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Shift, where the character does not already imply it.
    public static let shift = Modifiers(rawValue: 1)
    /// Alt, or Meta.
    public static let alt = Modifiers(rawValue: 2)
    /// Control.
    public static let control = Modifiers(rawValue: 4)
    /// Super, or the command key.
    public static let `super` = Modifiers(rawValue: 8)
  }

  /// The key that was pressed.
  public let key: Key
  /// The modifiers that were held.
  public let modifiers: Modifiers

  /// Creates an event.
  package init(_ key: Key, _ modifiers: Modifiers = []) {
    self.key = key
    self.modifiers = modifiers
  }
}
