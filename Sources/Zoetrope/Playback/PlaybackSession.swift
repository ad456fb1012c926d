internal import Logging
internal import Synchronization

/// One stream of a scheduler: the shell that carries out what the state machine decides.
///
/// Who holds whom: the scheduler and the stream's subscription hold the session; the session's driver
/// task holds it while there is something to do. Neither of the first two is held by the others, so
/// dropping either is noticed, and an ended session is held by nothing that keeps running.
final class PlaybackSession: Sendable {
  let shared: SharedFrames
  let options: PlaybackOptions
  let time: any PlaybackTime
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
    var origin = Duration.zero
    var firstDeadline: Duration?
    /// The number of the driver in charge. Another one's reports are obsolete.
    var epoch = 0
    var driver: Task<Void, Never>?
    /// The latest moment that was reported; times read by two threads may come in either order.
    var latest = Duration.zero
    var holdings: [Int: Holding] = [:]
    var lastIndex: Int?
    var readyAt = Duration.zero
    var statistics = PlaybackStatistics()
    var trace = PlaybackTrace()
    /// Whether the end was logged and told to the consumer.
    var isAnnounced = false
    var endWaiters: [CheckedContinuation<PlaybackState, Never>] = []

    /// The time of `moment` as the machine counts it. It never goes back.
    mutating func time(of moment: Duration) -> Duration {
      latest = max(latest, moment - origin)
      return latest
    }

