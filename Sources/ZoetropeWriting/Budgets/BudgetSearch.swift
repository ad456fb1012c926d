/// A state machine that searches for the mildest settings whose file stays within a byte limit. It encodes nothing
/// itself.
///
/// Read ``step``, carry it out, and pass the result to ``take(_:)``. Settings are tried in the order of visible harm:
/// more effort, similar colours, fewer colours, fewer frames, and smaller pictures. Samples are cheap estimates of a
/// file's size; at most six files are encoded. The result was encoded and is known to fit. The search assumes that
/// milder settings take more bytes; where they do not, the result is valid but further from the limit than necessary.
package struct BudgetSearch: Sendable {
  /// The settings with which a file is written.
  package struct Settings: Sendable, Hashable {
    /// Whether all ways of storing each frame are tried.
    package var isThorough = false
    /// See ``AnimationWriterOptions/tolerance``.
    package var tolerance = 0
    /// The maximum number of colours in a palette; nil for no further limit.
    package var colors: Int?
    /// The maximum number of frames per second; nil for all frames.
    package var rate: Int?
    /// The sides of pictures, in percent of the original.
    package var percent = 100

    package init() {}
  }

  /// The settings that the search may change.
  package struct Levers: Sendable, Hashable {
    /// Whether the effort may be raised.
    package var mayBeThorough: Bool
    /// Whether fewer colours make a smaller file.
    package var hasColors: Bool
    /// Whether pixels would otherwise be stored in true colour, so that even a palette of 256 makes
    /// the file smaller.
    package var isTrueColor: Bool
    /// Frame rates below the animation's, in descending order.
    package var rates: [Int]
    /// Sides of pictures in percent, below 100, in descending order.
    package var percents: [Int]

    package init(
      mayBeThorough: Bool, hasColors: Bool, isTrueColor: Bool = false, rates: [Int],
      percents: [Int]
    ) {
      (self.mayBeThorough, self.hasColors) = (mayBeThorough, hasColors)
      self.isTrueColor = isTrueColor
      (self.rates, self.percents) = (rates, percents)
    }
  }

  /// What to do next.
  package enum Step: Sendable, Hashable {
    /// Estimate the size of the file.
    case sample(Settings)
    /// Encode the file.
    case encode(Settings)
    /// Take the file that was encoded with these settings.
    case finish(Settings)
    /// Fail, because nothing fits. The value is the size of the smallest encoded file, if one was encoded.
    case fail(leastByteCount: Int?)
  }

  private enum Phase: Sendable {
    case losslessSample, lossless, thorough
    /// Searches the stages in this range. The first one is known to be too large.
    case stage(Range<Int>)
    case rungSample
    case file
  }

  package static let encodeLimit = 6
  /// A file that uses this share of the limit is good enough.
  private static let goodShare = 0.9
  /// The share of the limit that estimates aim at.
  private static let aim = 0.96

  private let limit: Double
  private let levers: Levers
  /// The combinations of rate and size, from mild to harsh.
  private let stages: [Settings]
  /// The combinations of colours and tolerance that each stage allows, from mild to harsh.
  private let rungs: [Settings]
  /// The last rung with each number of colours.
  private let ends: [Int]
  private var phase = Phase.losslessSample
  package private(set) var step: Step
  package private(set) var encodeCount = 0
  private var best: (settings: Settings, bytes: Int)?
  private var least: Int?

  // The stage being searched.
  private var stage = 0
  private var rung = 0
  /// The byte count of each rung: a corrected estimate, or the actual size of those in ``files``.
  private var estimates: [Int: Double] = [:]
  private var files: Set<Int> = []
  private var sampleCount = 0
  /// The harshest rung known to be too large, and the mildest known to fit.
  private var low = -1
  private var high = 0
  /// The ratio of actual to estimated size, by the number of colours.
  private var ratios: [Int?: Double] = [:]

  package init(limit: Int, levers: Levers) {
    self.limit = Double(max(limit, 0))
    self.levers = levers
    var stages = [Settings()]
    for rate in levers.rates {
      var stage = Settings()
      stage.rate = rate
      stages.append(stage)
    }
    for percent in levers.percents {
      var stage = stages[levers.rates.count]
      stage.percent = percent
      stages.append(stage)
    }
    self.stages = stages
    let isFull = levers.hasColors && levers.isTrueColor
    var rungs = isFull ? stride(from: 0, through: 24, by: 2).map { Self.rung(nil, $0) } : []
    rungs += stride(from: 0, through: 80, by: 2).map { Self.rung(isFull ? 256 : nil, $0) }
    if levers.hasColors {
      rungs += stride(from: 48, through: 80, by: 4).map { Self.rung(128, $0) }
      rungs += stride(from: 56, through: 80, by: 4).map { Self.rung(64, $0) }
      rungs += stride(from: 64, through: 100, by: 4).map { Self.rung(32, $0) }
    } else {
      rungs += stride(from: 84, through: 120, by: 4).map { Self.rung(nil, $0) }
    }
    self.rungs = rungs
    let last = rungs.count - 1
    ends = rungs.indices.filter { $0 == last || rungs[$0].colors != rungs[$0 + 1].colors }
    step = .sample(Settings())
  }

  private static func rung(_ colors: Int?, _ tolerance: Int) -> Settings {
    var rung = Settings()
    (rung.colors, rung.tolerance) = (colors, tolerance)
    return rung
  }

  private func settings(_ stage: Int, _ rung: Int) -> Settings {
    var settings = stages[stage]
    (settings.colors, settings.tolerance) = (rungs[rung].colors, rungs[rung].tolerance)
    return settings
  }

  /// Takes the number of bytes that ``step`` resulted in; nil if it was too large to measure.
  package mutating func take(_ byteCount: Int?) {
    let bytes = byteCount.map(Double.init) ?? .infinity
    switch step {
    case .finish, .fail: return
    case .sample: break
    case .encode(let settings):
      encodeCount += 1
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
      correct(0, bytes)
      if bytes <= 1.1 * limit, levers.mayBeThorough {
        var thorough = Settings()
        thorough.isThorough = true
        ask(.thorough, .encode(thorough))
      } else {
        beginStages()
      }
    case .thorough:
      if bytes <= limit { return finish() }
      beginStages()
    case .stage(let range):
      if bytes * ratio(rungs.count - 1) <= Self.aim * limit {
        findStage(in: range.lowerBound..<stage, last: bytes)
      } else {
        findStage(in: stage..<range.upperBound, last: nil)
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

  /// Samples the harshest rung of the mildest stage.
  private mutating func beginStages() {
    stage = 0
    ask(.stage(-1..<stages.count), .sample(settings(0, rungs.count - 1)))
  }

  /// Halves a range of stages. The first stage in it is too large; the stage after it fits, or does not exist.
  ///
  /// - Parameter last: The estimate for the harshest rung of the stage after the range, if it was just made.
  private mutating func findStage(in range: Range<Int>, last: Double?) {
    if range.count > 1 {
      // Scaling can make pictures of few colours larger in bytes, so full size is tried first.
      let fullSize = levers.rates.count
      stage =
        range.dropFirst().contains(fullSize) ? fullSize : range.lowerBound + range.count / 2
      ask(.stage(range), .sample(settings(stage, rungs.count - 1)))
      return
    }
    stage = min(range.upperBound, stages.count - 1)
    let lossless = stage == 0 ? estimates[0] : nil
    beginRungs()
    estimates[0] = lossless
    if range.upperBound == stages.count {
      // Estimates may be wrong, so try the smallest file.
      rung = rungs.count - 1
      return encodeRung()
    }
    if let last { estimates[rungs.count - 1] = last * ratio(rungs.count - 1) }
    if lossless != nil { low = 0 }
    nextSample()
  }

  // MARK: Rungs

  private mutating func beginRungs() {
    (estimates, files, sampleCount) = ([:], [], 0)
    (low, high) = (-1, rungs.count - 1)
  }

  private mutating func narrow(isOver: Bool) {
    if isOver { low = max(low, rung) } else { high = min(high, rung) }
  }

  private mutating func nextSample() {
    guard high - low > 1 else {
      rung = high
      return encodeRung()
    }
    // Sample the mildest rung first, so that sizes in between can be interpolated.
    rung = low < 0 && estimates[0] == nil ? 0 : guess()
    ask(.rungSample, .sample(settings(stage, rung)))
  }

  /// The rung between the bounds whose size is expected to be just below the limit.
  private func guess() -> Int {
    // With the same number of colours, sizes fall as the tolerance rises. With fewer colours a file may get larger,
    // because dithered areas compress badly. So try the last rung with each number of colours, mild ones first, and
    // then the first rung with the number that fits.
    if let end = ends.first(where: { $0 > low && $0 < high && estimates[$0] == nil }) { return end }
    let start = (ends.last { $0 < high } ?? -1) + 1
    if start > low, start < high, estimates[start] == nil { return start }
    let middle = low + (high - low) / 2
    guard high - low > 2, let under = estimates[high], let over = estimates[low], under > 0,
      over.isFinite, over > under
    else { return min(max(middle, low + 1), high - 1) }
    let wanted = Self.aim * limit
    // Between close rungs, sizes fall about linearly with the tolerance.
    let share = (over - wanted) / (over - under)
    let place = Double(low) + share * Double(high - low)
    guard place.isFinite else { return middle }
    // Stay away from both ends, so that the bounds converge.
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

  /// Looks for milder settings, after a file that fits but leaves much of the limit unused.
  private mutating func seekMilder() {
    // Estimates for fewer colours say little about files with more colours, which often need no dithering.
    if rung > ends[0], !files.contains(ends[0]), (estimates[ends[0]] ?? 0) <= 2 * limit {
      rung = ends[0]
      return encodeRung()
    }
    // Only a file proves that a milder rung is too large.
    if low >= 0, low > high || high - low <= 1 && !files.contains(low) {
      low = files.filter { $0 < high }.max() ?? -1
    }
    if high - low > 1 {
      rung = guess()
      return encodeRung()
    }
    // Nothing milder is left in this stage. If much of the limit is unused, the estimates chose too harsh a stage.
    guard high == 0, stage > 0, encodeCount < Self.encodeLimit - 1 else { return finish() }
    stage -= 1
    beginRungs()
    rung = ends[0]
    encodeRung()
  }

  /// Looks for harsher settings, because no file fits yet.
  private mutating func seekHarsher() {
    // Spend the last attempt on the file that is most likely to fit.
    if encodeCount == Self.encodeLimit - 1 { return encodeLast(of: stages.count - 1) }
    let least = estimates[rungs.count - 1] ?? 0
    if rung < rungs.count - 1, least <= limit { return seekHarsherRung() }
    if stage == stages.count - 1 { return encodeLast(of: stage) }
    // Find the first stage that should be well below the limit. Bytes are about proportional to pixels.
    let pixels = pixelShare(stage)
    let next = stages.indices.first {
      $0 > stage && least * pixelShare($0) / pixels <= 0.75 * limit
    }
    stage = next ?? stages.count - 1
    beginRungs()
    nextSample()
  }

  /// Looks for harsher settings in this stage, which may have a file that fits.
  private mutating func seekHarsherRung() {
    let last = rungs.count - 1
    if high <= low { high = last }
    if encodeCount < 2, high - low > 1 {
      rung = guess()
    } else if encodeCount < Self.encodeLimit - 2 {
      // Estimates were wrong twice.
      rung = ends.first { $0 > low && (estimates[$0] ?? 0) <= Self.aim * limit } ?? last
    } else {
      rung = last
    }
    encodeRung()
  }

  /// Encodes the smallest file of `stage`, unless it was the last file encoded.
  private mutating func encodeLast(of stage: Int) {
    if self.stage == stage, rung == rungs.count - 1 { return finish() }
    (self.stage, rung) = (stage, rungs.count - 1)
    encodeRung()
  }

  /// The relative number of pixels in a stage.
  private func pixelShare(_ stage: Int) -> Double {
    let settings = stages[stage]
    // Keeping all frames takes more than the highest reduced rate does.
    let rate = settings.rate ?? (levers.rates.first.map { $0 * 5 / 4 } ?? 1)
    return Double(rate * settings.percent * settings.percent)
  }

  /// Records the size of a file, and corrects other estimates accordingly.
  private mutating func correct(_ rung: Int, _ bytes: Double) {
    if let estimate = estimates[rung], !files.contains(rung), estimate.isFinite, estimate > 0,
      bytes.isFinite
    {
      let factor = min(max(bytes / estimate, 0.25), 4)
      ratios[rungs[rung].colors] = min(max(ratio(rung) * factor, 0.25), 4)
      for (place, size) in estimates where !files.contains(place) {
        // With other numbers of colours, estimates may be off by another factor, but hardly in the other direction.
        if factor > 1 || rungs[place].colors == rungs[rung].colors {
          estimates[place] = size * factor
        }
      }
    }
    estimates[rung] = bytes
    files.insert(rung)
  }

  /// The ratio of actual to estimated size, for the number of colours of a rung.
  private func ratio(_ rung: Int) -> Double {
    ratios[rungs[rung].colors] ?? max(ratios.values.max() ?? 1, 1)
  }
}
