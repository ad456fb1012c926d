internal import Logging
internal import Synchronization

/// One stream of a scheduler: the shell that carries out what the state machine decides.
///
/// Who holds whom: the scheduler and the stream's subscription hold the session; the session's driver
/// holds it, and is held by what it waits for. Neither of the first two is held by the others, so
/// dropping either is noticed, and an ended session is held by nothing that keeps running.
final class PlaybackSession: Sendable {
  let shared: SharedFrames
  let options: PlaybackOptions
  let time: any PlaybackTime
  let logger: Logger?
  let mailbox = FrameMailbox()
  let state: Mutex<State>
  private let user: Int
  /// Whether playback was started, as far as the consumer knows: spares it the lock for each frame.
  private let wasStarted = Atomic(false)

  struct Holding {
    let frame: Int
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
    weak var driver: PlaybackDriver?
    /// The latest moment that was reported; times read by two threads may come in either order.
    var latest = Duration.zero
    /// The frame that is handed over next and those after it, in the order of their turns.
    var holdings: [Holding] = []
    /// Whether the order of turns may have changed since ``holdings`` were taken.
    var isReordered = false
    var lastIndex: Int?
    var seekCount = 0
    var readyAt = Duration.zero
    var statistics = PlaybackStatistics()
    var trace = PlaybackTrace()
    /// Whether the end was logged and told to the consumer.
    var isAnnounced = false
    var endWaiters: [ResultHandover<PlaybackState>] = []

    /// The time of `moment` as the machine counts it. It never goes back.
    mutating func time(of moment: Duration) -> Duration {
      latest = max(latest, moment - origin)
      return latest
    }

    /// What is held of frame `index`.
    func holding(_ index: Int) -> Holding? { holdings.first { $0.frame == index } }

    /// Swaps what is held and gives back the tickets that are held no longer.
    mutating func hold(_ new: [Holding]) -> [FrameTicket] {
      defer { holdings = new }
      return holdings.filter { old in !new.contains { $0.frame == old.frame } }.map(\.ticket)
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
    if !wasStarted.load(ordering: .relaxed) {
      wasStarted.store(true, ordering: .relaxed)
      start()
    }
    let frame = await mailbox.take()
    if frame == nil, Task.isCancelled { end(.cancelled) }
    return frame
  }

  private func start() {
    let moment = time.now
    let drivers = state.withLock { state -> Drivers? in
      guard !state.hasStarted, !state.machine.state.isEnded else { return nil }
      state.hasStarted = true
      state.origin = moment
      shared.begin()
      return makeDriver(&state)
    }
    if let drivers { replace(drivers) }
  }

