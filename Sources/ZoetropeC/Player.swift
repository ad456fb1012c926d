internal import Glibc
internal import Synchronization
internal import Zoetrope

/// A playing animation, which a `zoetrope_player` points to.
final class Player: Sendable {
  private let scheduler: FrameScheduler
  private let thread: CallbackThread
  private let frameCount: Int
  private let isStopped = Atomic(false)
  /// How playback ended, or nil while it continues.
  private let ending = Monitor<Ending?>(nil)

  private struct Ending { let error: AnimatedImageError? }

  /// Creates a player, which does not play until ``start(shown:ended:)`` is called.
  ///
  /// - Throws: `outOfMemory` if the system cannot create the threads that playback needs.
  init(
    _ image: AnimatedImage, _ rendering: Rendering, _ options: PlaybackOptions
  ) throws(AnimatedImageError) {
    // Without the other threads, stopping the player would wait until the system can create them.
    guard FrameScheduler.startThreads(), let thread = CallbackThread() else {
      throw AnimatedImageError(.outOfMemory, "cannot create a thread")
    }
    self.thread = thread
    frameCount = image.frames.count
    scheduler = FrameScheduler(image, rendering: rendering, options: options)
  }

  /// Starts playing.
  ///
  /// - Parameters:
  ///   - shown: A closure that is called for each frame at its time, on the player's own thread. It returns false to
  ///     stop playback.
  ///   - ended: A closure that is called once, after the last call of `shown`, on the same thread.
  func start(
    shown: @escaping @Sendable (borrowing ScheduledFrame) -> Bool,
    ended: @escaping @Sendable (AnimatedImageError?) -> Void
  ) {
    let frames = scheduler.play()
    // Do not use the cooperative thread pool, because callbacks that block would starve it.
    Task.detached(executorPreference: thread) { [self] in
      let error = await play(frames, shown)
      ended(error)
      ending.update { $0 = Ending(error: error) }
      thread.end()
    }
  }

  private func play(
    _ frames: ScheduledFrames, _ shown: @Sendable (borrowing ScheduledFrame) -> Bool
  ) async -> AnimatedImageError? {
    let stopped = AnimatedImageError(.cancelled, "stopped during playback")
    do throws(AnimatedImageError) {
      for try await frame in frames {
        guard !isStopped.load(ordering: .relaxed), shown(frame) else {
          // Stop the scheduler before `ended` is called, so that all other callers find that playback has ended, and
          // nothing more is decoded ahead.
          scheduler.stop()
          return stopped
        }
      }
    } catch {
      return error
    }
    return scheduler.state == .finished ? nil : stopped
  }

  func stop() {
    isStopped.store(true, ordering: .relaxed)
    scheduler.stop()
  }

  func pause() { scheduler.pause() }

  func resume() { scheduler.resume() }

  /// Continues playback with frame `index`.
  ///
  /// - Throws: `parameter` if the frame does not exist, or if playback has ended.
  func seek(toFrame index: Int64) throws(AnimatedImageError) {
    guard index >= 0, index < Int64(frameCount) else {
      throw .noFrame(index, of: frameCount)
    }
    try checkOpen()
    try scheduler.seek(toFrame: Int(index))
  }

  /// Continues playback with the frame that is shown at `time`.
  ///
  /// - Throws: `parameter` if playback has ended.
  func seek(to time: Duration) throws(AnimatedImageError) {
    try checkOpen()
    scheduler.seek(to: time)
  }

  /// Changes the playback rate immediately.
  ///
  /// - Throws: `parameter` if playback has ended.
  func setRate(_ rate: Double) throws(AnimatedImageError) {
    try checkOpen()
    scheduler.rate = rate
  }

  var state: PlaybackState { scheduler.state }

  private func checkOpen() throws(AnimatedImageError) {
    guard !scheduler.state.isEnded else {
      throw AnimatedImageError(.parameter, "playback has ended")
    }
  }

  /// Whether the calling code runs in one of the player's callbacks.
  var isCurrent: Bool { thread.isCurrent }

  /// Waits until playback has ended, and returns the error with which it ended, or nil.
  func wait() -> AnimatedImageError? {
    ending.wait { $0 }.error
  }
}

/// A thread that runs the jobs of one task. The jobs may block.
private final class CallbackThread: TaskExecutor {
  private struct State {
    var jobs: [UnownedJob] = []
    var isEnded = false
    var thread: pthread_t?
  }

  private let state = Monitor(State())

  /// Starts the thread. Returns nil if the system cannot create another thread.
  init?() {
    guard startThread(running: { [self] in runJobs() }) else { return nil }
  }

  var isCurrent: Bool {
    state.update { $0.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.update { $0.jobs.append(job) }
  }

  /// Lets the thread end once it has run all its jobs.
  func end() { state.update { $0.isEnded = true } }

  private func runJobs() {
    state.update { $0.thread = pthread_self() }
    while let job = nextJob() { run(job) }
    // Forget the thread, because the system may reuse its identifier for a later thread.
    state.update { $0.thread = nil }
  }

  private func nextJob() -> UnownedJob? {
    state.wait { state -> UnownedJob?? in
      if !state.jobs.isEmpty { return .some(state.jobs.removeFirst()) }
      return state.isEnded ? .some(nil) : nil
    }
  }
}
