internal import Synchronization

/// A place that shows one image at a time, such as a view.
///
/// Pass the slot to ``FrameLoader/phases(for:in:rendering:playback:priority:data:)``. A new load into the slot cancels
/// the previous load and ends its phases.
public final class LoadSlot: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    weak var reception: LoadReception?
  }

  private let state = Mutex(State())

  /// Creates an empty slot.
  public init() {}

  /// Cancels the slot's current load, if any.
  public func cancel() { replace(with: nil) }

  package func replace(with task: Task<Void, Never>?) {
    let old = state.withLock { state in
      let old = state.task
      state.task = task
      return old
    }
    old?.cancel()
  }

  /// Returns the reception of the current load if that load has the name `id`, or a new one. A load must retain its
  /// reception from before the previous load is cancelled until its own end.
  func reception(of id: LoadIdentifier) -> LoadReception {
    state.withLock { state in
      if let reception = state.reception, reception.id == id { return reception }
      let reception = LoadReception(id)
      state.reception = reception
      return reception
    }
  }
}

/// The arriving image that consecutive loads of one name into a slot share. It keeps the stream alive between the
/// cancellation of a load and the moment at which the load that replaces it has found the stream.
final class LoadReception: Sendable {
  let id: LoadIdentifier
  private let image = Mutex<StreamedImage?>(nil)

  init(_ id: LoadIdentifier) { self.id = id }

  func keep(_ image: StreamedImage) {
    let old = self.image.withLock { kept in
      let old = kept
      kept = image
      return old
    }
    // Releasing an image ends its stream, which is not done under the lock.
    _ = consume old
  }
}
