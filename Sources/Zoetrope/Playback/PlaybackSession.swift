internal import Logging
internal import Synchronization

/// One stream of a scheduler: the shell that carries out what the state machine decides.
///
/// Who holds whom: the scheduler and the stream's subscription hold the session; the session's driver
/// task holds it while there is something to do. Neither of the first two is held by the others, so
/// dropping either is noticed, and an ended session is held by nothing that keeps running.
final class PlaybackSession<C: Clock>: Sendable where C.Duration == Duration {
  let shared: SharedFrames
  let options: PlaybackOptions
  let clock: C
  let logger: Logger?
  let mailbox = FrameMailbox()
  let state: Mutex<State>
  private let user: Int

  struct Holding {
    let ticket: FrameTicket
    /// Whether this session asked first, so that the decode counts as its own.
    var isOwn: Bool
  }

  struct State {
    var machine: PlaybackStateMachine
    var hasStarted = false
    /// The moment from which the machine's times count.
    var origin: C.Instant
    var firstDeadline: Duration?
    /// The number of the driver in charge. Another one's reports are obsolete.
    var epoch = 0
    var driver: Task<Void, Never>?
    var holdings: [Int: Holding] = [:]
    var lastIndex: Int?
    var readyAt = Duration.zero
    var statistics = PlaybackStatistics()
    var trace = PlaybackTrace()
    var endWaiters: [CheckedContinuation<PlaybackState, Never>] = []
  }

  /// What a driver does next.
  enum Order {
    case fetch(FrameTicket)
    case wait(C.Instant)
    case leave
  }

  init(_ shared: SharedFrames, options: PlaybackOptions, clock: C, logger: Logger?) {
    self.shared = shared
    self.options = options
    self.clock = clock
    self.logger = logger
    user = shared.addUser()
    state = Mutex(
      State(machine: PlaybackStateMachine(for: shared, options: options), origin: clock.now))
    shared.live.add(.session)
    if case .failed(let error) = playbackState { end(.failed(error)) }
  }

  deinit { shared.live.remove(.session) }

  var playbackState: PlaybackState { state.withLock { $0.machine.state } }

  /// The next frame for the consumer. The first call starts playback.
  func next() async -> ScheduledFrame? {
    state.withLock { state in
      guard !state.hasStarted, !state.machine.state.isEnded else { return }
      state.hasStarted = true
      state.origin = clock.now
      startDriver(&state)
    }
    let frame = await mailbox.take()
    if frame == nil, Task.isCancelled { end(.cancelled) }
    return frame
  }

  /// Tells the machine what the user wants.
  func control(_ event: PlaybackStateMachine.Event) {
    state.withLock { state in
      let now = state.hasStarted ? state.origin.duration(to: clock.now) : .zero
      let action = state.machine.handle(event, at: now)
      if action == .restart, state.hasStarted { startDriver(&state) }
    }
  }

  /// Ends playback for this reason, unless it has ended before. Returns at once; a decode that is
  /// running ends with its frame.
  func end(_ reason: PlaybackState) {
    state.withLock { state in
      if !state.machine.state.isEnded { _ = state.machine.handle(.end(reason), at: .zero) }
      close(&state)
    }
  }

  /// Returns the state in which playback ended, once it has.
  func ending() async -> PlaybackState {
    await withCheckedContinuation { continuation in
      state.withLock { state in
        if state.machine.state.isEnded {
          continuation.resume(returning: state.machine.state)
        } else {
          state.endWaiters.append(continuation)
        }
      }
    }
  }

  /// Lets everything go, once. The machine has ended.
  private func close(_ state: inout State) {
    guard state.epoch >= 0 else { return }
    state.epoch = -1
    state.driver?.cancel()
    state.driver = nil
    state.holdings = [:]
    let reason = state.machine.state
    // What was presented before the end belongs to the consumer, unless it gave up itself.
    mailbox.finish(keepingFrame: reason != .stopped && reason != .cancelled)
    for waiter in state.endWaiters { waiter.resume(returning: reason) }
    state.endWaiters = []
    log(ending: reason, state.statistics)
  }

  /// Puts a new driver in charge; the one before notices and leaves.
  ///
  /// Cancelling a sleep and starting a task for each control event is what makes it unnecessary to
  /// start a task for each frame.
  private func startDriver(_ state: inout State) {
    state.driver?.cancel()
    state.epoch += 1
    let epoch = state.epoch
    shared.live.add(.driver)
    state.driver = Task { [self] in
      await drive(epoch)
      shared.live.remove(.driver)
    }
  }

  private func drive(_ epoch: Int) async {
    var order = report(.begin, from: epoch)
    while true {
      switch order {
      case .leave: return
      case .wait(let instant):
        // Woken early only by cancelling; then the report is obsolete and the order is to leave.
        try? await clock.sleep(until: instant, tolerance: .zero)
        order = report(.due(ahead: 0), from: epoch)
      case .fetch(let ticket):
        guard let outcome = await ticket.value() else { return }
        if options.buffering == .lossless { await mailbox.space() }
        switch outcome {
        case .success: order = report(.ready(ahead: 0), from: epoch)
        case .failure(let error): order = report(.unready(error), from: epoch)
        }
      }
    }
  }

  /// Reports to the machine and does what it says, up to what takes time.
  private func report(_ event: PlaybackStateMachine.Event, from epoch: Int) -> Order {
    state.withLock { state in
      guard state.epoch == epoch else { return .leave }
      let now = state.origin.duration(to: clock.now)
      var action: PlaybackStateMachine.Action
      switch event {
      case .ready:
        state.readyAt = now
        noteDecoding(&state)
        action = state.machine.handle(.ready(ahead: readyAhead(state)), at: now)
      case .due:
        action = state.machine.handle(.due(ahead: readyAhead(state)), at: now)
      default:
        action = state.machine.handle(event, at: now)
      }
      if case .present(let presentation) = action {
        deliver(presentation, &state, at: now)
        action = state.machine.handle(.presented, at: now)
      }
      switch action {
      case .fetch(let step): return fetch(step, &state)
      case .wait(let moment):
        if state.machine.pending == nil { state.holdings = [:] }
        return .wait(state.origin.advanced(by: moment))
      case .end:
        close(&state)
        return .leave
      case .suspend, .restart, .none, .present: return .leave
      }
    }
  }

  /// Takes tickets for `step` and the steps after it, and lets the others go.
  private func fetch(_ step: PlaybackStep, _ state: inout State) -> Order {
    var holdings: [Int: Holding] = [:]
    let ahead = state.machine.upcoming(max(options.decodeAhead, 1) - 1)
    for frame in [step.frame] + ahead.map(\.frame) where holdings[frame] == nil {
      if let holding = state.holdings[frame] {
        holdings[frame] = holding
      } else {
        let (ticket, isNew) = shared.ticket(for: frame, user: user)
        holdings[frame] = Holding(ticket: ticket, isOwn: isNew)
      }
    }
    state.holdings = holdings
    guard let holding = holdings[step.frame] else { return .leave }
    return .fetch(holding.ticket)
  }

  /// How many steps after the pending one are decoded, without a gap.
  private func readyAhead(_ state: State) -> Int {
    guard options.latePolicy == .latest else { return 0 }
    return state.machine.upcoming(options.decodeAhead).prefix { step in
      if case .success = state.holdings[step.frame]?.ticket.outcome { true } else { false }
    }.count
  }
}
