import ZoetropeTerminal

/// The allocation of a screen's rows to the picture, the progress bar and the status line.
struct ScreenPlan: Sendable, Hashable {
  /// The cells that the picture may use.
  let room: CellRect
  let barRow: Int?
  let statusRow: Int?

  /// Creates a plan.
  ///
  /// - Parameters:
  ///   - screen: The size of the screen.
  ///   - showsStatus: Whether a status line is requested. A screen of fewer than three rows has none.
  ///   - isAnimated: Whether there is progress to show. A progress bar requires a status line and at least eight rows.
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
