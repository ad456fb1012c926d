/// A stream's hold on its session: when the stream and its iterators are gone, so is this, and
/// playback ends.
final class FrameSubscription: Sendable {
  private let session: PlaybackSession

  init(_ session: PlaybackSession) { self.session = session }

  deinit { session.endInDeinit(.cancelled) }

  func next() async -> ScheduledFrame? { await session.next() }

  var error: AnimatedImageError? {
    if case .failed(let error) = session.playbackState { error } else { nil }
  }
}
