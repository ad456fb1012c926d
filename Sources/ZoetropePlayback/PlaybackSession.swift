internal import Logging
internal import Synchronization

/// One stream of a scheduler. The session carries out the decisions of the state machine.
///
/// The scheduler, the stream's subscription and the driver retain the session, and the driver is retained by the object
/// that it waits for. The session retains neither the scheduler nor the subscription, because playback ends when they
/// are released. Threads and tasks that keep running do not retain an ended session.
final class PlaybackSession: Sendable {
  let shared: SharedFrames
  let options: PlaybackOptions
  let time: PlaybackTime
  let logger: Logger?
  let mailbox = FrameMailbox()
  let state: Mutex<State>
  private let user: Int
  /// Whether playback was started. The flag is kept outside ``state`` to avoid locking for each frame.
  private let wasStarted = Atomic(false)

  init(
    _ shared: SharedFrames, options: PlaybackOptions, time: PlaybackTime, logger: Logger?
  ) {
    self.shared = shared
    self.options = options
    self.time = time
    self.logger = logger
    user = shared.addUser()
    state = Mutex(State(machine: PlaybackStateMachine(for: shared, options: options)))
    shared.live.add(.session)
    if let arrivals = shared.arrivals {
      arrivals.add(self)
      // Add the frames that arrived after the machine was created.
      framesArrived()
    }
    if let error = playbackState.error { end(.failed(error)) }
  }

  deinit { shared.live.remove(.session) }

  var playbackState: PlaybackState { state.withLock { $0.machine.state } }

  /// Returns the next frame for the consumer. The first call also starts playback.
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

  /// Passes a control event on to the machine.
  func control(_ event: PlaybackStateMachine.Event) {
    _ = control { _ in event }
  }

  /// Seeks to `frame`. Returns nil if the frame is outside the played range.
  func seek(toFrame frame: Int) -> SeekResult? {
    control { state in
      state.machine.order.mayContain(frame) ? .seek(frame: frame, offset: .zero) : nil
    }
  }

  /// Seeks to `time`, unless playback has ended. Returns ``SeekResult/available`` if it has.
  func seek(to time: Duration) -> SeekResult {
    control { state in state.machine.state.isEnded ? nil : .seekToTime(time) } ?? .available
  }

  /// Gives the machine the control event that `make` returns, and returns whether the frame to show next has arrived.
  /// Returns nil if `make` returns nil.
  ///
  /// `make` and the check for the frame run under the same lock as the event, because the rest of a ``StreamedImage``
  /// may arrive at any moment.
  private func control(_ make: (State) -> PlaybackStateMachine.Event?) -> SeekResult? {
    let moment = time.now
    let (drivers, ending, result) = state.withLock {
      state -> (Drivers?, PlaybackState?, SeekResult?) in
      guard let event = make(state) else { return (nil, nil, nil) }
      switch event {
      case .seek, .seekToTime: state.seekCount += 1
      default: break
      }
      let now = state.hasStarted ? state.time(of: moment) : .zero
      let action = state.machine.handle(event, at: now)
      let result: SeekResult = state.machine.isPendingAwaited ? .awaited : .available
      if case .end(let reason) = action, state.epoch >= 0 { return (nil, reason, result) }
      guard action == .restart, state.hasStarted else { return (nil, nil, result) }
      return (makeDriver(&state), nil, result)
    }
    if let drivers { replace(drivers) }
    if let ending { end(ending) }
    return result
  }

  /// Ends playback with `reason`, unless playback has already ended.
  ///
  /// If `reason` is `stopped` or `cancelled`, the stream is closed when this method returns. For other reasons, the
  /// stream is closed once the end is logged. A frame that is being decoded is still completed.
  func end(_ reason: PlaybackState) { carryOut(ended(reason)) }

  /// Ends playback like ``end(_:)``, but can be called from a `deinit`, which may run under any lock, such as that of a
  /// stream or of a task being cancelled. This method only records the end; a task does the rest.
  func endInDeinit(_ reason: PlaybackState) {
    let aftermath = ended(reason)
    guard aftermath.ending != nil else { return }
    Task { self.carryOut(aftermath) }
  }

  /// Waits until the end of playback has been announced, and returns its reason. If the calling task is cancelled,
  /// returns the current state.
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

  private func ended(_ reason: PlaybackState) -> Aftermath {
    state.withLock { state in
      if !state.machine.state.isEnded { _ = state.machine.handle(.end(reason), at: .zero) }
      var aftermath = Aftermath()
      close(&state, &aftermath)
      return aftermath
    }
  }

