/// The delays to be stored for a timeline, and the showings that are dropped because they are too
/// short. A pure value.
///
/// Delays that no edit changed stay as they are stored.
package struct EditDelays: Sendable, Hashable {
  /// A showing that is written.
  package struct Kept: Sendable, Hashable {
    package let frame: Int
    package let delay: FrameDelay
  }

  /// The showings that are written, in order. A delay that is too long for one frame takes several.
  package private(set) var kept: [Kept] = []
  /// The number of showings too short to be written; their time is added to others.
  package private(set) var mergedCount = 0
  /// Whether every delay is exact. If not, the end times of frames are rounded.
  package private(set) var isExact = true

  /// Returns zero delays, for a still picture, which stores none.
  package static func none(_ timeline: EditTimeline) -> EditDelays {
    var delays = EditDelays()
    delays.kept = timeline.showings.map {
      Kept(frame: $0.frame, delay: FrameDelay(centiseconds: 0))
    }
    return delays
  }

  /// Returns delays in whole centiseconds, as GIF stores them.
  ///
  /// - Throws: `limitExceeded` if they need too many frames.
  package static func centiseconds(
    _ timeline: EditTimeline, _ timing: AnimationWriterOptions.Timing
  ) throws(AnimatedImageError) -> EditDelays {
    var delays = EditDelays()
    let showings = timeline.showings
    // A delay of 0 is 0 in any unit: an APNG that was made from a GIF may state it as 0/1.
    func isKept(_ showing: EditTimeline.Showing) -> Bool {
      showing.stored.map {
        $0.numerator == 0 || $0.denominator == 100 && $0.numerator <= 0xffff
      } ?? false
    }
    var place = 0
    while place < showings.count {
      if let stored = showings[place].stored, isKept(showings[place]) {
        delays.kept.append(
          Kept(
            frame: showings[place].frame, delay: FrameDelay(centiseconds: UInt16(stored.numerator)))
        )
        place += 1
        continue
      }
      let end = showings[place...].firstIndex(where: isKept) ?? showings.count
      try delays.append(showings[place..<end], timeline, timing)
      place = end
    }
    return delays
  }

  /// Appends showings whose delays are new.
  private mutating func append(
    _ run: ArraySlice<EditTimeline.Showing>, _ timeline: EditTimeline,
    _ timing: AnimationWriterOptions.Timing
  ) throws(AnimatedImageError) {
    let timescale = timeline.timescale
    var rounding = CentisecondDelays(timing)
    var ticks: Int128 = 0
    var groups: [CentisecondDelays.Kept] = []
    var count = kept.count
    func add(_ group: CentisecondDelays.Kept) throws(AnimatedImageError) {
      count += group.delays.count
      try Self.check(count, timeline)
      groups.append(group)
    }
    for showing in run {
      ticks += showing.ticks
      if ticks * 100 % timescale != 0 { isExact = false }
      if let group = rounding.add(ExactTime(showing.ticks, timescale)) { try add(group) }
    }
    for group in rounding.finish() { try add(group) }
    let stored = groups.reduce(0) { $1.delays.reduce($0) { $0 + Int128($1) } }
    // A run of less than 2 cs is lengthened.
    if stored * timescale != ticks * 100 { isExact = false }
    mergedCount += run.count - groups.count
    for group in groups {
      let frame = run[run.startIndex + group.frame].frame
      kept += group.delays.map { Kept(frame: frame, delay: FrameDelay(centiseconds: $0)) }
    }
  }

  /// Checks the number of stored frames. A delay that is too long for one frame takes several.
  private static func check(
    _ count: Int, _ timeline: EditTimeline
  ) throws(AnimatedImageError) {
    guard count <= timeline.frameLimit else {
      throw EditTimeline.tooManyFrames("for delays of this length ", count, timeline.frameLimit)
    }
  }

  /// Returns delays as fractions of two 16-bit numbers, as APNG stores them.
  ///
  /// - Throws: `limitExceeded` if they need too many frames.
  package static func fractions(
    _ timeline: EditTimeline
  ) throws(AnimatedImageError) -> EditDelays {
    var delays = EditDelays()
    var rounding = FractionDelays()
    for showing in timeline.showings {
      if let stored = showing.stored, max(stored.numerator, stored.denominator) <= 0xffff {
        delays.kept.append(Kept(frame: showing.frame, delay: stored))
        continue
      }
      let time = ExactTime(showing.ticks, timeline.timescale)
      let stored = rounding.store(time)
      if stored.reduce(.zero, { $0 + ExactTime($1) }) != time { delays.isExact = false }
      try check(delays.kept.count + stored.count, timeline)
      delays.kept += stored.map { Kept(frame: showing.frame, delay: $0) }
    }
    return delays
  }
}
