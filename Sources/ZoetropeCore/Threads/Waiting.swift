internal import Glibc
internal import Synchronization

/// A flag by which work on a decode thread learns that the task waiting for its result was cancelled.
///
/// `Task.isCancelled` is always false on decode threads, because they run no task.
package final class CancelFlag: Sendable {
  private let raised = Atomic<Bool>(false)

  package init() {}

  /// Marks the result of the work as no longer needed.
  package func raise() { raised.store(true, ordering: .relaxed) }

  /// Whether the result of the work is no longer needed.
  package var isRaised: Bool { raised.load(ordering: .relaxed) }
}

/// A value for which one task waits until the value arrives or the task is cancelled.
///
/// The event that happens first ends the wait, and the other event is ignored. Every cancellable wait in this library
/// uses this type.
///
/// Three types use handovers to let several tasks wait for the same work. These types stay separate because each keeps
/// its work alive in a different way. A ``FrameTicket`` is referenced weakly, is needed as long as anything retains it,
/// and also calls playback drivers, which have no task. A read of `RangeFetcher` serves requests for any part of its
/// bytes, and may continue without waiters because it is part of a prefetch window. A load of `FrameCoalescer` is found
/// by its key and runs at the highest priority of its waiters. Each of the three types keeps its waiters in a plain
/// array. A common type would need the three behaviours as options, each with a single user.
///
/// Never call ``close(with:)`` while you hold a lock: resuming the waiting task takes that task's own lock, which
/// `Task.cancel()` holds while it calls cancellation handlers, and these may try to take your lock.
package final class ResultHandover<Value: Sendable>: Sendable {
  private enum State {
    case open
    case awaited(CheckedContinuation<Value?, Never>)
    case closed(Value?)
  }

  private let state = Mutex(State.open)

  package init() {}

  /// Waits for the value, even if the calling task is cancelled. Only one wait per handover is allowed.
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

  /// Waits for the value. Returns nil as soon as the calling task is cancelled. Only one wait per handover is allowed.
  ///
  /// - Parameter onCancel: Called on any thread when cancellation has ended the wait.
  package func valueUnlessCancelled(_ onCancel: @Sendable () -> Void = {}) async -> Value? {
    await withTaskCancellationHandler {
      await value()
    } onCancel: {
      if close(with: nil) { onCancel() }
    }
  }

  /// Ends the wait with `value`. Does nothing and returns false if the wait has already ended.
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

/// Runs `work` on a new thread, blocks the calling thread until `work` returns, and returns its result. Returns nil as
/// soon as `isCancelled` returns true.
///
/// This function is meant for work that cannot be interrupted: cancelled work runs to its end, and its result is
/// discarded. If the system cannot create a thread, `work` runs on the calling thread.
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
