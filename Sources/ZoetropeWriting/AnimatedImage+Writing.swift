extension AnimationWriterOptions {
  /// Options that copy `image` to another file: its play count and metadata, and one frame for each of its own.
  public init(copying image: AnimatedImage) {
    self.init(playCount: image.playCount, identicalFrames: .keep, metadata: image.metadata)
  }
}

extension ColorSurvey {
  /// Looks at all frames of `image` and its static image, on the calling thread. Takes as long as decoding them, or
  /// less: it ends when there is nothing more to learn.
  ///
  /// - Throws: the errors of ``FrameReader/next()``; `cancelled` once `isCancelled` returns true.
  public init(
    of image: AnimatedImage, keepsHiddenColors: Bool = false, isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) {
    self.init(keepsHiddenColors: keepsHiddenColors)
    let reader = FrameReader(image)
    for index in image.frames.indices where !isSettled {
      let frame = try reader.frame(at: index, isCancelled: isCancelled)
      try add(frame.bitmap, changed: frame.dirtyRect)
    }
  }
}

extension AnimatedImage {
  /// Writes the animation to another file: every pixel, delay and play, in two passes over its frames.
  ///
  /// The first pass looks at the colours (see ``ColorSurvey``), so that the file takes the smallest lossless form.
  /// Frames have 16 bits if the image was opened with ``DecodingOptions/keeps16Bit``. Runs on threads of the library.
  ///
  /// - Parameters:
  ///   - sink: Where the bytes go, such as a ``FileSink``; the file that is read may be replaced.
  ///   - options: Default: nil, ``AnimationWriterOptions/init(copying:)``. A survey is made if they have none, and
  ///     the static image of an APNG is written if they have no other one.
  ///   - progress: Called after each frame, on a thread of the library.
  /// - Throws: the errors of ``FrameReader/next()`` and ``AnimationWriter/append(_:)-(WritableFrame)``; `cancelled` as soon
  ///   as the task is cancelled.
  @discardableResult
  public func write(
    to sink: some AnimationSink, options: AnimationWriterOptions? = nil,
    progress: (@Sendable (AnimationWriter.Progress) -> Void)? = nil
  ) async throws(AnimatedImageError) -> WrittenAnimation {
    try await onOwnThread { (flag) throws(AnimatedImageError) in
      try write(to: sink, options: options, progress: progress, flag: flag)
    }
  }

  /// ``write(to:options:progress:)`` on the calling thread.
  package func write(
    to sink: some AnimationSink, options: AnimationWriterOptions?,
    progress: ((AnimationWriter.Progress) -> Void)? = nil, flag: CancelFlag = CancelFlag()
  ) throws(AnimatedImageError) -> WrittenAnimation {
    let options = try completed(options ?? AnimationWriterOptions(copying: self)) { flag.isRaised }
    let writer = try AnimationWriter(options, to: sink, flag: flag)
    let reader = FrameReader(self)
    for index in frames.indices {
      let frame = try reader.frame(at: index) { flag.isRaised }
      try writer.append(frame, delay: frames[index].delay)
      progress?(writer.progress)
    }
    let written = try writer.finish()
    progress?(writer.progress)
    return written
  }

  /// `options` with the static image and a survey, if they have none.
  private func completed(
    _ options: AnimationWriterOptions, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> AnimationWriterOptions {
    var options = options
    if options.poster == nil, staticImage != nil { options.poster = try renderStaticBitmap() }
    if options.survey == nil {
      options.survey = try ColorSurvey(
        of: self, keepsHiddenColors: options.keepsHiddenColors, isCancelled: isCancelled)
    }
    return options
  }

  /// The same in a task.
  func completed(
    _ options: AnimationWriterOptions
  ) async throws(AnimatedImageError) -> AnimationWriterOptions {
    try await onOwnThread { (flag) throws(AnimatedImageError) in
      try completed(options) { flag.isRaised }
    }
  }

  /// Runs `work` on a thread of its own: the threads for frames and files are for shorter work.
  func onOwnThread<Value: Sendable>(
    _ work: @escaping @Sendable (CancelFlag) throws(AnimatedImageError) -> Value
  ) async throws(AnimatedImageError) -> Value {
    let result = await DecodeThreads.loading.resultUnlessCancelled(mayWaitForEver: { true }) { flag in
      Result { () throws(AnimatedImageError) in try work(flag) }
    }
    guard let result else { throw EncodingQueue.cancelled }
    return try result.get()
  }

  /// The bytes of the animation in another file, chunk by chunk: like ``write(to:options:progress:)``, but each chunk
  /// is made when it is asked for.
  ///
  /// - Parameter options: Default: nil, ``AnimationWriterOptions/init(copying:)`` with the number of frames, so that
  ///   the first chunk does not wait for the last frame.
  public func encoded(
    _ options: AnimationWriterOptions? = nil
  ) -> EncodedBytes<BitmapSequence> {
    var options = options ?? AnimationWriterOptions(copying: self)
    if options.identicalFrames == .keep { options.frameCount = options.frameCount ?? frames.count }
    let frames = frames
    return EncodedBytes(bitmaps(), options: options, of: self) { frame in
      WritableFrame(frame, delay: frames[frame.index].delay)
    }
  }
}
