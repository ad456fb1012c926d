/// The order in which frames are shown. The order does not depend on the current time.
package struct PlaybackOrder: Sendable {
  package private(set) var timeline: PlaybackTimeline
  /// The range of frames to play, without the frames that have not arrived.
  package private(set) var range: Range<Int>
  package let bounces: Bool
  /// Whether further frames in the played range may still arrive.
  package private(set) var isOpen: Bool
  /// The upper bound of the range to play, including frames that have not arrived.
  private let limit: Int
  private var plays: PlayCount

  /// The total number of plays. A range of one frame is played once, because repeating the frame would change nothing
  /// on screen and would cost wake-ups.
  package var playCount: PlayCount { range.count == 1 && !isOpen ? .once : plays }

  /// Creates an order that plays the frames in `range`. `playCount` is the total number of plays, and `timeline`
  /// contains the frames that have arrived.
  ///
  /// - Parameter isOpen: Whether frames of `range` that are not yet in `timeline` may still arrive.
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

  /// Adds frames that have arrived. `playCount` is nil if the playback options specify the play count.
  mutating func extend(by frames: [FrameControl], playCount: PlayCount?, isOpen: Bool) {
    if let playCount { plays = playCount }
    guard self.isOpen else { return }
    timeline.append(frames)
    range = Self.known(range.lowerBound..<limit, timeline.frameCount)
    self.isOpen = isOpen && timeline.frameCount < limit
  }

  /// Returns whether `frame` is in the played range and has arrived.
  package func contains(_ frame: Int) -> Bool { range.contains(frame) }

  /// Returns whether `frame` is in the played range, and has arrived or may still arrive.
  package func mayContain(_ frame: Int) -> Bool {
    isOpen ? frame >= range.lowerBound && frame < limit : range.contains(frame)
  }

  /// Returns the frame of ``range`` that is nearest to `frame`.
  package func nearest(to frame: Int) -> Int {
    max(min(frame, range.upperBound - 1), range.lowerBound)
  }

  /// Returns the frame that is shown when `time` has passed since the start of frame 0 in forward playback, and the
  /// position within that frame; nil if the frame has not arrived. See ``PlaybackTimeline/position(at:in:playCount:)``.
  package func position(at time: Duration) -> (frame: Int, offset: Duration)? {
    // The range to play may begin after the last frame that has arrived.
    guard !range.isEmpty else { return nil }
    let end = timeline.time(timeline.ticks(0..<range.upperBound), at: PlaybackRate(1))
    if isOpen, max(time, .zero) >= end { return nil }
    return timeline.position(at: time, in: range, playCount: playCount)
  }

  /// Returns the frame at which a play in `direction` begins; nil if that frame is not known yet.
  package func knownFirst(_ direction: PlaybackDirection) -> Int? {
    direction == .backward && isOpen ? nil : first(direction)
  }

  /// Returns the frame at which a play in `direction` begins, among the frames that have arrived.
  package func first(_ direction: PlaybackDirection) -> Int {
    direction == .forward ? range.lowerBound : range.upperBound - 1
  }

  /// Returns the time at which `step` ends, in ticks since ``PlaybackStateMachine/anchor``.
  package func end(of step: PlaybackStep) -> Int128 { step.start + timeline.ticks(step.frame) }

  /// Returns the step after `step`; nil if `step` is the last step, or if the next step is not known yet.
  package func next(after step: PlaybackStep) -> PlaybackStep? {
    if case .step(let next) = successor(of: step) { next } else { nil }
  }

  /// What follows a step.
  package enum Successor: Sendable, Hashable {
    case step(PlaybackStep)
    /// Nothing, because the step is the last step of the last play.
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
    // While frames may still arrive, a forward play is not over. The play after a backward play begins at the end of
    // the range, which is not known yet, unless playback bounces.
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

  /// Returns the number of plays and of ticks after which the frame of `step` is shown again in the same direction. The
  /// result is nil if all frames have zero duration, if more frames may arrive, or if playback bounces and `step` shows
  /// the first frame of a play.
  package func cycle(of step: PlaybackStep) -> (plays: Int, ticks: Int128)? {
    guard !isOpen else { return nil }
    let total = timeline.ticks(range)
    guard bounces else { return total > 0 ? (1, total) : nil }
    // If playback bounces, only the first play shows its own first frame; in later cycles, that frame is the last frame
    // of the previous play.
    guard step.frame != first(step.direction) else { return nil }
    let ends = timeline.ticks(range.lowerBound) + timeline.ticks(range.upperBound - 1)
    let ticks = 2 * total - ends
    return ticks > 0 ? (2, ticks) : nil
  }

  /// Returns the number of plays after the play that `step` belongs to; nil if the number is unlimited.
  package func playsLeft(after step: PlaybackStep) -> Int? {
    guard case .finite(let count) = playCount else { return nil }
    return max(count - 1 - step.play, 0)
  }
}

/// One showing of a frame in the playback order.
package struct PlaybackStep: Sendable, Hashable {
  /// The index of the frame.
  package var frame: Int
  package var play: Int
  /// The direction of the play that the step belongs to.
  package var direction: PlaybackDirection
  /// The time at which the step begins, in ticks since ``PlaybackStateMachine/anchor``.
  package var start: Int128

  package init(frame: Int, play: Int = 0, direction: PlaybackDirection, start: Int128 = 0) {
    self.frame = frame
    self.play = play
    self.direction = direction
    self.start = start
  }
}
