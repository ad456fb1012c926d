/// Decides what is shown and when: events go in, the one thing to do next comes out.
///
/// A value without clock, task or pixels; `now` is the time since any fixed moment, and never goes
/// back. The shell that owns it (`PlaybackSession`) carries actions out and reports with events. After
/// a control event that changes anything (``Action/restart``) whatever the shell is doing is obsolete
/// and it asks anew with ``Event/begin``.
package struct PlaybackStateMachine: Sendable {
  package enum Event: Sendable {
    /// The shell has nothing to do.
    case begin
    /// The frame asked for is decoded and may be handed over; so are the `ahead` steps after it.
    case ready(ahead: Int)
    /// The frame asked for cannot be decoded.
    case unready(AnimatedImageError)
    /// The time waited for has come.
    case due(ahead: Int)
    /// The frame was handed over.
    case presented
    case pause, resume
    case seek(frame: Int, offset: Duration)
    case setRate(PlaybackRate)
    case setDirection(PlaybackDirection)
    /// Playback is over, for this reason.
    case end(PlaybackState)
  }

  package enum Action: Sendable, Hashable {
    /// Get this step's frame, then report `ready` or `unready`.
    case fetch(PlaybackStep)
    /// Wait until then, then report `due`.
    case wait(until: Duration)
    /// Hand the frame over, then report `presented`.
    case present(Presentation)
    /// Nothing happens until the next control event.
    case suspend
    /// Drop whatever is being done and report `begin`.
    case restart
    /// The event changed nothing.
    case none
    /// Playback has ended.
    case end(PlaybackState)
  }

  /// One frame's turn, decided.
  package struct Presentation: Sendable, Hashable {
    package var step: PlaybackStep
    /// When it was to be shown.
    package var deadline: Duration
    /// How long it is shown at the present rate.
    package var duration: Duration
    /// How long after its deadline it is shown.
    package var lateness: Duration
    /// Steps passed over since the presentation before.
    package var skipped: Int
    /// Whether no other follows.
    package var isLast: Bool
  }

  package let order: PlaybackOrder
  package let latePolicy: LatePolicy
  /// Whether the stream ends with the first frame shown: motion is reduced.
  let showsPoster: Bool

  package internal(set) var state = PlaybackState.idle
  package internal(set) var rate: PlaybackRate
  package internal(set) var direction: PlaybackDirection
  /// The step on screen.
  package internal(set) var shown: PlaybackStep?
  /// The step after it; nil when ``shown`` is the last and is being held.
  package internal(set) var pending: PlaybackStep?
  /// The moment at which tick 0 was, would the present rate always have been.
  var anchor = Duration.zero
  /// Set while ``pending`` starts a new stretch of time: the schedule begins when it is shown, at this
  /// position in the frame, counted in media time from where the frame starts playing forward. Zero
  /// stands for where it starts in playing direction.
  var fresh: Duration? = .zero
  /// Whether playback begins at whichever end the direction says: nobody has chosen a frame.
  var beginsAtEnd: Bool
  /// While paused with a frame on screen: since when.
  var pausedAt: Duration?
  /// When ``shown`` was handed over; what catching up measures from.
  var shownAt = Duration.zero
  /// Steps passed over since ``shown``.
  var skipped = 0
  /// Whether ``pending`` was chosen because others were overtaken: it is shown, however late.
  var isChosen = false
  /// Why ``pending`` cannot be shown.
  var failure: AnimatedImageError?

  package init(
    order: PlaybackOrder, startIndex: Int? = nil, direction: PlaybackDirection, rate: PlaybackRate,
    latePolicy: LatePolicy, showsPoster: Bool = false
  ) {
    self.order = order
    self.rate = rate
    self.direction = direction
    self.latePolicy = latePolicy
    self.showsPoster = showsPoster
    beginsAtEnd = startIndex == nil
    pending = PlaybackStep(frame: startIndex ?? order.first(direction), direction: direction)
  }

  package mutating func handle(_ event: Event, at now: Duration) -> Action {
    if state.isEnded { return .end(state) }
    switch event {
    case .begin: return begin(at: now)
    case .ready(let ahead): return decide(at: now, ahead: ahead, wasWaiting: false)
    case .due(let ahead): return decide(at: now, ahead: ahead, wasWaiting: true)
    case .unready(let error):
      failure = error
      return decide(at: now, ahead: 0, wasWaiting: false)
    case .presented: return afterPresenting(at: now)
    case .pause: return pause(at: now)
    case .resume: return resume(at: now)
    case .seek(let frame, let offset): return seek(to: frame, offset: offset)
    case .setRate(let rate): return setRate(rate, at: now)
    case .setDirection(let direction): return setDirection(direction, at: now)
    case .end(let reason): return end(reason)
    }
  }

  /// The steps that follow ``pending``, at most `count`, should nothing change.
  package func upcoming(_ count: Int) -> [PlaybackStep] {
    var steps: [PlaybackStep] = []
    var step = pending
    while steps.count < count, let current = step, let next = order.next(after: current) {
      steps.append(next)
      step = next
    }
    return steps
  }

  mutating func end(_ reason: PlaybackState) -> Action {
    state = reason
    pending = nil
    return .end(reason)
  }

  private mutating func begin(at now: Duration) -> Action {
    if state == .idle { state = .playing }
    if state == .paused, fresh == nil { return .suspend }
    guard let pending else { return .wait(until: endOfShown) }
    if fresh == nil { return fetchDue(at: now) }
    return .fetch(pending)
  }

  private mutating func afterPresenting(at now: Duration) -> Action {
    if showsPoster { return end(.finished) }
    if state == .paused {
      pausedAt = now
      return .suspend
    }
    if pending == nil { return .wait(until: endOfShown) }
    return fetchDue(at: now)
  }
}

// MARK: - Times

extension PlaybackStateMachine {
  /// The moment at which `ticks` have passed.
  func moment(_ ticks: Int128) -> Duration { anchor + order.timeline.time(ticks, at: rate) }

  /// How long a step lasts on the wall; a difference of moments, so that durations sum to deadlines.
  func duration(of step: PlaybackStep) -> Duration {
    moment(order.end(of: step)) - moment(step.start)
  }

  /// When the shown frame may be followed by the next, or by the end.
  var endOfShown: Duration {
    guard let shown else { return anchor }
    return max(moment(order.end(of: shown)), earliestNext)
  }

  /// When the next frame may be shown while catching up.
  var earliestNext: Duration {
    guard case .catchUp(let maximum) = latePolicy, let shown else { return anchor }
    return shownAt + PlaybackRate(maximum > 1 ? maximum : 1).wallTime(duration(of: shown))
  }
}
