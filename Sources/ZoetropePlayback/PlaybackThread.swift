internal import DequeModule
internal import Glibc
internal import HeapModule
internal import Synchronization

/// The thread that drives all playbacks of this process and is their timer. The thread makes scheduling decisions and
/// decodes frames that are likely to be quick.
///
/// Why not use the cooperative pool and the runtime's timer? For each deadline, they wake two threads, the timer's
/// thread and one of the pool. In addition, a task that blocks the pool makes every playback late. At 50 frames per
/// second, they needed 7 thread wake-ups per frame; this design needs two, one for this thread and one for the
/// consumer.
///
/// Why are clients called rather than resumed? Apart from decoding, most of the cost of a frame is in running code that
/// has been evicted from the CPU caches since the last frame, and most of that code was for resuming a task
/// (continuation, cancellation handler, job). Tasks that sleep on another clock also run on this thread.
final class PlaybackThread: TaskExecutor, QuickThread {
  static let shared = PlaybackThread()

  /// An object that the thread calls.
  protocol Client: AnyObject, Sendable {
    /// Whether the client no longer needs to be called. Once true, the value never changes.
    var isObsolete: Bool { get }
    func goOn(after cause: Cause)
  }

  /// The reason why a client is called.
  enum Cause: Sendable {
    /// Playback starts, or starts over after a control event.
    case start
    /// A deadline was reached.
    case deadline
    /// Another object has called the client, for example because a frame was decoded.
    case signal
  }

  private struct State {
    var queue = PlaybackQueue()
    /// Whether the thread, or the task that substitutes for it, serves the queue.
    var isServed = false
    var thread: pthread_t?

    /// Whether the caller runs on this thread, which then need not be woken.
    var isCurrent: Bool { thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
  }

  private let state = Mutex(State())
  /// Whether the thread must check the queue again before it waits.
  private let isSignalled = Monitor(false)
  private let start: @Sendable (@escaping @Sendable () -> Void) -> Bool

  /// Creates a thread object. The thread itself is started when there is work for it.
  ///
  /// - Parameter start: A function that starts a thread running the given closure, and returns false if the system
  ///   cannot start another thread.
  init(
    start: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = {
      startThread(running: $0)
    }
  ) {
    self.start = start
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    add { $0.queue.add(.job(job), at: .now) }
  }

  /// Calls `client` on the thread as soon as the thread is free.
  func call(_ client: any Client, after cause: Cause) {
    add { $0.queue.add(.call(client, cause), at: .now) }
  }

  /// Calls `client` on the thread at `deadline`, unless the client is removed before then.
  func call(_ client: any Client, at deadline: ContinuousClock.Instant) {
    add { state in
      // `isObsolete` is read under the lock, because a client is removed only after it has become obsolete.
      if !client.isObsolete { state.queue.add(client, at: deadline) }
    }
  }

  /// Removes the deadlines of `client`, which must be obsolete.
  func remove(_ client: any Client) {
    let removed = state.withLock { $0.queue.removeTimers(of: client) }
    _ = consume removed
  }

