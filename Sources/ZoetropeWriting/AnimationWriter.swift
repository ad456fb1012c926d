internal import Synchronization

/// Writes an animation frame by frame, with 8 or 16 bits per sample, fractional delays and a play count.
///
/// With an ``AnimationWriterOptions/tolerance`` of 0, an APNG stores all pixels exactly, unless
/// ``AnimationWriterOptions/colors`` limits its colours. A GIF stores frames with few colours exactly; for other
/// frames, ``AnimationWriterOptions/colors`` decides what happens.
///
/// Each frame is compared with the previous one, and only the changes are stored. Frames are encoded on all processors.
/// The number of frames is not limited: besides the output, the writer holds at most eight canvases plus 16 MiB (see
/// ``AnimationWriterOptions/memoryByteLimit``), and `append(_:)` waits while too many frames are in progress.
///
/// ```swift
/// let writer = try AnimationWriter(to: FileSink("party.png"))
/// for bitmap in pictures {
///   try await writer.append(bitmap, delay: FrameDelay(numerator: 1, denominator: 30))
/// }
/// try await writer.finish()
/// ```
///
/// Each method has an asynchronous and a blocking variant. The asynchronous variant suspends while the work runs on the
/// library's threads, and cancelling the task cancels the writer. The blocking variant encodes frames on the calling
/// thread while it waits. Each call writes the frames that have been encoded so far to the sink; `finish()` writes the
/// rest.
///
/// A writer that fails, or is released before `finish()` has completed the file, abandons its sink. After an error,
/// every call throws the same error again.
public final class AnimationWriter: Sendable {
  private let options: AnimationWriterOptions
  private let queue: EncodingQueue
  private let front: Mutex<Front>

  /// The state that `append(_:)` changes before it submits a frame for encoding.
  private struct Front: Sendable {
    var pipeline: FramePipeline?
    var isFinished = false
  }

  /// Creates a writer. Nothing is written to the sink before the first frame is appended.
  ///
  /// - Throws: ``AnimatedImageError/Code/unwritable`` if the format cannot be written, or cannot be written with a
  ///   limited number of colours.
  public convenience init(
    to sink: some AnimationSink, options: AnimationWriterOptions = .init()
  ) throws(AnimatedImageError) {
    try self.init(to: sink, options: options) { false }
  }

  /// Creates a writer that `isCancelled` can also cancel.
  ///
  /// - Parameter isCancelled: A closure that is polled. Once it returns true, all work ends within a few rows.
  package init(
    to sink: some AnimationSink, options: AnimationWriterOptions,
    isCancelled: @escaping @Sendable () -> Bool
  ) throws(AnimatedImageError) {
    _ = try sink.orAbandon { () throws(AnimatedImageError) in try options.format.requireWritable() }
    self.options = options
    queue = EncodingQueue(
      AnimationOutput(sink, knownCount: options.frameCount), isCancelled: isCancelled)
    front = Mutex(Front())
    sink.observe(queue.hasEnded)
  }

  deinit { queue.fail(EncodingQueue.cancelled) }

  /// The progress so far. This property may be read at any time, on any thread.
  public var progress: WritingProgress {
    let (frames, bytes) = queue.progress
    return WritingProgress(
      frameCount: frames, totalFrameCount: options.frameCount, byteCount: bytes)
  }

  /// Cancels all work immediately: the sink is abandoned, and calls that are waiting throw
  /// ``AnimatedImageError/Code/cancelled``. A large frame that is being compressed is completed in the background. This
  /// method may be called on any thread.
  ///
  /// Cancelling has no effect once the file is complete.
  public func cancel() { queue.fail(EncodingQueue.cancelled) }

  // MARK: Frames

  /// Appends a frame. Waits while too many frames are in progress.
  ///
  /// - Throws: `parameter` if the frame differs in size from the canvas, has premultiplied alpha, has a colour that the
  ///   survey did not see, or is beyond the announced number of frames; `unwritable` if the format cannot store the
  ///   frame under ``ColorPolicy/exact``; `limitExceeded` if the delay, with those of the frames merged into it, takes
  ///   more than 262,144 frames of the file; the errors of the sink; `outOfMemory`; `cancelled`.
  public func append(_ frame: WritableFrame) throws(AnimatedImageError) {
    try change { (front) throws(AnimatedImageError) in try add(frame, &front) }
  }

  /// Appends a picture that is shown for `delay`.
  ///
  /// - Parameter changed: The area that may differ from the previous picture. Default: nil, which means the whole
  ///   picture.
  /// - Throws: the errors of `append(_:)`.
  public func append(
    _ bitmap: Bitmap, delay: FrameDelay, changed: PixelRect? = nil
  ) throws(AnimatedImageError) {
    try append(WritableFrame(bitmap: bitmap, delay: delay, changed: changed))
  }

