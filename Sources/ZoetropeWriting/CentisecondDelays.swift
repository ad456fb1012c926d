/// Delays as GIF stores them: whole centiseconds.
///
/// The running total is rounded, never each delay, so the duration of a play is right to half a centisecond. Browsers
/// show a delay of 1 cs or less for 10 cs, so no delay below 2 cs is stored unless requested: frames within the same 2
/// cs are merged into the one shown longest. A delay of zero, "as fast as possible", counts as 100 ms, as in browsers.
package struct CentisecondDelays: Sendable {
  /// A kept frame: its index among the added frames, and its delays. A delay of more than 655.35 s is split; all parts
  /// but the first belong to frames that change nothing.
  package struct Kept: Sendable, Hashable {
    package var frame: Int
    package var delays: [UInt16]

    package init(frame: Int, delays: [UInt16]) {
      self.frame = frame
      self.delays = delays
    }
  }

  private let timing: AnimationWriterOptions.Timing
  private var frameCount = 0
  /// The end time of the frames added so far.
  private var total = ExactTime.zero
  /// The sum of the stored delays, in centiseconds.
  private var stored: Int128 = 0
  /// The frame shown longest in the current group, and for how long; nil without a group.
  private var winner: (frame: Int, time: ExactTime)?
  /// The last kept frame. It is held back, because the time of a final group that is too short is added to it.
  private var pending: (frame: Int, centiseconds: Int128)?

  package init(_ timing: AnimationWriterOptions.Timing) { self.timing = timing }

  /// The frames that may still be returned, in order.
  var candidates: [Int] { [pending?.frame, winner?.frame].compactMap(\.self) }

  private var least: Int128 { timing == .browser ? 2 : 0 }

  /// Adds a frame. Returns an earlier frame if it is now certain to be kept.
  package mutating func add(_ delay: ExactTime) -> Kept? {
    var delay = delay
    if timing == .browser, delay == .zero { delay = ExactTime(1, 10) }
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

  /// Returns the remaining frames. The time of a group that is too short is added to the previous frame.
  package mutating func finish() -> [Kept] {
    let rest = total.rounded(to: 100) - stored
    if let winner {
      if pending != nil {
        pending?.centiseconds += rest
      } else {
        pending = (winner.frame, max(rest, least))
      }
    }
    winner = nil
    defer { pending = nil }
    return pending.map { [Self.split($0)] } ?? []
  }

  /// Splits a delay that is too long. No part is shorter than 2 cs.
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

/// Merges frames of a GIF that browsers would show for the wrong time.
///
/// Holds up to two pictures: one to which the time of later frames may be added, and that of the group being collected.
struct ShortFrameMerging: Sendable {
  /// A kept frame, and its index among the appended frames.
  typealias Kept = (frame: WritableFrame, index: Int)

  private var delays = CentisecondDelays(.browser)
  private var held: [Int: WritableFrame] = [:]
  private var frameCount = 0
  /// The index of the last frame returned. Only the frame right after that may use its hint.
  private var last = -1

  /// Takes the next frame. Returns an earlier frame if it is now certain to be kept.
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
    // For delays beyond a year, whole seconds are precise enough.
    frame.delay =
      UInt32(exactly: centiseconds).map { FrameDelay(numerator: $0, denominator: 100) }
      ?? FrameDelay(numerator: UInt32(clamping: centiseconds / 100), denominator: 1)
    if kept.frame != last + 1 { frame.changed = nil }
    last = kept.frame
    return (frame, kept.frame)
  }
}

/// Rounds delays to whole centiseconds while keeping all frames, however short. The running total is rounded.
struct RoundedDelays: Sendable {
  private var total = ExactTime.zero
  private var stored: Int128 = 0

  /// Returns the stored form of `delay`: one delay, or several if it is longer than 655.35 s.
  mutating func store(_ delay: ExactTime) -> [FrameDelay] {
    total = total + delay
    let end = total.rounded(to: 100)
    defer { stored = end }
    return CentisecondDelays.split((frame: 0, centiseconds: end - stored)).delays.map {
      FrameDelay(centiseconds: $0)
    }
  }
}
