/// The progress of a stream. None of its numbers ever decreases.
public struct StreamProgress: Sendable, Hashable {
  /// The number of bytes received.
  public let byteCount: Int
  /// The number of frames whose bytes have all arrived.
  public let frameCount: Int
  /// The number of frames up to and including the furthest frame that has been decoded so far, for playback or for
  /// ``AnimationSource/bitmaps(_:rendering:cache:)``.
  package let decodedFrameCount: Int
  /// The number of frames that the file announces, or nil if it announces none, as in a GIF. The announced number may
  /// be wrong.
  public let announcedFrameCount: Int?
  /// The way in which the stream ended, or nil while the stream continues.
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

/// A sequence of the progress of a stream, with a new value whenever the progress changes.
///
/// A consumer that is slower than the stream gets only the newest value. The sequence ends after the value with an
/// ``StreamProgress/ending``, or when the iterating task is cancelled. The sequence retains the stream.
struct StreamUpdates: AsyncSequence, Sendable {
  let image: StreamedImage

  /// Creates an iterator that begins with the current progress.
  func makeAsyncIterator() -> Iterator { Iterator(image: image) }

  /// An iterator over the progress values.
  struct Iterator: AsyncIteratorProtocol {
    let image: StreamedImage
    private var version = -1
    private var isOver = false

    init(image: StreamedImage) { self.image = image }

    /// Waits for the next value and returns it. Returns nil after the last value.
    mutating func next(isolation actor: isolated (any Actor)?) async -> StreamProgress? {
      guard !isOver, await image.core.reach(.change(from: version)) else { return nil }
      let (progress, version) = image.core.versionedProgress
      self.version = version
      isOver = progress.ending != nil
      return progress
    }
  }
}
