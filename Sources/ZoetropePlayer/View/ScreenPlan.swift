import ZoetropeTerminal

/// Which rows of a screen belong to the picture, the progress bar and the status line.
struct ScreenPlan: Sendable, Hashable {
  /// The cells for the picture.
  let room: CellRect
  let barRow: Int?
  let statusRow: Int?

  /// - Parameters:
  ///   - screen: The whole screen.
  ///   - showsStatus: Whether a status line is wanted. Screens of fewer than three rows have none.
  ///   - isAnimated: Whether there is progress to show, which needs a status line and at least eight rows.
  init(_ screen: ScreenSize, showsStatus: Bool, isAnimated: Bool) {
    let hasStatus = showsStatus && screen.rows > 2
    let hasBar = hasStatus && isAnimated && screen.rows >= ProgressBar.leastRows
    statusRow = hasStatus ? screen.rows - 1 : nil
    barRow = hasBar ? screen.rows - 2 : nil
    room = CellRect(
      column: 0, row: 0, columns: screen.columns,
      rows: screen.rows - (hasStatus ? 1 : 0) - (hasBar ? 1 : 0))
  }
}
