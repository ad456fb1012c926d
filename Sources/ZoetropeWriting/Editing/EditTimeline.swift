/// The order and timing in which frames of the source are shown, after some edits.
///
/// A timeline is a pure value. All times are whole ticks of one timescale. They are exact, unless edits require a
/// timescale of more than 2⁴⁸ ticks per second. In that case the end times of frames are rounded, so that errors do not
/// add up.
package struct EditTimeline: Sendable, Hashable {
  /// One appearance of a frame of the source, which may be shown several times.
  package struct Showing: Sendable, Hashable {
    /// The index of the frame in the source.
    package var frame: Int
    /// How long the frame is shown, in ticks.
    package var ticks: Int128
    /// The delay, from the source or set by an edit, that is stored unchanged. Nil if the stored delay has to be
    /// derived from ``ticks``.
    package var stored: FrameDelay?
  }

  /// The number of ticks per second.
  package private(set) var timescale: Int128
  /// The showings in order. There is at least one.
  package private(set) var showings: [Showing]
  /// The part of the source's canvas that is kept.
  package private(set) var canvas: PixelRect
  package private(set) var playCount: PlayCount
  /// How pictures are scaled, or nil if they are not scaled.
  package private(set) var rendering: Rendering?

  /// The maximum number of showings, and of frames stored for them, unless the source has more frames. The number is
  /// large enough to play any file within ``DecodingLimits/default`` back and forth.
  package static let frameLimit = 1 << 18
  /// The maximum duration of a play in seconds, about 31 years.
  private static let durationLimit: Int128 = 1_000_000_000
  /// The maximum number of ticks per second. With this maximum and ``durationLimit``, ticks fit in 78 bits after each
  /// edit, and in 108 bits while an edit multiplies them.
  private static let maximumTimescale: Int128 = 1 << 48
  /// The maximum number of showings of this timeline, and of frames stored for them.
  package let frameLimit: Int

  /// Creates the unedited timeline of `frames`.
  package init(
    _ frames: [FrameControl], canvas: PixelSize, playCount: PlayCount, policy: DelayPolicy
  ) {
    let timeline = PlaybackTimeline(frames, policy: policy)
    timescale = timeline.timescale
    showings = frames.indices.map {
      Showing(frame: $0, ticks: timeline.ticks($0), stored: frames[$0].delay)
    }
    self.canvas = PixelRect(canvas)
    self.playCount = playCount
    frameLimit = max(Self.frameLimit, frames.count)
  }

  /// Creates the timeline of `image` after `edits`.
  ///
  /// - Throws: the errors of ``apply(_:)``; `cancelled` once `isCancelled` returns true.
  init(
    _ image: AnimatedImage, _ edits: [AnimationEdit], policy: DelayPolicy,
    isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) {
    self.init(image.frames, canvas: image.canvasSize, playCount: image.playCount, policy: policy)
    for edit in edits {
      if isCancelled() { throw EncodingQueue.cancelled }
      try apply(edit)
    }
  }

  /// The times at which showings begin, followed by the time at which the last showing ends, in ticks.
  package var times: [Int128] {
    var sum: Int128 = 0
    return [0]
      + showings.map { showing in
        sum += showing.ticks
        return sum
      }
  }

  /// The length of one play in ticks.
  package var ticks: Int128 { showings.reduce(0) { $0 + $1.ticks } }

  /// Applies `edit` to the result of the previous edits.
  ///
  /// - Throws: `parameter` if the edit cannot be applied or leaves no frame; `limitExceeded` if there would be too many
  ///   frames or one play would take too long.
  package mutating func apply(_ edit: AnimationEdit) throws(AnimatedImageError) {
    try change(edit)
    try checkCount(showings.count, edit)
    let limit = Self.durationLimit
    guard ticks <= limit * timescale else {
      throw AnimatedImageError(
        .limitExceeded, "\(edit): one play would take more than \(limit) s",
        limit: LimitExcess(
          .editedDuration, found: Int(clamping: (ticks + timescale - 1) / timescale),
          allowed: Int(limit)))
    }
  }

  private func checkCount(_ count: Int, _ edit: AnimationEdit) throws(AnimatedImageError) {
    guard count <= frameLimit else { throw Self.tooManyFrames("\(edit): ", count, frameLimit) }
  }

  /// Returns the error for an output with more frames than `limit`.
  static func tooManyFrames(_ cause: String, _ count: Int, _ limit: Int) -> AnimatedImageError {
    AnimatedImageError(
      .limitExceeded, "\(cause)there would be \(count) frames, but the limit is \(limit)",
      limit: LimitExcess(.editedFrames, found: count, allowed: limit))
  }

  /// The number of frames in words, for errors.
  private var existing: String {
    showings.count == 1 ? "there is 1 frame" : "there are \(showings.count) frames"
  }

  private mutating func change(_ edit: AnimationEdit) throws(AnimatedImageError) {
    switch edit.kind {
    case .frames(let range):
      guard range.lowerBound >= 0, range.upperBound <= showings.count, !range.isEmpty else {
        throw Self.refusal("\(edit) do not all exist; \(existing)")
      }
      showings = Array(showings[range])
    case .frameList(let indices):
      guard !indices.isEmpty else { throw Self.refusal("the list of frames is empty") }
      if let wrong = indices.first(where: { !showings.indices.contains($0) }) {
        throw Self.refusal("frame \(wrong) does not exist; \(existing)")
      }
      try checkCount(indices.count, edit)
      showings = indices.map { showings[$0] }
    case .time(let range): try cut(range, edit)
    case .speed(let factor):
      guard factor.isFinite, (0.001...1000).contains(factor) else {
        throw Self.refusal("the speed is \(factor); it must be 0.001 to 1000")
      }
      let rate = PlaybackRate(factor)
      if rate.numerator != rate.denominator {
        scaleDelays(by: rate.denominator, over: rate.numerator)
      }
    case .duration(let duration):
      let total = ticks
      guard duration > .zero, total > 0 else {
        throw Self.refusal(
          "\(edit): the animation must have a duration above 0 before and after the edit")
      }
      let (numerator, denominator) = Self.fraction(DelayPolicy.clamped(duration))
      // Compare at full width, because either product may overflow.
      if numerator.multipliedFullWidth(by: timescale)
        != total.multipliedFullWidth(by: denominator)
      {
        scaleDelays(to: numerator, over: denominator)
      }
    case .framesPerSecond(let rate):
      guard rate.isFinite, (0.001...1000).contains(rate) else {
        throw Self.refusal("the frame rate is \(rate); it must be 0.001 to 1000")
      }
      guard ticks > 0 || showings.count == 1 else {
        throw Self.refusal("\(edit): the duration of the animation must be above 0")
      }
      let exact = PlaybackRate(rate)
      // The rate is rounded to a millionth, which must not resample an animation that has this rate.
      let highest = exact.numerator * (1_000_000 / exact.denominator) + 1
      if showings.contains(where: { $0.ticks * highest < 1_000_000 * timescale }) {
        keepFrames(slot: exact.denominator * timescale, unit: exact.numerator)
      }
    case .frameCount(let count):
      guard count > 0, ticks > 0 else {
        throw Self.refusal("\(edit): the number of frames and the duration must be above 0")
      }
      keepFrames(slot: ticks, unit: Int128(count))
    case .reverse: showings.reverse()
    case .backAndForth:
      if showings.count > 2 { showings += showings[1..<showings.count - 1].reversed() }
    case .resize(let rendering):
      guard self.rendering == nil else { throw Self.refusal("\(edit): only one edit may resize") }
      guard min(rendering.target?.width ?? 1, rendering.target?.height ?? 1) >= 1 else {
        throw Self.refusal("\(edit): the width and the height must be at least 1")
      }
      let scale = rendering.target?.scale ?? 1
      guard scale > 0, scale.isFinite else {
        throw Self.refusal("\(edit): the scale must be finite and above 0")
      }
      // Pictures that already have the size are not scaled, and may be copied.
      if Rendition(rendering, of: canvas.size).scaling != nil { self.rendering = rendering }
    case .crop(let rect):
      guard rendering == nil else { throw Self.refusal("\(edit): crops must come before scaling") }
      let kept = PixelRect(canvas.size).intersection(rect)
      guard !kept.isEmpty else {
        throw Self.refusal("\(edit): the rectangle has no pixel of the canvas of \(canvas.size)")
      }
      canvas = PixelRect(
        x: canvas.x + kept.x, y: canvas.y + kept.y, width: kept.width, height: kept.height)
    case .playCount(let count):
      if case .finite(let plays) = count, plays < 1 {
        throw Self.refusal("the play count is \(plays); it must be at least 1")
      }
      playCount = count
    case .delay(let delay): set([FrameDelay](repeating: delay, count: showings.count))
    case .delays(let delays):
      guard delays.count == showings.count else {
        throw Self.refusal("the number of delays is \(delays.count); \(existing)")
      }
      set(delays)
    }
  }

  private static func refusal(_ detail: String) -> AnimatedImageError {
    AnimatedImageError(.parameter, detail)
  }

  /// Keeps the part of the animation that is shown during `range`.
  private mutating func cut(
    _ range: Range<Duration>, _ edit: AnimationEdit
  ) throws(AnimatedImageError) {
    let low = tick(at: range.lowerBound)
    // This call may change the timescale, so `low` has to be converted below.
    let high = tick(at: range.upperBound)
    let first = low.ticks * (timescale / low.timescale)
    var kept: [Showing] = []
    var start: Int128 = 0
    for var showing in showings {
      let end = start + showing.ticks
      let from = max(start, first)
      let to = min(end, high.ticks)
      // A frame with zero duration is kept if the range contains its start.
      if from < to || showing.ticks == 0 && from == start && start < high.ticks {
        if to - from != showing.ticks { showing.stored = nil }
        showing.ticks = max(to - from, 0)
        kept.append(showing)
      }
      start = end
    }
    guard !kept.isEmpty else { throw Self.refusal("\(edit): no frame is shown during this time") }
    showings = kept
  }

  /// Converts a time to ticks. Refines the timescale if the time is not a boundary and would not be a whole number of
  /// ticks. If the timescale would become too fine, the time is rounded down instead.
  private mutating func tick(at time: Duration) -> (ticks: Int128, timescale: Int128) {
    if let boundary = self.boundary(near: time) { return (boundary, timescale) }
    let (numerator, denominator) = Self.fraction(DelayPolicy.clamped(time))
    let factor = denominator / greatestCommonDivisor(timescale, denominator)
    if timescale * factor <= Self.maximumTimescale { refine(by: factor) }
    // Handle whole seconds separately, so that the products fit.
    let (seconds, rest) = numerator.quotientAndRemainder(dividingBy: denominator)
    return (seconds * timescale + rest * timescale / denominator, timescale)
  }

  /// Returns the start or end of a showing, in ticks, that lies within half a microsecond of `time`, or nil if there is
  /// none. Reports round times to microseconds, so a time that is copied from a report means this boundary.
  private func boundary(near time: Duration) -> Int128? {
    let second: Int128 = 1_000_000_000_000_000_000
    let attoseconds = DelayPolicy.clamped(time).attoseconds
    func distance(_ tick: Int128) -> Int128 {
      // Handle whole seconds separately, so that the products fit.
      let (seconds, rest) = tick.quotientAndRemainder(dividingBy: timescale)
      return abs(seconds * second + rest * second / timescale - attoseconds)
    }
    let nearest = times.min { distance($0) < distance($1) }
    return nearest.flatMap { distance($0) <= second / 2_000_000 ? $0 : nil }
  }

  /// Multiplies the timescale and all ticks by `factor`, so that times do not change.
  private mutating func refine(by factor: Int128) {
    timescale *= factor
    for index in showings.indices { showings[index].ticks *= factor }
  }

  /// Multiplies every delay by a fraction.
  private mutating func scaleDelays(by numerator: Int128, over denominator: Int128) {
    timescale *= denominator
    for index in showings.indices {
      showings[index].ticks *= numerator
      showings[index].stored = nil
    }
    simplify()
  }

  /// Scales the delays so that the total is `numerator` / `denominator` seconds, which must be at most 10¹⁰ seconds.
  private mutating func scaleDelays(to numerator: Int128, over denominator: Int128) {
    let total = ticks
    if total < 1 << 60, denominator < 1 << 60, numerator < 1 << 60 {
      timescale = denominator * total
      for index in showings.indices {
        showings[index].ticks *= numerator
        showings[index].stored = nil
      }
      simplify()
      return
    }
    // Only crafted delays get here. Use nanoseconds, and round each end time.
    let nanoseconds = numerator * 1_000_000_000 / denominator
    setEnds(timescale: 1_000_000_000) { Self.scaled($0, nanoseconds, over: total) }
    for index in showings.indices { showings[index].stored = nil }
  }

  /// Divides the timescale and all ticks by their common factors. If the timescale is still too fine, rounds all times
  /// to nanoseconds.
  private mutating func simplify() {
    var divisor = timescale
    for showing in showings where divisor > 1 {
      divisor = greatestCommonDivisor(divisor, showing.ticks)
    }
    timescale /= divisor
    for index in showings.indices { showings[index].ticks /= divisor }
    guard timescale > Self.maximumTimescale else { return }
    let old = timescale
    setEnds(timescale: 1_000_000_000) { Self.scaled($0, 1_000_000_000, over: old) }
  }

  /// Sets the timescale, and converts the end time of each showing with `convert`.
  private mutating func setEnds(timescale: Int128, _ convert: (Int128) -> Int128) {
    var (old, new): (Int128, Int128) = (0, 0)
    for index in showings.indices {
      old += showings[index].ticks
      let end = convert(old)
      showings[index].ticks = end - new
      new = end
    }
    self.timescale = timescale
  }

  /// Returns `value * numerator / denominator`, rounded to the nearest integer. Only the result has to fit, not the
  /// product.
  private static func scaled(
    _ value: Int128, _ numerator: Int128, over denominator: Int128
  ) -> Int128 {
    let doubled = denominator.dividingFullWidth(
      (2 * value).multipliedFullWidth(by: numerator)
    ).quotient
    return (doubled + 1) / 2
  }

  /// Divides the timeline into slots of `slot` / `unit` ticks, and keeps only the showings during which a slot begins.
  private mutating func keepFrames(slot: Int128, unit: Int128) {
    guard showings.contains(where: { $0.ticks * unit < slot }) else { return }
    timescale *= unit
    for index in showings.indices { showings[index].ticks *= unit }
    let total = ticks
    var kept: [(showing: Showing, start: Int128)] = []
    var start: Int128 = 0
    for showing in showings {
      let first = (start + slot - 1) / slot
      start += showing.ticks
      // The first showing is kept, however short it is.
      if first * slot < start || kept.isEmpty { kept.append((showing, first * slot)) }
    }
    for index in kept.indices {
      let end = index + 1 < kept.count ? kept[index + 1].start : total
      let ticks = end - kept[index].start
      if ticks != kept[index].showing.ticks { kept[index].showing.stored = nil }
      kept[index].showing.ticks = ticks
    }
    showings = kept.map(\.showing)
    simplify()
  }

  /// Sets the delays of all showings to `delays`, in order.
  ///
  /// A delay that browsers would replace with a longer one is not stored as it is, but as
  /// ``EditOptions/shortDelays`` specifies.
  package mutating func set(_ delays: [FrameDelay]) {
    let frames = delays.map { FrameControl(index: 0, rect: .empty, delay: $0) }
    let timeline = PlaybackTimeline(frames, policy: .exact)
    timescale = timeline.timescale
    for index in showings.indices {
      showings[index].ticks = timeline.ticks(index)
      let duration = delays[index].duration
      let isKept =
        DelayPolicy.browser.shownDuration(of: delays[index]) == duration || duration == .zero
      showings[index].stored = isKept ? delays[index] : nil
    }
  }

  /// Returns a time in seconds as a fraction in lowest terms.
  private static func fraction(_ time: Duration) -> (numerator: Int128, denominator: Int128) {
    let second: Int128 = 1_000_000_000_000_000_000
    let divisor = greatestCommonDivisor(second, time.attoseconds)
    return (time.attoseconds / divisor, second / divisor)
  }
}
