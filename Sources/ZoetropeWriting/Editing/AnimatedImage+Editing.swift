extension AnimatedImage {
  /// Plans `edits` without writing anything. The plan tells which frames are copied, which are compressed again, and
  /// why.
  ///
  /// Planning decodes the frames at cuts and the frames on which these depend. Nothing is decoded for changes of speed,
  /// delays or plays, or for a cut at the end. With ``DamagePolicy/strict``, all frames up to the last one that is
  /// copied are decoded to find damage. Scaling decodes every frame, and keeps up to 32 MiB of pictures for writing.
  /// Cropping and reversing decode every frame twice: once while planning and once while writing. So do another format
  /// and a limited number of colours. With ``EditOptions/tolerance``, planning encodes the animation twice, to find out
  /// whether the tolerance saves bytes; the plan keeps the file, up to 32 MiB, for writing.
  ///
  /// - Parameters:
  ///   - edits: The edits, which are applied in order.
  ///   - options: How delays are interpreted and stored, and how new pictures are stored.
  /// - Throws: `parameter` if an edit cannot be applied to the result of the previous edits; `limitExceeded` if there
  ///   would be too many frames, or if a play would take too long (see ``AnimationEdit``); `unwritable` if the format
  ///   cannot hold the result, such as a GIF frame with more than 256 colours under ``ColorPolicy/exact``; the errors
  ///   of decoding; `cancelled`, never `CancellationError`, as soon as the task is cancelled.
  public func plan(
    _ edits: [AnimationEdit], options: EditOptions = .init()
  ) async throws(AnimatedImageError) -> EditPlan {
    // What a byte budget would give up is found only by encoding.
    var options = options
    options.budget = nil
    return try await onOwnThread { [options] (flag) throws(AnimatedImageError) in
      try EditPlan(self, edits, options) { flag.isRaised }
    }
  }

  /// Writes the animation with `edits` to `sink`. The format is that of the source, unless ``EditOptions/format``
  /// requests another.
  ///
  /// Editing is lossless, except that ``AnimationEdit/resize(_:fit:filter:linearLight:)`` scales pixels, the colours of
  /// a GIF may have to be reduced, and ``EditOptions/colors``, ``EditOptions/tolerance`` and ``EditOptions/budget`` may
  /// allow a loss. A compressed frame is copied if the canvas on which it is drawn is unchanged. It is not decoded, so
  /// damage to its pixels is copied, too, and neither found nor reported. With ``DamagePolicy/strict``, all frames up
  /// to the last one that is copied are decoded, and a damaged animation is rejected before anything is written.
  ///
  /// Memory use is a few canvases, however long the animation is, and the output as well with ``EditOptions/budget``
  /// or, up to 64 MiB, with ``EditOptions/tolerance`` and where a GIF is scaled down (see ``EditOptions/colors``).
  /// Nothing is written if planning fails.
  ///
  /// - Parameters:
  ///   - edits: The edits, which are applied in order. Default: none.
  ///   - sink: The destination. The sink is finished if writing succeeds, and abandoned if this method throws.
  ///   - options: How delays are interpreted and stored, and how new pictures are stored. With the default, delays are
  ///     interpreted as in browsers; see ``EditOptions`` for the other defaults.
  ///   - progress: A closure that is called after each frame, on a thread of the library.
  /// - Throws: the errors of ``plan(_:options:)`` and of the sink; `io` if the source cannot be read; `cancelled`,
  ///   never `CancellationError`, when the task is cancelled.
  @discardableResult
  public func write(
    _ edits: [AnimationEdit] = [], to sink: some AnimationSink, options: EditOptions = .init(),
    progress: @escaping @Sendable (WritingProgress) -> Void = { _ in }
  ) async throws(AnimatedImageError) -> WrittenAnimation {
    try await onOwnThread(for: sink) { (flag) throws(AnimatedImageError) in
      let isCancelled: @Sendable () -> Bool = { flag.isRaised }
      guard let budget = options.budget else {
        let plan = try sink.orAbandon { () throws(AnimatedImageError) in
          try EditPlan(self, edits, options, isCancelled: isCancelled, progress: progress)
        }
        return try plan.write(
          to: sink, after: plan.attemptCount, isCancelled: isCancelled, progress: progress)
      }
      let found = try sink.orAbandon { () throws(AnimatedImageError) in
        try fitted(edits, options, to: budget, isCancelled: isCancelled, progress: progress)
      }
      return try found.write(to: sink, isCancelled: isCancelled, progress: progress)
    }
  }

  /// Writes the animation with `edits` to `sink` so that the file meets the limits of `preset`.
  ///
  /// After the edits, pictures are scaled, frames are dropped at equal intervals, and the number of plays is set, as
  /// far as the preset requires it. The mildest settings with which the file fits are then chosen, as with a
  /// ``ByteBudget``. Pictures are not cropped, and the animation is not cut. Memory use is a few canvases and the output.
  ///
  /// - Parameters:
  ///   - edits: The edits, which are applied in order. Default: none. Pictures that an edit scales are not scaled again.
  ///   - preset: The limits.
  ///   - sink: The destination. The sink is finished if writing succeeds, and abandoned if this method throws.
  ///   - options: As for ``write(_:to:options:progress:)``. If ``EditOptions/format`` is nil and the preset does not
  ///     allow the format of the source, the file has the first of the preset's formats. A ``EditOptions/budget`` may
  ///     set a lower limit and exclude changes.
  ///   - progress: A closure that is called after each frame of each attempt, on a thread of the library.
  /// - Returns: What was written. ``WrittenAnimation/concessions`` does not count what the preset requires.
  /// - Throws: `limitExceeded` if the preset cannot be met, with the limit and, if the file would be too large, the
  ///   smallest size that was found; `parameter` if the preset does not allow the format or the number of plays that
  ///   was chosen; the errors of ``write(_:to:options:progress:)``.
  @discardableResult
  public func write(
    _ edits: [AnimationEdit] = [], for preset: UploadPreset, to sink: some AnimationSink,
    options: EditOptions = .init(),
    progress: @escaping @Sendable (WritingProgress) -> Void = { _ in }
  ) async throws(AnimatedImageError) -> WrittenAnimation {
    try await onOwnThread(for: sink) { (flag) throws(AnimatedImageError) in
      let isCancelled: @Sendable () -> Bool = { flag.isRaised }
      let found = try sink.orAbandon { () throws(AnimatedImageError) in
        try fitted(edits, options, to: preset, isCancelled: isCancelled, progress: progress)
      }
      return try found.write(to: sink, isCancelled: isCancelled, progress: progress)
    }
  }
}

extension EditPlan {
  /// Writes the planned animation. See ``AnimatedImage/write(_:to:options:progress:)``.
  ///
  /// When the task is cancelled, this method throws immediately, and the sink is abandoned soon afterwards. If the sink
  /// is a ``FileSink``, this method throws once the temporary file is removed, which takes the time of a few rows.
  @discardableResult
  public func write(
    to sink: some AnimationSink,
    progress: @escaping @Sendable (WritingProgress) -> Void = { _ in }
  ) async throws(AnimatedImageError) -> WrittenAnimation {
    try await image.onOwnThread(for: sink) { [self] (flag) throws(AnimatedImageError) in
      try write(to: sink, isCancelled: { flag.isRaised }, progress: progress)
    }
  }
}
