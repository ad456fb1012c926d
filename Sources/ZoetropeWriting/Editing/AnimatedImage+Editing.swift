extension AnimatedImage {
  /// Plans `edits` without writing anything: which frames are copied, which are compressed anew, and why.
  ///
  /// Decodes the frames at seams, and what they depend on; nothing for other speeds, delays, plays and cut tails. Crops
  /// and reversed animations are decoded whole, once here and once when they are written.
  ///
  /// - Parameters:
  ///   - edits: Applied in order.
  ///   - options: How times are read and stored. Default: as browsers do.
  /// - Throws: `parameter` if an edit makes no sense where it stands; `unwritable` if the format cannot hold the result
  ///   without loss, such as a GIF frame with more than 256 colours; the errors of decoding; `cancelled`, never
  ///   `CancellationError`, as soon as the task is cancelled.
  public func plan(
    _ edits: [AnimationEdit], options: EditOptions = .init()
  ) async throws(AnimatedImageError) -> EditPlan {
    try await onOwnThread { (flag) throws(AnimatedImageError) in
      try EditPlan(self, edits, options) { flag.isRaised }
    }
  }

  /// Writes the animation with `edits` to `sink`, in the format of the source.
  ///
  /// Everything is exact: composited frames equal the source's pixel for pixel. Compressed frames are copied as fast
  /// as the source is read wherever the canvas before them is what it was. Memory is that of a few canvases, and does
  /// not grow with the length. Nothing is written if planning fails.
  ///
  /// - Parameters:
  ///   - edits: Applied in order.
  ///   - options: How times are read and stored. Default: as browsers do.
  ///   - sink: Where the bytes go. It is finished, or abandoned if this throws.
  ///   - progress: Called after each frame, on a thread of the library.
  /// - Throws: the errors of ``plan(_:options:)`` and of the sink, `io` if the source cannot be read; `cancelled`,
  ///   never `CancellationError`, when the task is cancelled.
  @discardableResult
  public func write(
    _ edits: [AnimationEdit], options: EditOptions = .init(), to sink: some AnimationSink,
    progress: @escaping @Sendable (EditPlan.Progress) -> Void = { _ in }
  ) async throws(AnimatedImageError) -> WrittenAnimation {
    try await plan(edits, options: options).write(to: sink, progress: progress)
  }
}

extension EditPlan {
  /// Carries the plan out. See ``AnimatedImage/write(_:options:to:progress:)``.
  ///
  /// When the task is cancelled, this throws at once, and the sink is abandoned soon after.
  @discardableResult
  public func write(
    to sink: some AnimationSink,
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) async throws(AnimatedImageError) -> WrittenAnimation {
    try await image.onOwnThread { [self] (flag) throws(AnimatedImageError) in
      try write(to: sink, isCancelled: { flag.isRaised }, progress: progress)
    }
  }
}
