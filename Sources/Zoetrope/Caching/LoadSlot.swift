internal import Synchronization

/// A place where one picture at a time is shown, such as a view.
///
/// Give it to ``FrameLoader/phases(for:in:rendering:data:)``: the next load into the same slot
/// cancels the one before, whose phases then end.
public final class LoadSlot: Sendable {
  private let current = Mutex<Task<Void, Never>?>(nil)

  /// An empty slot.
  public init() {}

  /// Cancels what is being loaded into the slot, if anything.
  public func cancel() { replace(with: nil) }

  package func replace(with task: Task<Void, Never>?) {
    let old = current.withLock { current in
      let old = current
      current = task
      return old
    }
    old?.cancel()
  }
}
