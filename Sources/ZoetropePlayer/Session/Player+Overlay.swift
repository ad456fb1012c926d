import ZoetropeTerminal

/// What covers the picture until it is closed.
enum PlayerOverlay: Sendable {
  /// A page of the help, counted from 0.
  case help(page: Int)
  case list(FileList)
}

extension Player {
  /// Whether there are other files.
  var hasOtherFiles: Bool { files.entries.count > 1 }

  /// Says something in the status line until a key is pressed, or for `time`.
  func say(_ text: String?, for time: Duration? = nil) {
    message = text
    messageEndsAt = time.map { .now + $0 }
  }

  /// Shows `overlay` instead of the picture.
  func cover(with overlay: PlayerOverlay) {
    let screen = stage.screen
    let hasUTF8 = stage.capabilities.hasUTF8
    var overlay = overlay
    var bytes = self.overlay == nil ? stage.clear() : []
    switch overlay {
    case .help(let page):
      bytes += HelpPage.bytes(page: page, columns: screen.columns, rows: screen.rows)
    case .list(var list):
      bytes += list.bytes(columns: screen.columns, rows: screen.rows, hasUTF8: hasUTF8)
      overlay = .list(list)
    }
    self.overlay = overlay
    send(bytes)
    next?.bytes = nil
  }

  /// Shows the picture again.
  func close() {
    overlay = nil
    repaint()
  }

  /// Shows the page of the help after `page`, if there is one and nothing `closes` it.
  func showHelp(after page: Int, closes: Bool) {
    let count = HelpPage.pages(columns: stage.screen.columns, rows: stage.screen.rows).count
    if closes || page + 1 >= count { close() } else { cover(with: .help(page: page + 1)) }
  }

  /// Performs what was done in the list of files.
  func perform(_ action: ListAction?, in list: FileList) {
    guard let action else { return }
    switch action {
    case .close: close()
    case .choose:
      close()
      if list.selection != files.current { outcome = .choose(list.selection) }
    default:
      var list = list
      list.perform(action, rows: stage.screen.rows)
      cover(with: .list(list))
    }
  }
}
