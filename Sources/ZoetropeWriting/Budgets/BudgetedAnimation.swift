internal import Synchronization

/// An edited animation that fits a byte limit.
package struct BudgetedAnimation: Sendable {
  /// The plan with which the file was written.
  package fileprivate(set) var plan: EditPlan
  fileprivate var file: EncodedFile
  /// The bytes of the file.
  package var bytes: [UInt8] { file.bytes }
  /// The settings with which the file fits.
  package let settings: BudgetSearch.Settings
  /// The number of files that were encoded.
  package fileprivate(set) var encodeCount: Int
  /// The number of the last attempt. Files and samples are counted together.
  fileprivate var attempt = 1
  /// The number of frames that were dropped to fit the limit.
  package fileprivate(set) var droppedCount = 0
  /// Whether the image had metadata that was left out to fit the limit.
  fileprivate var isStripped: Bool
  /// Whether frames that ``plan`` copies were compressed again, because copies do not fit.
  package fileprivate(set) var isOptimized: Bool

  /// Whether the image had metadata that was left out, for the limit or because it does not apply to the file.
  package var losesMetadata: Bool { isStripped || plan.losesMetadata }

  /// Writes the file to `sink`. The sink is finished if writing succeeds, and abandoned if this method throws.
  package func write(
    to sink: some AnimationSink, isCancelled: @escaping @Sendable () -> Bool,
    progress: (WritingProgress) -> Void
  ) throws(AnimatedImageError) -> WrittenAnimation {
    try file.write(to: sink, isCancelled: isCancelled, attempt: attempt, progress: progress)
  }
}

extension AnimatedImage {
  /// Searches for the mildest settings whose file fits `budget`, on the calling thread.
  ///
  /// - Parameters:
  ///   - lossless: The size of the smallest known file that differs from the source at most in what `options` allow,
  ///     or nil if none is known. It must exceed the limit.
  ///   - keepsMetadata: Whether the file keeps the image's metadata if the budget has room for it.
  ///   - progress: A closure that is called for each frame of each file or sample.
  /// - Throws: `limitExceeded` if no file fits; the errors of ``EditPlan``; `cancelled`.
  package func fitted(
    _ edits: [AnimationEdit], _ options: EditOptions, to budget: ByteBudget,
    lossless: Int? = nil, keepsMetadata: Bool = true, isCancelled: @escaping @Sendable () -> Bool,
    progress: (WritingProgress) -> Void = { _ in }
  ) throws(AnimatedImageError) -> BudgetedAnimation {
    // The budget tells the plans to leave metadata out at first.
    var options = options
    options.budget = budget
    let fitting = try BudgetFitting(self, edits, options, budget, isCancelled, progress)
    if let copy = try fitting.copy() { return copy }
    // A file without metadata may still fit.
    let mayStrip = lossless == nil || !keepsMetadata ? false : fitting.hasMetadata
    var search = BudgetSearch(
      limit: budget.byteLimit, levers: fitting.levers, least: lossless, isLossless: !mayStrip)
    var best: BudgetedAnimation?
    var attempt = fitting.plan.attemptCount
    func report(_ made: WritingProgress) {
      var numbered = made
      numbered.attempt = attempt
      if case .sample = search.step { numbered.isSample = true }
      progress(numbered)
    }
    while true {
      attempt += 1
      switch search.step {
      case .sample(let settings):
        search.take(
          try fitting.attempt(settings) { () throws(AnimatedImageError) in
            try fitting.estimate(settings, report)
          })
      case .encode(let settings):
        let found = try fitting.attempt(settings) { () throws(AnimatedImageError) in
          try fitting.encode(settings, countsAll: search.needsEverySize, report)
        }
        guard let found else {
          search.take(nil)
          break
        }
        search.take(found.byteCount)
        let fits = found.byteCount <= budget.byteLimit
        if fits, best.map({ found.file.bytes.count > $0.bytes.count }) ?? true {
          best = BudgetedAnimation(
            plan: found.plan, file: found.file, settings: settings,
            encodeCount: search.encodeCount,
            isStripped: found.isStripped, isOptimized: found.isOptimized)
        }
      case .finish:
        guard var best else { preconditionFailure("a file that was not encoded") }
        if keepsMetadata { best = try fitting.withMetadata(best, report) }
        best.encodeCount = search.encodeCount
        best.attempt = attempt
        best.droppedCount = max(0, fitting.plan.frames.count - best.plan.frames.count)
        // Copied frames ignore the settings, so only a file whose pictures were all encoded again made concessions.
        let drawing = best.plan.rewriting?.options
        var colors: Int?
        if let kind = drawing?.colors.kind,
          kind != fitting.plan.rewriting?.options.colors.kind ?? options.colors.kind,
          case .limited(let count) = kind
        {
          colors = count
        }
        // What even the file without a limit would lack is not given up.
        let isStripped =
          best.isStripped || best.plan.losesMetadata && !fitting.plan.losesMetadata
        let concessions = ByteBudget.Concessions(
          tolerance: drawing?.tolerance ?? 0, colors: colors, framesPerSecond: best.settings.rate,
          percent: best.settings.percent, canvasSize: best.plan.canvasSize,
          losesMetadata: isStripped)
        let isSomething =
          concessions.tolerance > options.tolerance || colors != nil || best.settings.rate != nil
          || best.settings.percent < 100 || isStripped
        best.file.written.concessions = isSomething ? concessions : nil
        best.file.written.losesMetadata = best.losesMetadata
        return best
      case .fail(let least):
        throw AnimatedImageError(
          .limitExceeded,
          (least.map { "the smallest file that was found has \($0) bytes" } ?? "no file was found")
            + ", but at most \(budget.byteLimit) bytes are allowed",
          format: options.format ?? format,
          limit: LimitExcess(.outputBytes, found: least ?? .max, allowed: budget.byteLimit))
      }
    }
  }
}