  /// Appends a frame of another animation. The whole picture is compared with the previous one, because the writer does
  /// not know whether the previous picture is the frame before. If it is, a frame from
  /// ``WritableFrame/init(consecutive:delay:)`` is faster.
  ///
  /// - Throws: the errors of `append(_:)`.
  public func append(
    _ frame: CompositedFrame, delay: FrameDelay
  ) throws(AnimatedImageError) {
    try append(frame.bitmap, delay: delay)
  }

  /// Waits until all frames have been written, and completes the file.
  ///
  /// - Returns: A description of the written file.
  /// - Throws: `parameter` if no frame was appended, or if the number of frames differs from
  ///   ``AnimationWriterOptions/frameCount``; the errors of `append(_:)`.
  @discardableResult
  public func finish() throws(AnimatedImageError) -> WrittenAnimation {
    try change { (front) throws(AnimatedImageError) in
      guard let appended = front.pipeline?.frameCount else {
        throw AnimatedImageError(.parameter, "no frame was appended", format: options.format)
      }
      if let promised = options.frameCount, promised != appended {
        throw AnimatedImageError(
          .parameter, "\(appended) frames were appended, but frameCount is \(promised)",
          format: options.format)
      }
      let jobs = try front.pipeline?.finish { queue.isCancelled } ?? []
      for job in jobs { try queue.submit(job) }
      let written = try queue.finish()
      front.isFinished = true
      let reducedCount = front.pipeline?.reducedCount ?? 0
      return WrittenAnimation(
        byteCount: written.bytes, frameCount: written.frames,
        mergedCount: front.pipeline?.mergedCount ?? 0, reducedCount: reducedCount,
        colorLimit: reducedCount > 0 ? options.colors.limit : nil,
        partialAlphaShare: front.pipeline?.partialAlphaShare ?? 0,
        hasExactDelays: front.pipeline?.hasExactDelays ?? true)
    }
  }

  /// Calls `body` unless the file is complete. If `body` throws, the writer fails with that error.
  private func change<Value: Sendable>(
    _ body: (inout Front) throws(AnimatedImageError) -> Value
  ) throws(AnimatedImageError) -> Value {
    try front.withLock { (front) throws(AnimatedImageError) in
      guard !front.isFinished else {
        throw AnimatedImageError(
          .parameter, "the file is complete, so nothing can be added", format: options.format)
      }
      do throws(AnimatedImageError) {
        try queue.check()
        return try body(&front)
      } catch {
        queue.fail(error)
        throw error
      }
    }
  }

  private func add(_ frame: WritableFrame, _ front: inout Front) throws(AnimatedImageError) {
    if front.pipeline == nil { front.pipeline = try begin(frame.bitmap) }
    if let promised = options.frameCount, front.pipeline?.frameCount == promised {
      throw AnimatedImageError(
        .parameter, "frameCount is \(promised), but more frames were appended",
        format: options.format)
    }
    let jobs = try front.pipeline?.append(frame) { queue.isCancelled } ?? []
    for job in jobs { try queue.submit(job) }
  }

  // MARK: Starting

  /// Decides from the first picture how the file is encoded, and submits the static image, if there is one.
  private func begin(_ bitmap: Bitmap) throws(AnimatedImageError) -> FramePipeline {
    let size = options.size ?? bitmap.size
    guard !size.isEmpty else {
      throw AnimatedImageError(
        .parameter, "the canvas is \(size); it must have at least one pixel", format: options.format
      )
    }
    guard (0...200).contains(options.tolerance) else {
      throw AnimatedImageError(
        .parameter, "tolerance is \(options.tolerance); it must be 0 to 200", format: options.format
      )
    }
    var survey = options.survey
    if let poster = options.poster {
      try survey?.add(poster, changed: nil, isCancelled: queue.hasEnded)
    }
    let isDeep = [bitmap.format, options.poster?.format].contains(.rgba16)
    if let survey, survey.keepsHiddenColors != options.keepsHiddenColors {
      throw AnimatedImageError(
        .parameter, "the survey and the options have different values of keepsHiddenColors",
        format: options.format)
    }
    var request = AnimationRequest(
      canvasSize: size, isDeep: isDeep, playCount: options.playCount, metadata: options.metadata,
      effort: options.effort, survey: survey, hasPoster: options.poster != nil)
    request.storesRGBA = options.storesRGBA
    request.carried = options.carried
    // A still picture needs no control block. Some readers need one before each frame of an animation.
    request.omitsEmptyControls = options.frameCount == 1
    var reducer: ColorReducer?
    if let reduction = options.reduction, survey?.fits(reduction) != true {
      if survey?.histogram != nil { try PixelMemory.require(ColorReducer.paletteByteCount) }
      var first = ColorReducer(reduction, survey: survey, isCancelled: queue.hasEnded)
      request.colorTable = try first.table(for: bitmap)
      request.survey = nil
      reducer = first
    }
    let encoder = try options.format.requireWritable().makeEncoder(request)
    let format: PixelFormat = encoder.isDeep ? .rgba16 : .rgba8
    var keepsFirst = options.clearsForNextPlay && survey?.isOpaque != true
    if keepsFirst { keepsFirst = try bitmap.hasClearPixels(isCancelled: queue.hasEnded) }
    let share = options.share(
      canvas: format.cost(of: size), working: encoder.workingByteCount, keepsFirst: keepsFirst)
    queue.begin(encoder, threads: share.threads, window: share.window)
    var preparation = PicturePreparation(
      size: size, format: format, keepsHiddenColors: options.keepsHiddenColors,
      isCancelled: queue.hasEnded)
    if let poster = options.poster {
      var picture = poster
      if let reduction = options.reduction {
        var partialCount = 0
        picture = try poster.flattened(
          reduction.transparency, in: PixelRect(poster.size), partialCount: &partialCount,
          isCancelled: queue.hasEnded)
      }
      picture = try preparation.prepare(picture, changed: nil)
      picture = try reducer?.still(picture) ?? picture
      let work = FrameWork(picture: picture, base: nil, rect: PixelRect(size))
      try queue.submit(
        EncodingQueue.Job(
          work, delay: FrameDelay(centiseconds: 0), disposal: .keep, index: nil))
    }
    return FramePipeline(
      options, preparation: preparation, reducer, encoder, isCancelled: queue.hasEnded)
  }
}

