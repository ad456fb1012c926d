extension AnimatedImage {
  /// Plans `edits` without writing anything: which frames are copied, which are compressed again, and why.
  ///
  /// Decodes the frames at cuts and the frames on which they depend. Changes of speed, delays or plays decode nothing,
  /// and neither does a cut at the end. Scaling decodes every frame, and keeps up to 32 MiB of pictures for writing.
  /// Cropping and reversing decode every frame twice, here and during writing.
  ///
  /// - Parameters:
  ///   - edits: Applied in order.
  ///   - options: How delays are read and stored, and how new pictures are stored.
  /// - Throws: `parameter` if an edit cannot be applied to the result of the previous ones; `limitExceeded` if there
  ///   would be too many frames, or a play would take too long (see ``AnimationEdit``); `unwritable` if the format
  ///   cannot hold the result, such as a GIF frame with more than 256 colours under ``ColorPolicy/exact``; the errors
  ///   of decoding; `cancelled`, never `CancellationError`, as soon as the task is cancelled.
  public func plan(
    _ edits: [AnimationEdit], options: EditOptions = .init()
  ) async throws(AnimatedImageError) -> EditPlan {
    try await onOwnThread { (flag) throws(AnimatedImageError) in
      try EditPlan(self, edits, options) { flag.isRaised }
    }
  }

  /// Writes the animation with `edits` to `sink`, in the format of the source unless ``EditOptions/format`` names
  /// another.
  ///
  /// Editing is lossless, except that ``AnimationEdit/resize(_:fit:filter:linearLight:)`` scales pixels and the
  /// colours of a GIF may be reduced. Compressed frames are copied where the canvas before them is unchanged. Memory
  /// use is a few canvases, whatever the length. Nothing is written if planning fails.
  ///
  /// - Parameters:
  ///   - edits: Applied in order.
  ///   - sink: The destination. It is finished, or abandoned if this throws.
  ///   - options: How delays are read and stored. Default: as browsers do.
  ///   - progress: Called after each frame, on a thread of the library.
  /// - Throws: the errors of ``plan(_:options:)`` and of the sink, `io` if the source cannot be read; `cancelled`,
  ///   never `CancellationError`, when the task is cancelled.
  @discardableResult
  public func write(
    _ edits: [AnimationEdit], to sink: some AnimationSink, options: EditOptions = .init(),
    progress: @escaping @Sendable (WritingProgress) -> Void = { _ in }
  ) async throws(AnimatedImageError) -> WrittenAnimation {
    try await onOwnThread(for: sink) { (flag) throws(AnimatedImageError) in
      let isCancelled: @Sendable () -> Bool = { flag.isRaised }
      guard let budget = options.budget else {
        let plan = try sink.orAbandon { () throws(AnimatedImageError) in
          try EditPlan(self, edits, options, isCancelled: isCancelled)
        }
        return try plan.write(to: sink, isCancelled: isCancelled, progress: progress)
      }
      let found = try sink.orAbandon { () throws(AnimatedImageError) in
        try fitted(edits, options, to: budget, isCancelled: isCancelled, progress: progress)
      }
      return try found.write(to: sink, isCancelled: isCancelled, progress: progress)
    }
  }
}

extension EditPlan {
  /// Writes the planned animation. See ``AnimatedImage/write(_:to:options:progress:)``.
  ///
  /// When the task is cancelled, this throws at once, and the sink is abandoned soon after.
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
