/// Turns appended frames into frames of the file: merges equal ones, places them, and converts delays.
///
/// A value that encodes nothing itself, except to compare costs. Its jobs are in the order of the file.
struct FramePipeline: Sendable {
  private let options: AnimationWriterOptions
  private var preparation: PicturePreparation
  private var tolerance: PictureTolerance?
  /// Nil if the format holds all colours.
  private var reducer: ColorReducer?
  /// The number of pixels examined, and how many of them were partly transparent.
  private var pixelCount = 0
  private var partialCount = 0
  private var placer: FramePlacer
  private var delays = FractionDelays()
  /// Nil for a format that stores delays as fractions.
  private var centiseconds: RoundedDelays?
  /// Nil if short frames are not merged.
  private var shortFrames: ShortFrameMerging?
  /// The delay and the index of the frame in the placer that waits for the next one.
  private var pending: (delay: ExactTime, stored: FrameDelay, index: Int)?
  /// Encodes candidates to compare their sizes; nil to use estimates.
  private let trial: (any FrameCompressing)?
  /// The number of appended frames, and how many of them are not in the file.
  private(set) var frameCount = 0
  private(set) var mergedCount = 0
  private var placedCount = 0
  /// Whether every delay is stored exactly.
  private(set) var hasExactDelays = true

  init(
    _ options: AnimationWriterOptions, preparation: PicturePreparation,
    _ reducer: ColorReducer?, _ encoder: any AnimationEncoding
  ) {
    self.options = options
    self.preparation = preparation
    tolerance = PictureTolerance(options.tolerance, format: options.format)
    self.reducer = reducer
    centiseconds = options.format.writable?.countsCentiseconds == true ? RoundedDelays() : nil
    shortFrames = options.mergesShortFrames ? ShortFrameMerging() : nil
    placer = FramePlacer(
      framesCanClear: encoder.framesCanClear,
      triesBackground: options.effort != .fast && encoder.canDisposeToBackground)
    trial = options.effort == .small ? encoder.makeFrameEncoder(effort: .balanced) : nil
  }

  /// Takes the next frame. Returns the jobs that it completes.
  mutating func append(
    _ frame: WritableFrame, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> [EncodingQueue.Job] {
    // Checked first, because the frame may be held until the next one.
    try preparation.check(frame.bitmap)
    defer { frameCount += 1 }
    guard shortFrames != nil else { return try place(frame, frameCount, isCancelled) }
    let centiseconds = ExactTime(frame.delay).rounded(to: 100)
    if centiseconds < 2 || ExactTime(centiseconds, 100) != ExactTime(frame.delay) {
      hasExactDelays = false
    }
    return try shortFrames?.add(frame).map { (kept) throws(AnimatedImageError) in
      try place(kept.frame, kept.index, isCancelled)
    } ?? []
  }

  /// Places a kept frame after the last one, or merges it if both are equal.
  private mutating func place(
    _ frame: WritableFrame, _ index: Int, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> [EncodingQueue.Job] {
    mergedCount += index - placedCount
    placedCount = index + 1
    var (picture, changed) = try fitted(frame)
    if let kept = try tolerance?.apply(
      picture, over: placer, changed: changed, isCancelled: isCancelled)
    {
      (picture, changed) = kept
    }
    let changes = placer.changes(to: picture, within: changed)
    if changes.isEmpty, let before = pending, merges(before.stored, frame.delay) {
      let sum = before.delay + ExactTime(frame.delay)
      pending = (sum, before.stored, before.index)
      mergedCount += 1
      return []
    }
    let trial = trial
    let placed = try placer.add(picture, changes: changes) { (work) throws(AnimatedImageError) in
      try trial?.encode(work, isCancelled: isCancelled).bytes.count ?? work.estimatedCost
    }
    var jobs: [EncodingQueue.Job] = []
    if let placed { jobs = try self.jobs(placed) }
    pending = (ExactTime(frame.delay), frame.delay, index)
    return jobs
  }

  /// Returns a frame's picture in the pixel format and the colours of the file, and where it may differ from the
  /// previous one.
  private mutating func fitted(
    _ frame: WritableFrame
  ) throws(AnimatedImageError) -> (Bitmap, changed: PixelRect?) {
    guard let reduction = options.reduction else {
      return (try preparation.prepare(frame.bitmap, changed: frame.changed), frame.changed)
    }
    let all = PixelRect(frame.bitmap.size)
    let area = frame.changed.map { $0.intersection(all) } ?? all
    pixelCount += area.size.area
    let flat = try frame.bitmap.flattened(
      reduction.transparency, in: area, partialCount: &partialCount)
    let picture = try preparation.prepare(flat, changed: frame.changed)
    guard
      let reduced = try reducer?.reduce(
        picture, changed: frame.changed, lastRect: placer.last?.work.rect)
    else { return (picture, frame.changed) }
    return (reduced.picture, reduced.changed)
  }

  /// The number of frames whose colours were reduced.
  var reducedCount: Int { reducer?.reducedCount ?? 0 }

  /// The share of pixels that were partly transparent.
  var partialAlphaShare: Double { Double(partialCount) / Double(max(pixelCount, 1)) }

  /// Returns whether a frame that equals the previous one is merged into it.
  private func merges(_ before: FrameDelay, _ delay: FrameDelay) -> Bool {
    guard options.identicalFrames == .merge, options.frameCount == nil else { return false }
    // Otherwise browsers would show the merged frame for a different time than the two frames.
    return [before, delay].allSatisfy {
      DelayPolicy.browser.shownDuration(of: $0) == $0.duration
    }
  }

  /// Returns the remaining jobs.
  mutating func finish(
    isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> [EncodingQueue.Job] {
    var left: [EncodingQueue.Job] = []
    for kept in shortFrames?.finish() ?? [] {
      left += try place(kept.frame, kept.index, isCancelled)
    }
    mergedCount += frameCount - placedCount
    placedCount = frameCount
    if let placed = placer.finish() { left += try jobs(placed) }
    return left
  }

  /// Returns the jobs for a placed frame: several if its delay is too long for one.
  ///
  /// - Throws: `limitExceeded` if there would be too many.
  private mutating func jobs(
    _ placed: FramePlacer.Placed
  ) throws(AnimatedImageError) -> [EncodingQueue.Job] {
    guard let pending else { return [] }
    let count = (pending.delay.rounded(to: 100) + 0xfffe) / 0xffff
    if centiseconds != nil, count > EditTimeline.frameLimit {
      throw EditTimeline.tooManyFrames(
        "for a delay of this length ", Int(clamping: count), EditTimeline.frameLimit
      ).inFrame(pending.index)
    }
    let stored = centiseconds?.store(pending.delay) ?? delays.store(pending.delay)
    if stored.reduce(.zero, { $0 + ExactTime($1) }) != pending.delay { hasExactDelays = false }
    let (work, disposal) = (placed.work, placed.disposal)
    // The additional frames are drawn on the picture itself, and the last one gets the frame's disposal.
    let again = FrameWork(
      picture: work.picture, base: work.picture,
      rect: disposal == .keep ? PixelRect(x: 0, y: 0, width: 1, height: 1) : work.rect)
    return stored.enumerated().map { place, delay in
      EncodingQueue.Job(
        work: place == 0 ? work : again, delay: delay,
        disposal: place == stored.count - 1 ? disposal : .keep,
        index: pending.index)
    }
  }
}
