internal import Synchronization

/// The bytes of an animation as it is written, chunk by chunk.
///
/// Frames are taken from a sequence only when a chunk is requested, so a slow consumer holds everything back, and one
/// that stops leaves nothing behind. Each iterator starts over. Ends with an error if the task is cancelled.
public struct EncodedBytes<Frames: AsyncSequence & Sendable>: AsyncSequence, Sendable {
  /// Some bytes of the file.
  public typealias Element = [UInt8]
  /// The error that ends it early.
  public typealias Failure = AnimatedImageError

  private let frames: Frames
  private let options: AnimationWriterOptions
  /// What a survey is made of, if the options have none.
  private let image: AnimatedImage?
  private let frame: @Sendable (Frames.Element) -> WritableFrame

  /// The bytes of an animation of `frames`.
  ///
  /// An APNG states its number of frames at the start: unless ``AnimationWriterOptions/frameCount`` is set, all its
  /// chunks come at the end.
  public init(
    _ frames: Frames, options: AnimationWriterOptions
  ) where Frames.Element == WritableFrame {
    self.init(frames, options: options, of: nil) { $0 }
  }

  init(
    _ frames: Frames, options: AnimationWriterOptions, of image: AnimatedImage?,
    frame: @escaping @Sendable (Frames.Element) -> WritableFrame
  ) {
    self.frames = frames
    self.options = options
    self.image = image
    self.frame = frame
  }

  /// Creates an iterator at the first byte.
  public func makeAsyncIterator() -> Iterator {
    Iterator(frames: frames.makeAsyncIterator(), options: options, image: image, frame: frame)
  }

  /// Iterates over the chunks.
  public struct Iterator: AsyncIteratorProtocol {
    private var frames: Frames.AsyncIterator
    private var options: AnimationWriterOptions
    private let image: AnimatedImage?
    private let frame: @Sendable (Frames.Element) -> WritableFrame
    private let chunks = ChunkSink()
    private var writer: AnimationWriter?
    private var isOver = false

    init(
      frames: Frames.AsyncIterator, options: AnimationWriterOptions, image: AnimatedImage?,
      frame: @escaping @Sendable (Frames.Element) -> WritableFrame
    ) {
      self.frames = frames
      self.options = options
      self.image = image
      self.frame = frame
    }

    /// The next chunk; nil after the last one.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(AnimatedImageError) -> [UInt8]? {
      while true {
        if let chunk = chunks.take() { return chunk }
        if isOver { return nil }
        do throws(AnimatedImageError) {
          try await advance(isolation: actor)
        } catch {
          isOver = true
          writer = nil
          throw error
        }
      }
    }

    /// Appends the next frame, or completes the file.
    private mutating func advance(isolation actor: isolated (any Actor)?)
      async throws(AnimatedImageError)
    {
      let writer = try await started()
      var next: Frames.Element?
      do {
        next = try await frames.next(isolation: actor)
      } catch let error as AnimatedImageError {
        throw error
      } catch {
        throw AnimatedImageError(Task.isCancelled ? .cancelled : .io, "\(error)")
      }
      // Sequences of the library end without an error when the task is cancelled.
      if Task.isCancelled { throw EncodingQueue.cancelled }
      if let next { return try await writer.append(frame(next)) }
      try await writer.finish()
      isOver = true
    }

    private mutating func started() async throws(AnimatedImageError) -> AnimationWriter {
      if let writer { return writer }
      if let image { options = try await image.completed(options) }
      let writer = try AnimationWriter(options, to: chunks)
      self.writer = writer
      return writer
    }
  }
}

/// Collects what a writer has written since it was last asked.
private final class ChunkSink: AnimationSink {
  private let bytes = Mutex<[UInt8]>([])

  var canPatch: Bool { false }

  func write(_ bytes: [UInt8]) { self.bytes.withLock { $0 += bytes } }

  func patch(_ bytes: [UInt8], at offset: Int) throws(AnimatedImageError) {
    throw AnimatedImageError(.parameter, "bytes already written to this output cannot be replaced")
  }

  func finish() {}

  func abandon() { bytes.withLock { $0 = [] } }

  func take() -> [UInt8]? {
    bytes.withLock { bytes in
      defer { bytes = [] }
      return bytes.isEmpty ? nil : bytes
    }
  }
}
