/// One key press.
public struct KeyEvent: Sendable, Hashable {
  /// The key.
  public enum Key: Sendable, Hashable {
    /// A key that makes a character, as the layout and Shift make it.
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

  /// The keys held down with it.
  public struct Modifiers: OptionSet, Sendable, Hashable {
    /// The bits: 1 Shift, 2 Alt, 4 Control, 8 Super.
    public let rawValue: Int
    /// Makes a set of its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Shift, where the key does not say it already.
    public static let shift = Modifiers(rawValue: 1)
    /// Alt, or Meta.
    public static let alt = Modifiers(rawValue: 2)
    /// Control.
    public static let control = Modifiers(rawValue: 4)
    /// Super, or the command key.
    public static let `super` = Modifiers(rawValue: 8)
  }

  /// Which key.
  public let key: Key
  /// What was held with it.
  public let modifiers: Modifiers

  /// Makes an event.
  public init(_ key: Key, _ modifiers: Modifiers = []) {
    self.key = key
    self.modifiers = modifiers
  }
}
