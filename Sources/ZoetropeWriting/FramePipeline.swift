/// Turns appended frames into frames of the file: merges equal frames, chooses rectangles and disposals, and converts
/// delays.
///
/// A pipeline is a value that encodes nothing itself, except to compare the sizes of alternatives. It returns jobs in
/// the order in which their frames appear in the file.
struct FramePipeline: Sendable {
  private let options: AnimationWriterOptions
  private var preparation: PicturePreparation
  private var tolerance: PictureTolerance?
  /// Reduces the colours of pictures. Nil if colours are not reduced.
  private var reducer: ColorReducer?
  /// The number of pixels examined.
  private var pixelCount = 0
  /// The number of examined pixels that were partly transparent.
  private var partialCount = 0
  private var placer: FramePlacer
  /// The first picture, if it is shown again after the last one and has transparent pixels that the last frame may have
  /// to clear.
  private var first: Bitmap?
  private var delays = FractionDelays()
  /// Rounds delays to centiseconds. Nil for a format that stores delays as fractions.
  private var centiseconds: RoundedDelays?
  /// Merges short frames. Nil if short frames are kept.
  private var shortFrames: ShortFrameMerging?
  /// The frame that waits in the placer until the next frame is known: the sum of its delay and the delays of the
  /// frames merged into it, its own delay, and its index.
  private var pending: (delay: ExactTime, stored: FrameDelay, index: Int)?
  /// Encodes alternatives of a frame to compare their sizes. Nil if sizes are estimated instead.
  private let trial: (any FrameCompressing)?
  /// The number of appended frames.
  private(set) var frameCount = 0
  /// The number of appended frames that were merged into others.
  private(set) var mergedCount = 0
  private var placedCount = 0
  /// Whether every delay is stored exactly.
  private(set) var hasExactDelays = true

  init(
    _ options: AnimationWriterOptions, preparation: PicturePreparation,
    _ reducer: ColorReducer?, _ encoder: any AnimationEncoding,
    isCancelled: @escaping @Sendable () -> Bool
  ) {
    self.options = options
    self.preparation = preparation
    tolerance = PictureTolerance(options.tolerance, format: options.format)
    self.reducer = reducer
    centiseconds = options.format.writable?.countsCentiseconds == true ? RoundedDelays() : nil
    shortFrames = options.mergesShortFrames ? ShortFrameMerging() : nil
    placer = FramePlacer(
      framesCanClear: options.format.writable?.framesCanClear ?? true,
      triesBackground: options.effort != .fast && encoder.canDisposeToBackground,
      isCancelled: isCancelled)
    trial = options.effort == .small ? encoder.makeFrameEncoder(effort: .balanced) : nil
  }

