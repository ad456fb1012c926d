internal import Synchronization

/// Advances a session from frame to frame, on the playback thread.
///
/// A session has one driver at a time; a control event replaces the driver. A driver is retained only by the object
/// that it waits for, so a driver that waits for nothing is released.
final class PlaybackDriver: PlaybackThread.Client, TicketClient {
  /// What a driver waits for next.
  enum Wait {
    case frame(FrameTicket)
    /// A time on the session's clock.
    case moment(Duration)
    /// Nothing, because the driver is done.
    case nothing
  }

  private struct Waiting {
    /// The task that sleeps on a clock other than the system's.
    var sleep: Task<Void, Never>?
    /// The ticket that the driver waits for. The reference is weak, because the ticket retains the driver.
    weak var ticket: FrameTicket?
  }

  private let session: PlaybackSession
  private let epoch: Int
  private let obsolete = Atomic(false)
  private let waiting = Mutex(Waiting())

  init(_ session: PlaybackSession, epoch: Int) {
    self.session = session
    self.epoch = epoch
    session.shared.live.add(.driver)
  }

  deinit { session.shared.live.remove(.driver) }

  var isObsolete: Bool { obsolete.load(ordering: .acquiring) }

  /// Makes the driver obsolete, so that it stops waiting. The driver may be called once more, but then returns
  /// immediately.
  func cancel() {
    obsolete.store(true, ordering: .releasing)
    PlaybackThread.shared.remove(self)
    session.mailbox.removeProducer(self)
    let (sleep, ticket) = waiting.withLock { ($0.sleep, $0.ticket) }
    sleep?.cancel()
    ticket?.removeClient(self)
  }

  /// Stores the task in which the driver sleeps. ``cancel()`` also cancels this task.
  func sleeps(in task: Task<Void, Never>) {
    waiting.withLock { $0.sleep = task }
    // `cancel()` may have run before the task was stored.
    if isObsolete { task.cancel() }
  }

  func frameIsDone() { PlaybackThread.shared.call(self, after: .signal) }

  /// Runs until the driver has to wait or has presented two frames. Because of this limit, a loop of frames without
  /// duration takes turns with other playbacks.
  func goOn(after cause: PlaybackThread.Cause) {
    var presented = 0
    var wait = Wait.nothing
    func report(_ event: PlaybackStateMachine.Event) {
      let result = session.report(event, from: epoch)
      wait = result.wait
      if result.presents { presented += 1 }
    }
    switch cause {
    case .start: report(.begin)
    case .deadline: report(.due(ahead: 0))
    case .signal: wait = session.pendingFrame(from: epoch)
    }
    while true {
      switch wait {
      case .nothing: return
      case .moment(let moment): return session.time.call(self, at: moment)
      case .frame where presented >= 2: return PlaybackThread.shared.call(self, after: .signal)
      case .frame(let ticket):
        waiting.withLock { $0.ticket = ticket }
        guard let outcome = ticket.outcome(orCall: self) else { return }
        if session.options.buffering == .lossless, !session.mailbox.hasSpace(orCall: self) {
          return
        }
        switch outcome {
        case .success: report(.ready(ahead: 0))
        case .failure(let error): report(.unready(error))
        }
      }
    }
  }
}
