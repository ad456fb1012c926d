import ZoetropeTerminal

/// Maps mouse events to actions. The left button seeks on the progress bar and elsewhere moves the picture. The right
/// button pauses, as in mpv. The wheel seeks on the progress bar and elsewhere zooms; turned sideways, it
/// seeks everywhere.
///
/// A reducer is a value whose only state is the drag in progress.
struct MouseReducer: Sendable, Hashable {
  private enum Drag: Sendable, Hashable {
    case bar
    case picture(column: Int, row: Int)
  }

  private var drag: Drag?

  /// Returns the action for `event`, or nil if the event has no meaning.
  ///
  /// - Parameters:
  ///   - barRow: The row of the progress bar, or nil if there is none.
  ///   - columns: The width of the progress bar.
  mutating func action(
    for event: MouseEvent, barRow: Int?, columns: Int
  ) -> PlayerAction? {
    let isOnBar = event.row == barRow
    switch event.kind {
    case .press(1):
      drag = isOnBar ? .bar : .picture(column: event.column, row: event.row)
      return isOnBar ? .seekToPart(Self.part(event.column, of: columns)) : nil
    case .drag(1):
      switch drag {
      case .bar: return .seekToPart(Self.part(event.column, of: columns))
      case .picture(let column, let row):
        drag = .picture(column: event.column, row: event.row)
        let (right, down) = (event.column - column, event.row - row)
        return right == 0 && down == 0 ? nil : .drag(columns: right, rows: down)
      case nil: return nil
      }
    case .release(1):
      drag = nil
      return nil
    case .press(3): return .togglePause
    case .wheelUp:
      return isOnBar
        ? .seek(by: .seconds(1)) : .zoomAt(1.25, column: event.column, row: event.row)
    case .wheelDown:
      return isOnBar
        ? .seek(by: .seconds(-1)) : .zoomAt(0.8, column: event.column, row: event.row)
    case .wheelRight: return .seek(by: .seconds(1))
    case .wheelLeft: return .seek(by: .seconds(-1))
    case .press, .release, .drag: return nil
    }
  }

  /// Returns the position of the middle of a column, as a fraction of the bar's width.
  private static func part(_ column: Int, of columns: Int) -> Double {
    min(max((Double(column) + 0.5) / Double(max(columns, 1)), 0), 1)
  }
}
