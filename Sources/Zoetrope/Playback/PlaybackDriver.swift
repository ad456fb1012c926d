internal import Synchronization

/// Carries a session from one frame to the next, on the playback thread.
///
/// One driver at a time is in charge of a session; a control event puts another in charge. It is held
/// only by what it waits for, so a driver with nothing to wait for is freed.
final class PlaybackDriver: PlaybackThread.Client {
  /// What a driver waits for next.
  enum Wait {
    case frame(FrameTicket)
    /// A moment of the session's time.
    case moment(Duration)
    /// Nothing: the driver leaves.
    case nothing
  }

  private struct Waiting {
    /// With a clock other than the system's, the task that sleeps on it.
    var sleep: Task<Void, Never>?
    /// Weak, because the ticket holds the driver.
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

  /// Makes whatever it waits for forget it. It may be called once more, and leaves then.
  func cancel() {
    obsolete.store(true, ordering: .releasing)
    PlaybackThread.shared.remove(self)
    session.mailbox.removeProducer(self)
    let (sleep, ticket) = waiting.withLock { ($0.sleep, $0.ticket) }
    sleep?.cancel()
    ticket?.removeClient(self)
  }

  /// Keeps the task that it sleeps in, to be cancelled with it.
  func sleeps(in task: Task<Void, Never>) {
    waiting.withLock { $0.sleep = task }
    // `cancel()` may have run before.
    if isObsolete { task.cancel() }
  }

  /// Goes on until there is something to wait for, or until two frames were presented: a loop whose
  /// frames take no time then queues up behind everybody else.
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

/// Time as a playback counts it, from some moment of a clock.
///
/// Hides the clock's type: generic code looks metadata up at run time, which cost as much for each
/// frame as all the decisions.
protocol PlaybackTime: Sendable {
  /// The time that has passed.
  var now: Duration { get }
  /// Calls `driver` when that much has passed.
  func call(_ driver: PlaybackDriver, at moment: Duration)
}

/// Any clock, from when this was made.
struct ClockTime<C: Clock>: PlaybackTime where C.Duration == Duration {
  private let clock: C
  private let origin: C.Instant

  init(_ clock: C) {
    self.clock = clock
    origin = clock.now
  }

  var now: Duration { origin.duration(to: clock.now) }

  func call(_ driver: PlaybackDriver, at moment: Duration) {
    let deadline = origin.advanced(by: moment)
    driver.sleeps(
      in: Task(executorPreference: PlaybackThread.shared) { [clock] in
        // Throws only when cancelled, and then the driver leaves.
        try? await clock.sleep(until: deadline, tolerance: .zero)
        driver.goOn(after: .deadline)
      })
  }
}

/// The system's clock, for which the playback thread waits itself.
struct SystemTime: PlaybackTime {
  private let origin = ContinuousClock.now
  private let clock: (any SystemClockAhead)?

  /// - Parameter clock: says how far time is ahead of the system's clock; nil for not at all.
  init(_ clock: (any SystemClockAhead)? = nil) { self.clock = clock }

  private var lead: Duration { clock?.lead ?? .zero }

  var now: Duration { origin.duration(to: .now) + lead }

  func call(_ driver: PlaybackDriver, at moment: Duration) {
    PlaybackThread.shared.call(driver, at: origin.advanced(by: moment - lead))
  }
}

/// A clock that runs a fixed time ahead of the system's, so that a scheduler may wait on the system's.
package protocol SystemClockAhead: Clock, Sendable where Duration == Swift.Duration {
  /// How far it is ahead at present. A playback that already waits is not told of a change.
  var lead: Swift.Duration { get }
}
