import ZoetropeTerminal

/// The help that the `?` key shows, laid out for the size of the screen.
package enum HelpPage {
  /// A group of related keys.
  package struct Section: Sendable {
    package let title: String
    /// The keys, separated by spaces, and their descriptions.
    package let entries: [(keys: String, text: String)]
  }

  /// The sections of the help. Their order lets them fill two columns of an 80 x 24 screen.
  package static let sections = [
    Section(
      title: "Playing",
      entries: [
        ("space p", "pause, resume, replay"), ("] [", "speed 10 % up, down"),
        ("} {", "double, halve the speed"), ("Backspace", "normal speed"),
        ("r b", "reverse; bounce"), ("L", "number of plays"), ("m", "motion off, on"),
      ]),
    Section(
      title: "Moving in the file",
      entries: [
        (". , l h", "next, previous frame"), ("Right Left", "1 s; 0.1 s with Shift"),
        ("Up Down", "5 s"), ("Home g", "first frame"), ("End G", "last frame"),
        ("12g", "frame 12; first is 1"), ("a", "section start, end, off"),
      ]),
    Section(
      title: "Mouse",
      entries: [
        ("bar", "drag seeks; wheel: 1 s"), ("picture", "drag moves, wheel zooms"),
        ("right button", "pause, resume"),
      ]),
    Section(
      title: "Picture",
      entries: [
        ("+ - 0", "zoom in, out, reset"), ("Alt+Arrow", "move the zoomed picture"),
        ("f", "fit"), ("c", "background"), ("v", "drawing mode"),
        ("d D", "changed area; raw frame"),
      ]),
    Section(
      title: "Files",
      entries: [
        ("n > Enter PgDn", "next file"), ("N < PgUp", "previous file"),
        ("Tab F8", "file list; / searches"), ("s", "save the frame"),
        ("S S", "save section or all"),
      ]),
    Section(
      title: "Screen",
      entries: [
        ("i o", "details"), ("t", "delays as bars"), ("?", "this page"), ("Ctrl-L", "redraw"),
        ("Ctrl-Z", "suspend"), ("q Esc", "quit"),
      ]),
  ]

  /// The width of a column, which contains the keys and the longest text, each followed by a space.
  private static let columnWidth = 40
  private static let keyWidth = 16

  /// The lines of each section. The title comes first.
  private static var blocks: [[String]] {
    sections.map { section in
      [section.title.uppercased()]
        + section.entries.map { entry in
          let padding = String(repeating: " ", count: max(keyWidth - 1 - entry.keys.count, 1))
          return " \(entry.keys)\(padding)\(entry.text)"
        }
    }
  }

  /// Returns the lines of all sections, arranged in columns of at most `height` lines. A section is split only if it is
  /// longer than a column.
  private static func columns(height: Int) -> [[String]] {
    var columns: [[String]] = [[]]
    for block in blocks {
      let count = columns[columns.count - 1].count
      if count > 0 {
        if count + 1 + block.count > height {
          columns.append([])
        } else {
          columns[columns.count - 1].append("")
        }
      }
      for line in block {
        if columns[columns.count - 1].count == height { columns.append([]) }
        columns[columns.count - 1].append(line)
      }
    }
    return columns
  }

  /// Returns the pages for a screen of this size. Each page is a list of rows, without the last row of the screen,
  /// which shows the ``footer(page:of:)``.
  static func pages(columns: Int, rows: Int) -> [[String]] {
    let room = max(rows - 2, 1)
    let across = max((columns + 1) / columnWidth, 1)
    // On a large screen, the columns have about the same length.
    let longest = blocks.map(\.count).max() ?? 1
    var height = min(longest, room)
    while height < room, Self.columns(height: height).count > across { height += 1 }
    let stacks = Self.columns(height: height)
    return stride(from: 0, to: stacks.count, by: across).map { first in
      let shown = Array(stacks[first..<min(first + across, stacks.count)])
      return (0..<(shown.map(\.count).max() ?? 0)).map { row in
        var text = ""
        for (place, stack) in shown.enumerated() where row < stack.count {
          let gap = place * columnWidth - text.count
          text += String(repeating: " ", count: max(gap, 0)) + stack[row]
        }
        return TerminalText.sanitized(text, limit: columns)
      }
    }
  }

  /// Returns the line that tells the user how to close the help or show the next page.
  static func footer(page: Int, of count: Int) -> String {
    page + 1 < count
      ? "Esc closes, any other key: page \(page + 2) of \(count)" : "any key closes this page"
  }

  /// Returns the bytes that show the page with number `page`, or the last page if there is no such number.
  static func bytes(page: Int, columns: Int, rows: Int) -> [UInt8] {
    let pages = pages(columns: columns, rows: rows)
    let page = min(page, pages.count - 1)
    return ScreenText.bytes(
      pages[page],
      footer: TerminalText.sanitized(footer(page: page, of: pages.count), limit: columns),
      rows: rows)
  }
}
