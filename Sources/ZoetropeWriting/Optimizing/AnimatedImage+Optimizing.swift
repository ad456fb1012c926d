extension AnimatedImage {
  /// Writes the animation to `sink` in fewer bytes. Pictures, delays and the play count do not change, unless
  /// ``OptimizingOptions/tolerance`` allows pictures to change. Even with a tolerance, the file is no larger than
  /// without one. The format is that of the source, whatever the name of the file.
  ///
  /// A file that cannot be made smaller is copied byte for byte, and so is a still PNG. A damaged file is copied as
  /// well, because rewriting it would lose the remains of its broken frames; with ``DamagePolicy/strict``, it is
  /// rejected. The smallest file so far is kept in memory, and nothing is written before the end.
  ///
  /// Metadata is kept, and so are all extension blocks of a GIF, except plain text. The pixels of an APNG are encoded
  /// again. Of its other ancillary chunks, those are kept that still apply: unknown chunks if their types say that they
  /// are safe to copy, and bKGD and sBIT if pixels are stored in the same form. A caBX, which signs the bytes of the
  /// source, is not. The bytes of these chunks do not count as saved: if nothing else is, the source is copied.
  ///
  /// - Parameters:
  ///   - sink: The destination. The sink is finished if writing succeeds, and abandoned if this method throws. The
  ///     destination may be the file that is being read.
  ///   - options: The effort, the tolerance, and whether metadata is kept. Default: balanced effort, no tolerance, and
  ///     metadata is kept.
  ///   - progress: A closure that is called after each frame of each attempt, on a thread of the library.
  /// - Throws: the errors of ``FrameReader/next()`` and of the sink; `cancelled` if the task is cancelled: at once or,
  ///   if the sink is a ``FileSink``, once its temporary file is removed.
  @discardableResult
  public func optimize(
    to sink: some AnimationSink, options: OptimizingOptions = .init(),
    progress: @escaping @Sendable (WritingProgress) -> Void = { _ in }
  ) async throws(AnimatedImageError) -> OptimizedAnimation {
    try await onOwnThread(for: sink) { (flag) throws(AnimatedImageError) in
      try optimize(to: sink, options: options, isCancelled: { flag.isRaised }, progress: progress)
    }
  }

  /// Does the same as ``optimize(to:options:progress:)``, but on the calling thread.
  ///
  /// - Parameters:
  ///   - byteLimit: The maximum size of the file in bytes, or nil for no limit. Pictures may change to meet the limit.
  ///   - isInPlace: Whether `sink` replaces the source. If so, and no smaller file is found, the sink is abandoned.
  ///   - needsSmaller: Whether a file is of use that is smaller only because it lacks metadata that does not apply to
  ///     it. In any case, it is if the source exceeds `byteLimit`.
  package func optimize(
    to sink: some AnimationSink, options: OptimizingOptions, byteLimit: Int? = nil,
    isInPlace: Bool = false, needsSmaller: Bool = false,
    isCancelled: @escaping @Sendable () -> Bool = { false },
    progress: (WritingProgress) -> Void = { _ in }
  ) throws(AnimatedImageError) -> OptimizedAnimation {
    sink.observe(isCancelled)
    let result = try sink.orAbandon { () throws(AnimatedImageError) in
      var damage: [Damage] = []
      var (attempt, lastAttempt) = (0, 0)
      func report(_ made: WritingProgress) {
        var numbered = made
        // The search for a byte limit numbers its attempts from 1. These numbers follow those of the attempts here.
        numbered.attempt += attempt - 1
        lastAttempt = numbered.attempt
        progress(numbered)
      }
      let countsMetadata = needsSmaller || source.byteCount > byteLimit ?? .max
      var best = try smallest(
        options, &damage, countsMetadata: countsMetadata, isCancelled, begin: { attempt += 1 },
        report)
      var tolerance = options.tolerance
      var colors: Int?
      var losesMetadata = best?.losesMetadata ?? false
      if let byteLimit, (best?.bytes.count ?? source.byteCount) > byteLimit {
        attempt += 1
        let found = try fitted(
          [],
          EditOptions(
            tolerance: options.tolerance, effort: options.effort, parallelism: options.parallelism),
          to: ByteBudget(byteLimit: byteLimit, keepsSize: true, keepsFrameRate: true),
          lossless: best?.bytes.count ?? source.byteCount, keepsMetadata: !options.stripsMetadata,
          isCancelled: isCancelled, progress: report)
        best = (found.bytes, found.plan.rewriting == nil, found.losesMetadata)
        tolerance = max(tolerance, found.settings.tolerance)
        colors = found.settings.colors
        losesMetadata = !options.stripsMetadata && found.losesMetadata
      }
      var output = EditOutput(source, sink, isCancelled: isCancelled)
      if let best {
        try output.append(best.bytes)
      } else if !isInPlace {
        try output.copy(0..<source.byteCount)
      }
      try output.flush()
      let byteCount = best?.bytes.count ?? source.byteCount
      // The last attempt may have been given up before its end.
      var last = WritingProgress(
        frameCount: frames.count, totalFrameCount: frames.count, byteCount: byteCount)
      last.attempt = max(lastAttempt, 1)
      progress(last)
      return OptimizedAnimation(
        byteCount: byteCount, sourceByteCount: source.byteCount, frameCount: frames.count,
        isCopy: best == nil, isExact: best?.isExact ?? true,
        tolerance: best?.isExact == false ? tolerance : 0, colors: colors,
        losesMetadata: losesMetadata, damage: damage)
    }
    if result.isCopy, isInPlace {
      sink.abandon()
    } else {
      try sink.finish()
    }
    return result
  }

  /// Returns the smallest file that was found, whether it is lossless, and whether it lacks metadata. Returns nil if no
  /// file is smaller than the source, or if the source is damaged or a still picture.
  ///
  /// - Parameter countsMetadata: Whether the bytes of metadata that a file lacks count as saved.
  private func smallest(
    _ options: OptimizingOptions, _ found: inout [Damage], countsMetadata: Bool,
    _ isCancelled: @escaping @Sendable () -> Bool, begin: () -> Void,
    _ progress: (WritingProgress) -> Void
  ) throws(AnimatedImageError) -> (bytes: [UInt8], isExact: Bool, losesMetadata: Bool)? {
    guard (0...200).contains(options.tolerance) else {
      throw AnimatedImageError(
        .parameter, "tolerance is \(options.tolerance); it must be 0 to 200", format: format)
    }
    guard format.writable != nil, let editing = format.editing,
      !damage.contains(where: { !$0.kind.isTolerated })
    else {
      try checkCopies(through: frames.indices.last, isCancelled: isCancelled)
      return nil
    }
    let (ways, loss) = try editing.optimizingWays(self, options, isCancelled)
    if let loss { found = [loss] }
    var best: (bytes: [UInt8], isExact: Bool, losesMetadata: Bool)?
    for way in ways where !way.isFallback || best?.isExact != true {
      begin()
      // Of two files of the same size, the one without loss is kept: a tolerance may have changed no pixel.
      let mayTie = way.isExact && best?.isExact == false
      let sink = LimitedSink((best?.bytes.count ?? source.byteCount) - (mayTie ? 0 : 1))
      do throws(AnimatedImageError) {
        let lost = try way.write(sink, progress)
        guard countsMetadata || sink.bytes.count + (lost ?? 0) < source.byteCount else { continue }
        best = (sink.bytes, way.isExact, lost != nil)
      } catch {
        // Not every way can write every file: pixels that the source leaves unchanged may have to be drawn, and may
        // have colours that do not fit into a frame with 256 other colours.
        guard sink.isTooLong || error.code == .unwritable else { throw error }
      }
    }
    return best
  }
}
