internal import Synchronization

extension AnimationWriterOptions {
  /// Options that copy `image` to another file, with its play count, its metadata and all of its frames.
  public init(copying image: AnimatedImage) {
    self.init(playCount: image.playCount, identicalFrames: .keep, metadata: image.metadata)
  }
}

extension ColorSurvey {
  /// Creates an empty survey for a file with `options`. Unlike other surveys, it finds the palette of an APNG with
  /// limited colours.
  public init(for options: AnimationWriterOptions) {
    self.init(keepsHiddenColors: options.keepsHiddenColors, reduction: options.reduction)
  }

  /// Surveys the frames of `image` on the calling thread. Takes at most as long as decoding them: it stops once no
  /// further frame can change the result.
  ///
  /// - Throws: the errors of ``FrameReader/next()``; `cancelled` once `isCancelled` returns true.
  public init(
    of image: AnimatedImage, keepsHiddenColors: Bool = false, isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) {
    self.init(keepsHiddenColors: keepsHiddenColors)
    try add(framesOf: image, isCancelled: isCancelled)
  }

  fileprivate mutating func add(
    framesOf image: AnimatedImage, isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    let reader = FrameReader(image)
    for index in image.frames.indices where !isSettled {
      let frame = try reader.frame(at: index, isCancelled: isCancelled)
      try add(frame.bitmap, changed: frame.dirtyRect)
    }
  }
}

extension AnimatedImage {
  /// Writes the animation to another file without loss, in two passes over its frames.
  ///
  /// The first pass collects the colours (see ``ColorSurvey``), so that the file uses the smallest lossless pixel
  /// format. Frames have 16 bits per sample if the image was opened with ``DecodingOptions/keeps16Bit``. The work runs
  /// on threads of the library.
  ///
  /// - Parameters:
  ///   - sink: The destination, such as a ``FileSink``. It is finished, or abandoned if this throws. It may replace the
  ///     file that is being read.
  ///   - options: Default: nil, ``AnimationWriterOptions/init(copying:)``. If they have no survey, one is made. If they
  ///     have no poster, the static image of an APNG is written.
  ///   - progress: Called after each frame, on a thread of the library.
  /// - Throws: the errors of ``FrameReader/next()`` and `AnimationWriter.append(_:)`; `cancelled` as soon
  ///   as the task is cancelled.
  @discardableResult
  public func reencode(
    to sink: some AnimationSink, options: AnimationWriterOptions? = nil,
    progress: @escaping @Sendable (WritingProgress) -> Void = { _ in }
  ) async throws(AnimatedImageError) -> WrittenAnimation {
    try await onOwnThread(for: sink) { (flag) throws(AnimatedImageError) in
      try reencode(to: sink, options: options, progress: progress, flag: flag)
    }
  }

  /// Does what ``reencode(to:options:progress:)`` does, on the calling thread.
  package func reencode(
    to sink: some AnimationSink, options: AnimationWriterOptions?,
    progress: (WritingProgress) -> Void = { _ in }, flag: CancelFlag = CancelFlag()
  ) throws(AnimatedImageError) -> WrittenAnimation {
    let (writer, total) = try sink.orAbandon {
      () throws(AnimatedImageError) -> (AnimationWriter, Int?) in
      let options = try completed(options ?? AnimationWriterOptions(copying: self)) {
        flag.isRaised
      }
      return (
        try AnimationWriter(to: sink, options: options) { flag.isRaised },
        options.frameCount ?? (options.identicalFrames == .keep ? frames.count : nil)
      )
    }
    func report() {
      let made = writer.progress
      progress(
        WritingProgress(
          frameCount: made.frameCount,
          // A delay that is too long for one frame takes several.
          totalFrameCount: total.map { max($0, made.frameCount) }, byteCount: made.byteCount))
    }
    let reader = FrameReader(self)
    for index in frames.indices {
      let frame = try reader.frame(at: index) { flag.isRaised }
      try writer.append(frame, delay: frames[index].delay)
      report()
    }
    let written = try writer.finish()
    report()
    return written
  }

  /// Returns `options`, with the static image and a survey added where they are missing.
  private func completed(
    _ options: AnimationWriterOptions, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> AnimationWriterOptions {
    var options = options
    if options.poster == nil, staticImage != nil,
      options.format.writable?.hasPoster == true
    {
      options.poster = try renderStaticBitmap()
    }
    if options.survey == nil {
      var survey = ColorSurvey(for: options)
      try survey.add(framesOf: self, isCancelled: isCancelled)
      options.survey = survey
    }
    return options
  }

  /// Returns `options`, completed on a thread of their own.
  func completed(
    _ options: AnimationWriterOptions
  ) async throws(AnimatedImageError) -> AnimationWriterOptions {
    try await onOwnThread { (flag) throws(AnimatedImageError) in
      try completed(options) { flag.isRaised }
    }
  }

  /// Runs `work` on its own thread, because the threads for frames and files are for shorter work.
  func onOwnThread<Value: Sendable>(
    _ work: @escaping @Sendable (CancelFlag) throws(AnimatedImageError) -> Value
  ) async throws(AnimatedImageError) -> Value {
    let result = await DecodeThreads.resultOnOwnThread { flag in
      Result { () throws(AnimatedImageError) in try work(flag) }
    }
    guard let result else { throw EncodingQueue.cancelled }
    return try result.get()
  }

  /// Runs `work`, which finishes or abandons `sink`, on its own thread. Abandons the sink if the task is cancelled
  /// before the work has begun.
  func onOwnThread<Value: Sendable>(
    for sink: some AnimationSink,
    _ work: @escaping @Sendable (CancelFlag) throws(AnimatedImageError) -> Value
  ) async throws(AnimatedImageError) -> Value {
    // Set by the work when it begins, or by cancellation, whichever comes first.
    let isTaken = Atomic(false)
    do throws(AnimatedImageError) {
      return try await onOwnThread { (flag) throws(AnimatedImageError) in
        guard !isTaken.exchange(true, ordering: .acquiringAndReleasing) else {
          throw EncodingQueue.cancelled
        }
        return try work(flag)
      }
    } catch {
      if !isTaken.exchange(true, ordering: .acquiringAndReleasing) { sink.abandon() }
      throw error
    }
  }

  /// Returns the bytes that ``reencode(to:options:progress:)`` would write, as a sequence of chunks. Each chunk is encoded
  /// when it is requested.
  ///
  /// - Parameter options: Default: nil, ``AnimationWriterOptions/init(copying:)`` with the number of frames, so that
  ///   the first chunk does not wait for the last frame.
  public func reencoded(
    options: AnimationWriterOptions? = nil
  ) -> EncodedBytes<BitmapSequence> {
    var options = options ?? AnimationWriterOptions(copying: self)
    if options.identicalFrames == .keep { options.frameCount = options.frameCount ?? frames.count }
    let frames = frames
    return EncodedBytes(bitmaps(), options: options, of: self) { frame in
      WritableFrame(frame, delay: frames[frame.index].delay)
    }
  }
}