extension AnimatedImage {
  /// Returns whether the file has metadata or extensions that a smaller file can leave out.
  fileprivate func hasMetadata() throws(AnimatedImageError) -> Bool {
    if metadata != AnimationMetadata() { return true }
    return try format.editing?.extensionByteCount(of: self) ?? 0 > 0
  }
}

/// Encodes files and samples with the settings of a ``BudgetSearch``.
private struct BudgetFitting {
  private let image: AnimatedImage
  private let edits: [AnimationEdit]
  private let options: EditOptions
  private let limit: Int
  private let isCancelled: @Sendable () -> Bool
  /// The plan that applies only the edits, with no concession to the limit.
  let plan: EditPlan
  let levers: BudgetSearch.Levers
  /// Whether the image has anything that a stripped file leaves out.
  let hasMetadata: Bool

  init(
    _ image: AnimatedImage, _ edits: [AnimationEdit], _ options: EditOptions, _ budget: ByteBudget,
    _ isCancelled: @escaping @Sendable () -> Bool, _ progress: (WritingProgress) -> Void
  ) throws(AnimatedImageError) {
    guard budget.byteLimit > 0 else {
      throw AnimatedImageError(.parameter, "the byte limit must be at least 1")
    }
    self.image = image
    self.edits = edits
    self.options = options
    self.isCancelled = isCancelled
    limit = budget.byteLimit
    hasMetadata = try image.hasMetadata()
    plan = try EditPlan(image, edits, options, isCancelled: isCancelled, progress: progress)
    let size = plan.canvasSize
    let duration = plan.frames.reduce(0.0) {
      $0 + DelayPolicy.browser.shownDuration(of: $1.delay) / .seconds(1)
    }
    let rate = duration > 0 ? Double(plan.frames.count) / duration : 0
    // A picture whose shorter side has fewer than 16 pixels is unrecognizable.
    let shorter = min(size.width, size.height)
    levers = BudgetSearch.Levers(
      mayBeThorough: options.effort != .small, hasColors: options.colors != .exact,
      isTrueColor: !plan.format.hasPalettes && options.colors == .automatic,
      tolerance: options.tolerance,
      rates: budget.keepsFrameRate || plan.frames.count < 3
        ? [] : [30, 24, 20, 15, 12, 10].filter { Double($0) < rate * 0.95 },
      percents: budget.keepsSize
        ? [] : [90, 80, 71, 63, 56, 50, 45, 40, 35, 30, 25, 20].filter { shorter * $0 >= 1600 })
  }

