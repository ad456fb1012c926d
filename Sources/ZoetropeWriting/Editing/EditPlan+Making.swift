extension EditPlan {
  /// Plans `edits` of `image`. Decodes only the frames at cuts and those on which they depend, unless all pictures have
  /// to be encoded again.
  ///
  /// - Parameter comparesLossless: Whether the tolerance is ignored if the lossless file is no larger.
  /// - Throws: `parameter` if an edit cannot be applied; `unwritable` if the format cannot hold the result; the
  ///   errors of decoding; `cancelled`.
  package init(
    _ image: AnimatedImage, _ edits: [AnimationEdit], _ options: EditOptions,
    comparesLossless: Bool = true, isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws(AnimatedImageError) {
    guard (0...200).contains(options.tolerance) else {
      throw AnimatedImageError(.parameter, "tolerance is \(options.tolerance); it must be 0 to 200")
    }
    if options.tolerance > 0, comparesLossless {
      try self.init(smaller: image, edits, options, isCancelled)
      return
    }
    try options.colors.check(options.format ?? image.format)
    var timeline = EditTimeline(
      image.frames, canvas: image.canvasSize, playCount: image.playCount,
      policy: options.delayPolicy)
    for edit in edits {
      if isCancelled() { throw EncodingQueue.cancelled }
      try timeline.apply(edit)
    }
    if let reason = PictureRewriting.reason(image, timeline, options) {
      try self.init(rewriting: image, timeline, options, reason, isCancelled)
      return
    }
    do throws(AnimatedImageError) {
      try self.init(copying: image, timeline, options, isCancelled)
    } catch {
      // The error means that a frame at a cut has too many colours for the file's pixel format.
      guard error.code == .unwritable, error.frameIndex != nil, options.colors != .exact else {
        throw error
      }
      try self.init(rewriting: image, timeline, options, .form, isCancelled)
    }
  }

  /// Makes a plan that allows similar colours, or a lossless plan if the lossless file is no larger. To compare them,
  /// both files are encoded once, and their bytes are discarded.
  private init(
    smaller image: AnimatedImage, _ edits: [AnimationEdit], _ options: EditOptions,
    _ isCancelled: @escaping @Sendable () -> Bool
  ) throws(AnimatedImageError) {
    var best: (plan: EditPlan, byteCount: Int)?
    var refusal: AnimatedImageError?
    for tolerance in [0, options.tolerance] {
      var options = options
      options.tolerance = tolerance
      do throws(AnimatedImageError) {
        let plan = try EditPlan(
          image, edits, options, comparesLossless: false, isCancelled: isCancelled)
        let written = try plan.write(to: DiscardingSink(), isCancelled: isCancelled)
        if best.map({ written.byteCount < $0.byteCount }) ?? true {
          best = (plan, written.byteCount)
        }
      } catch {
        // One of the plans may be unwritable although the other is not: copied frames may have more colours than the
        // encoder can write.
        guard error.code == .unwritable else { throw error }
        refusal = error
      }
    }
    guard let best else { throw refusal ?? EncodingQueue.cancelled }
    self = best.plan
  }

  /// Makes a plan that encodes all pictures again.
  private init(
    rewriting image: AnimatedImage, _ timeline: EditTimeline, _ options: EditOptions,
    _ reason: Reason, _ isCancelled: @escaping @Sendable () -> Bool
  ) throws(AnimatedImageError) {
    let isGIF = (options.format ?? image.format) == .gif
    let delays: EditDelays =
      isGIF ? try .centiseconds(timeline, options.timing) : try .fractions(timeline)
    let rewriting = try PictureRewriting(
      image, timeline, delays.kept, options, reason: reason, isCancelled: isCancelled)
    self.image = image
    format = isGIF ? .gif : .apng
    header = image.header
    structure = .rewritten(rewriting)
    effort = options.effort
    crop = timeline.canvas
    steps = rewriting.steps
    seam = nil
    canvasSize = rewriting.size
    playCount = timeline.playCount
    mergedCount = delays.mergedCount
    hasExactDelays = delays.isExact
    keepsDuration = delays.keepsDuration
    damage = image.damage + rewriting.findings.damage.filter { !image.damage.contains($0) }
    frames = Self.frames(steps, image, isGIF: isGIF)
  }

  /// Makes a plan that copies frames where possible.
  private init(
    copying image: AnimatedImage, _ timeline: EditTimeline, _ options: EditOptions,
    _ isCancelled: @escaping @Sendable () -> Bool
  ) throws(AnimatedImageError) {
    let isGIF = image.header.format == .gif
    let delays: EditDelays =
      switch image.header.format {
      case .gif: try .centiseconds(timeline, options.timing)
      case .png: .none(timeline)
      default: try .fractions(timeline)
      }
    try Self.check(timeline, isGIF: isGIF)
    let pictures = SourcePictures(image, isCancelled: isCancelled)
    let steps: [Step]
    let seam: Seam?
    let crop = timeline.canvas
    let isCropped = crop != PixelRect(image.canvasSize)
    var header = image.header
    if isGIF {
      structure = .gif(try GIFStructureMap(image))
      let encoder = GIFFrameEncoder(globalTable: header.palette)
      let planner = EditPlanner(
        pictures, crop: crop, fillsFirst: true, encodesAll: isCropped ? .crop : nil)
      (steps, seam) = try planner.steps(for: delays.kept) {
        (picture, below, rect, source) throws(AnimatedImageError) in
        guard try encoder.colorCount(of: picture, over: below, in: rect) != nil else {
          throw GIFFrameEncoder.tooManyColors.inFrame(source)
        }
      }
    } else {
      let map = try PNGStructureMap(image)
      structure = .png(map)
      ((steps, seam), header) = try Self.pngSteps(
        delays.kept, pictures, crop: crop, isCropped: isCropped, map)
    }
    self.header = header
    self.image = image
    effort = options.effort
    format = image.format
    self.crop = crop
    self.steps = steps
    self.seam = seam
    canvasSize = crop.size
    playCount = timeline.playCount
    mergedCount = delays.mergedCount
    hasExactDelays = delays.isExact
    keepsDuration = delays.keepsDuration
    damage =
      image.damage
      + pictures.damage.keys.sorted().compactMap { pictures.damage[$0] }.filter {
        !image.damage.contains($0)
      }
    frames = Self.frames(steps, image, isGIF: isGIF)
  }

  /// Checks that the format can store the canvas size and the number of plays of the timeline.
  private static func check(_ timeline: EditTimeline, isGIF: Bool) throws(AnimatedImageError) {
    let format: AnimationFormat = isGIF ? .gif : .apng
    if case .finite(let plays) = timeline.playCount, let most = format.writable?.maximumPlays,
      plays > most
    {
      throw AnimatedImageError(
        .unwritable, "the format cannot store a play count of \(plays)", format: format)
    }
    let size = timeline.canvas.size
    if isGIF, max(size.width, size.height) > 0xffff {
      throw AnimatedImageError(
        .unwritable, "a canvas of \(size) is too large for a GIF", format: .gif)
    }
  }

  /// Returns the steps for a PNG, and the header of the output.
  ///
  /// New frames are stored in the file's pixel format. If that is not possible even with a longer palette, all frames
  /// are encoded again as RGBA.
  private static func pngSteps(
    _ frames: [EditDelays.Kept], _ pictures: SourcePictures, crop: PixelRect, isCropped: Bool,
    _ map: PNGStructureMap
  ) throws(AnimatedImageError) -> ((steps: [Step], seam: Seam?), ImageHeader) {
    let encoder = PNGFormEncoder(pictures.image.header)
    var header = pictures.image.header
    header.canvasSize = crop.size
    let room = 1 << Int(min(header.bitDepth, 8))
    var missing: Set<UInt32> = []
    var fits = true
    func note(_ fit: PNGFormEncoder.Fit) {
      switch fit {
      case .fits: break
      case .lacks(let colors): missing.formUnion(colors)
      case .never: fits = false
      }
      if header.palette.count + missing.count > room, !missing.isEmpty { fits = false }
    }
    if isCropped, !map.beginsWithStaticImage {
      note(encoder.fit(try pictures.image.renderStaticBitmap(), in: crop))
    }
    let planner = EditPlanner(
      pictures, crop: crop, fillsFirst: map.beginsWithStaticImage,
      encodesAll: isCropped ? .crop : nil)
    let steps = try planner.steps(for: frames) { (picture, _, rect, _) in
      if fits { note(encoder.fit(picture, in: rect)) }
    }
    if fits, !missing.isEmpty {
      // With a longer palette, the static image is compressed again, and damaged pixels of copied frames, whose indices
      // are past the old palette, would get new colours.
      if !isCropped, !map.beginsWithStaticImage {
        note(encoder.fit(try pictures.image.renderStaticBitmap(), in: crop))
      }
      for step in steps.steps where fits && step.drawing == nil {
        fits = try pictures.isIntact(step.source)
      }
    }
    if fits {
      header.palette += missing.sorted()
      return (steps, header)
    }
    header.colorType = 6
    header.bitDepth = header.bitDepth == 16 ? 16 : 8
    header.palette = []
    header.transparency = []
    header.isInterlaced = false
    let other = EditPlanner(
      pictures, crop: crop, fillsFirst: map.beginsWithStaticImage, encodesAll: .form)
    return (try other.steps(for: frames) { (_, _, _, _) in }, header)
  }

  private static func frames(
    _ steps: [Step], _ image: AnimatedImage, isGIF: Bool
  ) -> [Frame] {
    // A frame keeps its sequence numbers as long as the output has begun with the same frames as the source, and all of
    // them are copied. This does not hold for damaged files, which may have numbered chunks that are not copied.
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
          step.delay == source.delay && (isGIF || isPrefix)
          ? .copied(source.byteRange) : .patched(source.byteRange)
      }
      return Frame(source: step.source, delay: step.delay, action: action)
    }
  }
}
