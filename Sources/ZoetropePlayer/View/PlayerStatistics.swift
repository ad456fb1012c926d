/// Counts of the frames that were drawn or dropped so far, and of the bytes that were written.
struct PlayerStatistics: Sendable, Hashable {
  /// The number of frames that were written.
  var shown = 0
  /// The number of frames that were skipped because the terminal or the machine was too slow.
  var dropped = 0
  /// The number of bytes that were written for frames.
  var byteCount = 0

  /// The statistics as text for the status line.
  var text: String {
    let perFrame = shown == 0 ? 0 : byteCount / shown
    return "\(perFrame) B/frame, \(dropped) dropped"
  }
}
