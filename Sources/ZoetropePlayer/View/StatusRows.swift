/// What is written below the picture: the status line and the progress bar.
struct StatusRows: Sendable {
  private var text = ""
  private var bar: [Character] = []
  private var writtenAt: ContinuousClock.Instant?
  /// When to write a delayed change; nil when the rows are up to date.
  var due: ContinuousClock.Instant?

  /// The least time between updates that were not requested.
  private static let interval = Duration.milliseconds(250)

  /// Records that the rows were erased.
  mutating func forget() { (text, bar) = ("", []) }

  /// Whether the rows may change now; if not, sets when.
  mutating func mayChange(now: Bool, at instant: ContinuousClock.Instant) -> Bool {
    due = now ? nil : writtenAt.map { $0 + Self.interval }.flatMap { $0 > instant ? $0 : nil }
    return due == nil
  }

  /// The bytes that change the rows; nil when they are up to date.
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
