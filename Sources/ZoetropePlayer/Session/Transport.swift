import Zoetrope
import ZoetropeProcess

/// The playback of one file. It has a scheduler, which is replaced when necessary.
final class Transport {
  let source: OpenedInput
  private(set) var scheduler: FrameScheduler
  private(set) var inbox = FrameInbox()
  private let shared: SharedFrames
  /// The task that wakes the drawing thread when more of a stream has arrived.
  private var watch: Task<Void, Never>?

  init(_ source: OpenedInput, options: PlaybackOptions, store: FrameStore? = nil) {
    self.source = source
    switch source {
    case .whole(let image): shared = SharedFrames(image, cache: store, keeping: 0)
    case .stream(let image):
      shared = SharedFrames(image, keeping: 0)
      watch = Task { for await _ in image.updates { WakePipe.wake() } }
    }
    scheduler = FrameScheduler(sharing: shared, options: options, clock: LeadClock())
  }

  deinit { watch?.cancel() }

  /// Stops the previous scheduler, and starts a scheduler with these options.
  func start(_ options: PlaybackOptions, isPaused: Bool = false) {
    stop()
    let clock = LeadClock()
    scheduler = FrameScheduler(sharing: shared, options: options, clock: clock)
    inbox = FrameInbox()
    if isPaused { scheduler.pause() }
    // If late frames are not skipped, playback waits for the terminal.
    let waits = options.latePolicy != .skip && options.latePolicy != .latest
    inbox.take(from: scheduler, clock, waits: waits, shifts: options.latePolicy == .stretch)
  }

  /// Shows frame `index` next. A scheduler that has ended cannot seek, so it is replaced by a new scheduler with the
  /// options `restart`.
  func seek(
    to index: Int, isPaused: Bool, restart: PlaybackOptions
  ) throws(AnimatedImageError) {
    if isPaused { scheduler.pause() }
    defer { if scheduler.state.isEnded { start(restart, isPaused: isPaused) } }
    try scheduler.seek(toFrame: index)
  }

  func stop() {
    scheduler.stop()
    inbox.close()
  }
}
