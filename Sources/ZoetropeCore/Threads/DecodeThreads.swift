internal import Glibc
internal import Synchronization

/// Threads on which frames are decoded, so that decoding never occupies the cooperative pool.
///
/// Two blocking calls on the two pool threads of a small machine delay every sleeping task by their
/// whole length, hence dedicated threads. They start on demand, up to one per processor, and the
/// whole process shares them; idle threads cost nothing.
package final class DecodeThreads: Sendable {
  /// The decode threads of this process.
  package static let shared = DecodeThreads(count: processorCount)
  /// Threads that read, hash and scan files, which takes long and may wait for a disk: frames of
  /// playing animations must not queue behind that.
  package static let loading = DecodeThreads(count: 4)
  /// Threads that check whether a file is unchanged since it was last opened, so that its picture
  /// can be shown at once. These checks must not queue behind loads.
  package static let checking = DecodeThreads(count: 2)
  /// Processors this process may use; at least one.
  package static let processorCount = max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)

  fileprivate struct Work {
    let run: @Sendable () -> Void
    let isOptional: Bool
  }

  fileprivate struct State {
    var queue: [Work] = []
    var head = 0
    var threadCount = 0
    var idleCount = 0
  }

  private let state = Mutex(State())
  private let signal = ThreadSignal()
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
  /// - Parameter isOptional: Whether `work` may be skipped. If the system has no thread at all to
  ///   give, the caller runs the rest itself: late is better than never.
  package func run(isOptional: Bool = false, _ work: @escaping @Sendable () -> Void) {
    let startsThread = state.withLock { state in
      state.queue.append(Work(run: work, isOptional: isOptional))
      let waiting = state.queue.count - state.head
      guard waiting > state.idleCount, state.threadCount < maximumCount else { return false }
      state.threadCount += 1
      return true
    }
    guard startsThread, !start({ [self] in loop() }) else { return signal.post() }
    let isLast = state.withLock { state in
      state.threadCount -= 1
      return state.threadCount == 0
    }
    guard isLast else { return signal.post() }
    while let work = state.withLock({ $0.takeFirst() }) {
      if !work.isOptional { work.run() }
    }
  }

  /// Runs `work` on one of the threads; the calling task suspends without blocking its thread.
  package func result<Value: Sendable>(of work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      run { continuation.resume(returning: work()) }
    }
  }

  private func loop() -> Never {
    while true {
      state.withLock { $0.idleCount += 1 }
      signal.wait()
      let work = state.withLock { state in
        state.idleCount -= 1
        return state.takeFirst()
      }
      work?.run()
    }
  }
}

extension DecodeThreads.State {
  /// Removes the oldest item. The array is trimmed in bulk, so that taking one costs no shift.
  fileprivate mutating func takeFirst() -> DecodeThreads.Work? {
    guard head < queue.count else { return nil }
    let work = queue[head]
    queue[head] = DecodeThreads.Work(run: {}, isOptional: true)
    head += 1
    if head == queue.count || head > 256 {
      queue.removeFirst(head)
      head = 0
    }
    return work
  }
}

/// Tells work on a decode thread that the task it serves was cancelled.
///
/// `Task.isCancelled` cannot: decode threads run no task, so it is always false there.
package final class CancelFlag: Sendable {
  private let raised = Atomic<Bool>(false)

  package init() {}

  /// Marks the result as no longer needed.
  package func raise() { raised.store(true, ordering: .relaxed) }

  /// Whether the result is no longer needed.
  package var isRaised: Bool { raised.load(ordering: .relaxed) }
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

/// A value that one task waits for until it arrives or the task is cancelled.
///
/// Whichever happens first ends the wait; the other is dropped. Every cancellable wait in this
/// library uses one of these.
///
/// Never resume it while holding a lock: resuming takes the waiting task's own lock, which
/// `Task.cancel()` holds while it calls handlers that may take yours.
package final class ResultHandover<Value: Sendable>: Sendable {
  private enum State {
    case open
    case awaited(CheckedContinuation<Value?, Never>)
    case closed(Value?)
  }

  private let state = Mutex(State.open)

  package init() {}

  /// Waits for the value; nil as soon as the calling task is cancelled. Call it only once.
  ///
  /// - Parameter onCancel: Called, on any thread, when cancelling has ended the wait.
  package func valueUnlessCancelled(_ onCancel: @Sendable () -> Void = {}) async -> Value? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let value: Value?? = state.withLock { state in
          if case .closed(let value) = state { return .some(value) }
          state = .awaited(continuation)
          return nil
        }
        if let value { continuation.resume(returning: value) }
      }
    } onCancel: {
      if close(with: nil) { onCancel() }
    }
  }

  /// Ends the wait with `value`. Returns false and does nothing if it has already ended.
  @discardableResult
  package func close(with value: Value?) -> Bool {
    let (isFirst, waiting) = state.withLock { state in
      switch state {
      case .open:
        state = .closed(value)
        return (true, nil as CheckedContinuation<Value?, Never>?)
      case .awaited(let continuation):
        state = .closed(nil)
        return (true, continuation)
      case .closed: return (false, nil)
      }
    }
    waiting?.resume(returning: value)
    return isFirst
  }
}

extension DecodeThreads {
  /// Like ``result(of:)``, but returns nil as soon as the calling task is cancelled; `work` still
  /// completes, and its result is discarded.
  package func resultUnlessCancelled<Value: Sendable>(
    of work: @escaping @Sendable () -> Value
  ) async -> Value? {
    guard !Task.isCancelled else { return nil }
    let handover = ResultHandover<Value>()
    run { handover.close(with: work()) }
    return await handover.valueUnlessCancelled()
  }
}