    /// Swaps what is held and gives back the tickets that are held no longer.
    mutating func hold(_ new: [Int: Holding]) -> [FrameTicket] {
      defer { holdings = new }
      return holdings.filter { new[$0.key] == nil }.map(\.value.ticket)
    }
  }

  /// What a driver does next.
  enum Order {
    case fetch(FrameTicket)
    case wait(Duration)
    case leave
  }

  init(
    _ shared: SharedFrames, options: PlaybackOptions, time: any PlaybackTime, logger: Logger?
  ) {
    self.shared = shared
    self.options = options
    self.time = time
    self.logger = logger
    user = shared.addUser()
    state = Mutex(State(machine: PlaybackStateMachine(for: shared, options: options)))
    shared.live.add(.session)
    if case .failed(let error) = playbackState { end(.failed(error)) }
  }

  deinit { shared.live.remove(.session) }

  var playbackState: PlaybackState { state.withLock { $0.machine.state } }

  /// The next frame for the consumer. The first call starts playback.
  func next() async -> ScheduledFrame? {
    let moment = time.now
    state.withLock { state in
      guard !state.hasStarted, !state.machine.state.isEnded else { return }
      state.hasStarted = true
      state.origin = moment
      startDriver(&state)
    }
    let frame = await mailbox.take()
    if frame == nil, Task.isCancelled { end(.cancelled) }
    return frame
  }

  /// Tells the machine what the user wants.
  func control(_ event: PlaybackStateMachine.Event) {
    let moment = time.now
    let obsolete = state.withLock { state -> Task<Void, Never>? in
      let now = state.hasStarted ? state.time(of: moment) : .zero
      let action = state.machine.handle(event, at: now)
      guard action == .restart, state.hasStarted else { return nil }
      return startDriver(&state)
    }
    obsolete?.cancel()
  }

  /// Ends playback for this reason, unless it has ended before. Returns when the stream is closed; a
  /// decode that is running ends with its frame.
  func end(_ reason: PlaybackState) { carryOut(ended(reason)) }

  /// As ``end(_:)`` for a `deinit`, which may run under anybody's locks: those of a stream, or of a
  /// task that is being cancelled. Only marks the end; the rest is done elsewhere.
  func endInDeinit(_ reason: PlaybackState) {
    let aftermath = ended(reason)
    guard aftermath.ending != nil else { return }
    Task { self.carryOut(aftermath) }
  }

  /// Returns the state in which playback ended, once everyone was told.
  func ending() async -> PlaybackState {
    await withCheckedContinuation { continuation in
      let reason = state.withLock { state -> PlaybackState? in
        if state.isAnnounced { return state.machine.state }
        state.endWaiters.append(continuation)
        return nil
      }
      if let reason { continuation.resume(returning: reason) }
    }
  }

  private func ended(_ reason: PlaybackState) -> PlaybackAftermath {
    state.withLock { state in
      if !state.machine.state.isEnded { _ = state.machine.handle(.end(reason), at: .zero) }
      var aftermath = PlaybackAftermath()
      close(&state, &aftermath)
      return aftermath
    }
  }

  /// Lets everything go, once. The machine has ended.
  private func close(_ state: inout State, _ aftermath: inout PlaybackAftermath) {
    guard state.epoch >= 0 else { return }
    state.epoch = -1
    aftermath.obsoleteDriver = state.driver
    state.driver = nil
    aftermath.dropped += state.hold([:])
    aftermath.ending = (state.machine.state, state.statistics)
  }

  /// Does what was decided under the lock, now that it is free.
  private func carryOut(_ aftermath: PlaybackAftermath) {
    aftermath.obsoleteDriver?.cancel()
    if let skip = aftermath.skip { log(skip: skip.count, before: skip.frame) }
    aftermath.delivery?.finish()
    if let shown = aftermath.shown { shared.keep(shown) }
    guard let (reason, statistics) = aftermath.ending else { return }
    // First, so that who sees the end finds it in the log.
    log(ending: reason, statistics)
    // What was presented before the end belongs to the consumer, unless it gave up itself.
    mailbox.finish(keepingFrame: reason != .stopped && reason != .cancelled)
    let waiters = state.withLock { state in
      state.isAnnounced = true
      defer { state.endWaiters = [] }
      return state.endWaiters
    }
    for waiter in waiters { waiter.resume(returning: reason) }
  }

  /// Puts a new driver in charge. The one before notices and leaves; it is returned to be cancelled.
  ///
  /// Cancelling a sleep and starting a task for each control event is what makes it unnecessary to
  /// start a task for each frame.
  @discardableResult
  private func startDriver(_ state: inout State) -> Task<Void, Never>? {
    let obsolete = state.driver
    state.epoch += 1
    let epoch = state.epoch
    shared.live.add(.driver)
    state.driver = Task(executorPreference: PlaybackThread.shared) { [self] in
      await drive(epoch)
      shared.live.remove(.driver)
    }
    return obsolete
  }

  private func drive(_ epoch: Int) async {
    var order = report(.begin, from: epoch)
    while true {
      switch order {
      case .leave: return
      case .wait(let moment):
        // Woken early only by cancelling; then the report is obsolete and the order is to leave.
        await time.sleep(until: moment)
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
    let moment = time.now
    let (order, aftermath) = state.withLock { state in
      var aftermath = PlaybackAftermath()
      guard state.epoch == epoch else { return (Order.leave, aftermath) }
      let now = state.time(of: moment)
      let action = handle(event, &state, &aftermath, at: now)
      let order: Order
      switch action {
      case .fetch(let step): order = fetch(step, &state, &aftermath)
      case .wait(let moment):
        if state.machine.pending == nil { aftermath.dropped += state.hold([:]) }
        order = .wait(state.origin + moment)
      case .end:
        close(&state, &aftermath)
        order = .leave
      case .suspend, .restart, .none, .present: order = .leave
      }
      return (order, aftermath)
    }
    carryOut(aftermath)
    return order
  }

  /// What the machine says to `event`; when it is to present a frame, does that first.
  private func handle(
    _ event: PlaybackStateMachine.Event, _ state: inout State,
    _ aftermath: inout PlaybackAftermath, at now: Duration
  ) -> PlaybackStateMachine.Action {
    var skipped = state.machine.skipped
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
      deliver(presentation, &state, &aftermath, at: now)
      skipped = 0
      action = state.machine.handle(.presented, at: now)
    }
    if case .fetch(let step) = action, state.machine.skipped > skipped {
      aftermath.skip = (state.machine.skipped - skipped, step.frame)
    }
    return action
  }

  /// Takes tickets for `step` and the steps after it, and lets the others go.
  private func fetch(
    _ step: PlaybackStep, _ state: inout State, _ aftermath: inout PlaybackAftermath
  ) -> Order {
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
    aftermath.dropped += state.hold(holdings)
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
