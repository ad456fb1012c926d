/// An animation whose bytes are still arriving: from a pipe, a socket, a growing file, or any other asynchronous
/// sequence of byte chunks.
///
/// A frame can be played and decoded as soon as its bytes have arrived. A GIF frame is complete when its last byte has
/// arrived; an APNG frame is complete when the next frame control or the end of the file has arrived.
///
/// ```swift
/// let image = try await StreamedImage(chunks)
/// for try await frame in FrameScheduler(image).play() { show(frame.bitmap) }
/// if let ending = await image.waitUntilEnded() { print(ending) }
/// ```
///
/// **Bytes.** The next chunk is requested only after the previous chunk has been scanned and stored, so a producer with
/// back-pressure never runs ahead. The bytes are kept for loops and seeks. They are kept in memory and, beyond
/// ``StreamStorage/memoryByteLimit``, in an unnamed temporary file. Reading ends at the end marker of the file. The
/// limits of ``DecodingOptions/limits`` apply as bytes arrive.
///
/// **Endings.** ``waitUntilEnded()`` returns how the stream ended, which tells whether the file is complete. However a
/// stream ends, the frames that have arrived are kept. Releasing the image and its players cancels the producer.
///
/// A streamed image may be used from any thread.
public final class StreamedImage: AnimationSource {
  package let core: StreamCore
  /// A view of the frames that have arrived, which does not retain this image.
  private let arriving: ArrivingImage
  private let task: Task<Void, Never>

  /// Begins to read `chunks`, and returns when the size of the canvas is known. In a GIF, the size is known when the
  /// descriptor of the first frame has arrived; in a PNG, when the first pixel data arrives.
  ///
  /// - Parameters:
  ///   - chunks: The bytes of the file, in order, in chunks of any size. A chunk that is not an array is first copied
  ///     into an array.
  ///   - options: The options for decoding, as for a whole file. While bytes arrive, frames are decoded on one thread
  ///     at a time.
  ///   - storage: The place where the bytes are kept. Default: up to 16 MiB in memory, the rest in a file.
  /// - Throws: `notAnImage`, `truncated`, `malformed`, `unsupported`, `noFrames` or `limitExceeded` if the stream ends
  ///   before the size of the canvas is known; the errors of `chunks`, wrapped as `io` unless they are an
  ///   ``AnimatedImageError`` with another code than `cancelled`; `cancelled`, never `CancellationError`, if the task
  ///   is cancelled.
  public convenience init<Chunks: AsyncSequence & Sendable>(
    _ chunks: Chunks, options: DecodingOptions = .init(), storage: StreamStorage = .init()
  ) async throws(AnimatedImageError)
  where Chunks.Element: Sequence, Chunks.Element.Element == UInt8 {
    try await self.init(chunks, options: options, storage: storage, budget: .shared)
  }

  /// Creates a streamed image like ``init(_:options:storage:)``, with a budget of the caller's choice.
  ///
  /// - Parameter budget: The budget to which the bytes in memory are charged.
  package init<Chunks: AsyncSequence & Sendable>(
    _ chunks: Chunks, options: DecodingOptions = .init(), storage: StreamStorage = .init(),
    budget: MemoryBudget
  ) async throws(AnimatedImageError)
  where Chunks.Element: Sequence, Chunks.Element.Element == UInt8 {
    let core = StreamCore(options: options, storage: storage, budget: budget)
    self.core = core
    task = Task { await Self.read(chunks, into: core) }
    guard await core.reach(.canvas) else {
      task.cancel()
      throw AnimatedImageError(.cancelled, "stopped before the size of the canvas was known")
    }
    let ending = core.ending
    guard let header = core.header, ending == nil || core.image != nil else {
      throw ending?.error
        ?? AnimatedImageError(
          ending == .cancelled ? .cancelled : .noFrames,
          ending == .cancelled
            ? "stopped while receiving the stream" : "the stream ended before the first frame")
    }
    arriving = ArrivingImage(core, header)
  }

  deinit { task.cancel() }

  /// Reads the stream to its end. This function runs in the stream's task.
  private static func read<Chunks: AsyncSequence & Sendable>(
    _ chunks: Chunks, into core: StreamCore
  ) async where Chunks.Element: Sequence, Chunks.Element.Element == UInt8 {
    var reason: StreamEnding?
    do {
      for try await chunk in chunks {
        if Task.isCancelled { break }
        if try await core.receive(chunk as? [UInt8] ?? Array(chunk)) { break }
      }
    } catch let error as AnimatedImageError where error.code != .cancelled {
      reason = .failed(error)
    } catch {
      // If nobody cancelled this stream, the cancellation is that of work that the sequence shares with others.
      let isCancellation = error is CancellationError || error is AnimatedImageError
      reason =
        isCancellation && Task.isCancelled
        ? .cancelled : .failed(AnimatedImageError(thrown: error, "the stream failed: "))
    }
    // A sequence may end without an error when its task is cancelled.
    if Task.isCancelled, reason == nil { reason = .cancelled }
    let ending = reason
    await DecodeThreads.spilling.result { core.settle(ending) }
  }

