extension EditPlan {
  /// Carries out the plan on the calling thread. The sink is finished if writing succeeds, and abandoned if this method
  /// throws.
  package func write(
    to sink: any AnimationSink, isCancelled: @escaping @Sendable () -> Bool = { false },
    progress: (WritingProgress) -> Void = { _ in }
  ) throws(AnimatedImageError) -> WrittenAnimation {
    sink.observe(isCancelled)
    if let rewriting {
      let written = try rewriting.write(to: sink, isCancelled: isCancelled) {
        progress(
          WritingProgress(
            frameCount: $0.frameCount, totalFrameCount: steps.count, byteCount: $0.byteCount))
      }
      return WrittenAnimation(
        byteCount: written.byteCount, frameCount: written.frameCount, mergedCount: mergedCount,
        reducedCount: written.reducedCount, partialAlphaShare: written.partialAlphaShare,
        hasExactDelays: hasExactDelays, damage: damage)
    }
    let byteCount = try sink.orAbandon { () throws(AnimatedImageError) in
      let pictures = SourcePictures(image, isCancelled: isCancelled)
      var output = EditOutput(image.source, sink, isCancelled: isCancelled)
      switch structure {
      case .gif(let map):
        var writer = GIFEditWriter(self, map, isCancelled)
        try write(&writer, &output, pictures, progress)
      case .png(let map):
        var writer = PNGEditWriter(self, map, isCancelled)
        try write(&writer, &output, pictures, progress)
      case .rewritten: break
      }
      try output.flush()
      return output.byteCount
    }
    try sink.finish()
    return WrittenAnimation(
      byteCount: byteCount, frameCount: steps.count, mergedCount: mergedCount,
      copiedCount: copiedCount, hasExactDelays: hasExactDelays, damage: damage)
  }

  private func write(
    _ writer: inout some EditWriting, _ output: inout EditOutput, _ pictures: SourcePictures,
    _ progress: (WritingProgress) -> Void
  ) throws(AnimatedImageError) {
    try writer.start(&output)
    var canvas = EditCanvas(pictures, crop)
    for (place, step) in steps.enumerated() {
      let source = image.frames[step.source]
      if let drawing = step.drawing {
        let (picture, below): (Bitmap, Bitmap)
        if let seam, seam.place == place {
          (picture, below) = (seam.picture, seam.below)
        } else {
          picture = try pictures.composite(step.source).cropped(to: crop)
          below = try canvas.bitmap()
        }
        try writer.encode(picture, over: below, drawing, step, &output)
        try canvas.advance(past: drawing, showing: picture, over: below)
      } else {
        try writer.copy(source, step, &output)
        canvas.advance(pastCopyOf: step.source)
      }
      progress(
        WritingProgress(
          frameCount: place + 1, totalFrameCount: steps.count, byteCount: output.byteCount))
    }
    try writer.finish(&output)
  }
}

/// A writer of edited animations of one format.
protocol EditWriting {
  /// Writes the part of the file before the first frame.
  mutating func start(_ output: inout EditOutput) throws(AnimatedImageError)
  /// Copies the compressed pixels of `frame`.
  mutating func copy(
    _ frame: FrameControl, _ step: EditPlan.Step, _ output: inout EditOutput
  ) throws(AnimatedImageError)
  /// Encodes `picture` as a frame that is drawn over `below`.
  mutating func encode(
    _ picture: Bitmap, over below: Bitmap, _ drawing: EditPlan.Drawing, _ step: EditPlan.Step,
    _ output: inout EditOutput
  ) throws(AnimatedImageError)
  /// Writes the part of the file after the last frame.
  mutating func finish(_ output: inout EditOutput) throws(AnimatedImageError)
}

/// Writes an edited GIF. Each frame gets a new graphic control. The descriptor, colour table and compressed data of a
/// copied frame stay as they are.
struct GIFEditWriter: EditWriting {
  private let plan: EditPlan
  private let map: GIFStructureMap
  private let compressor: GIFFrameCompressor
  private let isCancelled: @Sendable () -> Bool
  /// The ranges of the extensions before each frame. An element is emptied once its extensions are written.
  private var extras: [[Range<Int>]]

  init(_ plan: EditPlan, _ map: GIFStructureMap, _ isCancelled: @escaping @Sendable () -> Bool) {
    self.plan = plan
    self.map = map
    self.isCancelled = isCancelled
    compressor = GIFFrameCompressor(globalTable: plan.header.palette, effort: plan.effort)
    extras = map.extras
  }

  mutating func start(_ output: inout EditOutput) throws(AnimatedImageError) {
    let size = plan.canvasSize
    var head = Array("GIF89a".utf8)
    head += UInt16(size.width).littleEndianBytes + UInt16(size.height).littleEndianBytes
    // Flags, background and aspect ratio are kept. The global colour table is kept, too, because copied frames refer to
    // it.
    head += try output.bytes(10..<13)
    try output.append(head)
    try output.copy(13..<map.headCount)
    switch plan.playCount {
    case .once: break
    case .indefinite: try output.append(GIFFrameEncoder.loopBlock(0))
    case .finite(let plays):
      try output.append(GIFFrameEncoder.loopBlock(UInt16(clamping: plays - 1)))
    }
    try writeExtras(before: 0, &output)
  }

  private mutating func writeExtras(
    before index: Int, _ output: inout EditOutput
  ) throws(AnimatedImageError) {
    for range in extras[index] { try output.copy(range) }
    extras[index] = []
  }

  mutating func copy(
    _ frame: FrameControl, _ step: EditPlan.Step, _ output: inout EditOutput
  ) throws(AnimatedImageError) {
    try writeExtras(before: frame.index, &output)
    try output.append(
      GIFFrameEncoder.control(
        delay: UInt16(clamping: step.delay.numerator), disposal: frame.disposal,
        transparentIndex: frame.transparentIndex))
    try output.copy(frame.byteRange)
  }

  mutating func encode(
    _ picture: Bitmap, over below: Bitmap, _ drawing: EditPlan.Drawing, _ step: EditPlan.Step,
    _ output: inout EditOutput
  ) throws(AnimatedImageError) {
    try writeExtras(before: step.source, &output)
    var work = FrameWork(picture: picture, base: below, rect: drawing.rect)
    work.isCleared = drawing.disposal == .background
    let coded = try compressor.encode(work, isCancelled: isCancelled)
    try output.append(
      coded.bytes(
        delay: UInt16(clamping: step.delay.numerator), disposal: drawing.disposal))
  }

  mutating func finish(_ output: inout EditOutput) throws(AnimatedImageError) {
    try writeExtras(before: extras.count - 1, &output)
    try output.append([0x3b])
  }
}
