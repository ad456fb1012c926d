/// The text below the picture: the status line and the progress bar.
struct StatusRows: Sendable {
  private var text = ""
  private var bar: [Character] = []
  private var writtenAt: ContinuousClock.Instant?
  /// The time at which to write a change that was delayed, or nil if no change is delayed.
  var due: ContinuousClock.Instant?

  /// The minimum time between two updates, unless an immediate update is requested.
  private static let interval = Duration.milliseconds(250)

  /// Records that the rows were erased from the screen.
  mutating func forget() { (text, bar) = ("", []) }

  /// Returns whether the rows may be updated now. If not, sets ``due`` to the time at which they may be.
  mutating func mayChange(now: Bool, at instant: ContinuousClock.Instant) -> Bool {
    due = now ? nil : writtenAt.map { $0 + Self.interval }.flatMap { $0 > instant ? $0 : nil }
    return due == nil
  }

  /// Returns the bytes that update the rows, or nil if the rows are up to date.
  mutating func change(
    to text: String, row: Int, columns: Int, bar: (text: [Character], row: Int)?,
    at instant: ContinuousClock.Instant
  ) -> [UInt8]? {
    var bytes = text == self.text ? [] : StatusLine.bytes(text, row: row, columns: columns)
    self.text = text
    if let bar {
      bytes += ProgressBar.bytes(bar.text, after: self.bar, row: bar.row)
      self.bar = bar.text
    }
    guard !bytes.isEmpty else { return nil }
    writtenAt = instant
    return bytes
  }
}
