import ZoetropeTerminal

/// The list of files that the Tab key shows.
struct FileList: Sendable, Hashable {
  struct Entry: Sendable, Hashable {
    var name: String
    /// The reason why the file was skipped, or nil if it was not.
    var problem: String?
  }

  var entries: [Entry]
  /// The index of the file that is playing.
  var current: Int
  private(set) var selection: Int
  /// The text to search for, or nil if no search is active.
  private(set) var search: String?
  /// The index of the entry in the first row.
  private var top = 0

  init(entries: [Entry], current: Int) {
    self.entries = entries
    self.current = current
    selection = current
  }

  /// Performs an action on a screen of `rows` rows.
  mutating func perform(_ action: ListAction, rows: Int) {
    switch action {
    case .move(let count): selection += count
    case .moveToStart: selection = 0
    case .moveToEnd: selection = entries.count - 1
    case .select(let row):
      if row < page(rows), entries.indices.contains(top + row) { selection = top + row }
    case .search: search = ""
    case .type(let character):
      // The searched text is limited to 255 characters, because file names are not longer.
      if let text = search, text.count < 255 { search = text + String(character) }
      find(from: selection, by: 1)
    case .erase:
      if search?.popLast() == nil { search = nil }
      find(from: selection, by: 1)
    case .match(let step): find(from: selection + step, by: step)
    case .endSearch: search = nil
    case .choose, .close: break
    }
    selection = min(max(selection, 0), max(entries.count - 1, 0))
    scroll(rows: rows)
  }

  /// Returns whether the name of an entry contains the searched text, ignoring case.
  private func matches(_ index: Int) -> Bool {
    guard let search, !search.isEmpty else { return true }
    return entries[index].name.lowercased().contains(search.lowercased())
  }

  /// Selects the first match, starting with entry `start` and moving by `step`. The search wraps around at either end
  /// of the list.
  private mutating func find(from start: Int, by step: Int) {
    for offset in entries.indices {
      let index = start + offset * step
      let count = entries.count
      let place = (index % count + count) % count
      if matches(place) {
        selection = place
        return
      }
    }
  }

  /// Returns the number of entries that fit on a screen of `rows` rows.
  func page(_ rows: Int) -> Int { max(rows - 2, 1) }

  /// Scrolls the list so that the selected entry is visible.
  private mutating func scroll(rows: Int) {
    let page = page(rows)
    top = min(max(top, selection - page + 1), selection)
    top = min(top, max(entries.count - page, 0))
  }

  /// Returns the visible rows. Each row has the number and the name of a file and, if the file was skipped, the reason.
  func lines(columns: Int, rows: Int) -> [String] {
    let digits = "\(entries.count)".count
    return entries.indices.dropFirst(top).prefix(page(rows)).map { index in
      let entry = entries[index]
      let number = "\(index + 1)"
      let mark = index == current ? "▸" : " "
      var text = mark + String(repeating: " ", count: digits - number.count + 1) + number + "  "
      text += TerminalText.sanitized(entry.name, limit: max(columns - text.count, 8))
      if let problem = entry.problem { text += "  (skipped: \(problem))" }
      return TerminalText.sanitized(text, limit: columns)
    }
  }

  /// Returns the bytes that show the list.
  mutating func bytes(columns: Int, rows: Int, hasUTF8: Bool) -> [UInt8] {
    scroll(rows: rows)
    let footer: String
    if let search {
      let count = entries.indices.count { matches($0) }
      footer =
        "/\(search)  \(count) match\(count == 1 ? "" : "es"), Enter plays, Down finds the next, Esc ends"
    } else {
      footer = "Enter plays, Up and Down select, / searches, Esc closes the list"
    }
    let lines = lines(columns: columns, rows: rows)
    return ScreenText.bytes(
      hasUTF8 ? lines : lines.map { TerminalText.ascii($0) }, selected: selection - top,
      footer: TerminalText.sanitized(footer, limit: columns), rows: rows)
  }
}
