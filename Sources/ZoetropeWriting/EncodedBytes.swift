internal import Synchronization

/// The bytes of an animation, encoded chunk by chunk.
///
/// The next frame is requested from `Frames` only when a chunk is requested. A slow consumer therefore slows encoding
/// down, and encoding ends when the consumer stops. Each iterator encodes the animation from the start. Iteration
/// throws if the task is cancelled.
public struct EncodedBytes<Frames: AsyncSequence & Sendable>: AsyncSequence, Sendable {
  /// A chunk of the file.
  public typealias Element = [UInt8]
  /// The error that iteration throws.
  public typealias Failure = AnimatedImageError

  private let frames: Frames
  private let options: AnimationWriterOptions
  /// The image whose colours are surveyed if the options have no survey. Nil if the frames do not come from an image.
  private let image: AnimatedImage?
  private let frame: @Sendable (Frames.Element) -> WritableFrame

  /// Creates a sequence of the bytes of an animation with `frames`.
  ///
  /// An APNG contains its number of frames near its start. Unless ``AnimationWriterOptions/frameCount`` is set, all
  /// chunks of an APNG are therefore returned only after the last frame.
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

  /// Returns an iterator that starts at the first byte.
  public func makeAsyncIterator() -> Iterator {
    Iterator(frames: frames.makeAsyncIterator(), options: options, image: image, frame: frame)
  }

  /// An iterator over the chunks.
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

    /// Returns the next chunk, or nil after the last one.
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
        throw Task.isCancelled ? EncodingQueue.cancelled : AnimatedImageError(thrown: error)
      }
      // When the task is cancelled, the library's own sequences end without throwing.
      if Task.isCancelled { throw EncodingQueue.cancelled }
      if let next { return try await writer.append(frame(next)) }
      try await writer.finish()
      isOver = true
    }

    private mutating func started() async throws(AnimatedImageError) -> AnimationWriter {
      if let writer { return writer }
      if let image { options = try await image.completed(options) }
      let writer = try AnimationWriter(to: chunks, options: options)
      self.writer = writer
      return writer
    }
  }
}

/// A sink that collects the bytes written since the last call of `take()`.
private final class ChunkSink: AnimationSink {
  private let bytes = Mutex<[UInt8]>([])

  func write(_ bytes: [UInt8]) throws(AnimatedImageError) {
    try self.bytes.withLock { (held) throws(AnimatedImageError) in
      try held.makeRoom(adding: bytes.count)
      held += bytes
    }
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
