/// Converts exact delays to those that a GIF stores, which are whole centiseconds.
///
/// The running total is rounded, not each single delay, so the duration of a play is off by at most half a centisecond.
/// Browsers show a delay of 1 cs or less for 10 cs, so no delay below 2 cs is stored unless requested: frames within
/// the same 2 cs are merged into the one that is shown longest. A delay of zero, which means "as fast as possible",
/// counts as 100 ms, as it does in browsers.
package struct CentisecondDelays: Sendable {
  /// The index of a kept frame among the added frames, and its stored delays. A delay of more than 655.35 s is split
  /// into several. All parts but the first belong to additional frames that change nothing.
  package struct Kept: Sendable, Hashable {
    package var frame: Int
    package var delays: [UInt16]

    package init(frame: Int, delays: [UInt16]) {
      self.frame = frame
      self.delays = delays
    }
  }

  private let shortDelays: AnimationWriterOptions.ShortDelays
  private var frameCount = 0
  /// The end time of the frames added so far.
  private var total: ExactTime
  /// The sum of the stored delays, in centiseconds.
  private var stored: Int128 = 0
  /// The longest-shown frame of the current group and its duration, or nil if no group has begun.
  private var winner: (frame: Int, time: ExactTime)?
  /// The last kept frame. It is held back, because the time of the next group is added to its delay if that group is
  /// the last one and is too short.
  private var pending: (frame: Int, centiseconds: Int128)?

  /// - Parameter error: The time by which the frames before these last longer than what is stored for them. The stored
  ///   delays of these frames make up for it. Default: none.
  package init(_ shortDelays: AnimationWriterOptions.ShortDelays, error: ExactTime = .zero) {
    self.shortDelays = shortDelays
    total = error
  }

  /// The time by which the frames added so far last longer than what is stored for them. Valid after ``finish()``.
  var error: ExactTime { total - ExactTime(stored, 100) }

  /// The indices of the frames that may still be returned, in order.
  var candidates: [Int] { [pending?.frame, winner?.frame].compactMap(\.self) }

  private var least: Int128 { shortDelays == .merge ? 2 : 0 }

  /// Adds a frame. Returns an earlier frame if it is now certain to be kept.
  package mutating func add(_ delay: ExactTime) -> Kept? {
    var delay = delay
    if shortDelays == .merge, delay == .zero { delay = ExactTime(1, 10) }
    total = total + delay
    if winner.map({ $0.time < delay }) ?? true { winner = (frameCount, delay) }
    frameCount += 1
    let end = total.rounded(to: 100)
    guard end - stored >= least, let kept = winner?.frame else { return nil }
    let before = pending
    pending = (kept, end - stored)
    stored = end
    winner = nil
    return before.map(Self.split)
  }

  /// Returns the remaining frames. If the last group is too short, its time is added to the frame before the group.
  package mutating func finish() -> [Kept] {
    if let winner {
      let rest = total.rounded(to: 100) - stored
      if let before = pending {
        pending?.centiseconds = before.centiseconds + rest
        stored += rest
      } else {
        pending = (winner.frame, max(rest, least))
        stored += max(rest, least)
      }
    }
    winner = nil
    defer { pending = nil }
    return pending.map { [Self.split($0)] } ?? []
  }

  /// Splits the delay of `frame` if it is too long for one frame of a GIF. No part of a split delay is shorter than 2
  /// cs.
  fileprivate static func split(_ frame: (frame: Int, centiseconds: Int128)) -> Kept {
    let limit: Int128 = 0xffff
    var rest = frame.centiseconds
    var delays: [UInt16] = []
    while rest > limit {
      let part = rest - limit < 2 ? limit - 2 : limit
      delays.append(UInt16(part))
      rest -= part
    }
    return Kept(frame: frame.frame, delays: delays + [UInt16(rest)])
  }
}

/// Merges frames of a GIF whose delays are so short that browsers would replace them.
///
/// Holds up to two pictures: that of the last kept frame, to which the time of later frames may be added, and that of
/// the group being collected.
struct ShortFrameMerging: Sendable {
  /// A kept frame and its index among the appended frames.
  typealias Kept = (frame: WritableFrame, index: Int)

  private var delays = CentisecondDelays(.merge)
  private var held: [Int: WritableFrame] = [:]
  private var frameCount = 0
  /// The index of the frame returned last. Only the frame with the next index may keep its changed rectangle, which
  /// refers to the frame before it.
  private var last = -1

  /// Adds the next frame. Returns an earlier frame if it is now certain to be kept.
  mutating func add(_ frame: WritableFrame) -> Kept? {
    held[frameCount] = frame
    frameCount += 1
    let kept = delays.add(ExactTime(frame.delay)).flatMap { take($0) }
    let candidates = delays.candidates
    for index in held.keys where !candidates.contains(index) { held[index] = nil }
    return kept
  }

  /// Returns the remaining frames.
  mutating func finish() -> [Kept] { delays.finish().compactMap { take($0) } }

  private mutating func take(_ kept: CentisecondDelays.Kept) -> Kept? {
    guard var frame = held.removeValue(forKey: kept.frame) else { return nil }
    let centiseconds = kept.delays.reduce(0) { $0 + Int($1) }
    // For delays of more than a year, whole seconds are precise enough.
    frame.delay =
      UInt32(exactly: centiseconds).map { FrameDelay(numerator: $0, denominator: 100) }
      ?? FrameDelay(numerator: UInt32(clamping: centiseconds / 100), denominator: 1)
    if kept.frame != last + 1 { frame.changed = nil }
    last = kept.frame
    return (frame, kept.frame)
  }
}

/// Rounds delays to whole centiseconds, and keeps all frames, however short. The running total is rounded, not each
/// delay.
struct RoundedDelays: Sendable {
  private var total = ExactTime.zero
  private var stored: Int128 = 0

  /// Returns what is stored for `delay`: one delay, or several if `delay` is longer than 655.35 s.
  mutating func store(_ delay: ExactTime) -> [FrameDelay] {
    total = total + delay
    let end = total.rounded(to: 100)
    defer { stored = end }
    return CentisecondDelays.split((frame: 0, centiseconds: end - stored)).delays.map {
      FrameDelay(centiseconds: $0)
    }
  }
}