  /// Closes the session: moves the driver and all tickets to `aftermath`, and stores in it why playback ended. The
  /// machine must be in its final state. Later calls have no effect.
  private func close(_ state: inout State, _ aftermath: inout Aftermath) {
    guard state.epoch >= 0 else { return }
    state.epoch = -1
    aftermath.obsoleteDriver = state.driver
    state.driver = nil
    aftermath.dropped += state.hold([])
    aftermath.ending = (state.machine.state, state.currentStatistics)
  }

  /// Performs the actions in `aftermath`. Call this method with no lock held.
  private func carryOut(_ aftermath: Aftermath) {
    // Before the use of `shared` ends, which charges the kept frames.
    if let shown = aftermath.shown { shared.keep(shown) }
    // Ending the use of `shared` comes before the rest, so that all memory is released when `waitUntilIdle()` returns.
    if aftermath.ending != nil, state.withLock({ $0.hasStarted }) { shared.end() }
    aftermath.obsoleteDriver?.cancel()
    if let skip = aftermath.skip { log(skip: skip.count, before: skip.frame) }
    aftermath.delivery?.finish()
    guard let (reason, statistics) = aftermath.ending else { return }
    // A frame presented before the end stays available, unless playback was stopped or cancelled.
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

  /// Creates a driver that replaces the current driver, and returns the two drivers. From then on, the replaced driver
  /// returns immediately when it is called.
  private func makeDriver(_ state: inout State) -> Drivers {
    let obsolete = state.driver
    state.epoch += 1
    state.isReordered = true
    let driver = PlaybackDriver(self, epoch: state.epoch)
    state.driver = driver
    return (driver, obsolete)
  }

  /// Starts the new driver and cancels the obsolete one. Call this method with no lock held.
  private func replace(_ drivers: Drivers) {
    PlaybackThread.shared.call(drivers.new, after: .start)
    drivers.obsolete?.cancel()
  }

  /// Returns what the driver with the number `epoch` waits for after a signal: the frame of the machine's pending step,
  /// or nothing if there is no such frame or the driver is no longer the current one.
  func pendingFrame(from epoch: Int) -> PlaybackDriver.Wait {
    state.withLock { state in
      guard state.epoch == epoch, let index = state.machine.pending?.frame,
        let holding = state.holding(index)
      else { return .nothing }
      return .frame(holding.ticket)
    }
  }

  /// Passes `event` to the machine, and performs the resulting action. Returns what the driver waits for next, and
  /// whether a frame was presented.
  func report(
    _ event: PlaybackStateMachine.Event, from epoch: Int
  ) -> (wait: PlaybackDriver.Wait, presents: Bool) {
    let moment = time.now
    let (wait, aftermath) = state.withLock { state in
      var aftermath = Aftermath()
      guard state.epoch == epoch else { return (PlaybackDriver.Wait.nothing, aftermath) }
      let now = state.time(of: moment)
      let action = handle(event, &state, &aftermath, at: now)
      let wait: PlaybackDriver.Wait
      switch action {
      case .fetch: wait = fetch(&state, &aftermath)
      case .wait(let moment):
        if state.machine.pending == nil { aftermath.dropped += state.hold([]) }
        wait = .moment(state.origin + moment)
      case .end:
        close(&state, &aftermath)
        wait = .nothing
      case .suspend, .restart, .none, .present: wait = .nothing
      }
      return (wait, aftermath)
    }
    carryOut(aftermath)
    return (wait, aftermath.shown != nil)
  }

  /// Passes `event` to the machine, delivers the frame that the machine presents, if any, and returns the action to
  /// perform next.
  private func handle(
    _ event: PlaybackStateMachine.Event, _ state: inout State,
    _ aftermath: inout Aftermath, at now: Duration
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
    if case .present(let presentation, let next) = action {
      deliver(presentation, &state, &aftermath, at: now)
      skipped = 0
      action = next
    }
    if case .fetch(let step) = action, state.machine.skipped > skipped {
      aftermath.skip = (state.machine.skipped - skipped, step.frame)
    }
    return action
  }

  /// Requests the frame of the machine's pending step and the frames that follow it, and drops the tickets of all other
  /// frames. Returns what the driver waits for next, which is the pending frame.
  private func fetch(_ state: inout State, _ aftermath: inout Aftermath)
    -> PlaybackDriver.Wait
  {
    let frames = state.machine.framesToHold(
      state.holdings.map(\.frame), least: options.decodeAhead(in: state.machine.order.range),
      burst: shared.burst, isReordered: state.isReordered, hasRoom: mailbox.isEmpty)
    state.isReordered = false
    let holdings = frames.map { frame in
      if let holding = state.holding(frame) { return holding }
      let (ticket, isNew, passing) = shared.ticket(
        for: frame, user: user, asking: PlaybackThread.shared)
      aftermath.dropped += passing
      return Holding(frame: frame, ticket: ticket, isOwn: isNew)
    }
    aftermath.dropped += state.hold(holdings)
    return holdings.first.map { .frame($0.ticket) } ?? .nothing
  }

  /// Returns how many steps in a row, directly after the pending step, have decoded frames; `.max` if all requested
  /// frames are decoded. The result is always 0 if the policy is not ``LatePolicy/latest``, because other policies do
  /// not use it.
  private func readyAhead(_ state: State) -> Int {
    guard options.latePolicy == .latest else { return 0 }
    let isDecoded = { (holding: Holding?) in
      if case .success = holding?.ticket.outcome { true } else { false }
    }
    if state.holdings.allSatisfy(isDecoded) { return .max }
    let count = options.decodeAhead(in: state.machine.order.range)
    return state.machine.upcoming(count).prefix { isDecoded(state.holding($0.frame)) }.count
  }
}

// MARK: - Streams

extension PlaybackSession: ArrivalObserver {
  func framesArrived() {
    guard let arrivals = shared.arrivals else { return }
    _ = control { state in
      guard !state.machine.state.isEnded else { return nil }
      // Once all frames of the played range have arrived, later frames are not needed.
      let order = state.machine.order
      let known = order.isOpen ? order.timeline.frameCount : .max
      return .arrived(arrivals.arrival(after: known))
    }
  }
}

// MARK: - Delivery

extension PlaybackSession {
  /// Delivers the frame of `presentation` to the consumer, and records it in the statistics and the trace.
  private func deliver(
    _ presentation: PlaybackStateMachine.Presentation, _ state: inout State,
    _ aftermath: inout Aftermath, at now: Duration
  ) {
    let index = presentation.step.frame
    guard let ticket = state.holding(index)?.ticket, case .success(let frame) = ticket.outcome
    else { return }
    aftermath.shown = ticket
    let origin = state.firstDeadline ?? presentation.deadline
    state.firstDeadline = origin
    let scheduled = ScheduledFrame(
      index: index, play: presentation.step.play, bitmap: frame.bitmap,
      delay: shared.control(index).delay, duration: presentation.duration,
      presentationTime: presentation.deadline - origin, lateness: presentation.lateness,
      dirtyRect: shared.changes(from: state.lastIndex, to: index, decoded: frame),
      skipped: presentation.skipped, isLast: presentation.isLast, damage: frame.damage,
      seekCount: state.seekCount)
    state.lastIndex = index
    let delivery = mailbox.put(scheduled)
    if delivery.hasReplaced { state.statistics.replaced += 1 }
    aftermath.delivery = delivery
    state.statistics.presented += 1
    state.statistics.skipped += presentation.skipped
    state.statistics.lateness.record(presentation.lateness)
    if options.recordsTrace {
      state.trace.entries.append(
        PlaybackTrace.Entry(
          index: index, play: presentation.step.play,
          deadline: presentation.deadline.wholeNanoseconds,
          decoded: state.readyAt.wholeNanoseconds, yielded: now.wholeNanoseconds,
          lateness: presentation.lateness.wholeNanoseconds, skipped: presentation.skipped))
    }
  }

