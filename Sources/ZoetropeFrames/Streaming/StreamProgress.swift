/// The progress of a stream. Its numbers never decrease.
public struct StreamProgress: Sendable, Hashable {
  /// Bytes received.
  public let byteCount: Int
  /// Frames whose bytes have all arrived.
  public let frameCount: Int
  /// Frames decoded so far, for playback or ``AnimationSource/bitmaps(_:rendering:cache:)``, counting all frames up to
  /// the furthest one decoded.
  package let decodedFrameCount: Int
  /// The number of frames that the file announces, which may be wrong; nil if it announces none, as in a GIF.
  public let announcedFrameCount: Int?
  /// How the stream ended; nil until it has ended.
  public let ending: StreamEnding?

  package init(
    byteCount: Int, frameCount: Int, decodedFrameCount: Int = 0, announcedFrameCount: Int?,
    ending: StreamEnding?
  ) {
    self.byteCount = byteCount
    self.frameCount = frameCount
    self.decodedFrameCount = decodedFrameCount
    self.announcedFrameCount = announcedFrameCount
    self.ending = ending
  }
}

/// The progress of a stream, whenever it changes.
///
/// A consumer that is slower than the stream gets only the newest value. The sequence ends after the value with an
/// ``StreamProgress/ending``, or when the iterating task is cancelled. It retains the stream.
struct StreamUpdates: AsyncSequence, Sendable {
  let image: StreamedImage

  /// Creates an iterator that begins with the current progress.
  func makeAsyncIterator() -> Iterator { Iterator(image: image) }

  /// Iterates over the progress values.
  struct Iterator: AsyncIteratorProtocol {
    let image: StreamedImage
    private var version = -1
    private var isOver = false

    init(image: StreamedImage) { self.image = image }

    /// Waits for the next value; nil after the last one.
    mutating func next(isolation actor: isolated (any Actor)?) async -> StreamProgress? {
      guard !isOver, await image.core.reach(.change(from: version)) else { return nil }
      let (progress, version) = image.core.versionedProgress
      self.version = version
      isOver = progress.ending != nil
      return progress
    }
  }
}