  /// Tells the machine what the user wants.
  func control(_ event: PlaybackStateMachine.Event) {
    let moment = time.now
    let drivers = state.withLock { state -> Drivers? in
      if case .seek = event { state.seekCount += 1 }
      let now = state.hasStarted ? state.time(of: moment) : .zero
      let action = state.machine.handle(event, at: now)
      guard action == .restart, state.hasStarted else { return nil }
      return makeDriver(&state)
    }
    if let drivers { replace(drivers) }
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

  /// Returns the state in which playback ended, once everyone was told; when the calling task is
  /// cancelled, the state there is.
  func ending() async -> PlaybackState {
    let handover = ResultHandover<PlaybackState>()
    let isAnnounced = state.withLock { state in
      if !state.isAnnounced { state.endWaiters.append(handover) }
      return state.isAnnounced
    }
    if !isAnnounced, let reason = await handover.valueUnlessCancelled() { return reason }
    return state.withLock { state in
      state.endWaiters.removeAll { $0 === handover }
      return state.machine.state
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
    aftermath.dropped += state.hold([])
    aftermath.ending = (state.machine.state, state.statistics)
  }

  /// Does what was decided under the lock, now that it is free.
  private func carryOut(_ aftermath: PlaybackAftermath) {
    // First, so that who waits until nothing is played finds that all was given back.
    if aftermath.ending != nil, state.withLock({ $0.hasStarted }) { shared.end() }
    aftermath.obsoleteDriver?.cancel()
    if let skip = aftermath.skip { log(skip: skip.count, before: skip.frame) }
    aftermath.delivery?.finish()
    if let shown = aftermath.shown { shared.keep(shown) }
    guard let (reason, statistics) = aftermath.ending else { return }
    // What was presented before the end belongs to the consumer, unless it gave up itself.
    let keepsFrame = reason != .stopped && reason != .cancelled
    if !keepsFrame { mailbox.finish(keepingFrame: false) }
    log(ending: reason, statistics) { [self] in
      mailbox.finish(keepingFrame: keepsFrame)
      let waiters = state.withLock { state in
        state.isAnnounced = true
        defer { state.endWaiters = [] }
        return state.endWaiters
      }
      for waiter in waiters { waiter.close(with: reason) }
    }
  }

  private typealias Drivers = (new: PlaybackDriver, obsolete: PlaybackDriver?)

  /// Puts a new driver in charge. The one before leaves when it is called again.
  private func makeDriver(_ state: inout State) -> Drivers {
    let obsolete = state.driver
    state.epoch += 1
    state.isReordered = true
    let driver = PlaybackDriver(self, epoch: state.epoch)
    state.driver = driver
    return (driver, obsolete)
  }

  /// Starts a driver that was put in charge. To be called under no lock.
  private func replace(_ drivers: Drivers) {
    PlaybackThread.shared.call(drivers.new, after: .start)
    drivers.obsolete?.cancel()
  }

  /// What a driver does that has been waiting for the frame or for its consumer.
  func pendingOrder(from epoch: Int) -> Order {
    state.withLock { state in
      guard state.epoch == epoch, let index = state.machine.pending?.frame,
        let holding = state.holding(index)
      else { return .leave }
      return .fetch(holding.ticket)
    }
  }

  /// Reports to the machine and does what it says, up to what takes time; says whether a frame was
  /// handed over, too.
  func report(
    _ event: PlaybackStateMachine.Event, from epoch: Int
  ) -> (order: Order, presents: Bool) {
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
        if state.machine.pending == nil { aftermath.dropped += state.hold([]) }
        order = .wait(state.origin + moment)
      case .end:
        close(&state, &aftermath)
        order = .leave
      case .suspend, .restart, .none, .present: order = .leave
      }
      return (order, aftermath)
    }
    carryOut(aftermath)
    return (order, aftermath.shown != nil)
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
  ///
  /// Where decoding is quick, nothing is asked for until hardly anything is left, and then more at
  /// once: the first frame after a pause costs more than those that follow it.
  private func fetch(
    _ step: PlaybackStep, _ state: inout State, _ aftermath: inout PlaybackAftermath
  ) -> Order {
    let least = options.decodeAhead(in: state.machine.order.range)
    // A short loop would let go of frames that it asks for again at once.
    let isLong = state.machine.order.range.count > least + shared.burst
    let burst = isLong ? shared.burst : 0
    if burst > 0, !state.isReordered,
      let place = state.holdings.firstIndex(where: { $0.frame == step.frame }),
      state.holdings.count - place >= least
    {
      for holding in state.holdings.prefix(place) where holding.ticket !== aftermath.shown {
        aftermath.dropped.append(holding.ticket)
      }
      state.holdings.removeFirst(place)
      return .fetch(state.holdings[0].ticket)
    }
    state.isReordered = false
    // A frame that its consumer has not taken yet is one of those that memory is bounded to.
    let count = burst > 0 && mailbox.isEmpty ? least + burst : least
    var holdings: [Holding] = []
    for frame in [step.frame] + state.machine.upcoming(least + burst - 1).map(\.frame)
    where !holdings.contains(where: { $0.frame == frame }) {
      if let holding = state.holding(frame) {
        holdings.append(holding)
      } else if holdings.count < count {
        let (ticket, isNew) = shared.ticket(for: frame, user: user)
        holdings.append(Holding(frame: frame, ticket: ticket, isOwn: isNew))
      }
    }
    aftermath.dropped += state.hold(holdings)
    return .fetch(holdings[0].ticket)
  }

  /// How many steps after the pending one are decoded, without a gap.
  private func readyAhead(_ state: State) -> Int {
    guard options.latePolicy == .latest else { return 0 }
    let count = options.decodeAhead(in: state.machine.order.range)
    return state.machine.upcoming(count).prefix { step in
      if case .success = state.holding(step.frame)?.ticket.outcome { true } else { false }
    }.count
  }
}
