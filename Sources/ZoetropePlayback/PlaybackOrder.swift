/// The order in which frames are shown, independent of the current time.
package struct PlaybackOrder: Sendable {
  package private(set) var timeline: PlaybackTimeline
  /// The frames played, as far as they are known.
  package private(set) var range: Range<Int>
  package let bounces: Bool
  /// Whether more frames of the range may follow, because they have not arrived.
  package private(set) var isOpen: Bool
  /// Where the range ends at the latest.
  private let limit: Int
  private var plays: PlayCount

  /// A range of one frame is played once: repeating it would change nothing, and a still image then costs
  /// no wake-ups.
  package var playCount: PlayCount { range.count == 1 && !isOpen ? .once : plays }

  /// - Parameter isOpen: Whether frames of `range` that `timeline` lacks may arrive.
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

  /// Whether `frame` can be shown now.
  package func contains(_ frame: Int) -> Bool { range.contains(frame) }

  /// Whether `frame` can be shown, now or possibly after it arrives.
  package func mayContain(_ frame: Int) -> Bool {
    isOpen ? frame >= range.lowerBound && frame < limit : range.contains(frame)
  }

  /// The frame of the range that is nearest to `frame`.
  package func nearest(to frame: Int) -> Int {
    max(min(frame, range.upperBound - 1), range.lowerBound)
  }

  /// The frame shown `time` after the start of frame 0; nil if that has not arrived. See
  /// ``PlaybackTimeline/position(at:in:playCount:)``.
  package func position(at time: Duration) -> (frame: Int, offset: Duration)? {
    // The range may begin after the last frame that has arrived.
    guard !range.isEmpty else { return nil }
    let end = timeline.time(timeline.ticks(0..<range.upperBound), at: PlaybackRate(1))
    if isOpen, max(time, .zero) >= end { return nil }
    return timeline.position(at: time, in: range, playCount: playCount)
  }

  /// The frame at which a play in `direction` begins; nil if it is not known yet.
  package func knownFirst(_ direction: PlaybackDirection) -> Int? {
    direction == .backward && isOpen ? nil : first(direction)
  }

  /// The frame at which a play in `direction` begins.
  package func first(_ direction: PlaybackDirection) -> Int {
    direction == .forward ? range.lowerBound : range.upperBound - 1
  }

  /// When `step` ends, in ticks since the anchor.
  package func end(of step: PlaybackStep) -> Int128 { step.start + timeline.ticks(step.frame) }

  /// The step after `step`; nil if it is the last, or if the next one is not known yet.
  package func next(after step: PlaybackStep) -> PlaybackStep? {
    if case .step(let next) = successor(of: step) { next } else { nil }
  }

  /// The step that follows another one.
  package enum Successor: Sendable, Hashable {
    case step(PlaybackStep)
    /// Nothing: it is the last.
    case end
    /// A frame that has not arrived, if it ever does.
    case unknown
  }

  package func successor(of step: PlaybackStep) -> Successor {
    var next = step
    next.start = end(of: step)
    if step.frame != first(step.direction.reversed) {
      next.frame += step.direction.offset
      return .step(next)
    }
    // A forward play continues. The play after a backward one begins at the end, unless playback bounces.
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

  /// The plays and ticks after which the same frame recurs in the same direction; nil if that takes no time
  /// or `step` does not recur so.
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
