/// The cost of drawing so far.
struct PlayerStatistics: Sendable, Hashable {
  /// Frames written.
  var shown = 0
  /// Frames skipped because the terminal or the machine was late.
  var dropped = 0
  /// Bytes written for frames.
  var byteCount = 0

  /// The text in the status line.
  var text: String {
    let perFrame = shown == 0 ? 0 : byteCount / shown
    return "\(perFrame) B/frame, \(dropped) dropped"
  }
}