  /// The format of the file. A PNG that announces an animation but turns out to have none gets the format
  /// ``AnimationFormat/png`` when the stream ends.
  public var format: AnimationFormat { arriving.format }

  /// The size of every composited frame.
  public var canvasSize: PixelSize { arriving.canvasSize }

  /// The total number of plays that is known so far. A GIF may store this number after its frames.
  public var playCount: PlayCount { core.playCount }

  /// The frames that have arrived, in order. Frames are only ever added.
  public var frames: [FrameControl] { core.frames }

  /// The number of frames that have arrived.
  public var frameCount: Int { core.frameCount }

  /// A snapshot of what has arrived, or nil before the first frame. The snapshot behaves like the image of a file with
  /// only these frames and bytes, and does not grow.
  ///
  /// After a complete stream has ended, the snapshot equals the image of the whole file, except that not all bytes
  /// after the end marker have been read. While a snapshot exists, the arrival of the next frame copies the list of
  /// frames.
  public var image: AnimatedImage? { core.image }

  /// The current progress of the stream.
  public var progress: StreamProgress { core.versionedProgress.0 }

  /// An asynchronous sequence of the current progress, followed by a new value whenever the progress changes. It costs
  /// nothing unless iterated.
  public var updates: some AsyncSequence<StreamProgress, Never> & Sendable {
    StreamUpdates(image: self)
  }

  /// Waits for the end of the stream and returns how the stream ended.
  ///
  /// Returns nil as soon as the calling task is cancelled. The stream then continues.
  public func waitUntilEnded() async -> StreamEnding? {
    await core.reach(.end) ? core.ending : nil
  }

  /// Waits until frame `index` has arrived. Returns false if the stream ended without this frame, or if the calling
  /// task was cancelled.
  package func waitForFrame(_ index: Int) async -> Bool {
    guard index >= 0 else { return false }
    return await core.reach(.frame(index)) && index < frameCount
  }

  /// Describes how the frames are read. Frames are read as they arrive.
  public var origin: FrameOrigin { FrameOrigin(arriving) }

  /// Returns a reader of the stored pixels of the frames that have arrived so far.
  package func storedReader() throws(AnimatedImageError) -> StoredFrameReader {
    StoredFrameReader(try arriving.growingImage())
  }

  /// Stops the producer. The frames that have arrived are kept, and players continue with these frames.
  ///
  /// After this call, ``waitUntilEnded()`` returns immediately, even if the producer ignores the cancellation of its
  /// task.
  public func cancel() {
    task.cancel()
    core.settle(.cancelled)
  }
}

/// The frames of a stream that have arrived. This value does not retain the ``StreamedImage``, so that releasing the
/// image still ends the stream.
package struct ArrivingImage: ImageOrigin {
  private let core: StreamCore
  /// The header at the time when the canvas became known.
  private let firstHeader: ImageHeader
  package var state: ReadingState

  package init(_ core: StreamCore, _ header: ImageHeader) {
    self.core = core
    firstHeader = header
    state = ReadingState(budget: core.budget)
  }

  private var header: ImageHeader { core.header ?? firstHeader }
  package var format: AnimationFormat { header.format }
  package var canvasSize: PixelSize { header.canvasSize }
  package var options: DecodingOptions { core.options }
  package var frames: [FrameControl] { core.frames }
  package var playCount: PlayCount { core.playCount }
  package var arrivals: (any FrameArrivals)? { core }
  package var frameCount: Int { core.frameCount }
  package func control(_ index: Int) -> FrameControl { core.frame(index) }
  package func noteDecoded(_ index: Int) { core.noteDecoded(index) }

  package func makeReader(
    for role: ReaderRole
  ) throws(AnimatedImageError) -> any FrameReading {
    if role != .growing, let image = core.settled { return try image.makeReader(for: role) }
    return FrameReader(try growingImage())
  }

  /// Returns the identity of the stream's bytes, or nil until the stream is complete, because not all of its bytes are
  /// known before.
  package func identity(
    in cache: any FrameCaching, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> ContentIdentity? {
    guard core.ending == .complete, let image = core.settled else { return nil }
    if !cache.mayBlock, let known = state.identity { return known }
    let identity = try image.identity(in: cache, isCancelled: isCancelled)
    state.identity = image.state.identity
    state.storedIdentity = image.state.storedIdentity
    return identity
  }

  /// Returns an image that consists of the frames that have arrived, for decoding on one thread. Each read of the image
  /// has access to all bytes received by the time of the read.
  fileprivate func growingImage() throws(AnimatedImageError) -> AnimatedImage {
    guard var image = core.image else {
      throw AnimatedImageError(.noFrames, "no frame has arrived")
    }
    image.options.parallelism = 1
    image.source = ReceivedSource(core.received)
    return image
  }
}
