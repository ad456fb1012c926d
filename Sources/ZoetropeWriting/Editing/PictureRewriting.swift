/// The part of a plan that encodes all pictures again because they are scaled, take similar or fewer colours, or are
/// stored in another format.
package struct PictureRewriting: Sendable {
  let image: AnimatedImage
  let crop: PixelRect
  let rendering: Rendering?
  let frames: [EditDelays.Kept]
  package private(set) var options: AnimationWriterOptions
  /// The results of the first pass over the pictures.
  package private(set) var findings = AnimationAssembly.Findings()
  /// The size of the pictures.
  let size: PixelSize
  /// The reason why no frame is copied.
  let reason: EditPlan.Reason
  /// Whether the caller left the choice of colours and dithering to the library.
  private let mayReduceFurther: Bool

  /// Returns the reason why all pictures have to be encoded again, or nil if compressed frames can be copied.
  static func reason(
    _ image: AnimatedImage, _ timeline: EditTimeline, _ options: EditOptions
  ) -> EditPlan.Reason? {
    // A still PNG remains a still PNG.
    let format = (options.format ?? image.format).outputFormat
    if timeline.rendering != nil { return .scaling }
    if format != image.format.outputFormat { return .format(format) }
    // A still picture cannot be repeated.
    if timeline.showings.count > 1, image.format.writable == nil { return .format(format) }
    guard let editing = image.format.editing else { return .unknownFrames }
    if case .limited = options.colors.kind { return .colors }
    if options.tolerance > 0 { return .tolerance }
    if options.encodesAll { return .pixelFormat }
    if options.storesRGBA, !format.hasPalettes {
      // Copied frames cannot change their pixel format, and do not become smaller.
      let isTooLong = image.byteCount > options.budget?.byteLimit ?? .max
      if isTooLong || !editing.storesTrueColor(image.header) { return .pixelFormat }
    }
    return nil
  }

  /// Makes the first pass over the pictures, which decodes every frame.
  ///
  /// - Throws: `unwritable` if the format cannot hold the result; the errors of decoding; `cancelled`.
  init(
    _ image: AnimatedImage, _ timeline: EditTimeline, _ frames: [EditDelays.Kept],
    _ options: EditOptions, reason: EditPlan.Reason, isCancelled: @escaping @Sendable () -> Bool
  ) throws(AnimatedImageError) {
    (self.image, self.frames, self.reason) = (image, frames, reason)
    // Under a byte limit, metadata is dropped at first, and added back later if there is room for it.
    let metadata = options.budget == nil ? image.metadata : nil
    (crop, rendering) = (timeline.canvas, timeline.rendering)
    // With a byte limit, the search reduces the colours itself if that is necessary.
    mayReduceFurther =
      options.budget == nil && options.colors == .automatic && options.dithering == .automatic
    let format = (options.format ?? image.format).outputFormat
    var writing = AnimationWriterOptions(
      format: format, playCount: timeline.playCount, effort: options.effort,
      shortDelays: options.shortDelays, metadata: metadata,
      keepsHiddenColors: !format.hasPalettes && options.keepsHiddenColors, colors: options.colors,
      dithering: options.dithering, transparency: options.transparency,
      tolerance: options.tolerance,
      parallelism: options.parallelism)
    writing.storesRGBA = options.storesRGBA
    if format.hasPalettes, options.colors == .automatic, let rendering,
      rendering.filter != .nearest
    {
      // Scaling creates new colours in any case, and shared palettes take far less space.
      writing.colors = .limited(to: 256)
    }
    let pictures = ImagePictures(
      image, crop: crop, rendering, keeps16Bit: writing.reduction == nil, isCancelled: isCancelled)
    size = pictures.size
    writing.size = size
    if format == image.format, Self.keepsPixelShape(crop.size, size, rendering) {
      writing.carried.pixelAspect = try format.editing?.pixelAspect(of: image) ?? 0
    }
    if format.writable?.hasPoster == true { writing.poster = try pictures.poster() }
    var assembly = AnimationAssembly(
      pictures, frames: frames, options: writing, isCancelled: isCancelled)
    try assembly.prepare()
    (self.options, findings) = (assembly.options, assembly.findings)
  }

  /// Returns whether the pixels of pictures of `size` have the shape of the source's pixels: whether `rendering` scales
  /// both sides of a canvas by the same factor, apart from rounding to whole pixels.
  private static func keepsPixelShape(
    _ canvas: PixelSize, _ size: PixelSize, _ rendering: Rendering?
  ) -> Bool {
    guard let rendering, let target = rendering.target else { return true }
    let box = target.sourceBox(of: canvas, size: size, fit: rendering.fit)
    return abs(box.width * Double(size.height) - box.height * Double(size.width))
      < box.width + box.height
  }

  /// Returns a copy with the image's metadata added.
  func withMetadata() -> PictureRewriting {
    var rewriting = self
    rewriting.options.metadata = image.metadata
    return rewriting
  }

  /// Returns a copy that decodes every picture again when it is written.
  func withoutKeptPictures() -> PictureRewriting {
    var rewriting = self
    rewriting.findings.kept = []
    return rewriting
  }

  /// Writes all frames to `sink`. The sink is finished if writing succeeds, and abandoned if this method throws.
  func write(
    to sink: some AnimationSink, isCancelled: @escaping @Sendable () -> Bool,
    progress: (WritingProgress) -> Void
  ) throws(AnimatedImageError) -> WrittenAnimation {
    var attempt = 1
    func report(_ made: WritingProgress) {
      var numbered = made
      numbered.attempt = attempt
      progress(numbered)
    }
    let fewer = smallerChoices
    for choice in fewer.isEmpty ? [] : [nil] + fewer.map(Optional.some) {
      var options = options
      if let choice { (options.colors, options.dithering) = (.limited(to: choice), .none) }
      let trial = LimitedSink(trialByteLimit)
      let written = try sink.orAbandon { () throws(AnimatedImageError) -> WrittenAnimation? in
        do throws(AnimatedImageError) {
          let written = try write(options, to: trial, isCancelled, report)
          try sink.write(trial.bytes)
          return written
        } catch {
          guard trial.isTooLong else { throw error }
          return nil
        }
      }
      if let written {
        try sink.finish()
        return written
      }
      attempt += 1
    }
    // Where no number of colours makes the file smaller than the source, palettes stay as large as they were.
    return try write(options, to: sink, isCancelled, report)
  }

  /// The numbers of colours to try in turn if a file with smaller pictures takes more bytes than the source. The output
  /// is kept in memory meanwhile, so there are none for large files.
  private var smallerChoices: [Int] {
    let isSmaller = size.width <= crop.width && size.height <= crop.height && size != crop.size
    guard mayReduceFurther, isSmaller, image.format.hasPalettes, options.format.hasPalettes,
      trialByteLimit <= 64 << 20
    else { return [] }
    return [128, 64, 32, 16, 8]
  }

  /// The number of bytes that smaller pictures should not exceed: the size of the source or, if edits have repeated
  /// frames, its frames' share of that.
  private var trialByteLimit: Int {
    let repeats = Double(frames.count) / Double(max(image.frames.count, 1))
    return Int(clamping: Int64(Double(image.byteCount) * max(1, repeats)))
  }

  private func write(
    _ options: AnimationWriterOptions, to sink: some AnimationSink,
    _ isCancelled: @escaping @Sendable () -> Bool,
    _ progress: (WritingProgress) -> Void
  ) throws(AnimatedImageError) -> WrittenAnimation {
    let pictures = ImagePictures(
      image, crop: crop, rendering, keeps16Bit: options.reduction == nil, isCancelled: isCancelled)
    return try AnimationAssembly(
      pictures, frames: frames, options: options, findings: findings, isCancelled: isCancelled
    ).write(to: sink, progress: progress)
  }

  /// The steps of the plan: one for each frame, because all frames are encoded.
  var steps: [EditPlan.Step] {
    frames.map {
      EditPlan.Step(
        source: $0.frame, delay: $0.delay,
        drawing: EditPlan.Drawing(rect: PixelRect(size), disposal: .keep), reason: reason)
    }
  }
}
