internal import Synchronization

/// One requested frame: a future for the picture or an error.
///
/// Consumers of the frame hold the ticket. A frame whose ticket nothing holds is not decoded, and its bitmap is freed
/// with the last reference. Cancellation and the memory bound rely on nothing else.
package final class FrameTicket: Sendable {
  package typealias Outcome = Result<CompositedFrame, AnimatedImageError>

  package let index: Int
  private let live: LiveObjects
  private let state = Mutex(State())

  private struct State {
    var outcome: Outcome?
    var decodeTime = Duration.zero
    var waiters: [ResultHandover<Outcome>] = []
    /// Objects that wait without a task.
    var clients: [any TicketClient] = []
    /// The task that fetches the bytes that the frame needs.
    var fetch: Task<Void, Never>?
  }

  package init(index: Int, live: LiveObjects) {
    self.index = index
    self.live = live
    live.add(.ticket)
    live.add(.wanted)
  }

  deinit {
    if outcome == nil { live.remove(.wanted) }
    live.remove(.ticket)
    state.withLock { $0.fetch }?.cancel()
  }

  /// Starts a task that fetches the frame's bytes and is cancelled when the frame is no longer needed.
  ///
  /// The task is created under the lock, so that one that finishes immediately is not mistaken for its successor.
  func begin(_ fetch: @escaping @Sendable () async -> Void) {
    state.withLock { $0.fetch = Task { await fetch() } }
  }

  /// The frame or its error, once it has been decoded.
  package var outcome: Outcome? { state.withLock { $0.outcome } }

  /// Whether there is an error instead of a frame.
  var isFailed: Bool {
    if case .failure = outcome { true } else { false }
  }

  /// Bytes of its picture; 0 until it is decoded.
  var cost: Int {
    guard case .success(let frame) = outcome else { return 0 }
    return frame.bitmap.byteCount
  }

  /// Number of waiters.
  var waiterCount: Int { state.withLock { $0.waiters.count + $0.clients.count } }

  /// How long decoding took.
  package var decodeTime: Duration { state.withLock { $0.decodeTime } }

  /// Returns the outcome; if there is none yet, returns nil and calls `client` when there is.
  package func outcome(orCall client: any TicketClient) -> Outcome? {
    state.withLock { state in
      // Checked under the lock: a driver is removed from here after it becomes obsolete.
      if state.outcome == nil, !client.isObsolete { state.clients.append(client) }
      return state.outcome
    }
  }

  /// Forgets a client that has become obsolete.
  package func removeClient(_ client: any TicketClient) {
    let removed = state.withLock { state in
      let removed = state.clients.filter { $0 === client }
      state.clients.removeAll { $0 === client }
      return removed
    }
    _ = consume removed
  }

  /// Waits for the outcome; nil if the calling task is cancelled first.
  package func value() async -> Outcome? {
    let waiter = ResultHandover<Outcome>()
    let outcome = state.withLock { state in
      if state.outcome == nil { state.waiters.append(waiter) }
      return state.outcome
    }
    if let outcome { return outcome }
    return await waiter.valueUnlessCancelled {
      state.withLock { state in state.waiters.removeAll { $0 === waiter } }
    }
  }

  /// Delivers the outcome to all waiters.
  func complete(_ outcome: Outcome, after decodeTime: Duration) {
    let (waiters, clients) = state.withLock { state in
      state.outcome = outcome
      state.decodeTime = decodeTime
      defer {
        state.waiters = []
        state.clients = []
      }
      return (state.waiters, state.clients)
    }
    live.remove(.wanted)
    for waiter in waiters { waiter.close(with: outcome) }
    for client in clients { client.frameIsDone() }
  }
}

/// An object that waits for the outcome of a ticket without using a task.
package protocol TicketClient: AnyObject, Sendable {
  /// Whether the client no longer needs to be called. Once true, always true.
  var isObsolete: Bool { get }
  /// Called when the outcome is available, on the decoding thread with no lock held.
  func frameIsDone()
}