  /// Counts the decoding of the pending frame in the statistics, if this session was the first to request the frame.
  private func noteDecoding(_ state: inout State) {
    guard let index = state.machine.pending?.frame,
      let place = state.holdings.firstIndex(where: { $0.frame == index }),
      state.holdings[place].isOwn
    else { return }
    state.holdings[place].isOwn = false
    let time = state.holdings[place].ticket.decodeTime
    state.statistics.decoded += 1
    state.statistics.decodeTime += time
    state.statistics.maximumDecodeTime = max(state.statistics.maximumDecodeTime, time)
  }

  /// The thread that calls log handlers, so that a handler that blocks does not delay frames.
  private static let loggingThread = DecodeThreads(count: 1)

  private func log(skip count: Int, before index: Int) {
    guard let logger, logger.logLevel <= .debug else { return }
    Self.loggingThread.run {
      logger.debug("frames skipped", metadata: ["count": "\(count)", "before": "\(index)"])
    }
  }

  /// Logs the end of playback and then calls `announce`, so that the log entry precedes the announcement.
  private func log(
    ending reason: PlaybackState, _ statistics: PlaybackStatistics,
    then announce: @escaping @Sendable () -> Void
  ) {
    guard let logger else { return announce() }
    Self.loggingThread.run {
      let metadata: Logger.Metadata = ["statistics": "\(statistics)"]
      if let error = reason.error {
        logger.warning("playback failed: \(error)", metadata: metadata)
      } else {
        logger.info("playback \(reason)", metadata: metadata)
      }
      announce()
    }
  }
}
