internal import Synchronization

/// Hands one result to the task that waits for it, or nil as soon as that task is cancelled.
///
/// What comes second is dropped: a result that nobody waits for, or a cancellation behind the result.
package final class ResultHandover<Value: Sendable>: Sendable {
  private enum State {
    case open
    case awaited(CheckedContinuation<Value?, Never>)
    case closed(Value?)
  }

  private let state = Mutex(State.open)

  package init() {}

  /// What ``close(with:)`` was given first. To be asked for once.
  func value() async -> Value? {
    await withCheckedContinuation { continuation in
      let value: Value?? = state.withLock { state in
        if case .closed(let value) = state { return .some(value) }
        state = .awaited(continuation)
        return nil
      }
      if let value { continuation.resume(returning: value) }
    }
  }

  /// As ``value()``, but nil as soon as the calling task is cancelled.
  package func valueUnlessCancelled() async -> Value? {
    await withTaskCancellationHandler {
      await value()
    } onCancel: {
      close(with: nil)
    }
  }

  /// Ends the wait with `value`, unless it has ended.
  package func close(with value: Value?) {
    let waiting: CheckedContinuation<Value?, Never>? = state.withLock { state in
      switch state {
      case .open:
        state = .closed(value)
        return nil
      case .awaited(let continuation):
        state = .closed(nil)
        return continuation
      case .closed: return nil
      }
    }
    waiting?.resume(returning: value)
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
