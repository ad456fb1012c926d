/// The times at which the frames of an animation start at rate 1, in whole ticks of one timescale.
///
/// Sums of ticks are exact: three frames of 1/3 s end at exactly 1 s, not a nanosecond earlier.
package struct PlaybackTimeline: Sendable {
  /// The number of ticks per second: the least common multiple of the denominators of all delays, or 10⁹ if that
  /// multiple is too large.
  package private(set) var timescale: Int128
  /// The start of each frame in ticks, followed by the end of the last frame.
  private var starts: [Int128]
  /// Whether delays are rounded to nanoseconds because their common timescale would be too large. Once true, this stays
  /// true.
  private var isInNanoseconds = false
  private let policy: DelayPolicy
  private let fixedDelay: Duration?

  /// The maximum timescale, which bounds the arithmetic of ``PlaybackRate``. If the delays need a larger one,
  /// nanoseconds are used instead. Only files crafted for this purpose have such delays.
  private static let maximumTimescale: Int128 = 1 << 32
  private static let nanoseconds: Int128 = 1_000_000_000

  package init(
    _ frames: [FrameControl], policy: DelayPolicy = .browser, fixedDelay: Duration? = nil
  ) {
    timescale = 1
    isInNanoseconds = false
    starts = [0]
    starts.reserveCapacity(frames.count + 1)
    self.policy = policy
    self.fixedDelay = fixedDelay
    append(frames)
  }

  /// Appends `frames` to the end of the timeline.
  ///
  /// This takes constant time per frame, unless the timescale has to change, which takes time linear in the number of
  /// frames. The timescale changes at most about thirty times: each new timescale is a multiple of the previous one,
  /// until the maximum is exceeded and nanoseconds are used from then on.
  package mutating func append(_ frames: [FrameControl]) {
    for frame in frames {
      let time = Self.shownTime(of: frame.delay, policy: policy, fixedDelay: fixedDelay)
      if !isInNanoseconds {
        let divisor = greatestCommonDivisor(timescale, time.denominator)
        let multiple = timescale / divisor * time.denominator
        isInNanoseconds = multiple > Self.maximumTimescale
        rescale(to: isInNanoseconds ? Self.nanoseconds : multiple)
      }
      starts.append(starts[starts.count - 1] + time.numerator * timescale / time.denominator)
    }
  }

  private mutating func rescale(to newScale: Int128) {
    guard newScale != timescale else { return }
    for index in starts.indices { starts[index] = starts[index] * newScale / timescale }
    timescale = newScale
  }

  package var frameCount: Int { starts.count - 1 }

  /// Returns the number of ticks for which frame `index` is shown.
  package func ticks(_ index: Int) -> Int128 { starts[index + 1] - starts[index] }

  /// Returns the total number of ticks for which the frames in `range` are shown.
  package func ticks(_ range: Range<Int>) -> Int128 {
    starts[range.upperBound] - starts[range.lowerBound]
  }

  /// Returns the time that `ticks` take at `rate`.
  package func time(_ ticks: Int128, at rate: PlaybackRate) -> Duration {
    Duration(seconds: ticks * rate.denominator, over: timescale * rate.numerator)
  }

  /// Returns the time at which frame `index` starts at rate 1, as in ``startTimes``. If `index` is the number of
  /// frames, returns the time at which the last frame ends.
  package func startTime(_ index: Int) -> Duration { time(starts[index], at: PlaybackRate(1)) }

  /// The times at which the frames start at rate 1, relative to the start of frame 0, followed by the time at which the
  /// last frame ends.
  ///
  /// Each time is rounded down to a whole attosecond separately, so that ``position(at:in:playCount:)``, given the
  /// start time of a frame, finds that frame.
  var startTimes: [Duration] { starts.map { time($0, at: PlaybackRate(1)) } }

  /// Returns the last tick that has begun `time` after the start of frame 0 at rate 1. This is the greatest number of
  /// ticks for which ``time(_:at:)`` is not later than `time`. Negative times count as zero.
  package func ticks(at time: Duration) -> Int128 {
    // `components` is not used, because it traps if the seconds need more than 64 bits.
    let (seconds, attoseconds) = max(time, .zero).attoseconds
      .quotientAndRemainder(dividingBy: attosecondsPerSecond)
    // ``time(_:at:)`` rounds down, so a tick that begins within the attosecond after `time` counts as begun.
    let bound = (attoseconds + 1) * timescale
    return seconds * timescale
      + (bound + attosecondsPerSecond - 1) / attosecondsPerSecond - 1
  }

  /// Returns the frame in `range` that is shown at `ticks`, counted from the start of frame 0. For `ticks` within the
  /// range, this is never a frame with a duration of zero.
  package func frame(at ticks: Int128, in range: Range<Int>) -> Int {
    max(range.lowerBound, range.partitioningIndex { starts[$0] > ticks } - 1)
  }

  /// Returns the frame that is shown `time` after the start of frame 0 when `range` plays forward at rate 1, and the
  /// time since that frame began. All functions of the library that find a frame by its time follow the rules below.
  ///
  /// The start time of a frame belongs to that frame. A time after the end of a play falls into the next play, as long
  /// as there are further plays according to `playCount`. A time before the range gives the start of the first frame,
  /// and a time after the last play gives the start of the last frame.
  package func position(
    at time: Duration, in range: Range<Int>, playCount: PlayCount
  ) -> (frame: Int, offset: Duration) {
    let first = starts[range.lowerBound]
    let play = ticks(range)
    let passed = ticks(at: time) - first
    guard passed >= 0 else { return (frame(at: first, in: range), .zero) }
    let last = (frame: range.upperBound - 1, offset: Duration.zero)
    // If all frames have zero duration, all plays are over immediately.
    guard play > 0 else { return last }
    let (plays, rest) = passed.quotientAndRemainder(dividingBy: play)
    if case .finite(let count) = playCount, plays >= Int128(count) { return last }
    let index = frame(at: first + rest, in: range)
    let normal = PlaybackRate(1)
    // The time is clamped first, because subtracting from the least `Duration` would overflow.
    let offset = max(time, .zero) - self.time(starts[index] + plays * play, at: normal)
    return (index, min(max(offset, .zero), self.time(ticks(index), at: normal)))
  }

  private static func shownTime(
    of delay: FrameDelay, policy: DelayPolicy, fixedDelay: Duration?
  ) -> (numerator: Int128, denominator: Int128) {
    let stored = delay.duration
    let shown = fixedDelay ?? policy.shownDuration(of: delay)
    if fixedDelay == nil, shown == stored {
      return reduced(Int128(delay.numerator), Int128(delay.denominator))
    }
    // Only options can specify a delay that is longer than the maximum of ``DelayPolicy/clamped(_:)``. Such a delay is
    // clamped, because it would overflow the products above.
    return reduced(DelayPolicy.clamped(shown).attoseconds / 1_000_000_000, 1_000_000_000)
  }

  private static func reduced(
    _ numerator: Int128, _ denominator: Int128
  ) -> (numerator: Int128, denominator: Int128) {
    let divisor = greatestCommonDivisor(denominator, numerator)
    return (numerator / divisor, denominator / divisor)
  }
}
