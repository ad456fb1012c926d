/// The delays to be stored for the showings of an ``EditTimeline``. Showings that are too short are dropped. This is a
/// pure value.
///
/// A delay that no edit has changed is stored unchanged, except that in a format that stores fractions it may be
/// lengthened by the time of a dropped neighbour.
package struct EditDelays: Sendable, Hashable {
  /// A frame of the output: the index of the source's frame that it shows, and the delay to be stored.
  package struct Kept: Sendable, Hashable {
    package let frame: Int
    package let delay: FrameDelay
  }

  /// The frames of the output, in order. A showing that is too long for one frame takes several.
  package private(set) var kept: [Kept] = []
  /// The number of showings that are dropped because they are too short. Their time is added to other showings.
  package private(set) var mergedCount = 0
  /// Whether every delay is stored exactly. If not, the end times of frames are rounded.
  package private(set) var isExact = true
  /// The time by which the animation lasts longer than what is stored.
  private var error = ExactTime.zero
  /// The part of ``error`` that rounding has left, which the next delays to be rounded make up for.
  private var roundingError = ExactTime.zero

  /// Whether the stored delays add up to the duration of the animation, rounded to the unit in which they are stored. If
  /// not, the animation is lengthened, because it has frames that are too short to be stored and cannot be dropped.
  package var keepsDuration: Bool { Self.greatestShortfall <= error && error <= ExactTime(1, 200) }

  /// The greatest time by which rounding to centiseconds lengthens an animation, as a negative number.
  private static let greatestShortfall = ExactTime(-1, 200)

  /// Returns delays as `format` stores them. A still picture stores none, so that they are zero.
  ///
  /// - Parameter shortDelays: What happens to frames that an edit has made too short for browsers.
  /// - Throws: `limitExceeded` if the delays take too many frames.
  package static func stored(
    in format: AnimationFormat, _ timeline: EditTimeline,
    _ shortDelays: AnimationWriterOptions.ShortDelays
  ) throws(AnimatedImageError) -> EditDelays {
    guard let writable = format.writable else {
      var delays = EditDelays()
      delays.kept = timeline.showings.map {
        Kept(frame: $0.frame, delay: FrameDelay(centiseconds: 0))
      }
      return delays
    }
    return writable.countsCentiseconds
      ? try centiseconds(timeline, shortDelays) : try fractions(timeline, shortDelays)
  }

  /// Returns delays in whole centiseconds, as GIF stores them.
  ///
  /// - Throws: `limitExceeded` if the delays take too many frames.
  package static func centiseconds(
    _ timeline: EditTimeline, _ shortDelays: AnimationWriterOptions.ShortDelays
  ) throws(AnimatedImageError) -> EditDelays {
    var delays = EditDelays()
    let showings = timeline.showings
    // A delay of 0 is kept whatever its denominator: an APNG that was made from a GIF may store the delay as 0/1.
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
      try delays.append(showings[place..<end], timeline, shortDelays)
      place = end
    }
    return delays
  }

  /// Appends a run of showings whose delays are not kept.
  private mutating func append(
    _ run: ArraySlice<EditTimeline.Showing>, _ timeline: EditTimeline,
    _ shortDelays: AnimationWriterOptions.ShortDelays
  ) throws(AnimatedImageError) {
    let timescale = timeline.timescale
    // Only the error of rounding is made up for. The time by which short frames were lengthened is lost: the frames after
    // them are not shortened or dropped for it.
    let carried = roundingError
    var rounding = CentisecondDelays(shortDelays, error: carried)
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
    error = error - carried + rounding.error
    roundingError = max(rounding.error, Self.greatestShortfall)
    // The totals also differ if a run was shorter than 2 cs and has been lengthened.
    if error != .zero { isExact = false }
    mergedCount += run.count - groups.count
    for group in groups {
      let frame = run[run.startIndex + group.frame].frame
      kept += group.delays.map { Kept(frame: frame, delay: FrameDelay(centiseconds: $0)) }
    }
  }

  /// Checks that `count` frames are allowed. There can be more frames than showings, because a delay that is too long
  /// for one frame takes several.
  private static func check(
    _ count: Int, _ timeline: EditTimeline
  ) throws(AnimatedImageError) {
    guard count <= timeline.frameLimit else {
      throw EditTimeline.tooManyFrames("with delays of this length, ", count, timeline.frameLimit)
    }
  }

  /// Returns delays as fractions of two 16-bit numbers, as APNG stores them.
  ///
  /// - Throws: `limitExceeded` if the delays take too many frames.
  package static func fractions(
    _ timeline: EditTimeline, _ shortDelays: AnimationWriterOptions.ShortDelays
  ) throws(AnimatedImageError) -> EditDelays {
    var delays = EditDelays()
    let showings = shortDelays == .merge ? delays.mergedShowings(of: timeline) : timeline.showings
    delays.mergedCount = timeline.showings.count - showings.count
    var rounding = FractionDelays()
    for showing in showings {
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

  /// The shortest delay that browsers show as it is stored (see ``DelayPolicy/browser``).
  private static let leastFraction = FrameDelay(numerator: 11, denominator: 1000)

  /// Returns the showings of `timeline` without those that an edit has made so short that browsers would show them for
  /// 100 ms. Their time is added to others, so that one play lasts as long as before.
  ///
  /// Consecutive short showings become one of the longest of them. One that is left alone between showings that are not
  /// short is given to the one before it, or at the start to the one after it.
  private mutating func mergedShowings(of timeline: EditTimeline) -> [EditTimeline.Showing] {
    let (timescale, least) = (timeline.timescale, Self.leastFraction)
    func isShown(_ showing: EditTimeline.Showing) -> Bool {
      showing.ticks * Int128(least.denominator) >= Int128(least.numerator) * timescale
    }
    // A delay that no edit has changed is never too short: the source is shown in the same way. Nor is a delay of 0,
    // which asks for what browsers do with it.
    func isChanged(_ showing: EditTimeline.Showing) -> Bool {
      showing.stored == nil && showing.ticks > 0
    }
    func isShort(_ showing: EditTimeline.Showing) -> Bool {
      isChanged(showing) && !isShown(showing)
    }
    var groups: [EditTimeline.Showing] = []
    // The time of the longest showing of the last group.
    var longest: Int128 = 0
    for showing in timeline.showings {
      guard let last = groups.indices.last, isShort(groups[last]), isChanged(showing) else {
        groups.append(showing)
        longest = showing.ticks
        continue
      }
      groups[last].ticks += showing.ticks
      if showing.ticks > longest { (groups[last].frame, longest) = (showing.frame, showing.ticks) }
    }
    var merged: [EditTimeline.Showing] = []
    for place in groups.indices {
      var showing = groups[place]
      if isShort(showing) {
        if let last = merged.indices.last, isShown(merged[last]) {
          merged[last].ticks += showing.ticks
          merged[last].stored = nil
          continue
        }
        let next = place + 1
        if next < groups.count, isShown(groups[next]) {
          groups[next].ticks += showing.ticks
          groups[next].stored = nil
          continue
        }
        // There is nothing to add the time to.
        error = error + ExactTime(showing.ticks, timescale) - ExactTime(least)
        isExact = false
        showing.stored = least
      }
      merged.append(showing)
    }
    return merged
  }
}
