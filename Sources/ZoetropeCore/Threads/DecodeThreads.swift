internal import Glibc
internal import Synchronization

/// Threads on which frames are decoded, so that decoding never occupies the cooperative pool.
///
/// Two blocking calls on the two pool threads of a small machine delay every sleeping task by their
/// whole length: that is why these are threads of our own. They are started when first needed, one for
/// each processor, and shared by the whole process; waiting, they cost nothing.
package final class DecodeThreads: Sendable {
  /// The threads of this process.
  package static let shared = DecodeThreads(count: processorCount)
  /// Threads that read, hash and scan files, which takes long and may wait for a disk: frames of
  /// animations that are playing must not wait behind that.
  package static let loading = DecodeThreads(count: 4)
  /// Threads that look whether a file is the one that was opened before, for a picture that could be
  /// shown at once: not behind loads either.
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

  /// Runs `work` on one of the threads, after the work handed over before it has begun.
  ///
  /// - Parameter isOptional: Whether it may as well not be done. On a system that has no thread at all
  ///   to give, the rest is done by who asks: late is better than never.
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

  /// Runs `work` on one of the threads while the calling task waits without blocking its own.
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
  /// The oldest piece of work. Taken items are removed in bulk, so that taking one costs no shift.
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

/// Tells work on a decode thread that the task it is done for was cancelled.
///
/// `Task.isCancelled` cannot: those threads run no task, so there it is always false.
package final class CancelFlag: Sendable {
  private let raised = Atomic<Bool>(false)

  package init() {}

  /// Says that nobody wants the result any more.
  package func raise() { raised.store(true, ordering: .relaxed) }

  /// Whether nobody wants the result any more.
  package var isRaised: Bool { raised.load(ordering: .relaxed) }
}

extension DecodeThreads {
  /// As ``result(of:)``, for work that asks now and then whether the calling task was cancelled.
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

/// A value that one task waits for until it comes or the task is cancelled.
///
/// The first of the two ends the wait; what comes second is dropped. Everything in this library that
/// waits and can be cancelled waits on one of these.
///
/// Resume it under no lock: resuming takes the waiting task's own lock, which `Task.cancel()` holds
/// while it calls handlers that may want yours.
package final class ResultHandover<Value: Sendable>: Sendable {
  private enum State {
    case open
    case awaited(CheckedContinuation<Value?, Never>)
    case closed(Value?)
  }

  private let state = Mutex(State.open)

  package init() {}

  /// Waits for the value; nil as soon as the calling task is cancelled. To be called once.
  ///
  /// - Parameter onCancel: called, on any thread, when cancelling has ended the wait.
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

  /// Ends the wait with `value`; false, and nothing is done, when it has ended.
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
  /// As ``result(of:)``, but nil as soon as the calling task is cancelled; `work` then goes on for nobody.
  package func resultUnlessCancelled<Value: Sendable>(
    of work: @escaping @Sendable () -> Value
  ) async -> Value? {
    guard !Task.isCancelled else { return nil }
    let handover = ResultHandover<Value>()
    run { handover.close(with: work()) }
    return await handover.valueUnlessCancelled()
  }
}