extension AnimationWriterOptions {
  /// Returns how many threads may encode, and how many frames may be in progress, without exceeding the memory limit.
  ///
  /// - Parameters:
  ///   - canvas: The number of bytes of one picture.
  ///   - working: The number of bytes that a thread needs besides the picture that it encodes.
  ///   - keepsFirst: Whether the first picture is kept until the end. Default: false.
  func share(
    canvas: Int, working: Int, keepsFirst: Bool = false
  ) -> (threads: Int, window: Int) {
    let limit = max(memoryByteLimit ?? 8 * canvas + 16 << 20, 0)
    // The writer holds three canvases: the waiting frame, the appended one, and the canvas below them. It holds two
    // more if colours are reduced (the original picture and the one shown), two more if short frames are merged, one
    // more with a tolerance, and perhaps the first picture.
    let held =
      3 + (reduction == nil ? 0 : 2) + (mergesShortFrames ? 2 : 0) + (tolerance > 0 ? 1 : 0)
      + (keepsFirst ? 1 : 0)
    let room = max(limit - held * canvas, 0)
    let wanted = parallelism > 0 ? parallelism : DecodeThreads.processorCount
    let threads = max(1, min(wanted, room / (canvas + working)))
    return (threads, max(1, min(2 * threads, (room - threads * working) / max(canvas, 1))))
  }
}

// MARK: - In a task

extension AnimationWriter {
  /// Appends a frame. Suspends while too many frames are in progress.
  ///
  /// - Throws: the errors of the blocking variant; `cancelled` as soon as the task is cancelled.
  public func append(_ frame: WritableFrame) async throws(AnimatedImageError) {
    try await onThread { (writer) throws(AnimatedImageError) in try writer.append(frame) }
  }

  /// Appends a picture that is shown for `delay`. Suspends while too many frames are in progress.
  public func append(
    _ bitmap: Bitmap, delay: FrameDelay, changed: PixelRect? = nil
  ) async throws(AnimatedImageError) {
    try await onThread { (writer) throws(AnimatedImageError) in
      try writer.append(bitmap, delay: delay, changed: changed)
    }
  }

  /// Appends a frame of another animation. Suspends while too many frames are in progress.
  public func append(
    _ frame: CompositedFrame, delay: FrameDelay
  ) async throws(AnimatedImageError) {
    try await onThread { (writer) throws(AnimatedImageError) in
      try writer.append(frame, delay: delay)
    }
  }

  /// Completes the file. Suspends until all frames have been written.
  @discardableResult
  public func finish() async throws(AnimatedImageError) -> WrittenAnimation {
    try await onThread { (writer) throws(AnimatedImageError) in try writer.finish() }
  }

  private func onThread<Value: Sendable>(
    _ body: @escaping @Sendable (AnimationWriter) throws(AnimatedImageError) -> Value
  ) async throws(AnimatedImageError) -> Value {
    let result = await DecodeThreads.resultOnOwnThread { [self] _ in
      Result { () throws(AnimatedImageError) in try body(self) }
    }
    guard let result else {
      cancel()
      throw EncodingQueue.cancelled
    }
    return try result.get()
  }
}
