/// The frames of a scheduler, ending with an error when playback fails.
///
/// As ``FrameScheduler/frames()`` in every other respect: one consumer, one ending.
public struct ThrowingFrames: AsyncSequence, Sendable {
  /// A frame at its time.
  public typealias Element = ScheduledFrame
  /// What playback fails with.
  public typealias Failure = AnimatedImageError

  let nextFrame: @Sendable () async -> ScheduledFrame?
  let failure: @Sendable () -> AnimatedImageError?

  /// Takes frames one by one.
  public struct Iterator: AsyncIteratorProtocol {
    var frames: ThrowingFrames?

    /// The next frame; nil when playback finished, was stopped or cancelled.
    ///
    /// Throws, once, what playback failed with, after the last good frame was taken.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(AnimatedImageError) -> ScheduledFrame? {
      guard let frames else { return nil }
      if let frame = await frames.nextFrame() { return frame }
      self.frames = nil
      if let error = frames.failure() { throw error }
      return nil
    }
  }

  /// An iterator; a second one would take frames from the first.
  public func makeAsyncIterator() -> Iterator { Iterator(frames: self) }
}
