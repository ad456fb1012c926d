import ZoetropeTerminal

/// A page or a list that covers the picture until it is closed.
enum PlayerOverlay: Sendable {
  /// A page of the help. Pages are counted from 0.
  case help(page: Int)
  case list(FileList)
}

extension PlayerModel {
  mutating func take(_ key: KeyEvent) -> [PlayerEffect] {
    message = nil
    let isControl = key.modifiers.contains(.control)
    switch overlay {
    case .help(let page)? where !isControl:
      let count = HelpPage.pages(columns: stage.screen.columns, rows: stage.screen.rows).count
      let closes = [.escape, .character("?"), .character("q")].contains(key.key)
      return closes || page + 1 >= count ? close() : cover(with: .help(page: page + 1))
    case .list(let list)? where !isControl:
      let action =
        list.search == nil
        ? ListAction(key, page: list.page(stage.screen.rows)) : ListAction(searching: key)
      return perform(action, in: list)
    default: return keys.action(for: key).map { perform($0) } ?? []
    }
  }

  mutating func take(_ event: MouseEvent) -> [PlayerEffect] {
    switch overlay {
    case .help?:
      if case .press = event.kind { return close() }
      return []
    case .list(let list)?: return perform(ListAction(event), in: list)
    case nil:
      let columns = stage.screen.columns
      guard let action = mouse.action(for: event, barRow: plan.barRow, columns: columns) else {
        return []
      }
      message = nil
      return perform(action)
    }
  }

  /// Shows `overlay` in place of the picture.
  mutating func cover(with overlay: PlayerOverlay) -> [PlayerEffect] {
    let screen = stage.screen
    let clears = self.overlay == nil
    frames.next?.bytes = nil
    switch overlay {
    case .help(let page):
      self.overlay = overlay
      return [
        .cover(
          HelpPage.bytes(page: page, columns: screen.columns, rows: screen.rows), clears: clears)
      ]
    case .list(var list):
      let bytes = list.bytes(
        columns: screen.columns, rows: screen.rows, hasUTF8: stage.capabilities.hasUTF8)
      self.overlay = .list(list)
      return [.cover(bytes, clears: clears)]
    }
  }

  /// Closes the overlay and shows the picture again.
  private mutating func close() -> [PlayerEffect] {
    overlay = nil
    return repaint()
  }

  /// Performs an action in the list of files, or does nothing if `action` is nil.
  private mutating func perform(_ action: ListAction?, in list: FileList) -> [PlayerEffect] {
    switch action {
    case nil: return []
    case .close?: return close()
    case .choose?:
      let effects = close()
      if list.selection != request.files.current { phase = .over(.choose(list.selection)) }
      return effects
    case let action?:
      var list = list
      list.perform(action, rows: stage.screen.rows)
      return cover(with: .list(list))
    }
  }
}
