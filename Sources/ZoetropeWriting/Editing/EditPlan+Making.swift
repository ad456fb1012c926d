extension EditPlan {
  /// Plans `edits` of `image`. Decodes only the frames at cuts and those on which they depend, unless all pictures have
  /// to be encoded again, or ``DamagePolicy/strict`` requires that copied frames are intact.
  ///
  /// - Parameters:
  ///   - comparesLossless: Whether the tolerance is ignored if the lossless file is no larger.
  ///   - progress: A closure that is called for each frame that is encoded to compare files.
  /// - Throws: `parameter` if an edit cannot be applied; `unwritable` if the format cannot hold the result; the
  ///   errors of decoding; `cancelled`.
  package init(
    _ image: AnimatedImage, _ edits: [AnimationEdit], _ options: EditOptions,
    comparesLossless: Bool = true, isCancelled: @escaping @Sendable () -> Bool = { false },
    progress: (WritingProgress) -> Void = { _ in }
  ) throws(AnimatedImageError) {
    guard (0...200).contains(options.tolerance) else {
      throw AnimatedImageError(.parameter, "tolerance is \(options.tolerance); it must be 0 to 200")
    }
    if options.tolerance > 0, comparesLossless {
      try self.init(smaller: image, edits, options, isCancelled, progress)
      return
    }
    if let format = options.format, format.writtenFormat == nil {
      _ = try format.requireWritable()
    }
    let timeline = try EditTimeline(
      image, edits, policy: options.delayPolicy, isCancelled: isCancelled)
    if let reason = PictureRewriting.reason(image, timeline, options) {
      try self.init(rewriting: image, timeline, options, reason, isCancelled)
      return
    }
    do throws(AnimatedImageError) {
      try self.init(copying: image, timeline, options, isCancelled)
    } catch {
      // The error means that new frames have too many colours for the file's pixel format, and that too few frames
      // could be copied if only their colours were reduced.
      guard error.code == .unwritable, error.frameIndex != nil, options.colors != .exact else {
        throw error
      }
      try self.init(rewriting: image, timeline, options, .pixelFormat, isCancelled)
    }
  }

  /// The greatest size of a file that a plan keeps in memory. While plans are compared, there are two such files.
  private static let keptByteCount = 32 << 20

  /// Makes a plan that allows similar colours, or a lossless plan if the lossless file is no larger. To compare them,
  /// the file with similar colours is encoded, and the lossless file until it is larger. The plan keeps the file.
  private init(
    smaller image: AnimatedImage, _ edits: [AnimationEdit], _ options: EditOptions,
    _ isCancelled: @escaping @Sendable () -> Bool, _ progress: (WritingProgress) -> Void
  ) throws(AnimatedImageError) {
    var best: (plan: EditPlan, byteCount: Int)?
    var refusal: AnimatedImageError?
    var attemptCount = 0
    for tolerance in [options.tolerance, 0] {
      let earlier = attemptCount
      attemptCount += 1
      var options = options
      options.tolerance = tolerance
      do throws(AnimatedImageError) {
        var plan = try EditPlan(
          image, edits, options, comparesLossless: false, isCancelled: isCancelled)
        let sink = LimitedSink(Self.keptByteCount, failsAbove: best?.byteCount ?? .max)
        let written = try plan.write(to: sink, isCancelled: isCancelled) { made in
          var numbered = made
          numbered.attempt += earlier
          attemptCount = max(attemptCount, numbered.attempt)
          progress(numbered)
        }
        if !sink.isTooLong {
          plan.keep(EncodedFile(bytes: sink.bytes, written: written))
        }
        best = (plan, written.byteCount)
      } catch {
        // One of the plans may be unwritable although the other is not: copied frames may have more colours than the
        // encoder can write. The lossless plan also ends here if its file is larger.
        guard error.code == .unwritable else { throw error }
        refusal = error
      }
    }
    guard let best else { throw refusal ?? EncodingQueue.cancelled }
    self = best.plan.afterAttempts(attemptCount)
  }

  /// Makes a plan that encodes all pictures again.
  private init(
    rewriting image: AnimatedImage, _ timeline: EditTimeline, _ options: EditOptions,
    _ reason: Reason, _ isCancelled: @escaping @Sendable () -> Bool
  ) throws(AnimatedImageError) {
    format = (options.format ?? image.format).outputFormat
    let delays = try EditDelays.stored(in: format, timeline, options.shortDelays)
    let rewriting = try PictureRewriting(
      image, timeline, delays.kept, options, reason: reason, isCancelled: isCancelled)
    self.image = image
    header = image.header
    structure = .rewritten(rewriting)
    effort = options.effort
    dithering = options.dithering
    crop = timeline.canvas
    steps = rewriting.steps
    seam = nil
    canvasSize = rewriting.size
    playCount = timeline.playCount
    mergedCount = delays.mergedCount
    hasExactDelays = delays.isExact
    keepsDuration = delays.keepsDuration
    losesMetadata = try image.losesMetadata(in: format)
    let loss = try rewriting.options.poster == nil ? nil : image.staticImageLoss()
    damage =
      image.damage
      + (rewriting.findings.damage + (loss.map { [$0] } ?? [])).filter {
        !image.damage.contains($0)
      }
    frames = Self.frames(steps, image, areNumbered: false)
  }

  /// Makes a plan that copies frames where possible.
  private init(
    copying image: AnimatedImage, _ timeline: EditTimeline, _ options: EditOptions,
    _ isCancelled: @escaping @Sendable () -> Bool
  ) throws(AnimatedImageError) {
    // A still picture has no delay and plays once. With another delay or number of plays, it becomes an animation.
    let isStill =
      image.format.writable == nil && timeline.playCount == image.playCount
      && timeline.showings.allSatisfy { $0.stored == image.frames[$0.frame].delay }
    format = isStill ? image.format : image.format.outputFormat
    let delays = try EditDelays.stored(in: format, timeline, options.shortDelays)
    try Self.check(timeline.playCount, format)
    let pictures = SourcePictures(image, isCancelled: isCancelled)
    guard let copying = try image.format.editing?.copying(image) else {
      preconditionFailure("frames of this format cannot be copied")
    }
    structure = .copied(copying)
    let crop = timeline.canvas
    let planned = try copying.steps(
      for: delays.kept, pictures, crop: crop, mayReduce: options.colors != .exact)
    let lastCopied = planned.steps.lazy.filter { $0.drawing == nil }.map(\.source).max()
    try image.checkCopies(through: lastCopied, isCancelled: isCancelled)
    // The static image is compressed again if its size or its colours change.
    let loss = try planned.header == image.header ? nil : image.staticImageLoss()
    var header = planned.header
    header.format = format
    self.header = header
    self.image = image
    effort = options.effort
    dithering = options.dithering
    self.crop = crop
    (steps, seam) = (planned.steps, planned.seam)
    canvasSize = crop.size
    playCount = timeline.playCount
    mergedCount = delays.mergedCount
    hasExactDelays = delays.isExact
    keepsDuration = delays.keepsDuration
    damage =
      image.damage
      + (pictures.damage.keys.sorted().compactMap { pictures.damage[$0] }
      + (loss.map { [$0] } ?? []))
      .filter { !image.damage.contains($0) }
    frames = Self.frames(steps, image, areNumbered: copying.numbersFrames)
    losesMetadata = copying.losesMetadata(self)
  }

  /// Checks that the format can store the number of plays.
  private static func check(
    _ playCount: PlayCount, _ format: AnimationFormat
  ) throws(AnimatedImageError) {
    if case .finite(let plays) = playCount,
      let most = format.outputFormat.writable?.maximumPlays, plays > most
    {
      throw AnimatedImageError(
        .unwritable, "the format cannot store a play count of \(plays)",
        format: format.outputFormat)
    }
  }

  private static func frames(
    _ steps: [Step], _ image: AnimatedImage, areNumbered: Bool
  ) -> [Frame] {
    // The numbers of a copied frame stay the same if all frames before it are copied in their order. In a damaged file
    // they may change even then, because numbered chunks may not belong to any frame.
    var isPrefix = image.damage.isEmpty
    return steps.enumerated().map { place, step in
      let source = image.frames[step.source]
      let action: Action
      if let drawing = step.drawing {
        action = .encoded(drawing.rect, step.reason)
        isPrefix = false
      } else {
        isPrefix = isPrefix && place == step.source
        action =
          step.delay == source.delay && (!areNumbered || isPrefix)
          ? .copied(source.byteRange) : .patched(source.byteRange)
      }
      return Frame(
        source: step.source, delay: step.delay, action: action, reducesColors: step.reducesColors)
    }
  }
}
