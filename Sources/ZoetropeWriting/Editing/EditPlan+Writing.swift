extension EditPlan {
  /// Carries out the plan on the calling thread. The sink is finished if writing succeeds, and abandoned if this method
  /// throws.
  ///
  /// - Parameter earlier: The number of attempts that `progress` has already been told of. Default: 0.
  package func write(
    to sink: any AnimationSink, after earlier: Int = 0,
    isCancelled: @escaping @Sendable () -> Bool = { false },
    progress: (WritingProgress) -> Void = { _ in }
  ) throws(AnimatedImageError) -> WrittenAnimation {
    if let encoded {
      return try encoded.write(
        to: sink, isCancelled: isCancelled, attempt: max(earlier, 1), progress: progress)
    }
    sink.observe(isCancelled)
    if let rewriting {
      let written = try rewriting.write(to: sink, isCancelled: isCancelled) {
        var made = WritingProgress(
          frameCount: $0.frameCount, totalFrameCount: steps.count, byteCount: $0.byteCount)
        made.attempt = earlier + $0.attempt
        progress(made)
      }
      return WrittenAnimation(
        byteCount: written.byteCount, frameCount: written.frameCount, mergedCount: mergedCount,
        reducedCount: written.reducedCount, colorLimit: written.colorLimit,
        partialAlphaShare: written.partialAlphaShare, hasExactDelays: hasExactDelays,
        losesMetadata: losesMetadata, damage: damage)
    }
    let byteCount = try sink.orAbandon { () throws(AnimatedImageError) in
      let pictures = SourcePictures(image, isCancelled: isCancelled)
      var output = EditOutput(image.source, sink, isCancelled: isCancelled)
      if case .copied(let copying) = structure {
        try write(copying.makeWriter(self, isCancelled), &output, pictures, progress)
      }
      try output.flush()
      return output.byteCount
    }
    try sink.finish()
    return WrittenAnimation(
      byteCount: byteCount, frameCount: steps.count, mergedCount: mergedCount,
      copiedCount: copiedCount, reducedCount: reducedCount, hasExactDelays: hasExactDelays,
      losesMetadata: losesMetadata, damage: damage)
  }

  private func write(
    _ writer: any EditWriting, _ output: inout EditOutput, _ pictures: SourcePictures,
    _ progress: (WritingProgress) -> Void
  ) throws(AnimatedImageError) {
    var writer = writer
    try writer.start(&output)
    var canvas = EditCanvas(pictures, crop)
    for (place, step) in steps.enumerated() {
      let source = image.frames[step.source]
      if let drawing = step.drawing {
        let (picture, below): (Bitmap, Bitmap)
        if let seam, seam.place == place {
          (picture, below) = (seam.picture, seam.below)
        } else {
          picture = try pictures.composite(step.source)
            .cropped(to: crop, isCancelled: pictures.isCancelled)
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
