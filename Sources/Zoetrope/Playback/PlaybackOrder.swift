/// The order in which frames are shown, independent of the current time.
package struct PlaybackOrder: Sendable {
  package let timeline: PlaybackTimeline
  package let range: Range<Int>
  package let playCount: PlayCount
  package let bounces: Bool

  /// A range of one frame is played once: repeating it would change nothing, and a still image then costs
  /// no wake-ups.
  package init(
    timeline: PlaybackTimeline, range: Range<Int>, playCount: PlayCount, bounces: Bool
  ) {
    self.timeline = timeline
    self.range = range
    self.playCount = range.count == 1 ? .once : playCount
    self.bounces = bounces
  }

  /// The frame at which a play in `direction` begins.
  package func first(_ direction: PlaybackDirection) -> Int {
    direction == .forward ? range.lowerBound : range.upperBound - 1
  }

  /// When `step` ends, in ticks since the anchor.
  package func end(of step: PlaybackStep) -> Int128 { step.start + timeline.ticks(step.frame) }

  /// The step after `step`; nil if it is the last.
  package func next(after step: PlaybackStep) -> PlaybackStep? {
    var next = step
    next.start = end(of: step)
    if step.frame != first(step.direction.reversed) {
      next.frame += step.direction.offset
      return next
    }
    if case .finite(let count) = playCount, step.play + 1 >= count { return nil }
    next.play += 1
    if bounces {
      next.direction = step.direction.reversed
      next.frame += next.direction.offset
    } else {
      next.frame = first(step.direction)
    }
    return next
  }

  /// The plays and ticks after which the same frame recurs in the same direction; nil if that takes no time
  /// or `step` does not recur so.
  package func cycle(of step: PlaybackStep) -> (plays: Int, ticks: Int128)? {
    let total = timeline.ticks(range)
    guard bounces else { return total > 0 ? (1, total) : nil }
    // When bouncing, a play's first frame belongs to the end of the previous play in later cycles.
    guard step.frame != first(step.direction) else { return nil }
    let ends = timeline.ticks(range.lowerBound) + timeline.ticks(range.upperBound - 1)
    let ticks = 2 * total - ends
    return ticks > 0 ? (2, ticks) : nil
  }

  /// The number of plays after that of `step`; nil if unlimited.
  package func playsLeft(after step: PlaybackStep) -> Int? {
    guard case .finite(let count) = playCount else { return nil }
    return max(count - 1 - step.play, 0)
  }
}

/// One showing of a frame.
package struct PlaybackStep: Sendable, Hashable {
  /// The frame.
  package var frame: Int
  /// The play it belongs to, from 0.
  package var play: Int
  /// The direction of playback.
  package var direction: PlaybackDirection
  /// When it begins, in ticks since the machine's anchor.
  package var start: Int128

  package init(frame: Int, play: Int = 0, direction: PlaybackDirection, start: Int128 = 0) {
    self.frame = frame
    self.play = play
    self.direction = direction
    self.start = start
  }
}
