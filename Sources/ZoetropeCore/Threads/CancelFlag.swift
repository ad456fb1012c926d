internal import Synchronization

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
