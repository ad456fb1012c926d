/// How long each frame is shown at rate 1, as whole ticks of one timescale.
///
/// Sums of ticks are exact: three frames of 1/3 s end at 1 s and not a nanosecond before.
package struct PlaybackTimeline: Sendable {
  /// Ticks in a second: the least common multiple of all delays' denominators.
  package let timescale: Int128
  /// For each frame the ticks before it; one more entry for the end.
  private let starts: [Int128]

  /// Timescales past this are given up for nanoseconds: only files made for it have such delays,
  /// and the arithmetic of ``PlaybackRate`` needs the room.
  private static let maximumTimescale: Int128 = 1 << 32

  package init(
    _ frames: [FrameControl], policy: DelayPolicy = .browser, fixedDelay: Duration? = nil
  ) {
    // Longer times, which only options can ask for, are cut: the products below need the room.
    let most = (Int128(1) << 94) / Int128(max(frames.count, 1))
    let shown = frames.map {
      Self.shownTime(of: $0.delay, policy: policy, fixedDelay: fixedDelay, atMost: most)
    }
    var timescale: Int128 = 1
    for time in shown {
      let multiple =
        timescale / greatestCommonDivisor(timescale, time.denominator) * time.denominator
      guard multiple <= Self.maximumTimescale else {
        timescale = 1_000_000_000
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
    self.starts = starts
  }

  package var frameCount: Int { starts.count - 1 }

  /// The ticks for which frame `index` is shown.
  package func ticks(_ index: Int) -> Int128 { starts[index + 1] - starts[index] }

  /// The ticks of all frames in `range`.
  package func ticks(_ range: Range<Int>) -> Int128 {
    starts[range.upperBound] - starts[range.lowerBound]
  }

  /// The time that `ticks` last at `rate`.
  package func time(_ ticks: Int128, at rate: PlaybackRate) -> Duration {
    Duration(seconds: ticks * rate.denominator, over: timescale * rate.numerator)
  }

  /// When each frame starts at rate 1, counted from frame 0, and when the last one ends.
  ///
  /// Each is cut down to a whole attosecond by itself: ``position(at:in:)`` finds a frame at its start.
  var startTimes: [Duration] { starts.map { time($0, at: PlaybackRate(1)) } }

  /// The ticks that have begun `time` after the start of frame 0 at rate 1: the most whose
  /// ``time(_:at:)`` is not later. Times before the start count as the start.
  func ticks(at time: Duration) -> Int128 {
    // Not `components`, which trap where the seconds need more than 64 bits.
    let (seconds, attoseconds) = max(time, .zero).attoseconds
      .quotientAndRemainder(dividingBy: attosecondsPerSecond)
    // The times of ticks are cut down, so one belongs here that is over before the next attosecond.
    let bound = (attoseconds + 1) * timescale
    return seconds * timescale
      + (bound + attosecondsPerSecond - 1) / attosecondsPerSecond - 1
  }

  /// The frame of `range` that is shown after these ticks; one without a duration never is.
  func frame(at ticks: Int128, in range: Range<Int>) -> Int {
    var low = range.lowerBound
    var high = range.upperBound - 1
    while low < high {
      let middle = low + (high - low + 1) / 2
      if starts[middle] <= ticks { low = middle } else { high = middle - 1 }
    }
    return low
  }

  /// The frame shown `time` after the start of a forward play at rate 1, and the time since it began.
  ///
  /// A frame's start belongs to the frame. Times outside the play give its first or last instant.
  package func position(at time: Duration, in range: Range<Int>) -> (frame: Int, offset: Duration) {
    let normal = PlaybackRate(1)
    let frame = frame(at: ticks(at: time), in: range)
    let offset = time - self.time(starts[frame], at: normal)
    return (frame, min(max(offset, .zero), self.time(ticks(frame), at: normal)))
  }

  private static func shownTime(
    of delay: FrameDelay, policy: DelayPolicy, fixedDelay: Duration?, atMost most: Int128
  ) -> (numerator: Int128, denominator: Int128) {
    let stored = delay.duration
    let shown = fixedDelay ?? policy.shownDuration(of: delay)
    if fixedDelay == nil, shown == stored {
      return reduced(Int128(delay.numerator), Int128(delay.denominator))
    }
    let nanoseconds = max(shown, .zero).attoseconds / 1_000_000_000
    return reduced(min(nanoseconds, most), 1_000_000_000)
  }

  private static func reduced(
    _ numerator: Int128, _ denominator: Int128
  ) -> (numerator: Int128, denominator: Int128) {
    let divisor = greatestCommonDivisor(denominator, numerator)
    return (numerator / divisor, denominator / divisor)
  }
}
