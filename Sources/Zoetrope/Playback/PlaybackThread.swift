internal import Glibc
internal import Synchronization

/// The thread on which the playbacks of this process are driven, and its timer.
///
/// Why not the cooperative pool with the runtime's timer: that wakes two threads for each deadline, the
/// timer's and a pool thread, and a caller who blocks the pool makes every playback late. At 50 frames
/// a second, threads woke 7 times a frame there; here it is twice, this thread and the consumer's.
///
/// Why its clients are called rather than resumed: what a frame costs beside its decoding is code that
/// has left the caches since the frame before, and resuming a task, with its continuation, its
/// cancellation handler and its job, was most of that code. Tasks run here too: those that sleep on
/// another clock. What runs here is the deciding, and the decoding of frames known to be quick.
final class PlaybackThread: TaskExecutor {
  static let shared = PlaybackThread()

  /// Somebody who is called on the thread.
  protocol Client: AnyObject, Sendable {
    /// Whether it need not be called any more. Once true, always true.
    var isObsolete: Bool { get }
    func goOn(after cause: Cause)
  }

  /// What a client was waiting for.
  enum Cause: Sendable {
    /// Nothing; it starts.
    case start
    /// A moment.
    case deadline
    /// Somebody else.
    case signal
  }

  private struct State {
    var queue = PlaybackQueue()
    var hasThread = false
    var thread: pthread_t?

    /// Whether this is the thread, which looks for work without being told.
    var isCurrent: Bool { thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
  }

  private let state = Mutex(State())
  private let signal = TimedSignal()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    add { $0.queue.add(.job(job), at: .now) }
  }

  /// Calls `client` as soon as the thread is free.
  func call(_ client: any Client, after cause: Cause) {
    add { $0.queue.add(.call(client, cause), at: .now) }
  }

  /// Calls `client` at `deadline`, unless it is obsolete by then or is taken out before.
  func call(_ client: any Client, at deadline: ContinuousClock.Instant) {
    add { state in
      // Looked at under the lock: who becomes obsolete is taken out after it says so.
      if !client.isObsolete { state.queue.add(client, at: deadline) }
    }
  }

  /// Forgets the deadlines of `client`, which has become obsolete.
  func remove(_ client: any Client) {
    let removed = state.withLock { $0.queue.removeTimers(of: client) }
    _ = consume removed
  }

  /// Takes `work`, which lasts about `time`, if it was this thread that asked, it has nothing better
  /// to do meanwhile, and `isReady`, which is asked last.
  func offer(
    _ work: @escaping @Sendable () -> Void, lasting time: Duration,
    if isReady: () -> Bool = { true }
  ) -> Bool {
    let hasTime = state.withLock { state in
      guard state.isCurrent, state.queue.isIdle else { return false }
      guard let next = state.queue.nextDeadline else { return true }
      return ContinuousClock.now.advanced(by: time) <= next
    }
    guard hasTime, isReady() else { return false }
    state.withLock { $0.queue.add(.decode(work), at: .now) }
    return true
  }

  private func add(_ change: (inout State) -> Void) {
    let (isElsewhere, startsThread) = state.withLock { state in
      change(&state)
      defer { state.hasThread = true }
      return (!state.isCurrent, !state.hasThread)
    }
    // A system without a thread to spare gets another chance with the next call.
    if startsThread, !startThread(running: { [self] in loop() }) {
      state.withLock { $0.hasThread = false }
    }
    if isElsewhere { signal.post() }
  }

  private func loop() -> Never {
    state.withLock { $0.thread = pthread_self() }
    while true {
      let now = ContinuousClock.now
      switch state.withLock({ $0.queue.take(at: now) }) {
      case .work(.call(let client, let cause)): client.goOn(after: cause)
      case .work(.job(let job)): unsafe job.runSynchronously(on: asUnownedTaskExecutor())
      case .work(.decode(let work)): work()
      case .wait(let deadline): signal.wait(until: deadline)
      }
    }
  }
}
