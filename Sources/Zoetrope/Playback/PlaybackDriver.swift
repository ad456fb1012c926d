internal import Synchronization

/// What carries a session from one frame to the next, on the playback thread.
///
/// One at a time is in charge of a session; a control event puts another in charge. It is held by what
/// it waits for and by nothing else, so that one which has nothing to wait for is gone.
final class PlaybackDriver: PlaybackThread.Client {
  private let session: PlaybackSession
  private let epoch: Int
  private let obsolete = Atomic(false)
  /// Where the clock is not the system's, the task that sleeps on it.
  private let sleep = Mutex<Task<Void, Never>?>(nil)

  init(_ session: PlaybackSession, epoch: Int) {
    self.session = session
    self.epoch = epoch
    session.shared.live.add(.driver)
  }

  deinit { session.shared.live.remove(.driver) }

  var isObsolete: Bool { obsolete.load(ordering: .acquiring) }

  /// Has it forgotten by whatever it waits for. It may be called once more, and leaves then.
  func cancel() {
    obsolete.store(true, ordering: .releasing)
    PlaybackThread.shared.remove(self)
    session.mailbox.removeProducer(self)
    sleep.withLock { $0 }?.cancel()
  }

  /// Keeps the task that it sleeps in, to be cancelled with it.
  func sleeps(in task: Task<Void, Never>) {
    sleep.withLock { $0 = task }
    // `cancel()` may have looked before it was there.
    if isObsolete { task.cancel() }
  }

  /// Goes on until there is something to wait for, or until two frames were handed over: a loop whose
  /// frames take no time queues up again behind everybody else.
  func goOn(after cause: PlaybackThread.Cause) {
    var presented = 0
    var order = PlaybackSession.Order.leave
    func report(_ event: PlaybackStateMachine.Event) {
      let result = session.report(event, from: epoch)
      order = result.order
      if result.presents { presented += 1 }
    }
    switch cause {
    case .start: report(.begin)
    case .deadline: report(.due(ahead: 0))
    case .signal: order = session.pendingOrder(from: epoch)
    }
    while true {
      switch order {
      case .leave: return
      case .wait(let moment): return session.time.call(self, at: moment)
      case .fetch where presented >= 2: return PlaybackThread.shared.call(self, after: .signal)
      case .fetch(let ticket):
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
