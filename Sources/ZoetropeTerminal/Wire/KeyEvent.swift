/// A key press with its modifiers.
public struct KeyEvent: Sendable, Hashable {
  /// A key of the keyboard.
  public enum Key: Sendable, Hashable {
    /// A key that produces a character. The character takes the keyboard layout and Shift into account.
    case character(Character)
    /// The arrow keys.
    case up, down, left, right
    /// The keys of the editing block.
    case home, end, pageUp, pageDown, insert, delete
    /// Other keys that produce no character.
    case enter, tab, backspace, escape
    /// A function key, from F1 to F24.
    case function(Int)
  }

  /// The modifier keys that were held down.
  public struct Modifiers: OptionSet, Sendable, Hashable {
    /// The bits of the set: 1 for Shift, 2 for Alt, 4 for Control, and 8 for Super.
    public let rawValue: Int
    /// Creates a set of modifiers from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// The Shift key, unless the character already implies it.
    public static let shift = Modifiers(rawValue: 1)
    /// The Alt key, or the Meta key.
    public static let alt = Modifiers(rawValue: 2)
    /// The Control key.
    public static let control = Modifiers(rawValue: 4)
    /// The Super key, or the Command key.
    public static let `super` = Modifiers(rawValue: 8)
  }

  /// The key that was pressed.
  public let key: Key
  /// The modifier keys that were held down.
  public let modifiers: Modifiers

  /// Creates a key event.
  package init(_ key: Key, _ modifiers: Modifiers = []) {
    self.key = key
    self.modifiers = modifiers
  }
}
