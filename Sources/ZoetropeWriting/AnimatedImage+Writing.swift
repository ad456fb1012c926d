internal import Synchronization

extension AnimationWriterOptions {
  /// Creates options for copying `image` with its play count, its metadata and all of its frames. The format is APNG,
  /// also for a GIF. Set ``format`` for another format.
  public init(copying image: AnimatedImage) {
    self.init(playCount: image.playCount, identicalFrames: .keep, metadata: image.metadata)
  }
}

extension ColorSurvey {
  /// Creates an empty survey for a file that is written with `options`. If ``AnimationWriterOptions/colors`` limits the
  /// number of colours of an APNG, the survey also finds the palette of the file. Surveys created with other
  /// initializers do not.
  public init(for options: AnimationWriterOptions) {
    self.init(keepsHiddenColors: options.keepsHiddenColors, reduction: options.reduction)
  }

  /// Surveys the frames of `image` on the calling thread. This takes at most as long as decoding the frames, because
  /// the survey stops once no further frame can change its result.
  ///
  /// - Throws: the errors of ``FrameReader/next()``; `cancelled` once `isCancelled` has returned true.
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
      try add(frame.bitmap, changed: frame.dirtyRect, isCancelled: isCancelled)
    }
  }
}

extension AnimatedImage {
  /// Writes the animation to another file without loss, in two passes over its frames. The file is an APNG, whatever
  /// the format of the source and the name of the file, unless `options` have another format.
  ///
  /// The first pass collects the colours (see ``ColorSurvey``), so that the file can use the smallest lossless pixel
  /// format. The file has 16 bits per sample only if the source has them and was opened with
  /// ``DecodingOptions/keeps16Bit``. The work runs on threads of the library.
  ///
  /// - Parameters:
  ///   - sink: The destination, such as a ``FileSink``. The sink is finished if writing succeeds, and abandoned if this
  ///     method throws. The destination may be the file that is being read.
  ///   - options: The format of the file and how it is compressed. Default: nil, which means
  ///     ``AnimationWriterOptions/init(copying:)``. If the options have no survey, the method makes one. If they have
  ///     no poster, and the source is an APNG whose static image is not a frame, the static image becomes the poster.
  ///   - progress: A closure that is called after each frame, on a thread of the library.
  /// - Throws: the errors of ``FrameReader/next()`` and `AnimationWriter.append(_:)`; `cancelled` if the task is
  ///   cancelled: at once or, if the sink is a ``FileSink``, once its temporary file is removed.
  @discardableResult
  public func reencode(
    to sink: some AnimationSink, options: AnimationWriterOptions? = nil,
    progress: @escaping @Sendable (WritingProgress) -> Void = { _ in }
  ) async throws(AnimatedImageError) -> WrittenAnimation {
    try await onOwnThread(for: sink) { (flag) throws(AnimatedImageError) in
      try reencode(to: sink, options: options, isCancelled: { flag.isRaised }, progress: progress)
    }
  }

  /// Does the same as ``reencode(to:options:progress:)``, but on the calling thread.
  package func reencode(
    to sink: some AnimationSink, options: AnimationWriterOptions?,
    isCancelled: @escaping @Sendable () -> Bool = { false },
    progress: (WritingProgress) -> Void = { _ in }
  ) throws(AnimatedImageError) -> WrittenAnimation {
    let options = try sink.orAbandon { () throws(AnimatedImageError) in
      let options = options ?? AnimationWriterOptions(copying: self)
      _ = try options.format.requireWritable()
      return try completed(options, isCancelled)
    }
    // From here on, the writer ends the sink.
    let writer = try AnimationWriter(to: sink, options: options, isCancelled: isCancelled)
    let total = options.frameCount ?? (options.identicalFrames == .keep ? frames.count : nil)
    func report() {
      let made = writer.progress
      progress(
        WritingProgress(
          frameCount: made.frameCount,
          // A delay that is too long for one frame takes several frames of the file.
          totalFrameCount: total.map { max($0, made.frameCount) }, byteCount: made.byteCount))
    }
    let reader = FrameReader(self)
    for index in frames.indices {
      let frame = try reader.frame(at: index, isCancelled: isCancelled)
      try writer.append(
        frame.bitmap, delay: frames[index].delay, changed: index == 0 ? nil : frame.dirtyRect)
      report()
    }
    let written = try writer.finish()
    report()
    return written
  }

