internal import Synchronization

/// A request for one frame, and a future for the result: the composited frame or an error.
///
/// The consumers of a frame hold its ticket. If nothing holds the ticket, the frame is not decoded, and a bitmap that
/// has been decoded is freed with the ticket. Cancellation and the bound on memory rely on nothing else.
package final class FrameTicket: Sendable {
  package typealias Outcome = Result<CompositedFrame, AnimatedImageError>

  package let index: Int
  private let live: LiveObjects
  private let state = Mutex(State())

  private struct State {
    var outcome: Outcome?
    var decodeTime = Duration.zero
    var waiters: [ResultHandover<Outcome>] = []
    /// The objects that wait for the outcome without a task.
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

  /// Starts a task that calls `fetch` to fetch the frame's bytes. The task is cancelled when the ticket is released.
  ///
  /// The task is created and stored under the lock. Otherwise a task that finishes immediately could start its
  /// successor first, and would then be stored in place of the successor.
  func begin(_ fetch: @escaping @Sendable () async -> Void) {
    state.withLock { $0.fetch = Task { await fetch() } }
  }

  /// The frame or the error, or nil until the frame has been decoded.
  package var outcome: Outcome? { state.withLock { $0.outcome } }

  /// Whether the outcome is an error.
  var isFailed: Bool {
    if case .failure = outcome { true } else { false }
  }

  /// The number of bytes of the frame's bitmap, or 0 until the frame has been decoded.
  var cost: Int {
    guard case .success(let frame) = outcome else { return 0 }
    return frame.bitmap.byteCount
  }

  /// The number of tasks and clients that wait for the outcome.
  var waiterCount: Int { state.withLock { $0.waiters.count + $0.clients.count } }

  /// How long decoding the frame took.
  package var decodeTime: Duration { state.withLock { $0.decodeTime } }

  /// Returns the outcome if there is one. Otherwise returns nil, and calls `client` when the outcome is available.
  package func outcome(orCall client: any TicketClient) -> Outcome? {
    state.withLock { state in
      // `isObsolete` is read under the lock, because a client is removed from the ticket after it has become obsolete.
      // A client that becomes obsolete later is therefore still removed.
      if state.outcome == nil, !client.isObsolete { state.clients.append(client) }
      return state.outcome
    }
  }

  /// Removes a client that has become obsolete.
  package func removeClient(_ client: any TicketClient) {
    let removed = state.withLock { state in
      let removed = state.clients.filter { $0 === client }
      state.clients.removeAll { $0 === client }
      return removed
    }
    _ = consume removed
  }

  /// Waits for the outcome and returns it. Returns nil if the calling task is cancelled first.
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

  /// Sets the outcome and delivers it to all waiters.
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
  /// Whether the client no longer needs to be called. Once true, this stays true.
  var isObsolete: Bool { get }
  /// Called when the outcome is available, on the decoding thread and with no lock held.
  func frameIsDone()
}
