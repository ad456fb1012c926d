internal import DequeModule
internal import Synchronization

/// Limits the number of images that are being opened or wait for the global executor to take them. Each of them may hold
/// a file descriptor, and the threads that open files would otherwise get far ahead of the tasks that wait. Images that
/// wait for a busy actor are not limited. Further callers wait in the order of their arrival.
final class OpenGate: Sendable {
  static let shared = OpenGate(limit: 16)

  private struct State {
    var free: Int
    var waiting: Deque<ResultHandover<Place>> = []
  }

  private let state: Mutex<State>

  init(limit: Int) { state = Mutex(State(free: limit)) }

  /// The number of callers that wait. Those that were cancelled count until their turn comes.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Waits for a free place and returns it, or returns nil if the task is cancelled.
  func enter() async -> Place? {
    let waiter = ResultHandover<Place>()
    let place = state.withLock { state in
      guard state.free > 0 else {
        state.waiting.append(waiter)
        return nil as Place?
      }
      state.free -= 1
      return Place(self)
    }
    if let place { return place }
    return await waiter.valueUnlessCancelled()
  }

  private func leave() {
    while true {
      let next = state.withLock { state in
        let next = state.waiting.popFirst()
        if next == nil { state.free += 1 }
        return next
      }
      guard let next else { return }
      let place = Place(self)
      if next.close(with: place) { return }
      // This waiter was cancelled, and the next one gets its place. Leaving the unused place here would recurse.
      place.discard()
    }
  }

  /// A place, which becomes free when it is left or released.
  final class Place: Sendable {
    private let gate: OpenGate
    private let isTaken = Atomic(true)

    fileprivate init(_ gate: OpenGate) { self.gate = gate }

    func leave() {
      if isTaken.exchange(false, ordering: .relaxed) { gate.leave() }
    }

    /// Marks the place as left without making it free.
    fileprivate func discard() { isTaken.store(false, ordering: .relaxed) }

    deinit { leave() }
  }
}
