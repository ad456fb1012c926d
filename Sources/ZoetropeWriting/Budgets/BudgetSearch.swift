/// Searches for the mildest settings whose file stays within a byte limit: a state machine that encodes nothing.
///
/// Read ``step``, carry it out, and pass the result to ``take(_:)``. Settings are tried in the order of visible harm:
/// more effort, similar colours, fewer colours, fewer frames, and smaller pictures. Samples are cheap estimates of a
/// file's size; at most six files are encoded. The result was encoded and is known to fit. Should milder settings not
/// take more bytes, the result is still valid, only further from the limit than necessary.
package struct BudgetSearch: Sendable {
  /// How a file is written.
  package struct Settings: Sendable, Hashable {
    /// Whether all ways of storing each frame are tried.
    package var isThorough = false
    /// As ``AnimationWriterOptions/tolerance``.
    package var tolerance = 0
    /// The most colours of a palette; nil for no further limit.
    package var colors: Int?
    /// The most frames per second; nil for all.
    package var rate: Int?
    /// The sides of pictures, in percent.
    package var percent = 100

    package init() {}
  }

  /// What may be given up.
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
    /// Sides in percent, below 100, in descending order.
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
    /// Nothing fits. The size of the smallest encoded file, if one was encoded.
    case fail(leastByteCount: Int?)
  }

  private enum Phase: Sendable {
    case losslessSample, lossless, thorough
    /// Rates and sizes between these two; the first is known to be too large.
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
  /// Rates and sizes, from mild to harsh.
  private let stages: [Settings]
  /// Colours and tolerances of each stage, from mild to harsh.
  private let rungs: [Settings]
  private var phase = Phase.losslessSample
  package private(set) var step: Step
  package private(set) var encodeCount = 0
  private var best: (settings: Settings, bytes: Int)?
  private var least: Int?

  // The stage that is searched.
  private var stage = 0
  private var rung = 0
  /// Bytes by rung: corrected estimates, and those of ``files``.
  private var estimates: [Int: Double] = [:]
  private var files: Set<Int> = []
  private var sampleCount = 0
  /// The harshest rung known to be too large, and the mildest known to fit.
  private var low = -1
  private var high = 0
  /// The ratio of files' sizes to their estimates.
  private var ratio = 1.0

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

  /// Takes the number of bytes that resulted from the step; nil if it is too large to tell.
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
      if bytes * ratio <= Self.aim * limit {
        findStage(in: range.lowerBound..<stage, last: bytes)
      } else {
        findStage(in: stage..<range.upperBound, last: nil)
      }
    case .rungSample:
      let corrected = bytes * ratio
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

  /// Halves a range of stages. Its first stage is too large; the stage past it fits, or is past the last one.
  ///
  /// - Parameter last: The estimate for the harshest rung of the stage past the range, if it was just made.
  private mutating func findStage(in range: Range<Int>, last: Double?) {
    if range.count > 1 {
      // Scaling can make pictures of few colours larger in bytes, so full size is settled first.
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
      // Estimates may be wrong: the smallest file is tried.
      rung = rungs.count - 1
      return encodeRung()
    }
    if let last { estimates[rungs.count - 1] = last * ratio }
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
    // The mildest one first: sizes in between can then be interpolated.
    rung = low < 0 && estimates[0] == nil ? 0 : guess()
    ask(.rungSample, .sample(settings(stage, rung)))
  }

  /// The rung between the bounds whose size is expected to be just below the limit.
  private func guess() -> Int {
    let middle = low + (high - low) / 2
    guard high - low > 2, let under = estimates[high], let over = estimates[low], under > 0,
      over.isFinite, over > under
    else { return min(max(middle, low + 1), high - 1) }
    let wanted = Self.aim * limit
    // Sizes fall about linearly with the tolerance where they are close.
    let share = (over - wanted) / (over - under)
    let place = Double(low) + share * Double(high - low)
    guard place.isFinite else { return middle }
    // Not too close to either end, so that the bounds converge.
    let margin = (high - low) / 8
    return min(max(Int(place.rounded(.up)), low + 1 + margin), high - 1 - margin)
  }

  private mutating func encodeRung() { ask(.file, .encode(settings(stage, rung))) }

  // MARK: Files

  private mutating func takeFile(_ bytes: Double) {
    correct(rung, bytes)
    let fits = bytes <= limit
    if fits, bytes >= Self.goodShare * limit { return finish() }
    if encodeCount >= Self.encodeLimit { return finish() }
    // Estimates had suggested otherwise.
    if fits {
      high = rung
      // Only a file proves that a milder rung is too large.
      if high - low <= 1, !files.contains(low) {
        low = files.filter { $0 < high }.max() ?? -1
      }
    } else {
      low = rung
      if high <= low { high = rungs.count - 1 }
    }
    if best == nil, encodeCount >= Self.encodeLimit - 2 {
      // Try what is most likely to fit, while encodes are left.
      let isLast = encodeCount == Self.encodeLimit - 1
      if isLast || rung == rungs.count - 1 {
        stage = isLast ? stages.count - 1 : min(stage + 1, stages.count - 1)
      }
      if rung == rungs.count - 1, low == rung, stage == stages.count - 1, !isLast {
        return finish()
      }
      rung = rungs.count - 1
      return encodeRung()
    }
    if !fits, rung == rungs.count - 1 {
      guard best == nil, stage + 1 < stages.count else { return finish() }
      stage += 1
      beginRungs()
      return nextSample()
    }
    guard high - low > 1 else { return fits || best != nil ? finish() : encodeHigh() }
    rung = guess()
    encodeRung()
  }

  /// Records the size of a file, and corrects the estimates of others by it.
  private mutating func correct(_ rung: Int, _ bytes: Double) {
    if let estimate = estimates[rung], !files.contains(rung), estimate.isFinite, estimate > 0,
      bytes.isFinite
    {
      let factor = min(max(bytes / estimate, 0.25), 4)
      ratio = min(max(ratio * factor, 0.25), 4)
      for (place, size) in estimates where !files.contains(place) {
        estimates[place] = size * factor
      }
    }
    estimates[rung] = bytes
    files.insert(rung)
  }

  private mutating func encodeHigh() {
    rung = high
    encodeRung()
  }
}