  /// Calls `body`, and returns nil if it throws because the format cannot hold the result of `settings`. If `settings`
  /// are the initial ones, which concede nothing, this method throws that error instead.
  func attempt<Value>(
    _ settings: BudgetSearch.Settings, _ body: () throws(AnimatedImageError) -> Value?
  ) throws(AnimatedImageError) -> Value? {
    do throws(AnimatedImageError) {
      return try body()
    } catch {
      guard error.code == .unwritable, settings != BudgetSearch.Settings() else { throw error }
      return nil
    }
  }

  // MARK: Files

  /// Returns a copy of the source if the edits change nothing and the copy fits. Returns nil if the tolerance of the
  /// options gives a file that is no larger than the source.
  ///
  /// A file that is written anew may be larger than the source: a GIF gets a graphic control for each copied frame.
  func copy() throws(AnimatedImageError) -> BudgetedAnimation? {
    guard image.byteCount <= limit, plan.showsSource else { return nil }
    var plan = plan
    let attempt = plan.attemptCount + 1
    if plan.rewriting?.reason == .tolerance {
      guard let file = plan.encoded, file.bytes.count > image.byteCount else { return nil }
      var options = options
      options.tolerance = 0
      plan = try EditPlan(image, edits, options, isCancelled: isCancelled)
    }
    guard plan.isCopy else { return nil }
    let sink = LimitedSink(limit)
    var output = EditOutput(image.source, sink, isCancelled: isCancelled)
    try output.copy(0..<image.byteCount)
    try output.flush()
    let written = WrittenAnimation(
      byteCount: image.byteCount, frameCount: plan.frames.count, mergedCount: 0,
      copiedCount: plan.copiedCount, damage: plan.damage)
    return BudgetedAnimation(
      plan: plan, file: EncodedFile(bytes: sink.bytes, written: written),
      settings: BudgetSearch.Settings(), encodeCount: 0, attempt: attempt, isStripped: false,
      isOptimized: false)
  }

  /// A file, of which only the size is known if it is far too long.
  typealias File = (
    plan: EditPlan, file: EncodedFile, byteCount: Int, isStripped: Bool, isOptimized: Bool
  )

  /// Encodes the file with `settings`. Returns nil if the file is far too long, unless `countsAll`.
  func encode(
    _ settings: BudgetSearch.Settings, countsAll: Bool, _ progress: (WritingProgress) -> Void
  ) throws(AnimatedImageError) -> File? {
    let isLossless =
      settings.tolerance == 0 && settings.colors == nil && settings.rate == nil
      && settings.percent == 100
    let plan = isLossless && !settings.isThorough ? plan : try plan(settings, sample: nil)
    return try encode(plan, settings, countsAll: countsAll, keepsMetadata: false, progress)
  }