  func offer(
    _ work: @escaping @Sendable () -> Void, lasting time: Duration, if isReady: () -> Bool
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

  /// Starts the thread unless it, or the task that substitutes for it, is running. Returns false if the system cannot
  /// create a thread.
  func ensureThread() -> Bool {
    state.withLock { state in
      if !state.isServed { state.isServed = start({ [self] in loop() }) }
      return state.isServed
    }
  }

  private func add(_ change: (inout State) -> Void) {
    let (isElsewhere, startsThread) = state.withLock { state in
      change(&state)
      defer { state.isServed = true }
      return (!state.isCurrent, !state.isServed)
    }
    if startsThread, !start({ [self] in loop() }) { Task.detached { [self] in await standIn() } }
    if isElsewhere { isSignalled.update { $0 = true } }
  }

  private func loop() -> Never {
    state.withLock { $0.thread = pthread_self() }
    while true {
      let now = ContinuousClock.now
      switch state.withLock({ $0.queue.take(at: now) }) {
      case .work(let work): carryOut(work)
      case .wait(let deadline): waitForSignal(until: deadline)
      }
    }
  }

  /// Substitutes for the thread, on the cooperative pool, until a thread can be started or the queue is empty.
  ///
  /// The substitute is needed because a single player makes no further call that could try again to start the thread,
  /// and late playback is better than none.
  private func standIn() async {
    while true {
      let now = ContinuousClock.now
      let (turn, isOver) = state.withLock { state in
        let turn = state.queue.take(at: now)
        if case .wait(until: nil) = turn { state.isServed = false }
        return (turn, !state.isServed)
      }
      if isOver { return }
      switch turn {
      case .work(let work):
        carryOut(work)
        await Task.yield()
      case .wait(let deadline):
        if start({ [self] in loop() }) { return }
        // Check the queue regularly for calls from other threads, because a task cannot wait for `isSignalled`.
        let look = now.advanced(by: Self.lookInterval)
        try? await Task.sleep(until: min(deadline ?? look, look), clock: .continuous)
      }
    }
  }

  private static let lookInterval = Duration.milliseconds(5)

  private func carryOut(_ work: PlaybackQueue.Work) {
    switch work {
    case .call(let client, let cause): client.goOn(after: cause)
    case .job(let job): run(job)
    case .decode(let work): work()
    }
  }

  private func waitForSignal(until deadline: ContinuousClock.Instant?) {
    _ = isSignalled.wait(until: deadline) { isSignalled -> Void? in
      defer { isSignalled = false }
      return isSignalled ? () : nil
    }
  }
}

/// The work queue of the playback thread. The work that has waited longest comes first.
///
/// The waiting time of a deadline counts from the deadline; the waiting time of other work counts from the moment of
/// the request. Therefore, a client that requests work continuously, such as a loop without delays, cannot starve other
/// clients, and under overload all clients are equally late.
struct PlaybackQueue {
  typealias Client = PlaybackThread.Client
  typealias Instant = ContinuousClock.Instant

  /// Work to do as soon as possible.
  enum Work {
    case call(any Client, PlaybackThread.Cause)
    case job(UnownedJob)
    case decode(@Sendable () -> Void)
  }

  /// What the thread does next.
  enum Turn {
    case work(Work)
    case wait(until: Instant?)
  }

  /// A deadline with the client to call. Timers are compared by deadline alone.
  private struct Timer: Comparable {
    let deadline: Instant
    let client: any Client

    static func == (left: Timer, right: Timer) -> Bool { left.deadline == right.deadline }
    static func < (left: Timer, right: Timer) -> Bool { left.deadline < right.deadline }
  }

  private var waiting: Deque<(since: Instant, work: Work)> = []
  private var timers = Heap<Timer>()

  /// The earliest deadline.
  var nextDeadline: Instant? { timers.min?.deadline }

  /// Whether no work is waiting. Deadlines do not count as work.
  var isIdle: Bool { waiting.isEmpty }

  mutating func add(_ work: Work, at now: Instant) { waiting.append((now, work)) }

  mutating func add(_ client: any Client, at deadline: Instant) {
    timers.insert(Timer(deadline: deadline, client: client))
  }

  /// Removes the deadlines of `client`, and returns the references to the client that the deadlines contained. The
  /// caller must release these references with no lock held.
  ///
  /// The time is linear in the number of timers, but this method is called only for control events and endings, and
  /// scanning a thousand timers takes microseconds. An index by client would cost time for every frame.
  mutating func removeTimers(of client: any Client) -> [any Client] {
    var removed: [any Client] = []
    timers.removeAll { timer in
      guard timer.client === client else { return false }
      removed.append(timer.client)
      return true
    }
    return removed
  }

  /// Returns the work that has waited longest or, if there is none, the deadline to wait for.
  mutating func take(at now: Instant) -> Turn {
    if let timer = timers.min, timer.deadline <= now,
      waiting.first.map({ timer.deadline <= $0.since }) ?? true
    {
      timers.removeMin()
      return .work(.call(timer.client, .deadline))
    }
    guard let (_, work) = waiting.popFirst() else { return .wait(until: timers.min?.deadline) }
    return .work(work)
  }
}
