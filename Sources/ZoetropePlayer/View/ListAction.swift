import ZoetropeTerminal

/// An action that the list of files performs in response to a key or the mouse.
enum ListAction: Sendable, Hashable {
  /// Moves the selection by a number of rows.
  case move(Int)
  case moveToStart
  case moveToEnd
  /// Selects the entry that is shown in the given row of the screen.
  case select(row: Int)
  /// Plays the selected file.
  case choose
  case close
  /// Begins a search for a name.
  case search
  /// Appends a character to the search text.
  case type(Character)
  /// Removes the last character of the search text.
  case erase
  /// Moves to the next match (1) or the previous match (-1).
  case match(Int)
  /// Ends the search.
  case endSearch

  /// Creates the action for `event`, or returns nil if the key has no meaning. `page` is the number of rows by which
  /// the page keys move the selection.
  init?(_ event: KeyEvent, page: Int) {
    switch event.key {
    case .up, .character("k"), .character("N"), .character("<"): self = .move(-1)
    case .down, .character("j"), .character("n"), .character(">"): self = .move(1)
    case .pageUp: self = .move(-max(page, 1))
    case .pageDown, .character(" "): self = .move(max(page, 1))
    case .home, .character("g"): self = .moveToStart
    case .end, .character("G"): self = .moveToEnd
    case .enter: self = .choose
    case .character("/"): self = .search
    case .escape, .tab, .function(8), .character("q"), .character("?"): self = .close
    default: return nil
    }
  }

  /// Creates the action for `event` while the user types the search text, or returns nil if the key has no meaning.
  init?(searching event: KeyEvent) {
    switch event.key {
    case .character(let character): self = .type(character)
    case .backspace: self = .erase
    case .down, .tab: self = .match(1)
    case .up: self = .match(-1)
    case .enter: self = .choose
    case .escape: self = .endSearch
    default: return nil
    }
  }

  /// Creates the action for `event`, or returns nil if the event has no meaning. The wheel and the left button move the
  /// selection.
  init?(_ event: MouseEvent) {
    switch event.kind {
    case .press(1): self = .select(row: event.row)
    case .wheelUp: self = .move(-1)
    case .wheelDown: self = .move(1)
    default: return nil
    }
  }
}