  /// Appends the next frame. Returns the jobs that are now complete.
  mutating func append(
    _ frame: WritableFrame, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> [EncodingQueue.Job] {
    // Check the frame now, because it may be held back until the next one is appended.
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

  /// Places a kept frame after the last one, or merges it into the last one if both are equal.
  private mutating func place(
    _ frame: WritableFrame, _ index: Int, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> [EncodingQueue.Job] {
    mergedCount += index - placedCount
    placedCount = index + 1
    var (picture, changed) = try fitted(frame, isCancelled)
    if let kept = try tolerance?.apply(
      picture, over: placer, changed: changed, isCancelled: isCancelled)
    {
      (picture, changed) = kept
    }
    let changes = try placer.changes(to: picture, within: changed)
    if changes.isEmpty, let before = pending, merges(before.stored, frame.delay) {
      let sum = before.delay + ExactTime(frame.delay)
      pending = (sum, before.stored, before.index)
      mergedCount += 1
      return []
    }
    if pending == nil, options.clearsForNextPlay,
      try picture.hasClearPixels(isCancelled: isCancelled)
    {
      first = picture
    }
    let trial = trial
    let placed = try placer.add(picture, changes: changes) { (work) throws(AnimatedImageError) in
      guard let trial else { return try work.estimatedCost(isCancelled: isCancelled) }
      return try trial.encode(work, isCancelled: isCancelled).bytes.count
    }
    var jobs: [EncodingQueue.Job] = []
    if let placed { jobs = try self.jobs(placed) }
    pending = (ExactTime(frame.delay), frame.delay, index)
    return jobs
  }

  /// Returns the picture of `frame` in the pixel format and the colours of the file, and the area in which the picture
  /// may differ from the picture of the previous frame.
  private mutating func fitted(
    _ frame: WritableFrame, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> (Bitmap, changed: PixelRect?) {
    guard let reduction = options.reduction else {
      return (try preparation.prepare(frame.bitmap, changed: frame.changed), frame.changed)
    }
    let all = PixelRect(frame.bitmap.size)
    let area = frame.changed.map { $0.intersection(all) } ?? all
    pixelCount += area.size.area
    let flat = try frame.bitmap.flattened(
      reduction.transparency, in: area, partialCount: &partialCount, isCancelled: isCancelled)
    let picture = try preparation.prepare(flat, changed: frame.changed)
    guard
      let reduced = try reducer?.reduce(
        picture, changed: frame.changed, lastRect: placer.last?.work.rect)
    else { return (picture, frame.changed) }
    return (reduced.picture, reduced.changed)
  }

  /// The number of frames whose colours were reduced.
  var reducedCount: Int { reducer?.reducedCount ?? 0 }

  /// The share of the examined pixels that were partly transparent.
  var partialAlphaShare: Double { Double(partialCount) / Double(max(pixelCount, 1)) }

  /// Returns whether a frame that equals the previous one is merged into it.
  private func merges(_ before: FrameDelay, _ delay: FrameDelay) -> Bool {
    guard options.identicalFrames == .merge, options.frameCount == nil else { return false }
    // With other delays, browsers would show the merged frame for a different time than the two frames together.
    return [before, delay].allSatisfy {
      DelayPolicy.browser.shownDuration(of: $0) == $0.duration
    }
  }

  /// Returns the jobs that remain after the last frame.
  mutating func finish(
    isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> [EncodingQueue.Job] {
    var left: [EncodingQueue.Job] = []
    for kept in shortFrames?.finish() ?? [] {
      left += try place(kept.frame, kept.index, isCancelled)
    }
    mergedCount += frameCount - placedCount
    placedCount = frameCount
    if let placed = try placer.finish(loopingTo: first) { left += try jobs(placed) }
    return left
  }

  /// Returns the jobs for a placed frame. There are several if the delay is too long for one frame of the file.
  ///
  /// - Throws: `limitExceeded` if there would be too many jobs.
  private mutating func jobs(
    _ placed: FramePlacer.Placed
  ) throws(AnimatedImageError) -> [EncodingQueue.Job] {
    guard let pending else { return [] }
    // A frame is shown for at most 65,535 hundredths of a second in a GIF, and 65,535 s in an APNG. The sum of merged
    // delays is not bounded.
    let count = (pending.delay.rounded(to: centiseconds == nil ? 1 : 100) + 0xfffe) / 0xffff
    if count > EditTimeline.frameLimit {
      throw EditTimeline.tooManyFrames(
        "with a delay of this length, ", Int(clamping: count), EditTimeline.frameLimit
      ).inFrame(pending.index)
    }
    let stored = centiseconds?.store(pending.delay) ?? delays.store(pending.delay)
    if stored.reduce(.zero, { $0 + ExactTime($1) }) != pending.delay { hasExactDelays = false }
    let (work, disposal) = (placed.work, placed.disposal)
    // Each additional frame is drawn on the picture itself, and changes nothing. The last one gets the frame's
    // disposal.
    let again = FrameWork(
      picture: work.picture, base: work.picture,
      rect: disposal == .keep ? PixelRect(x: 0, y: 0, width: 1, height: 1) : work.rect)
    return stored.enumerated().map { place, delay in
      EncodingQueue.Job(
        place == 0 ? work : again, delay: delay,
        disposal: place == stored.count - 1 ? disposal : .keep,
        index: pending.index)
    }
  }
}
