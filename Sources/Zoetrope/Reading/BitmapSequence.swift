internal import Synchronization

/// Composited frames without timing, decoded on demand.
///
/// Ends after the last frame, or without an error if the iterating task is cancelled. Throws after the last
/// good frame was taken.
public struct BitmapSequence: AsyncSequence, Sendable {
  /// A composited frame.
  public typealias Element = CompositedFrame
  /// The error that ends it early.
  public typealias Failure = AnimatedImageError

  let image: AnimatedImage
  let range: Range<Int>
  let rendering: Rendering

  /// Creates an iterator at the first frame of the range.
  public func makeAsyncIterator() -> Iterator {
    Iterator(image: image, range: range, rendering: rendering)
  }

  /// Iterates over the frames. Copies of an iterator share one decoder and wait for each other.
  public struct Iterator: AsyncIteratorProtocol {
    private let reader: LentReader
    private let range: Range<Int>
    private var next: Int

    init(image: AnimatedImage, range: Range<Int>, rendering: Rendering) {
      reader = LentReader(image, last: range.upperBound - 1, rendering)
      self.range = range
      next = range.lowerBound
    }

    /// The next frame; nil after the last one, and if the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(AnimatedImageError) -> CompositedFrame? {
      guard next < range.upperBound, !Task.isCancelled else { return nil }
      let index = next
      next += 1
      let result = await DecodeThreads.shared.cancellableResult { [reader] flag in
        reader.frame(at: index) { flag.isRaised }
      }
      switch result {
      case .success(let frame): return frame
      case .failure(let error):
        next = range.upperBound
        if error.code == .cancelled { return nil }
        throw error
      }
    }
  }
}

/// A frame reader used on decode threads, one call at a time.
///
/// Locked because an iterator can be copied: an actor that copies one, awaits a frame and stores the copy
/// back may be reentered during the await, and two decode threads would then use one reader.
private final class LentReader: Sendable {
  private let reader: Mutex<FrameReader>
  /// Nil if frames are used as decoded. Locked in the same calls as the reader.
  private let renderer: Mutex<FrameRenderer?>

  init(_ image: AnimatedImage, last: Int, _ rendering: Rendering) {
    let reader = FrameReader(image)
    // Frames past the range are not needed.
    reader.limitDecodingAhead(to: last)
    self.reader = Mutex(reader)
    renderer = Mutex(
      rendering == Rendering()
        ? nil : FrameRenderer(rendering, of: image.canvasSize, options: image.options))
  }

  func frame(
    at index: Int, isCancelled: @Sendable () -> Bool
  ) -> Result<CompositedFrame, AnimatedImageError> {
    Result { () throws(AnimatedImageError) in
      try renderer.withLock { (renderer) throws(AnimatedImageError) in try renderer?.check() }
      return try reader.withLock { (reader) throws(AnimatedImageError) in
        let frame = try reader.frame(at: index, isCancelled: isCancelled)
        return try renderer.withLock { (renderer) throws(AnimatedImageError) in
          try renderer?.render(frame, isCancelled: isCancelled) ?? frame
        }
      }
    }
  }
}