  /// Returns a copy of `options` with the parts that are missing: the image's static image as the poster, a survey of the
  /// colours of all frames, and the shape of pixels if the format stays the same.
  func completed(
    _ options: AnimationWriterOptions, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> AnimationWriterOptions {
    var options = options
    if options.format == format {
      options.carried.pixelAspect = try format.editing?.pixelAspect(of: self) ?? 0
    }
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

  /// Returns a copy of `options` with the parts that are missing: the image's static image as the poster, and a survey
  /// of the colours of all frames. The work runs on a thread that is created for it.
  func completed(
    _ options: AnimationWriterOptions
  ) async throws(AnimatedImageError) -> AnimationWriterOptions {
    try await onOwnThread { (flag) throws(AnimatedImageError) in
      try completed(options) { flag.isRaised }
    }
  }

  /// Runs `work` on a thread of its own, because the library's shared threads are meant for shorter work.
  func onOwnThread<Value: Sendable>(
    _ work: @escaping @Sendable (CancelFlag) throws(AnimatedImageError) -> Value
  ) async throws(AnimatedImageError) -> Value {
    let result = await DecodeThreads.resultOnOwnThread { flag in
      Result { () throws(AnimatedImageError) in try work(flag) }
    }
    guard let result else { throw EncodingQueue.cancelled }
    return try result.get()
  }

  /// Runs `work`, which finishes or abandons `sink`, on a thread of its own. If the task is cancelled before `work` has
  /// begun, the sink is abandoned here. If it is cancelled later and the sink is a file, this method waits until `work`
  /// has removed the temporary file, because the caller may end the process next.
  func onOwnThread<Value: Sendable>(
    for sink: some AnimationSink,
    _ work: @escaping @Sendable (CancelFlag) throws(AnimatedImageError) -> Value
  ) async throws(AnimatedImageError) -> Value {
    // Set when `work` begins or when the task is cancelled, whichever happens first.
    let isTaken = Atomic(false)
    let ending = ResultHandover<Void>()
    do throws(AnimatedImageError) {
      return try await onOwnThread { (flag) throws(AnimatedImageError) in
        guard !isTaken.exchange(true, ordering: .acquiringAndReleasing) else {
          throw EncodingQueue.cancelled
        }
        defer { ending.close(with: ()) }
        return try work(flag)
      }
    } catch {
      if !isTaken.exchange(true, ordering: .acquiringAndReleasing) {
        sink.abandon()
      } else if sink is FileSink {
        await ending.value()
      }
      throw error
    }
  }

  /// Returns the bytes that ``reencode(to:options:progress:)`` would write, as a sequence of chunks. Each chunk is
  /// encoded only when it is requested.
  ///
  /// - Parameter options: The format of the file and how it is compressed. Default: nil, which means
  ///   ``AnimationWriterOptions/init(copying:)``, with ``AnimationWriterOptions/frameCount`` set so that the first
  ///   chunk does not have to wait for the last frame.
  public func reencoded(
    options: AnimationWriterOptions? = nil
  ) -> EncodedBytes<BitmapSequence> {
    var options = options ?? AnimationWriterOptions(copying: self)
    if options.identicalFrames == .keep { options.frameCount = options.frameCount ?? frames.count }
    let frames = frames
    return EncodedBytes(bitmaps(), options: options, of: self) { frame in
      WritableFrame(consecutive: frame, delay: frames[frame.index].delay)
    }
  }
}
