/// How long each frame is shown at rate 1, in whole ticks of one timescale.
///
/// Sums of ticks are exact: three frames of 1/3 s end at exactly 1 s, not a nanosecond earlier.
package struct PlaybackTimeline: Sendable {
  /// Ticks per second: the least common multiple of all delays' denominators, or 10⁹ if that is too large.
  package private(set) var timescale: Int128
  /// The start of each frame in ticks, and the end of the last one.
  private var starts: [Int128]
  /// Whether delays are rounded to nanoseconds, because no other timescale fits. Never reset.
  private var isInNanoseconds = false
  private let policy: DelayPolicy
  private let fixedDelay: Duration?

  /// Larger timescales are replaced by nanoseconds, to bound the arithmetic of ``PlaybackRate``. Only
  /// crafted files have such delays.
  private static let maximumTimescale: Int128 = 1 << 32
  private static let nanoseconds: Int128 = 1_000_000_000

  package init(
    _ frames: [FrameControl], policy: DelayPolicy = .browser, fixedDelay: Duration? = nil
  ) {
    let shown = frames.map {
      Self.shownTime(of: $0.delay, policy: policy, fixedDelay: fixedDelay)
    }
    var timescale: Int128 = 1
    var isInNanoseconds = false
    for time in shown {
      let multiple =
        timescale / greatestCommonDivisor(timescale, time.denominator) * time.denominator
      guard multiple <= Self.maximumTimescale else {
        timescale = Self.nanoseconds
        isInNanoseconds = true
        break
      }
      timescale = multiple
    }
    var sum: Int128 = 0
    var starts: [Int128] = [0]
    starts.reserveCapacity(frames.count + 1)
    for time in shown {
      sum += time.numerator * timescale / time.denominator
      starts.append(sum)
    }
    self.timescale = timescale
    self.isInNanoseconds = isInNanoseconds
    self.starts = starts
    self.policy = policy
    self.fixedDelay = fixedDelay
  }

  /// Adds frames at the end. Takes constant time per frame, unless the timescale has to change. That happens at most
  /// about thirty times: each new timescale is a multiple of the one before, until the maximum is exceeded and
  /// nanoseconds are used from then on.
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

  /// Returns the number of ticks for which all frames in `range` are shown.
  package func ticks(_ range: Range<Int>) -> Int128 {
    starts[range.upperBound] - starts[range.lowerBound]
  }

  /// Returns the duration of `ticks` at `rate`.
  package func time(_ ticks: Int128, at rate: PlaybackRate) -> Duration {
    Duration(seconds: ticks * rate.denominator, over: timescale * rate.numerator)
  }

  /// Returns the time at which frame `index` starts at rate 1, as in ``startTimes``; if `index` is the number of
  /// frames, the end of the last one.
  package func startTime(_ index: Int) -> Duration { time(starts[index], at: PlaybackRate(1)) }

  /// The times at which each frame starts at rate 1, relative to frame 0, and at which the last one ends.
  ///
  /// Each is rounded down to a whole attosecond individually, so that ``position(at:in:playCount:)`` finds a frame at
  /// its start.
  var startTimes: [Duration] { starts.map { time($0, at: PlaybackRate(1)) } }

  /// Returns the last tick that has begun `time` after the start of frame 0 at rate 1: the greatest number whose
  /// ``time(_:at:)`` is not later than `time`. Negative times count as zero.
  package func ticks(at time: Duration) -> Int128 {
    // Not `components`, which traps if the seconds need more than 64 bits.
    let (seconds, attoseconds) = max(time, .zero).attoseconds
      .quotientAndRemainder(dividingBy: attosecondsPerSecond)
    // Tick times are rounded down, so a tick that begins before the next attosecond counts as begun.
    let bound = (attoseconds + 1) * timescale
    return seconds * timescale
      + (bound + attosecondsPerSecond - 1) / attosecondsPerSecond - 1
  }

  /// Returns the frame of `range` shown at `ticks`; never a frame of zero duration.
  package func frame(at ticks: Int128, in range: Range<Int>) -> Int {
    var low = range.lowerBound
    var high = range.upperBound - 1
    while low < high {
      let middle = low + (high - low + 1) / 2
      if starts[middle] <= ticks { low = middle } else { high = middle - 1 }
    }
    return low
  }

  /// Returns the frame shown `time` after the start of frame 0 when `range` plays forward at rate 1, and the time since
  /// that frame began. All calls that take a time follow these rules.
  ///
  /// The start time of a frame belongs to that frame. A time past one play continues into the next, up to `playCount`.
  /// A time before the range means the start of its first frame, and a time past the last play means the start of its
  /// last frame.
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
    // Clamp first: subtracting from the least `Duration` would overflow.
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
    // Only options can specify a longer delay than the clamp allows, which would overflow the products above.
    return reduced(DelayPolicy.clamped(shown).attoseconds / 1_000_000_000, 1_000_000_000)
  }

  private static func reduced(
    _ numerator: Int128, _ denominator: Int128
  ) -> (numerator: Int128, denominator: Int128) {
    let divisor = greatestCommonDivisor(denominator, numerator)
    return (numerator / divisor, denominator / divisor)
  }
}
