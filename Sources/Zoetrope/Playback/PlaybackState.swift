/// What a scheduler is doing, and once it has ended, why.
public enum PlaybackState: Sendable, Hashable {
  /// Nobody has awaited a frame yet.
  case idle
  /// Frames are published at their deadlines.
  case playing
  /// Time stands still; the stream is open.
  case paused
  /// Every play was shown and the last frame was held for its full time.
  case finished
  /// ``FrameScheduler/stop()`` was called, or ``FrameScheduler/frames()`` began a new stream.
  case stopped
  /// The consumer's task was cancelled, or it dropped the stream or the scheduler.
  case cancelled
  /// A frame could not be decoded, or the options make no sense for this image.
  case failed(AnimatedImageError)

  /// Whether the stream is over; an ended state never changes again.
  public var isEnded: Bool {
    switch self {
    case .idle, .playing, .paused: false
    case .finished, .stopped, .cancelled, .failed: true
    }
  }
}

extension PlaybackState: CustomStringConvertible {
  /// The state's name; a failure adds its error.
  public var description: String {
    switch self {
    case .idle: "idle"
    case .playing: "playing"
    case .paused: "paused"
    case .finished: "finished"
    case .stopped: "stopped"
    case .cancelled: "cancelled"
    case .failed(let error): "failed (\(error))"
    }
  }
}
