internal import Glibc
internal import Synchronization

/// A flag that tells work on a decode thread that the task waiting for it was cancelled.
///
/// `Task.isCancelled` is always false on decode threads, because they run no task.
package final class CancelFlag: Sendable {
  private let raised = Atomic<Bool>(false)

  package init() {}

  /// Marks the result as no longer needed.
  package func raise() { raised.store(true, ordering: .relaxed) }

  /// Whether the result is no longer needed.
  package var isRaised: Bool { raised.load(ordering: .relaxed) }
}

/// A value for which one task waits until the value arrives or the task is cancelled.
///
/// Whichever happens first ends the wait, and the other is ignored. Every cancellable wait in this library uses this
/// type.
///
/// Three types use it for work that several tasks wait for. They stay separate because they keep the work alive in
/// different ways. A ``FrameTicket`` is referenced weakly, is needed as long as anything retains it, and also calls
/// playback drivers, which have no task. A read of ``RangeFetcher`` serves requests for any part of its bytes and may
/// continue for a window without waiters. A load of `FrameCoalescer` is found by its key and runs at the highest
/// priority of its waiters. In each, the waiters are a plain array. A common type would need all three variants as
/// options with one user each.
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

  /// Waits for the value, even if the calling task is cancelled. Call it only once.
  package func value() async -> Value? {
    await withCheckedContinuation { continuation in
      let value: Value?? = state.withLock { state in
        if case .closed(let value) = state { return .some(value) }
        state = .awaited(continuation)
        return nil
      }
      if let value { continuation.resume(returning: value) }
    }
  }

  /// Waits for the value. Returns nil as soon as the calling task is cancelled. Call it only once.
  ///
  /// - Parameter onCancel: Called on any thread when cancellation has ended the wait.
  package func valueUnlessCancelled(_ onCancel: @Sendable () -> Void = {}) async -> Value? {
    await withTaskCancellationHandler {
      await value()
    } onCancel: {
      if close(with: nil) { onCancel() }
    }
  }

  /// Ends the wait with `value`. Does nothing and returns false if it has already ended.
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

/// A value with a lock and a condition variable, so that threads can wait for the value to change.
///
/// The standard `Mutex` has no condition variable.
@safe
package final class Monitor<State>: Sendable {
  private let mutex = unsafe Pinned(pthread_mutex_t())
  private let condition = Pinned(pthread_cond_t())
  private let state: Pinned<State>

  package init(_ state: sending State) {
    self.state = Pinned(state)
    // With the monotonic clock, changes of the system time do not affect the wait.
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_mutex_init(mutex.address, nil)
    unsafe pthread_cond_init(condition.address, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(condition.address)
    unsafe pthread_mutex_destroy(mutex.address)
  }

  /// Changes the value and wakes all waiters.
  package func update<Result>(_ body: (inout State) -> sending Result) -> sending Result {
    unsafe pthread_mutex_lock(mutex.address)
    let result = unsafe body(&state.address.pointee)
    unsafe pthread_cond_broadcast(condition.address)
    unsafe pthread_mutex_unlock(mutex.address)
    return result
  }

  /// Calls `body` now and after every change, until it returns a value.
  package func wait<Result>(_ body: (inout State) -> Result?) -> Result {
    while true {
      if let result = wait(until: nil, body) { return result }
    }
  }

  /// Like ``wait(_:)``, but only until `deadline`, when `body` is called one last time.
  package func wait<Result>(
    until deadline: ContinuousClock.Instant?, _ body: (inout State) -> Result?
  ) -> Result? {
    unsafe pthread_mutex_lock(mutex.address)
    defer { unsafe pthread_mutex_unlock(mutex.address) }
    let moment = deadline.map(Self.monotonicTime)
    var isOver = false
    while true {
      if let result = unsafe body(&state.address.pointee) {
        unsafe pthread_cond_broadcast(condition.address)
        return result
      }
      if isOver { return nil }
      if var moment {
        isOver =
          unsafe pthread_cond_timedwait(
            condition.address, mutex.address, &moment) != 0
      } else {
        unsafe pthread_cond_wait(condition.address, mutex.address)
      }
    }
  }

  /// Returns the time of `instant` on the monotonic clock, assuming that the machine is not suspended until then.
  ///
  /// `timespec` is accessed as two words. The module that declares its members depends on the kind of build, and so
  /// does whether they may be named here.
  private static func monotonicTime(of instant: ContinuousClock.Instant) -> timespec {
    var now = unsafe unsafeBitCast((0, 0), to: timespec.self)
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    let (passed, nanoseconds) = unsafe unsafeBitCast(now, to: (Int, Int).self)
    // A wait too long for the words below is split.
    let wait = min(max(ContinuousClock.now.duration(to: instant), .zero), .seconds(1 << 40))
    let sum = Duration.seconds(passed) + .nanoseconds(nanoseconds) + wait
    let (seconds, attoseconds) = sum.components
    let words = (Int(seconds), Int(attoseconds / 1_000_000_000))
    return unsafe unsafeBitCast(words, to: timespec.self)
  }
}

/// Runs `work` on a new thread and blocks this thread until it returns. Returns nil as soon as `isCancelled` returns
/// true.
///
/// For work that cannot be interrupted: cancelled work runs to its end, and its result is discarded. If the system has
/// no thread left, `work` runs on this thread.
///
/// - Parameter isCancelled: Polled a hundred times a second.
package func resultOnThread<Value: Sendable>(
  unless isCancelled: () -> Bool, of work: @escaping @Sendable (CancelFlag) -> Value
) -> Value? {
  let flag = CancelFlag()
  let outcome = Monitor(Value?.none)
  guard
    startThread(running: {
      let value = work(flag)
      outcome.update { $0 = value }
    })
  else { return work(flag) }
  while true {
    if let value = outcome.wait(until: .now + .milliseconds(10), { $0 }) { return value }
    if isCancelled() {
      flag.raise()
      return nil
    }
  }
}
