/// Composited frames, untimed, pulled one at a time.
///
/// Ends after the last frame, or when the task that iterates is cancelled: cancelling is no error.
/// Throws after the last good frame was taken.
public struct BitmapSequence: AsyncSequence, Sendable {
  /// A frame with its whole canvas.
  public typealias Element = CompositedFrame
  /// What ends it early.
  public typealias Failure = AnimatedImageError

  let image: AnimatedImage
  let range: Range<Int>

  /// An iterator at the first frame of the range.
  public func makeAsyncIterator() -> Iterator { Iterator(image: image, range: range) }

  /// Pulls frames; not to be shared between tasks.
  public struct Iterator: AsyncIteratorProtocol {
    private let reader: LentReader
    private let range: Range<Int>
    private var next: Int

    init(image: AnimatedImage, range: Range<Int>) {
      reader = LentReader(image)
      self.range = range
      next = range.lowerBound
    }

    /// The next frame; nil after the last one, and when the task is cancelled.
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

/// A frame reader that is lent to decode threads, one call at a time.
private final class LentReader: @unchecked Sendable {
  // Sendable: only `Iterator.next` calls it, which awaits each call before the next one can begin,
  // and an iterator is not shared between tasks.
  private let reader: FrameReader

  init(_ image: AnimatedImage) { reader = FrameReader(image) }

  func frame(
    at index: Int, isCancelled: () -> Bool
  ) -> Result<CompositedFrame, AnimatedImageError> {
    Result { () throws(AnimatedImageError) in
      try reader.frame(at: index, isCancelled: isCancelled)
    }
  }
}
