import ZoetropeTerminal

/// What the list of files does in response to a key or the mouse.
enum ListAction: Sendable, Hashable {
  /// Moves the selection by this many rows.
  case move(Int)
  case moveToStart
  case moveToEnd
  /// Selects the entry in a row of the screen.
  case select(row: Int)
  /// Plays the selected file.
  case choose
  case close
  /// Begins a search by name.
  case search
  /// Appends to the searched text.
  case type(Character)
  /// Removes the last character of that text.
  case erase
  /// Moves to the next match, or the previous one (-1).
  case match(Int)
  /// Ends the search.
  case endSearch

  /// The action for `event`; nil when it has no meaning. `page` is the number of rows of a page.
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

  /// The action for `event` while the searched text is being typed.
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

  /// The action for `event`: the wheel and a press move the selection.
  init?(_ event: MouseEvent) {
    switch event.kind {
    case .press(1): self = .select(row: event.row)
    case .wheelUp: self = .move(-1)
    case .wheelDown: self = .move(1)
    default: return nil
    }
  }
}
