internal import Synchronization

/// One frame that was asked for: it will hold the picture, or say why there is none.
///
/// Whoever wants the frame holds the ticket. A ticket that nobody holds any more is not decoded, and
/// its bitmap goes with the last holder: that is all there is to cancelling and to bounding memory.
package final class FrameTicket: Sendable {
  package typealias Outcome = Result<CompositedFrame, AnimatedImageError>

  package let index: Int
  private let live: LiveObjects
  private let state = Mutex(State())

  private struct State {
    var outcome: Outcome?
    var decodeTime = Duration.zero
    var waiters: [Int: CheckedContinuation<Outcome?, Never>] = [:]
    var nextWaiter = 0
    /// Drivers that wait for it on the playback thread.
    var clients: [any PlaybackThread.Client] = []
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
  }

  /// The frame, when there is one by now.
  package var outcome: Outcome? { state.withLock { $0.outcome } }

  /// Bytes of its picture, once there is one.
  var cost: Int {
    guard case .success(let frame) = outcome else { return 0 }
    return frame.bitmap.cost
  }

  /// How many wait for it.
  var waiterCount: Int { state.withLock { $0.waiters.count + $0.clients.count } }

  /// The frame; when there is none yet, `client` is called once there is.
  ///
  /// A client that does not hold the ticket is forgotten with it.
  func outcome(orCall client: any PlaybackThread.Client) -> Outcome? {
    state.withLock { state in
      if state.outcome == nil { state.clients.append(client) }
      return state.outcome
    }
  }

  /// How long its decoding took.
  package var decodeTime: Duration { state.withLock { $0.decodeTime } }

  /// Waits for the frame; nil when the calling task is cancelled first.
  package func value() async -> Outcome? {
    if let outcome { return outcome }
    let waiter = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (outcome, waits) = state.withLock { state -> (Outcome?, Bool) in
          if let outcome = state.outcome { return (outcome, false) }
          if Task.isCancelled { return (nil, false) }
          state.waiters[waiter] = continuation
          return (nil, true)
        }
        // Nobody is resumed under the lock: see FrameMailbox.
        if !waits { continuation.resume(returning: outcome) }
      }
    } onCancel: {
      let continuation = state.withLock { $0.waiters.removeValue(forKey: waiter) }
      continuation?.resume(returning: nil)
    }
  }

  /// Hands the outcome to everyone who waits.
  func complete(_ outcome: Outcome, after decodeTime: Duration) {
    let (waiters, clients) = state.withLock { state in
      state.outcome = outcome
      state.decodeTime = decodeTime
      defer {
        state.waiters = [:]
        state.clients = []
      }
      return (state.waiters, state.clients)
    }
    live.remove(.wanted)
    for waiter in waiters.values { waiter.resume(returning: outcome) }
    for client in clients { PlaybackThread.shared.call(client, after: .signal) }
  }
}
