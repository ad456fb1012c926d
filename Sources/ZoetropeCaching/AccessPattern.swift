/// Recognizes playback from the order in which frames are looked up.
///
/// A player runs through all frames in one direction and starts over, so the frame just shown is the last to be needed
/// again, and the oldest frame, which LRU and clock would evict, is the next. Seeking and scrubbing have no such order.
package struct AccessPattern: Sendable, Hashable {
  /// Steps in one direction after which a run counts as playing.
  package static let runLength: UInt8 = 16
  /// The number of frames by which a lookup may be out of order without counting as a change of direction.
  private static let jitter = 4

  private var position = -1
  private var isBackward = false
  private var run: UInt8 = 0

  package init() {}

  /// Whether the last frames were looked up in playing order.
  package var isLoop: Bool { run >= Self.runLength }

  /// Whether the last few lookups were in playing order.
  var isOrderly: Bool { run >= 2 }

  /// Records a lookup of frame `index`.
  package mutating func step(to index: Int) {
    guard position >= 0 else {
      position = index
      return
    }
    let ahead = isBackward ? position - index : index - position
    // The lookup is slightly behind the front: either a frame decoded ahead is now shown, or the direction has changed,
    // which later steps will confirm.
    if ahead <= 0, ahead >= -Self.jitter { return }
    if ahead > 0, ahead <= Self.jitter {
      if run < .max { run += 1 }
    } else if !isWrap(to: index) {
      run = 0
      if ahead < 0 { isBackward.toggle() }
    }
    position = index
  }

  /// Returns whether a step to `index` ends one play and begins the next.
  private func isWrap(to index: Int) -> Bool {
    isBackward ? position < Self.jitter : index < Self.jitter
  }
}
