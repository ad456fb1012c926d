/// Recognises an animation that is played, from the frames that are asked for.
///
/// A player runs through all frames one way and begins again, so the frame just shown is the one
/// needed last: of a loop that does not fit, the oldest frame is the worst to evict, for it comes
/// next. (LRU and clock give a hit rate of 0 there.) Seeking and scrubbing have no such order.
package struct AccessPattern: Sendable, Hashable {
  /// Steps one way after which a run counts as playing.
  package static let runLength: UInt8 = 16
  /// Frames by which asking ahead and showing may be out of step without being taken for a turn.
  private static let jitter = 4

  private var position = -1
  private var isBackward = false
  private var run: UInt8 = 0

  package init() {}

  /// Whether the last frames were asked for in playing order.
  package var isLoop: Bool { run >= Self.runLength }

  /// Whether the last few were.
  var isOrderly: Bool { run >= 2 }

  /// Takes note that frame `index` was asked for.
  package mutating func step(to index: Int) {
    guard position >= 0 else {
      position = index
      return
    }
    let ahead = isBackward ? position - index : index - position
    // A little behind the front: shown after it was decoded ahead, or the start of a turn that
    // shows itself once it is further off.
    if ahead <= 0, ahead >= -Self.jitter { return }
    if ahead > 0, ahead <= Self.jitter {
      if run < .max { run += 1 }
    } else if !isWrap(to: index) {
      run = 0
      if ahead < 0 { isBackward.toggle() }
    }
    position = index
  }

  /// Whether one play ends and the next begins there.
  private func isWrap(to index: Int) -> Bool {
    isBackward ? position < Self.jitter : index < Self.jitter
  }
}
