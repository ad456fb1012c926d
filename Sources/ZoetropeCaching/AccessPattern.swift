/// The order in which the frames of an animation are looked up, from which playback is recognised.
///
/// A player runs through all frames in one direction and then starts over. The frame just shown will therefore be
/// needed last, and the oldest frame, which the LRU and clock policies would evict, will be needed next. Seeking and
/// scrubbing have no such order.
package struct AccessPattern: Sendable, Hashable {
  /// The number of steps in one direction after which the lookups count as playback.
  package static let runLength: UInt8 = 16
  /// The number of frames by which a lookup may be out of order without counting as a change of direction.
  private static let jitter = 4

  private var position = -1
  private var isBackward = false
  private var run: UInt8 = 0

  package init() {}

  /// Whether at least the last ``runLength`` steps were in playing order.
  package var isLoop: Bool { run >= Self.runLength }

  /// Whether at least the last two steps were in playing order.
  var isOrderly: Bool { run >= 2 }

  /// Records a lookup of frame `index`.
  package mutating func step(to index: Int) {
    guard position >= 0 else {
      position = index
      return
    }
    let ahead = isBackward ? position - index : index - position
    // The lookup is slightly behind the most advanced lookup: either a frame decoded ahead is now shown, or the
    // direction has changed, which later steps will confirm.
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