  private func encode(
    _ plan: EditPlan, _ settings: BudgetSearch.Settings, countsAll: Bool = false,
    keepsMetadata: Bool, _ progress: (WritingProgress) -> Void
  ) throws(AnimatedImageError) -> File? {
    // Extensions that are not read as metadata are only kept with copied frames, whatever the limit.
    var isStripped =
      plan.rewriting != nil && !keepsMetadata && image.metadata != AnimationMetadata()
    if let file = plan.encoded, plan.rewriting != nil {
      return (plan, file, file.bytes.count, isStripped, isOptimized: false)
    }
    // Complete a file of up to about four times the limit, because the search needs its size.
    let sink = LimitedSink(
      plan.rewriting == nil ? .max : 4 * min(limit, 1 << 40) + 1 << 16,
      failsAbove: countsAll ? .max : nil)
    var written: WrittenAnimation
    do throws(AnimatedImageError) {
      written = try plan.write(to: sink, isCancelled: isCancelled, progress: progress)
    } catch {
      guard sink.isTooLong else { throw error }
      return nil
    }
    var (bytes, isOptimized) = (sink.bytes, false)
    if plan.rewriting == nil, !options.storesRGBA, bytes.count > limit || settings.isThorough {
      // Frames that were copied may become smaller if they are encoded again.
      let optimized = LimitedSink(bytes.count)
      // The edits may have exceeded the limits for files that are opened, for example by repeating frames.
      var decoding = image.options
      decoding.limits = .none
      let copy = try AnimatedImage(bytes: bytes, options: decoding)
      let result = try copy.optimize(
        to: optimized,
        options: OptimizingOptions(
          effort: settings.isThorough ? .small : options.effort, stripsMetadata: !keepsMetadata,
          parallelism: options.parallelism),
        needsSmaller: true, isCancelled: isCancelled)
      if result.byteCount < bytes.count {
        (bytes, isOptimized) = (optimized.bytes, true)
        isStripped = keepsMetadata ? result.losesMetadata : hasMetadata
        // It is no longer known which frames are copies, so the number of copies is left out.
        written = WrittenAnimation(
          byteCount: bytes.count, frameCount: written.frameCount, mergedCount: written.mergedCount,
          reducedCount: written.reducedCount, hasExactDelays: written.hasExactDelays,
          damage: written.damage)
      }
    }
    return (
      plan, EncodedFile(bytes: bytes, written: written),
      sink.isTooLong ? sink.byteCount : bytes.count, isStripped, isOptimized
    )
  }

  /// Returns `best` with the image's metadata added, if the metadata was dropped and there is room for it. Otherwise
  /// returns `best` unchanged.
  func withMetadata(
    _ best: BudgetedAnimation, _ progress: (WritingProgress) -> Void
  ) throws(AnimatedImageError) -> BudgetedAnimation {
    guard best.isStripped, let length = try metadataByteCount(best.plan.format),
      best.bytes.count + length <= limit
    else { return best }
    let found = try encode(
      best.plan.withMetadata(), best.settings, keepsMetadata: true, progress)
    // If the file with metadata is shorter than the one without, something else was given up for the metadata.
    guard let found, found.file.bytes.count <= limit,
      found.file.bytes.count >= best.bytes.count
    else { return best }
    var best = best
    (best.plan, best.file, best.isOptimized) = (found.plan, found.file, found.isOptimized)
    best.isStripped = found.isStripped
    return best
  }

  /// Returns the number of bytes that the image's metadata takes in a file of `format`, or nil if that is unknown.
  private func metadataByteCount(
    _ format: AnimationFormat
  ) throws(AnimatedImageError) -> Int? {
    guard let makeEncoder = format.writable?.makeEncoder else { return nil }
    var request = AnimationRequest(
      canvasSize: plan.canvasSize, isDeep: false, playCount: .once, metadata: image.metadata,
      effort: .fast, survey: nil, hasPoster: false)
    let whole = try makeEncoder(request).start(frameCount: 1).count
    request.metadata = nil
    return whole - (try makeEncoder(request).start(frameCount: 1).count)
  }

  /// Makes the plan for `settings`. If `sample` is not nil, the plan has only the frames with these indices.
  private func plan(
    _ settings: BudgetSearch.Settings, sample: [Int]?
  ) throws(AnimatedImageError) -> EditPlan {
    var options = options
    options.tolerance = max(options.tolerance, settings.tolerance)
    if settings.isThorough { options.effort = .small }
    if let colors = settings.colors {
      var count = colors
      if case .limited(let fewer) = options.colors.kind { count = min(count, fewer) }
      options.colors = .limited(to: count)
    }
    var edits = edits(settings)
    if let sample {
      edits.append(.frames(at: sample))
      options.encodesAll = true
    }
    return try EditPlan(
      image, edits, options, comparesLossless: false, isCancelled: isCancelled)
  }

