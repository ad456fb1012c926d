internal import DequeModule
internal import Synchronization
internal import ZoetropeShims

/// Threads on which frames are decoded, so that decoding never occupies the cooperative pool.
///
/// Two blocking calls on the two pool threads of a small machine delay every sleeping task by their
/// whole length, hence dedicated threads. They start on demand, up to one per processor, and the
/// whole process shares them; idle threads cost nothing.
package final class DecodeThreads: Sendable {
  /// The decode threads of this process.
  package static let shared = DecodeThreads(count: processorCount)
  /// Threads that read, hash and scan files. This takes long and may wait for a disk, and frames of playing
  /// animations must not queue behind it.
  package static let loading = DecodeThreads(count: 4)
  /// Threads that check whether a file has changed since it was last opened, so that its picture can be shown
  /// immediately, and that look up pictures on disk. These must not queue behind loads.
  package static let checking = DecodeThreads(count: 2)
  /// Threads on which streams write to their files and end. These tasks are short and must not queue behind
  /// loads, because callers wait for the end of a stream.
  package static let spilling = DecodeThreads(count: 4)
  /// The number of processors that this process may use; fewer if a control group limits their time.
  package static let processorCount = min(
    Int(zt_processor_count()), ControlGroup(of: "cpu").processorQuota ?? .max)

  private struct State {
    var queue: Deque<@Sendable () -> Void> = []
    var threadCount = 0
    /// The threads that wait for work. The last is woken first: its caches are warm, and each thread's `malloc` arena
    /// keeps the memory that it freed, so work that comes one at a time must not go round among all of them.
    var idle: [ThreadSignal] = []
  }

  private let state = Mutex(State())
  private let maximumCount: Int
  private let start: @Sendable (@escaping @Sendable () -> Void) -> Bool

  /// - Parameter start: Starts a thread; false when the system has none left.
  package init(
    count: Int,
    start: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = {
      startThread(running: $0)
    }
  ) {
    maximumCount = count
    self.start = start
  }

  /// Runs `work` on one of the threads, in order of submission.
  ///
  /// May be called with any lock held: `work` never runs in here.
  ///
  /// - Parameter isOptional: Whether `work` may be skipped if the system cannot create a thread. Other work
  ///   then runs on the cooperative pool, because late is better than never.
  package func run(isOptional: Bool = false, _ work: @escaping @Sendable () -> Void) {
    let (isTaken, woken) = state.withLock { state -> (Bool, ThreadSignal?) in
      let woken = state.idle.popLast()
      // Started under the lock, so that no work is left to a thread that then fails to start.
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

  /// Runs `work` on one of the threads; the calling task suspends without blocking its thread.
  package func result<Value: Sendable>(of work: @escaping @Sendable () -> Value) async -> Value {
    // Not a continuation, which may be resumed before it is awaited: the thread sanitizer sees the lock of a handover
    // order what both sides do with the result, but not that of the runtime.
    let handover = ResultHandover<Value>()
    run { handover.close(with: work()) }
    guard let value = await handover.value() else { preconditionFailure("closed without a value") }
    return value
  }

  private func loop() -> Never {
    let signal = ThreadSignal()
    while true {
      let work = state.withLock { state in
        let work = state.queue.popFirst()
        if work == nil { state.idle.append(signal) }
        return work
      }
      // Another thread may have taken the work that this one was woken for.
      if let work { work() } else { signal.wait() }
    }
  }
}

extension DecodeThreads {
  /// Like ``result(of:)``, for work that polls whether the calling task was cancelled.
  package func cancellableResult<Value: Sendable>(
    of work: @escaping @Sendable (CancelFlag) -> Value
  ) async -> Value {
    let flag = CancelFlag()
    return await withTaskCancellationHandler {
      await result { work(flag) }
    } onCancel: {
      flag.raise()
    }
  }
}

extension DecodeThreads {
  /// Like ``cancellableResult(of:)``, but returns nil as soon as the calling task is cancelled. Work
  /// that has begun still ends by itself, and its result is discarded.
  ///
  /// - Parameter mayWaitForEver: Called on one of the threads. Whether `work` needs a separate thread, as for a
  ///   pipe that may stay silent; a few of those would occupy all of these threads.
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

  /// Like ``resultUnlessCancelled(mayWaitForEver:of:)``, for work that always needs a separate thread, since it takes
  /// long or may wait for ever. Where the system has no thread left, it runs on those that load.
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
    start {
      guard !flag.isRaised else { return }
      handover.close(with: work(flag))
    }
    return await handover.valueUnlessCancelled { flag.raise() }
  }
}
