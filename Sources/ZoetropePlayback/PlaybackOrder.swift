/// The order in which frames are shown, independent of the current time.
package struct PlaybackOrder: Sendable {
  package private(set) var timeline: PlaybackTimeline
  /// The range of frames played, as far as it is known.
  package private(set) var range: Range<Int>
  package let bounces: Bool
  /// Whether more frames of the range may still arrive.
  package private(set) var isOpen: Bool
  /// The upper bound of the range once all its frames have arrived.
  private let limit: Int
  private var plays: PlayCount

  /// The total number of plays. A range of one frame is played once: repeating it would change nothing, and this way a
  /// still image costs no wake-ups.
  package var playCount: PlayCount { range.count == 1 && !isOpen ? .once : plays }

  /// - Parameter isOpen: Whether frames of `range` that `timeline` lacks may still arrive.
  package init(
    timeline: PlaybackTimeline, range: Range<Int>, playCount: PlayCount, bounces: Bool,
    isOpen: Bool = false
  ) {
    self.timeline = timeline
    self.bounces = bounces
    limit = range.upperBound
    plays = playCount
    self.isOpen = isOpen && timeline.frameCount < limit
    self.range = self.isOpen ? Self.known(range, timeline.frameCount) : range
  }

  private static func known(_ range: Range<Int>, _ count: Int) -> Range<Int> {
    range.lowerBound..<max(min(range.upperBound, count), range.lowerBound)
  }

  /// Adds frames that have arrived. `playCount` is nil if the options specify one.
  mutating func extend(by frames: [FrameControl], playCount: PlayCount?, isOpen: Bool) {
    if let playCount { plays = playCount }
    guard self.isOpen else { return }
    timeline.append(frames)
    range = Self.known(range.lowerBound..<limit, timeline.frameCount)
    self.isOpen = isOpen && timeline.frameCount < limit
  }

  /// Returns whether `frame` can be shown now.
  package func contains(_ frame: Int) -> Bool { range.contains(frame) }

  /// Returns whether `frame` can be shown, either now or possibly after it arrives.
  package func mayContain(_ frame: Int) -> Bool {
    isOpen ? frame >= range.lowerBound && frame < limit : range.contains(frame)
  }

  /// Returns the frame of the range that is nearest to `frame`.
  package func nearest(to frame: Int) -> Int {
    max(min(frame, range.upperBound - 1), range.lowerBound)
  }

  /// Returns the frame shown `time` after the start of frame 0; nil if that frame has not arrived. See
  /// ``PlaybackTimeline/position(at:in:playCount:)``.
  package func position(at time: Duration) -> (frame: Int, offset: Duration)? {
    // The range may begin after the last frame that has arrived.
    guard !range.isEmpty else { return nil }
    let end = timeline.time(timeline.ticks(0..<range.upperBound), at: PlaybackRate(1))
    if isOpen, max(time, .zero) >= end { return nil }
    return timeline.position(at: time, in: range, playCount: playCount)
  }

  /// Returns the frame at which a play in `direction` begins; nil if it is not known yet.
  package func knownFirst(_ direction: PlaybackDirection) -> Int? {
    direction == .backward && isOpen ? nil : first(direction)
  }

  /// Returns the frame at which a play in `direction` begins.
  package func first(_ direction: PlaybackDirection) -> Int {
    direction == .forward ? range.lowerBound : range.upperBound - 1
  }

  /// Returns the time at which `step` ends, in ticks since the anchor.
  package func end(of step: PlaybackStep) -> Int128 { step.start + timeline.ticks(step.frame) }

  /// Returns the step after `step`; nil if `step` is the last, or if the next one is not known yet.
  package func next(after step: PlaybackStep) -> PlaybackStep? {
    if case .step(let next) = successor(of: step) { next } else { nil }
  }

  /// The step that follows another one.
  package enum Successor: Sendable, Hashable {
    case step(PlaybackStep)
    /// Nothing: the step is the last.
    case end
    /// A frame that has not arrived and may never arrive.
    case unknown
  }

  package func successor(of step: PlaybackStep) -> Successor {
    var next = step
    next.start = end(of: step)
    if step.frame != first(step.direction.reversed) {
      next.frame += step.direction.offset
      return .step(next)
    }
    // While frames may still arrive, a forward play is not over, and unless playback bounces, the play after a backward
    // one begins at an end that is not known yet.
    if isOpen, step.direction == .forward { return .unknown }
    if case .finite(let count) = playCount, step.play + 1 >= count { return .end }
    if isOpen, !bounces || range.count == 1 { return .unknown }
    next.play += 1
    if bounces {
      next.direction = step.direction.reversed
      next.frame += next.direction.offset
    } else {
      next.frame = first(step.direction)
    }
    return .step(next)
  }

  /// Returns the plays and ticks after which the same frame recurs in the same direction; nil if that takes no time or
  /// if `step` does not recur in this way.
  package func cycle(of step: PlaybackStep) -> (plays: Int, ticks: Int128)? {
    guard !isOpen else { return nil }
    let total = timeline.ticks(range)
    guard bounces else { return total > 0 ? (1, total) : nil }
    // When bouncing, a play's first frame belongs to the end of the previous play in later cycles.
    guard step.frame != first(step.direction) else { return nil }
    let ends = timeline.ticks(range.lowerBound) + timeline.ticks(range.upperBound - 1)
    let ticks = 2 * total - ends
    return ticks > 0 ? (2, ticks) : nil
  }

  /// Returns the number of plays after the play of `step`; nil if unlimited.
  package func playsLeft(after step: PlaybackStep) -> Int? {
    guard case .finite(let count) = playCount else { return nil }
    return max(count - 1 - step.play, 0)
  }
}

/// One showing of a frame.
package struct PlaybackStep: Sendable, Hashable {
  /// The frame.
  package var frame: Int
  package var play: Int
  /// The direction of playback.
  package var direction: PlaybackDirection
  /// The time at which the step begins, in ticks since the machine's anchor.
  package var start: Int128

  package init(frame: Int, play: Int = 0, direction: PlaybackDirection, start: Int128 = 0) {
    self.frame = frame
    self.play = play
    self.direction = direction
    self.start = start
  }
}
