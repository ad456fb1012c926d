/// The state of a scheduler, which includes the reason if playback has ended.
///
/// This type is not an enum, so that later releases can add states. End a `switch` over a state with `default`.
public struct PlaybackState: Sendable, Hashable {
  private enum Kind: Sendable, Hashable {
    case idle, playing, paused, finished, stopped, cancelled
    case failed(AnimatedImageError)
  }

  private let kind: Kind

  /// The consumer has not awaited a frame yet.
  public static let idle = PlaybackState(kind: .idle)
  /// Frames are being published at their deadlines.
  public static let playing = PlaybackState(kind: .playing)
  /// Playback is paused. The stream stays open.
  public static let paused = PlaybackState(kind: .paused)
  /// The last frame of the last play was shown for its full duration.
  public static let finished = PlaybackState(kind: .finished)
  /// ``FrameScheduler/stop()`` was called, or ``FrameScheduler/play()`` began a new stream.
  public static let stopped = PlaybackState(kind: .stopped)
  /// The consumer's task was cancelled, or the stream was released.
  public static let cancelled = PlaybackState(kind: .cancelled)
  /// A frame could not be decoded, or the options are invalid for the image.
  public static func failed(_ error: AnimatedImageError) -> PlaybackState {
    PlaybackState(kind: .failed(error))
  }

  /// The error that ended playback; nil in all states other than ``failed(_:)``.
  public var error: AnimatedImageError? {
    if case .failed(let error) = kind { error } else { nil }
  }

  /// Whether the stream has ended. The state of an ended stream never changes.
  public var isEnded: Bool {
    switch kind {
    case .idle, .playing, .paused: false
    case .finished, .stopped, .cancelled, .failed: true
    }
  }
}

extension PlaybackState: CustomStringConvertible {
  /// The state's name, followed by the error if playback failed.
  public var description: String {
    switch kind {
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
