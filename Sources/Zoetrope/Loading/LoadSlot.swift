internal import Synchronization

/// A place that shows one image at a time, such as a view.
///
/// Pass the slot to ``FrameLoader/phases(for:in:rendering:playback:priority:data:)``. A new load into the slot cancels
/// the previous load and ends its phases.
public final class LoadSlot: Sendable {
  private let current = Mutex<Task<Void, Never>?>(nil)

  /// Creates an empty slot.
  public init() {}

  /// Cancels the slot's current load, if any.
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
