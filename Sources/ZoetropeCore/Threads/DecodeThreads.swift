internal import DequeModule
internal import Synchronization
internal import ZoetropeShims

/// A pool of threads on which frames are decoded, so that decoding never occupies Swift's cooperative thread pool.
///
/// On a small machine, the cooperative pool has two threads, and two blocking calls would delay every sleeping task
/// until the calls return. The threads of this pool start on demand, up to one per processor, and the whole process
/// shares them. Idle threads use no processor time.
package final class DecodeThreads: Sendable {
  /// The decode threads of this process.
  package static let shared = DecodeThreads(count: processorCount)
  /// Threads that read, hash and scan files. This work takes long and may wait for a disk, so the frames of playing
  /// animations must not queue behind it.
  package static let loading = DecodeThreads(count: 4)
  /// Threads that look up pictures on disk, and that check whether a file has changed since it was last opened. If the
  /// file has not changed, its picture can be shown immediately. This work must not queue behind the work of
  /// ``loading``.
  package static let checking = DecodeThreads(count: 2)
  /// Threads that write the temporary files of streams, and that finish streams. This work is short, and must not queue
  /// behind the work of ``loading``, because callers wait for a stream to finish.
  package static let spilling = DecodeThreads(count: 4)
  /// Threads that encode single pictures. Encoding a large one takes seconds and cannot be interrupted everywhere, so
  /// the frames of playing animations must not queue behind it.
  package static let encoding = DecodeThreads(count: processorCount)
  /// Threads that help the writers of animations. They work for a writer until no frame of its animation waits, so
  /// nothing else must queue behind them.
  package static let writing = DecodeThreads(count: processorCount)
  /// The number of processors that this process may use. A control group's quota of processor time lowers this number.
  package static let processorCount = min(
    Int(zt_processor_count()), ControlGroup(of: "cpu").processorQuota ?? .max)

  private struct State {
    var queue: Deque<@Sendable () -> Void> = []
    var threadCount = 0
    /// The threads that wait for work. The thread that became idle last is woken first, because its processor caches
    /// are warm. Each thread's `malloc` arena also retains the memory that was freed in it, so a series of jobs must
    /// not rotate through all threads.
    var idle: [ThreadSignal] = []
  }

  private let state = Mutex(State())
  private let maximumCount: Int
  private let start: @Sendable (@escaping @Sendable () -> Void) -> Bool

  /// Creates a pool that has no threads yet.
  ///
  /// - Parameter start: Starts a thread. Returns false if the system cannot create one.
  package init(
    count: Int,
    start: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = {
      startThread(running: $0)
    }
  ) {
    maximumCount = count
    self.start = start
  }

  /// Runs `work` on one of the threads. Work is started in the order in which it is submitted.
  ///
  /// The caller may hold any lock, because `work` never runs inside this call.
  ///
  /// - Parameter isOptional: Whether to skip `work` if the pool has no thread and the system cannot create one. If
  ///   false, `work` runs on the cooperative pool in that case. If that pool needs another thread, this call then waits
  ///   until the system can create one; see ``ensureThread()``.
  package func run(isOptional: Bool = false, _ work: @escaping @Sendable () -> Void) {
    let (isTaken, woken) = state.withLock { state -> (Bool, ThreadSignal?) in
      let woken = state.idle.popLast()
      // Start the thread under the lock, so that no work is queued for a thread that fails to start.
      if woken == nil, state.threadCount < maximumCount, start({ [self] in loop() }) {
        state.threadCount += 1
      }
      guard state.threadCount > 0 else { return (false, nil) }
      state.queue.append(work)
      return (true, woken)
    }
    woken?.post()
    if !isTaken, !isOptional { Task.detached { work() } }
  }

  /// Starts a thread if the pool has none. Returns false if the system cannot create one.
  ///
  /// Threads never end, so after a result of true, ``run(isOptional:_:)`` never waits.
  package func ensureThread() -> Bool {
    state.withLock { state in
      if state.threadCount == 0, start({ [self] in loop() }) { state.threadCount = 1 }
      return state.threadCount > 0
    }
  }

  /// Runs `work` on one of the threads and returns its result. The calling task suspends without blocking its thread.
  package func result<Value: Sendable>(of work: @escaping @Sendable () -> Value) async -> Value {
    // Do not use a continuation: it may be resumed before it is awaited, and the thread sanitizer does not see how the
    // runtime then orders the two sides. The sanitizer does see the lock of a handover.
    let handover = ResultHandover<Value>()
    run { handover.close(with: work()) }
    guard let value = await handover.value() else { preconditionFailure("closed without a value") }
    return value
  }

  /// The number of jobs that wait for a thread.
  package var waitingCount: Int { state.withLock { $0.queue.count } }

  private func loop() -> Never {
    let signal = ThreadSignal()
    while true {
      let work = state.withLock { state in
        let work = state.queue.popFirst()
        if work == nil { state.idle.append(signal) }
        return work
      }
      // Another thread may have taken the work for which this thread was woken.
      if let work { work() } else { signal.wait() }
    }
  }
}

