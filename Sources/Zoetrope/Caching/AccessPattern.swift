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

  /// Takes note that frame `index` was asked for.
  package mutating func step(to index: Int) {
    defer { if position < 0 { position = index } }
    guard position >= 0, index != position else { return }
    let ahead = isBackward ? position - index : index - position
    if ahead > 0, ahead <= Self.jitter {
      run = run == .max ? run : run + 1
    } else if ahead < 0, ahead >= -Self.jitter, run > 0 {
      run -= 1
      if run > 0 { return }
      isBackward.toggle()
    } else if isWrap(to: index) {
      // A play ended and the next began: the run goes on.
    } else {
      run = 0
    }
    position = index
  }

  private func isWrap(to index: Int) -> Bool {
    isBackward ? position < Self.jitter : index < Self.jitter
  }
}
