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