extension DecodeThreads {
  /// Like ``result(of:)``, but passes `work` a flag that is raised when the calling task is cancelled. Returns nil if
  /// the task is cancelled before `work` has begun, which it then never does, so that a cancelled task does not wait
  /// for a thread.
  package func cancellableResult<Value: Sendable>(
    of work: @escaping @Sendable (CancelFlag) -> Value
  ) async -> Value? {
    guard !Task.isCancelled else { return nil }
    let handover = ResultHandover<Value>()
    let flag = CancelFlag()
    // Taken when the work begins or when the task is cancelled, whichever happens first. What a cancelled task leaves
    // in the queue keeps no picture or file in memory.
    let waiting = Mutex<(@Sendable (CancelFlag) -> Value)?>(work)
    return await withTaskCancellationHandler {
      run {
        guard let work = waiting.withLock({ $0.take() }) else { return }
        handover.close(with: work(flag))
      }
      return await handover.value()
    } onCancel: {
      flag.raise()
      if waiting.withLock({ $0.take() }) != nil { handover.close(with: nil) }
    }
  }
}

extension DecodeThreads {
  /// Like ``cancellableResult(of:)``, but returns nil as soon as the calling task is cancelled. Work that has already
  /// begun still runs to its end, and its result is discarded.
  ///
  /// - Parameter mayWaitForEver: Called on one of the threads. Returns whether `work` needs a thread of its own,
  ///   because it may wait indefinitely, for example for a pipe. A few such waits would occupy all threads of this
  ///   pool.
  package func resultUnlessCancelled<Value: Sendable>(
    mayWaitForEver: @escaping @Sendable () -> Bool = { false },
    of work: @escaping @Sendable (CancelFlag) -> Value
  ) async -> Value? {
    await Self.resultUnlessCancelled(of: work) { [self] body in
      run {
        if !mayWaitForEver() || !startThread(running: body) { body() }
      }
    }
  }

  /// Like ``resultUnlessCancelled(mayWaitForEver:of:)``, but always runs `work` on a thread of its own, because `work`
  /// takes long or may wait indefinitely. If the system cannot create a thread, `work` runs on ``loading``.
  package static func resultOnOwnThread<Value: Sendable>(
    of work: @escaping @Sendable (CancelFlag) -> Value
  ) async -> Value? {
    await resultUnlessCancelled(of: work) { body in
      if !startThread(running: body) { loading.run(body) }
    }
  }

  private static func resultUnlessCancelled<Value: Sendable>(
    of work: @escaping @Sendable (CancelFlag) -> Value,
    on start: (@escaping @Sendable () -> Void) -> Void
  ) async -> Value? {
    guard !Task.isCancelled else { return nil }
    let handover = ResultHandover<Value>()
    let flag = CancelFlag()
    // The handler is in place before the work starts, so that work which has begun is always told of a cancellation.
    return await withTaskCancellationHandler {
      start {
        guard !flag.isRaised else { return }
        handover.close(with: work(flag))
      }
      return await handover.value()
    } onCancel: {
      if handover.close(with: nil) { flag.raise() }
    }
  }
}
