/// A state machine that searches for the mildest settings with which a file stays within a byte limit. The machine
/// itself encodes nothing.
///
/// Read ``step``, carry it out, and pass the result to ``take(_:)``. Settings are tried in the order of visible harm:
/// more effort, similar colours, fewer colours, fewer frames, smaller pictures. Samples are cheap estimates of a file's
/// size; at most six whole files are encoded. The file that the search ends with has been encoded and is known to fit.
/// The search assumes that milder settings take more bytes. Where that is wrong, the result is valid, but further from
/// the limit than necessary. Before the search fails, it drops this assumption and tries ``BudgetExtremes``.
///
/// A *stage* is a combination of frame rate and picture size. A *rung* is a combination of number of colours and
/// tolerance. Stages and rungs are numbered from mild to harsh. There are two sequences of rungs: where a tolerance
/// saves bytes, it is raised before and while colours are reduced; elsewhere, only colours are reduced. If colours may
/// not change, there is a single rung.
package struct BudgetSearch: Sendable {
  private enum Phase: Sendable {
    case losslessSample, lossless, thorough
    /// Finds out whether a tolerance saves bytes.
    case toleranceSample
    /// Searches the stages in this range, of which the first is known to be too large.
    case stage(Range<Int>)
    case rungSample
    case file
    case extremeSample
    case extreme
    /// Searches these tolerances with the colours of an extreme. The file fits with the tolerance after the range, and
    /// is known or assumed to be too large with the first.
    case milderExtreme(Range<Int>)
  }

  package static let encodeLimit = 6
  /// A file that uses at least this share of the limit is good enough to end the search.
  private static let goodShare = 0.9
  /// A tolerance is useful if it leaves at most this share of the bytes.
  private static let usefulShare = 0.95
  /// The share of the limit that an estimate should not exceed.
  private static let aim = 0.96

  private let limit: Double
  private let levers: Levers
  /// The combinations of frame rate and picture size, from mild to harsh.
  private let stages: [Settings]
  /// The combinations of number of colours and tolerance, from mild to harsh.
  private var rungs: [Settings]
  /// The harshest rung of all stages but the last.
  private var usualEnd: Int
  /// For each number of colours, the index of the last rung with that number, and ``usualEnd``.
  private var ends: [Int]
  private var phase = Phase.losslessSample
  package private(set) var step: Step
  package private(set) var encodeCount = 0
  private var best: (settings: Settings, bytes: Int)?
  private var least: Int?
  private var encoded: Set<Settings> = []
  private var samples: [Settings: Double] = [:]
  /// Nil as long as there are other settings to try.
  private var extremes: BudgetExtremes?

  // The stage being searched.
  private var stage = 0
  private var rung = 0
  /// The byte count of each rung in the current stage: the actual size for the rungs in ``files``, and a corrected
  /// estimate for the others.
  private var estimates: [Int: Double] = [:]
  private var files: Set<Int> = []
  private var sampleCount = 0
  /// The harshest rung known to be too large, or -1 if there is none.
  private var low = -1
  /// The mildest rung known to fit.
  private var high = 0
  /// The ratio of the actual size of a file to its estimated size, by number of colours.
  private var ratios: [Int?: Double] = [:]

  /// Creates a search.
  ///
  /// - Parameters:
  ///   - least: The size of the smallest known file, or nil if none is known.
  ///   - isLossless: Whether the initial settings, which concede nothing, lead to that file.
  package init(limit: Int, levers: Levers, least: Int? = nil, isLossless: Bool = false) {
    self.least = least
    self.limit = Double(max(limit, 0))
    self.levers = levers
    stages = levers.stages
    (rungs, usualEnd) = levers.rungs
    ends = Self.ends(rungs, usualEnd)
    step = .sample(Settings())
    if isLossless, let least { takeLossless(Double(least)) }
  }

  private static func ends(_ rungs: [Settings], _ usualEnd: Int) -> [Int] {
    rungs.indices.filter {
      $0 == usualEnd || $0 == rungs.count - 1 || rungs[$0].colors != rungs[$0 + 1].colors
    }
  }

  /// Whether the search needs the size of the next file even if it is far above the limit, because it may fail with it.
  package var needsEverySize: Bool {
    best == nil && (extremes != nil || encodeCount == Self.encodeLimit - 1)
  }

  /// The harshest rung of the current stage.
  private var last: Int { stage == stages.count - 1 ? rungs.count - 1 : usualEnd }

  /// Whether only colours are reduced.
  private var isExact: Bool { ends[0] == 0 }

  private func settings(_ stage: Int, _ rung: Int) -> Settings {
    var settings = stages[stage]
    (settings.colors, settings.tolerance) = (rungs[rung].colors, rungs[rung].tolerance)
    return settings
  }

  /// Decides on the next step. `byteCount` is the number of bytes that the last ``step`` resulted in, or nil if the
  /// file was too large to measure.
  package mutating func take(_ byteCount: Int?) {
    let bytes = byteCount.map(Double.init) ?? .infinity
    switch step {
    case .finish, .fail: return
    case .sample(let settings): samples[settings] = bytes
    case .encode(let settings):
      encodeCount += 1
      encoded.insert(settings)
      if let byteCount {
        least = min(least ?? byteCount, byteCount)
        if bytes <= limit, best.map({ byteCount > $0.bytes }) ?? true {
          best = (settings, byteCount)
        }
      }
    }
    switch phase {
    case .losslessSample:
      estimates[0] = bytes
      if bytes <= 1.25 * limit {
        ask(.lossless, .encode(Settings()))
      } else {
        beginStages()
      }
    case .lossless:
      if bytes <= limit { return finish() }
      takeLossless(bytes)
    case .thorough:
      if bytes <= limit { return finish() }
      beginStages()
    case .toleranceSample: beginStages()
    case .stage(let range):
      if bytes * ratio(last) <= Self.aim * limit {
        findStage(in: range.lowerBound..<stage, harshest: bytes)
      } else {
        findStage(in: stage..<range.upperBound, harshest: nil)
      }
    case .rungSample:
      let corrected = bytes * ratio(rung)
      estimates[rung] = corrected
      sampleCount += 1
      if isClose(corrected) { return encodeRung() }
      narrow(isOver: corrected > Self.aim * limit)
      if sampleCount == 6 {
        rung = high
        return encodeRung()
      }
      nextSample()
    case .file: takeFile(bytes)
    case .extremeSample: nextExtreme()
    case .extreme:
      if bytes <= limit { beginMilderExtreme() } else { nextExtreme() }
    case .milderExtreme(let range):
      guard case .encode(let settings) = step else { return }
      nextMilderExtreme(
        settings,
        bytes <= limit
          ? range.lowerBound..<settings.tolerance : settings.tolerance..<range.upperBound)
    }
  }

  /// Continues after the lossless file, which is too large.
  private mutating func takeLossless(_ bytes: Double) {
    correct(0, bytes)
    encoded.insert(Settings())
    if bytes <= 1.1 * limit, levers.mayBeThorough {
      var thorough = Settings()
      thorough.isThorough = true
      ask(.thorough, .encode(thorough))
    } else {
      beginStages()
    }
  }

  private func isClose(_ bytes: Double) -> Bool {
    (0.93...0.98).contains(bytes / max(limit, 1))
  }

  private mutating func ask(_ phase: Phase, _ step: Step) {
    (self.phase, self.step) = (phase, step)
  }

  private mutating func finish() {
    step = best.map { .finish($0.settings) } ?? .fail(leastByteCount: least)
  }

  // MARK: Stages

  /// Chooses the sequence of rungs, and begins the search for a stage by sampling the harshest rung of the mildest
  /// stage.
  private mutating func beginStages() {
    stage = 0
    if levers.hasColors, !levers.isTrueColor, levers.tolerance == 0 {
      // The slightest tolerance stands for none: a file that concedes nothing may be a copy, and is then estimated in
      // another way.
      let (slight, similar) = (settings(0, 1), settings(0, ends[0]))
      guard let most = samples[slight] else { return ask(.toleranceSample, .sample(slight)) }
      guard let least = samples[similar] else { return ask(.toleranceSample, .sample(similar)) }
      if least > Self.usefulShare * most {
        (rungs, usualEnd) = levers.exactRungs
        ends = Self.ends(rungs, usualEnd)
      }
    }
    ask(.stage(-1..<stages.count), .sample(settings(0, last)))
  }

  /// Halves a range of stages, or ends the search for a stage. The first stage in the range is known to be too large.
  /// The stage after the range is known to fit, or does not exist.
  ///
  /// - Parameter harshest: If the last step sampled the harshest rung of the stage after the range, the resulting
  ///   estimate; otherwise nil.
  private mutating func findStage(in range: Range<Int>, harshest: Double?) {
    if range.count > 1 {
      // Scaling can increase the byte count of pictures with few colours, so the harshest stage of full size is tried
      // first.
      let fullSize = levers.rates.count
      stage =
        range.dropFirst().contains(fullSize) ? fullSize : range.lowerBound + range.count / 2
      ask(.stage(range), .sample(settings(stage, last)))
      return
    }
    stage = min(range.upperBound, stages.count - 1)
    let lossless = stage == 0 ? estimates[0] : nil
    beginRungs()
    estimates[0] = lossless
    if range.upperBound == stages.count {
      // According to the estimates, no stage fits. They may be wrong.
      return beginExtremes()
    }
    if let harshest { estimates[last] = harshest * ratio(last) }
    if lossless != nil { low = 0 }
    if stage == 0 {
      // What is known already need not be encoded or sampled again.
      if encoded.contains(Settings()) { files.insert(0) }
      if !isExact, let similar = samples[settings(0, ends[0])] {
        rung = ends[0]
        estimates[rung] = similar * ratio(rung)
        narrow(isOver: similar * ratio(rung) > Self.aim * limit)
      }
    }
    nextSample()
  }

  // MARK: Rungs

  private mutating func beginRungs() {
    (estimates, files, sampleCount) = ([:], [], 0)
    (low, high) = (-1, last)
  }

  private mutating func narrow(isOver: Bool) {
    if isOver { low = max(low, rung) } else { high = min(high, rung) }
  }

  private mutating func nextSample() {
    guard high - low > 1 else {
      rung = high
      return encodeRung()
    }
    // Sample the mildest rung first, so that the sizes of the rungs up to `high` can be interpolated.
    rung = low < 0 && estimates[0] == nil ? 0 : guess()
    ask(.rungSample, .sample(settings(stage, rung)))
  }

  /// Returns one of the rungs between the bounds: the one that is expected to give a file just below the limit.
  private func guess() -> Int {
    // With the same number of colours, sizes fall as the tolerance rises. With fewer colours, a file may become larger,
    // because dithered areas compress badly. So first try the last rung of each number of colours, beginning with the
    // mildest, to find the number of colours that fits. Then try the first rung with that number.
    if let end = ends.first(where: { $0 > low && $0 < high && estimates[$0] == nil }) { return end }
    let start = (ends.last { $0 < high } ?? -1) + 1
    if start > low, start < high, estimates[start] == nil { return start }
    let middle = low + (high - low) / 2
    guard high - low > 2, let under = estimates[high], let over = estimates[low], under > 0,
      over.isFinite, over > under
    else { return min(max(middle, low + 1), high - 1) }
    let wanted = Self.aim * limit
    // Between rungs that are close together, sizes fall about linearly with the tolerance.
    let share = (over - wanted) / (over - under)
    let place = Double(low) + share * Double(high - low)
    guard place.isFinite else { return middle }
    // Stay away from both bounds, so that they converge.
    let margin = (high - low) / 8
    return min(max(Int(place.rounded(.up)), low + 1 + margin), high - 1 - margin)
  }

  private mutating func encodeRung() { ask(.file, .encode(settings(stage, rung))) }

  // MARK: Files

  private mutating func takeFile(_ bytes: Double) {
    correct(rung, bytes)
    if bytes <= limit {
      if bytes >= Self.goodShare * limit || encodeCount >= Self.encodeLimit { return finish() }
      high = rung
      seekMilder()
    } else {
      guard encodeCount < Self.encodeLimit else { return finish() }
      low = max(low, rung)
      if best == nil { seekHarsher() } else { seekMilder() }
    }
  }

  /// Looks for milder settings. A file that fits has been found, but it leaves much of the limit unused.
  private mutating func seekMilder() {
    // Estimates for few colours say little about files with more colours, which often need no dithering.
    if rung > ends[0], !isExact || stage > 0, !files.contains(ends[0]),
      (estimates[ends[0]] ?? 0) <= 2 * limit
    {
      rung = ends[0]
      return encodeRung()
    }
    // Only an encoded file, not an estimate, proves that a milder rung is too large.
    if low >= 0, low > high || high - low <= 1 && !files.contains(low) {
      low = files.filter { $0 < high }.max() ?? -1
    }
    // From one number of colours to the next, sizes differ so much that most files leave some of the limit unused.
    // The mildest rung may fit although its sample was too large; then there is nothing between the bounds.
    if isExact, low < high {
      low = (low + 1..<high).last { (estimates[$0] ?? 0) > 1.1 * limit } ?? low
    }
    if high - low > 1 {
      rung = guess()
      return encodeRung()
    }
    // Nothing milder is left in this stage. If much of the limit is unused, the estimates led to a stage that is too
    // harsh.
    guard high == 0, estimates[0] ?? .infinity <= limit, stage > 0,
      encodeCount < Self.encodeLimit - 1
    else { return finish() }
    // If colours may not change, a stage has a single file.
    guard rungs.count > 1 || !encoded.contains(stages[stage - 1]) else { return finish() }
    stage -= 1
    beginRungs()
    rung = ends[0]
    encodeRung()
  }

  /// Looks for harsher settings, because no file has fitted yet.
  private mutating func seekHarsher() {
    if extremes != nil { return nextExtreme() }
    // Spend the last attempt on the file that is most likely to fit.
    if encodeCount == Self.encodeLimit - 1 { return beginExtremes() }
    let least = estimates[last] ?? 0
    if rung < last, least <= limit { return seekHarsherRung() }
    if stage == stages.count - 1 { return beginExtremes() }
    // Find the first stage whose file should be below the limit. The byte count is about proportional to the number of
    // frames, and less surely to the number of pixels, because scaling adds colours.
    let pixels = pixelShare(stage)
    let next = stages.indices.first {
      let share = $0 <= levers.rates.count ? 0.9 : 0.7
      return $0 > stage && least * pixelShare($0) / pixels <= share * limit
    }
    stage = next ?? stages.count - 1
    beginRungs()
    guard encodeCount >= Self.encodeLimit - 2 else { return nextSample() }
    // With two attempts left, encode the file of this stage that is most likely to fit.
    rung = last
    encodeRung()
  }

  /// Looks for harsher settings in the current stage, because its harshest rung may fit.
  private mutating func seekHarsherRung() {
    if high <= low { high = last }
    let isFar = (estimates[rung] ?? 0) > 1.25 * limit
    if encodeCount < 2, high - low > 1 {
      rung = guess()
    } else if encodeCount < Self.encodeLimit - 2, !isFar {
      // The estimates have been wrong twice, so skip to the last rung of a number of colours.
      rung =
        ends.first { $0 > low && $0 <= last && (estimates[$0] ?? 0) <= Self.aim * limit } ?? last
    } else {
      // Find out whether this stage has a file that fits.
      rung = last
    }
    encodeRung()
  }

  // MARK: Extremes

  /// Turns to the extreme settings of the last stage: all or the fewest colours, with no or the greatest tolerance.
  private mutating func beginExtremes() {
    if stage != stages.count - 1 {
      stage = stages.count - 1
      beginRungs()
    }
    let (fewest, most) = (rungs[last].colors, rungs[0].colors)
    let (usual, high) = (rungs[usualEnd].tolerance, rungs[last].tolerance)
    let mild = rungs[self.ends[0]].tolerance
    let ends = [
      (fewest, 0), (fewest, usual), (fewest, high), (most, 0), (most, mild), (most, high),
    ]
    var all: [Settings] = []
    for end in ends.prefix(fewest == most ? 3 : 6) {
      var extreme = stages[stage]
      (extreme.colors, extreme.tolerance) = end
      if !encoded.contains(extreme), !all.contains(extreme) { all.append(extreme) }
    }
    extremes = BudgetExtremes(all)
    nextExtreme()
  }

  /// Samples or encodes an extreme, or ends the search.
  private mutating func nextExtreme() {
    if let next = extremes?.nextSample(samples) { return ask(.extremeSample, .sample(next)) }
    guard encodeCount < Self.encodeLimit else { return finish() }
    // With one attempt left, the smallest estimate is the safest.
    let aim = encodeCount == Self.encodeLimit - 1 ? 0 : Self.aim * limit
    guard let next = extremes?.next(samples, aim: aim, least: least) else { return finish() }
    // If the file of a rung fits and leaves much of the limit unused, the search goes on from there.
    if let place = (0...last).first(where: { settings(stage, $0) == next }) {
      rung = place
      return encodeRung()
    }
    ask(.extreme, .encode(next))
  }

  /// Looks for a milder tolerance, because the file of an extreme, which was encoded last, fits.
  private mutating func beginMilderExtreme() {
    guard case .encode(let settings) = step else { return }
    // No other file has fitted so far.
    let tooLarge = encoded.filter {
      var other = $0
      other.tolerance = settings.tolerance
      return other == settings && $0.tolerance < settings.tolerance
    }
    nextMilderExtreme(
      settings, (tooLarge.map(\.tolerance).max() ?? 0)..<settings.tolerance)
  }

  /// Halves a range of tolerances, or ends the search. The settings are otherwise those of the extreme that fits.
  private mutating func nextMilderExtreme(_ settings: Settings, _ range: Range<Int>) {
    let isGood = best.map { Double($0.bytes) >= Self.goodShare * limit } ?? false
    // Two tolerances that are hardly apart look the same.
    guard !isGood, range.count > 4, encodeCount < Self.encodeLimit else { return finish() }
    var milder = settings
    milder.tolerance = range.lowerBound + range.count / 2
    ask(.milderExtreme(range), .encode(milder))
  }

  // MARK: Estimates

  /// Returns the number of pixels in the frames of a stage, in an arbitrary unit.
  private func pixelShare(_ stage: Int) -> Double {
    let settings = stages[stage]
    // Keeping all frames takes more pixels than the highest reduced rate does.
    let rate = settings.rate ?? (levers.rates.first.map { $0 * 5 / 4 } ?? 1)
    return Double(rate * settings.percent * settings.percent)
  }

  /// Records the actual size of the file of `rung`, and corrects other estimates accordingly.
  private mutating func correct(_ rung: Int, _ bytes: Double) {
    if let estimate = estimates[rung], !files.contains(rung), estimate.isFinite, estimate > 0,
      bytes.isFinite
    {
      let factor = min(max(bytes / estimate, 0.25), 4)
      ratios[rungs[rung].colors] = min(max(ratio(rung) * factor, 0.25), 4)
      for (place, size) in estimates where !files.contains(place) {
        // For other numbers of colours, estimates may be wrong by a different factor, but are rarely too high if this
        // one was too low.
        if factor > 1 || rungs[place].colors == rungs[rung].colors {
          estimates[place] = size * factor
        }
      }
    }
    estimates[rung] = bytes
    files.insert(rung)
  }

  /// Returns the ratio of actual to estimated size for the number of colours of `rung`.
  private func ratio(_ rung: Int) -> Double {
    ratios[rungs[rung].colors] ?? max(ratios.values.max() ?? 1, 1)
  }
}
