/// How a stream of bytes ended, and whether the file is complete.
///
/// Not an enum, so that later releases can add endings: end a `switch` over it with `default`.
public struct StreamEnding: Sendable, Hashable {
  private enum Kind: Sendable, Hashable {
    case complete, truncated, cancelled
    case failed(AnimatedImageError)
  }

  private let kind: Kind

  /// The file's end marker has arrived. Bytes after it are not awaited.
  public static let complete = StreamEnding(kind: .complete)
  /// The stream ended before the file's end marker, or the file is so damaged that nothing after the damage can
  /// be read. The frames that arrived are available.
  public static let truncated = StreamEnding(kind: .truncated)
  /// ``StreamedImage/cancel()`` was called, or the stream's task was cancelled.
  public static let cancelled = StreamEnding(kind: .cancelled)
  /// The stream threw, or its bytes cannot be used: they are not an image, or exceed a limit. The frames that
  /// arrived before are available.
  public static func failed(_ error: AnimatedImageError) -> StreamEnding {
    StreamEnding(kind: .failed(error))
  }

  /// Why the stream failed; nil for every other ending.
  public var error: AnimatedImageError? {
    if case .failed(let error) = kind { error } else { nil }
  }
}

extension StreamEnding: CustomStringConvertible {
  /// The ending's name; a failure adds its error.
  public var description: String {
    switch kind {
    case .complete: "complete"
    case .truncated: "truncated"
    case .cancelled: "cancelled"
    case .failed(let error): "failed (\(error))"
    }
  }
}

/// The progress of a stream. Its numbers never decrease.
public struct StreamProgress: Sendable, Hashable {
  /// Bytes received.
  public let byteCount: Int
  /// Frames whose bytes have all arrived.
  public let frameCount: Int
  /// Frames decoded so far, for playback or ``AnimationSource/bitmaps(_:rendering:cache:)``: all up to the furthest one.
  package let decodedFrameCount: Int
  /// The number of frames that the file announces, which may be wrong; nil if it announces none, as a GIF.
  public let announcedFrames: Int?
  /// How the stream ended; nil until it has ended.
  public let ending: StreamEnding?

  package init(
    byteCount: Int, frameCount: Int, decodedFrameCount: Int = 0, announcedFrames: Int?,
    ending: StreamEnding?
  ) {
    self.byteCount = byteCount
    self.frameCount = frameCount
    self.decodedFrameCount = decodedFrameCount
    self.announcedFrames = announcedFrames
    self.ending = ending
  }
}

/// The progress of a stream, whenever it changes.
///
/// A consumer that is slower than the stream gets the newest value only. Ends after the value with an
/// ``StreamProgress/ending``, or when the iterating task is cancelled. Retains the stream.
struct StreamUpdates: AsyncSequence, Sendable {
  let image: StreamedImage

  /// Creates an iterator, which begins with the present state.
  func makeAsyncIterator() -> Iterator { Iterator(image: image) }

  /// Takes states one by one.
  struct Iterator: AsyncIteratorProtocol {
    let image: StreamedImage
    private var version = -1
    private var isOver = false

    init(image: StreamedImage) { self.image = image }

    /// The next state; nil after the last.
    mutating func next(isolation actor: isolated (any Actor)?) async -> StreamProgress? {
      guard !isOver, await image.core.reach(.change(from: version)) else { return nil }
      let (progress, version) = image.core.versionedProgress
      self.version = version
      isOver = progress.ending != nil
      return progress
    }
  }
}

/// Where the bytes of a stream are kept.
public struct StreamStorage: Sendable, Hashable {
  /// The most bytes kept in memory; later ones go to an unnamed temporary file. Rounded up to 256 KiB. Fewer are
  /// kept while ``MemoryBudget/shared`` has no room, to which they are charged. Default: 16 MiB.
  public var memoryByteLimit: Int
  /// The maximum number of bytes kept. A longer stream ends with ``AnimatedImageError/Code/limitExceeded``.
  /// Default: 4 GiB.
  public var byteLimit: Int
  /// The directory of the temporary file. Default: nil, that in `TMPDIR`, else `/var/tmp`.
  public var directory: FilePath?

  /// Creates a description; omitted arguments take their defaults.
  public init(
    memoryByteLimit: Int = 16 << 20, byteLimit: Int = 4 << 30, directory: FilePath? = nil
  ) {
    self.memoryByteLimit = memoryByteLimit
    self.byteLimit = byteLimit
    self.directory = directory
  }
}