  private func edits(_ settings: BudgetSearch.Settings) -> [AnimationEdit] {
    var edits = edits
    if let rate = settings.rate { edits.append(.framesPerSecond(Double(rate))) }
    if settings.percent < 100 {
      let size = plan.canvasSize
      var target = TargetSize(
        width: max(1, size.width * settings.percent / 100),
        height: max(1, size.height * settings.percent / 100))
      var rendering = Rendering()
      edits.removeAll {
        guard case .resize(let old) = $0.kind else { return false }
        rendering = old
        return true
      }
      // Pictures that were cropped to fill a box still have to be. All others already have the shape of the target.
      let isFilled =
        rendering.fit == .fill && rendering.target?.width != nil && rendering.target?.height != nil
      target.pixelAspect = isFilled ? rendering.target?.pixelAspect ?? 1 : 1
      edits.append(
        .resize(
          target, fit: isFilled ? .fill : .stretch, filter: rendering.filter,
          linearLight: rendering.linearLight))
    }
    return edits
  }

  // MARK: Samples

  /// Estimates the size of the file for `settings`. The result is never nil.
  func estimate(
    _ settings: BudgetSearch.Settings, _ progress: (WritingProgress) -> Void
  ) throws(AnimatedImageError) -> Int? {
    guard settings == BudgetSearch.Settings(), plan.rewriting == nil else {
      return try sampledByteCount(settings, progress)
    }
    // Copied frames take their stored size. Optimizing the file afterwards saves a little, and drops all metadata.
    let share = Double(plan.frames.count) / Double(max(image.frames.count, 1))
    let extras = try image.format.editing?.extensionByteCount(of: image) ?? 0
    let copied = Int(0.9 * Double(image.byteCount - extras) * min(share, 1))
    guard copied > limit else { return copied }
    // If the file is badly compressed, optimizing it saves much.
    do throws(AnimatedImageError) {
      return min(copied, try sampledByteCount(settings, progress) ?? copied)
    } catch {
      guard error.code == .unwritable else { throw error }
      return copied
    }
  }

  /// Estimates the size of the file for `settings`, all of whose frames are compressed, from pairs of adjacent frames
  /// that are spread over the animation. For a short animation, all frames are used. The result is never nil.
  private func sampledByteCount(
    _ settings: BudgetSearch.Settings, _ progress: (WritingProgress) -> Void
  ) throws(AnimatedImageError) -> Int? {
    let timeline = try EditTimeline(image, edits(settings), policy: options.delayPolicy)
    let count = timeline.showings.count
    // The first pair contains the first frame.
    let pairCount = min(24, max(4, count / 16))
    guard count > 3 * pairCount else {
      return try sizes(of: try plan(settings, sample: Array(0..<count)), progress)?.reduce(0, +)
    }
    let firsts = (0..<pairCount).map { $0 * (count - 1) / pairCount }
    let sample = try plan(settings, sample: firsts.flatMap { [$0, $0 + 1] })
    guard let sizes = try sizes(of: sample, progress) else { return nil }
    let frames = sizes.suffix(2 * pairCount + 1)
    guard frames.count == 2 * pairCount + 1, sample.frames.count == 2 * pairCount else {
      return sizes.reduce(0, +) * count / max(sample.frames.count, 1)
    }
    let once =
      sizes.dropLast(2 * pairCount + 1).reduce(0, +) + frames[frames.startIndex]
      + frames[frames.endIndex - 1]
    var changes = 0
    for pair in 0..<pairCount { changes += frames[frames.startIndex + 2 * pair + 1] }
    return once + changes * (count - 1) / pairCount
  }

  /// Returns the byte counts of the parts of a file: the start, each frame, and the end.
  private func sizes(
    of plan: EditPlan, _ progress: (WritingProgress) -> Void
  ) throws(AnimatedImageError) -> [Int]? {
    let sink = SizeSink()
    _ = try plan.write(to: sink, isCancelled: isCancelled, progress: progress)
    return sink.sizes
  }
}

/// A sink that records the size of each write.
private final class SizeSink: AnimationSink {
  private let state = Mutex<[Int]>([])

  var sizes: [Int] { state.withLock { $0 } }

  var canPatch: Bool { true }
  func write(_ bytes: [UInt8]) { state.withLock { $0.append(bytes.count) } }
  func patch(_ bytes: [UInt8], at offset: Int) {}
  func finish() {}
  func abandon() {}
}
