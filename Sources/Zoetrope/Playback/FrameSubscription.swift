/// A stream's hold on its session: when the stream and its iterators are gone, so is this, and
/// playback ends.
final class FrameSubscription: Sendable {
  private let session: PlaybackSession
  /// What lives as long as the stream, if anything.
  private let owner: (any AnyObject & Sendable)?

  init(_ session: PlaybackSession, keeping owner: (any AnyObject & Sendable)? = nil) {
    self.session = session
    self.owner = owner
  }

  deinit { session.endInDeinit(.cancelled) }

  func next() async -> ScheduledFrame? { await session.next() }

  var error: AnimatedImageError? {
    if case .failed(let error) = session.playbackState { error } else { nil }
  }
}
