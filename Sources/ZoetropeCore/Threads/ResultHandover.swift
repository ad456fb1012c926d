internal import Synchronization

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
