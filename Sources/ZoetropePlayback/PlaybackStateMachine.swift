/// Decides which frame is shown and when. The machine takes events and returns the next action.
///
/// The machine is a value that contains no clock, tasks or pixels. The argument `now` of its methods is the time since
/// an arbitrary fixed moment and never goes back. ``PlaybackSession`` performs the actions and reports back with
/// events. After a control event that changes anything, the machine returns ``Action/restart``, and the session
/// abandons its current work and starts over with ``Event/begin``. The core, `decide` and `present`, is in
/// `PlaybackStateMachine+Skipping.swift`; deadlines are computed in `PlaybackStateMachine+Deadlines.swift`.
package struct PlaybackStateMachine: Sendable {
  package enum Event: Sendable {
    /// The session starts, or starts over after ``Action/restart``.
    case begin
    /// The frame of the pending step is decoded, and so are the frames of the next steps, as many as `ahead` says.
    /// `ahead` is `.max` if the decoder has nothing left to do.
    case ready(ahead: Int)
    /// The frame of the pending step cannot be decoded.
    case unready(AnimatedImageError)
    /// The moment that the machine asked to wait for has been reached. `ahead` has the same meaning as in `ready`.
    case due(ahead: Int)
    case pause, resume
    case seek(frame: Int, offset: Duration)
    case setRate(PlaybackRate)
    case setDirection(PlaybackDirection)
    /// More frames of an image have arrived, or no more will arrive.
    case arrived(FrameArrival)
    /// A seek to a time. The frame at that time may not have arrived yet.
    case seekToTime(Duration)
    /// Playback ends for this reason.
    case end(PlaybackState)
  }

  package indirect enum Action: Sendable, Hashable {
    /// Request the frame of this step, then report `ready` or `unready`.
    case fetch(PlaybackStep)
    /// Wait until this moment, then report `due`.
    case wait(until: Duration)
    /// Deliver the frame of this presentation, then perform the next action.
    case present(Presentation, then: Action)
    /// Wait for the next control event.
    case suspend
    /// Abandon the current work, then report `begin`.
    case restart
    /// The event changed nothing.
    case none
    /// Playback has ended.
    case end(PlaybackState)
  }

  /// A decision to show a frame at the current moment.
  package struct Presentation: Sendable, Hashable {
    package var step: PlaybackStep
    /// The moment at which the frame should have been shown. If the frame's lateness moved the schedule, this is the
    /// moment according to the old schedule.
    package var deadline: Duration
    /// How long the frame is to be shown at the current rate.
    package var duration: Duration
    /// How long after its deadline the frame is shown.
    package var lateness: Duration
    /// The number of steps skipped since the previous presentation.
    package var skipped: Int
    /// Whether this presentation is the last one.
    package var isLast: Bool
  }

  /// The latest moment that the machine uses. All deadlines after this moment are replaced by it; only clocks in tests
  /// reach it.
  ///
  /// Because of this bound, sums and differences of moments are far from an overflow, and their `components` do not
  /// trap.
  package static let endOfTime = Duration.seconds(Int64.max / 2)

  package internal(set) var order: PlaybackOrder
  package let latePolicy: LatePolicy
  /// How the schedule continues after the frame of ``pending`` was missing.
  let stallPolicy: StallPolicy
  /// Whether the options specify the play count, which then overrides the count that arrives with the image.
  var hasOwnPlayCount = false
  /// Whether the stream ends after one frame because motion is reduced.
  let showsPoster: Bool

  package internal(set) var state = PlaybackState.idle
  /// Whether the session has started. Controls may come before.
  private var hasBegun = false
  package internal(set) var rate: PlaybackRate
  package internal(set) var direction: PlaybackDirection
  /// The step whose frame is on screen.
  package internal(set) var shown: PlaybackStep?
  /// The step after ``shown``; nil if ``shown`` is the last step or the next step is not known yet.
  package internal(set) var pending: PlaybackStep?
  /// The moment of tick 0, calculated as if the current rate had applied from tick 0 on.
  var anchor = Duration.zero
  /// If not nil, ``pending`` starts a new schedule, as at the beginning and after a seek. The new schedule begins when
  /// the frame of ``pending`` is shown.
  ///
  /// The value is a position within that frame: the time since the frame's start in forward playback at rate 1. Zero
  /// means the start of the frame in the direction of playback.
  var fresh: Duration? = .zero
  /// Whether the direction of playback determines the first frame. If the options specify no first frame, the value is
  /// true until the first seek; otherwise, it is always false.
  var beginsAtEnd: Bool
  /// The moment at which playback was paused; nil if playback is not paused, or while ``fresh`` is not nil.
  var pausedAt: Duration?
  /// The moment at which the frame of ``shown`` was presented. If a seek or a change of direction left out the first
  /// part of the frame's time, this is the moment at which the whole frame would have started. From this moment,
  /// `catchUp` calculates the earliest moment for the next frame.
  var shownAt = Duration.zero
  /// The number of steps skipped since ``shown`` was presented.
  var skipped = 0
  /// Whether ``pending`` was chosen by skipping other steps. If so, its frame is shown no matter how late it is.
  var isChosen = false
  /// The error that prevents the frame of ``pending`` from being shown.
  var failure: AnimatedImageError?
  /// The time to which playback is to seek once the frame at that time has arrived. The frame of ``pending`` is then
  /// the first frame that has not arrived.
  var awaitedTime: Duration?
  /// The number of times that playback stalled. The total time of these stalls is ``stallTime``.
  package internal(set) var stalls = 0
  package internal(set) var stallTime = Duration.zero

  package init(
    order: PlaybackOrder, startIndex: Int? = nil, direction: PlaybackDirection, rate: PlaybackRate,
    latePolicy: LatePolicy, stallPolicy: StallPolicy = .shift, showsPoster: Bool = false
  ) {
    self.order = order
    self.stallPolicy = stallPolicy
    self.rate = rate
    self.direction = direction
    self.latePolicy = latePolicy
    self.showsPoster = showsPoster
    beginsAtEnd = startIndex == nil
    pending = (startIndex ?? order.knownFirst(direction)).map {
      PlaybackStep(frame: $0, direction: direction)
    }
  }

  package mutating func handle(_ event: Event, at now: Duration) -> Action {
    if state.isEnded { return .end(state) }
    let now = min(now, Self.endOfTime)
    switch event {
    case .begin: return begin(at: now)
    case .ready(let ahead): return decide(at: now, ahead: ahead, wasWaiting: false)
    case .due(let ahead): return decide(at: now, ahead: ahead, wasWaiting: true)
    case .unready(let error):
      failure = error
      return decide(at: now, ahead: 0, wasWaiting: false)
    case .pause: return pause(at: now)
    case .resume: return resume(at: now)
    case .seek(let frame, let offset): return seek(to: frame, offset: offset)
    case .setRate(let rate): return setRate(rate, at: now)
    case .setDirection(let direction): return setDirection(direction, at: now)
    case .arrived(let arrival): return arrive(arrival, at: now)
    case .seekToTime(let time): return seek(to: time)
    case .end(let reason): return end(reason)
    }
  }

  /// Returns up to `count` steps that will follow ``pending`` if no control event changes the order.
  package func upcoming(_ count: Int) -> [PlaybackStep] {
    var steps: [PlaybackStep] = []
    var step = pending
    while steps.count < count, let current = step, order.contains(current.frame),
      let next = order.next(after: current)
    {
      steps.append(next)
      step = next
    }
    return steps
  }

  /// Returns the indices of the frames to hold for ``pending`` and the steps after it, in playback order.
  ///
  /// If decoding is quick, new frames are requested only when fewer than `least` frames are left. They are then
  /// requested in one batch with up to `burst` additional frames, because the first frame decoded after a pause costs
  /// more than the frames after it.
  ///
  /// - Parameters:
  ///   - held: The indices of the frames that are held now and need not be requested again.
  ///   - least: The minimum number of frames to hold, if there are that many.
  ///   - burst: The number of further frames that may be decoded in the same batch.
  ///   - isReordered: Whether the playback order may have changed since the frames in `held` were requested.
  ///   - hasRoom: Whether the consumer has taken the last frame. If not, that frame counts towards the memory limit, so
  ///     no further frames are requested beyond `least`.
  package func framesToHold(
    _ held: [Int], least: Int, burst: Int, isReordered: Bool, hasRoom: Bool
  ) -> [Int] {
    guard let pending else { return [] }
    // If the range is short, a batch would drop frames only to request them again immediately.
    let burst = order.range.count > least + burst ? burst : 0
    if burst > 0, !isReordered, let place = held.firstIndex(of: pending.frame),
      held.count - place >= least
    {
      return Array(held[place...])
    }
    let count = hasRoom ? least + burst : least
    var frames: [Int] = []
    for frame in [pending.frame] + upcoming(least + burst - 1).map(\.frame)
    where !frames.contains(frame) && (frames.count < count || held.contains(frame)) {
      frames.append(frame)
    }
    return frames
  }

  mutating func end(_ reason: PlaybackState) -> Action {
    state = reason
    pending = nil
    return .end(reason)
  }

  private mutating func begin(at now: Duration) -> Action {
    hasBegun = true
    if state == .idle { state = .playing }
    if state == .paused, fresh == nil { return .suspend }
    if isStarved { return .suspend }
    guard let pending else { return .wait(until: endOfShown) }
    if fresh == nil { return fetchDue(at: now) }
    return .fetch(pending)
  }

}

// MARK: - Options

extension PlaybackStateMachine {
  /// Creates a machine that plays `shared` with `options`. If the options are invalid, the state of the machine is
  /// `failed`.
  init(for shared: SharedFrames, options: PlaybackOptions) {
    do throws(AnimatedImageError) {
      let arrival = shared.arrival
      try self.init(
        frames: arrival.frames, playCount: arrival.playCount, options: options,
        isOpen: arrival.isOpen)
    } catch {
      self.init(
        order: PlaybackOrder(
          timeline: PlaybackTimeline([]), range: 0..<1, playCount: .once, bounces: false),
        direction: .forward, rate: PlaybackRate(1), latePolicy: .skip)
      state = .failed(error)
    }
  }

  package init(
    frames: [FrameControl], playCount: PlayCount, options: PlaybackOptions, isOpen: Bool = false
  ) throws(AnimatedImageError) {
    guard !frames.isEmpty || isOpen else {
      throw AnimatedImageError(.noFrames, "there are no frames to play")
    }
    // While frames may still arrive, an index has no upper bound.
    let all = isOpen ? 0 ..< .max : 0..<frames.count
    var range = options.range ?? all
    guard !range.isEmpty, all.contains(range.lowerBound), range.upperBound <= all.upperBound else {
      throw AnimatedImageError(
        .parameter,
        isOpen
          ? "the range \(range) is empty or begins before frame 0"
          : "the range \(range) is not within the frames \(all)")
    }
    let plays = options.playCount ?? playCount
    if case .finite(let count) = plays, count < 1 {
      throw AnimatedImageError(.parameter, "the play count is \(count); it must be at least 1")
    }
    if let delay = options.fixedDelay, delay < .zero {
      throw AnimatedImageError(.parameter, "the delay is \(delay); it must not be negative")
    }
    var start = options.startIndex
    if options.reducesMotion {
      let poster = options.posterIndex ?? start ?? range.lowerBound
      guard all.contains(poster) else {
        throw Self.noFrame(poster, of: frames.count, isOpen: isOpen)
      }
      range = poster..<poster + 1
      start = poster
    }
    if let start, !range.contains(start) {
      guard all.contains(start) else {
        throw Self.noFrame(start, of: frames.count, isOpen: isOpen)
      }
      throw AnimatedImageError(
        .parameter, "the start frame \(start) is not within the range \(range)")
    }
    let order = PlaybackOrder(
      timeline: PlaybackTimeline(
        frames, policy: options.delayPolicy, fixedDelay: options.fixedDelay),
      range: range, playCount: plays, bounces: options.bounces, isOpen: isOpen)
    self.init(
      order: order, startIndex: start, direction: options.direction,
      rate: PlaybackRate(options.rate),
      latePolicy: options.latePolicy, stallPolicy: options.stallPolicy,
      showsPoster: options.reducesMotion)
    hasOwnPlayCount = options.playCount != nil
  }

  /// Returns the error for an index that is outside the `count` frames or, while frames may still arrive, that no frame
  /// can ever have.
  private static func noFrame(_ index: Int, of count: Int, isOpen: Bool) -> AnimatedImageError {
    guard isOpen else { return .noFrame(index, of: count) }
    return AnimatedImageError(
      .parameter, "frame \(index) does not exist; frames are counted from 0")
  }
}

// MARK: - Control

extension PlaybackStateMachine {
  /// Pauses playback; the current frame stays on screen. If no frame has been shown yet, the first frame is still
  /// shown.
  mutating func pause(at now: Duration) -> Action {
    guard state != .paused else { return .none }
    state = .paused
    pausedAt = fresh == nil ? now : nil
    return .restart
  }

  /// Resumes playback. Every deadline moves by the length of the pause.
  mutating func resume(at now: Duration) -> Action {
    guard state == .paused else { return .none }
    state = hasBegun ? .playing : .idle
    if let since = pausedAt {
      anchor += now - since
      shownAt += now - since
    }
    pausedAt = nil
    return .restart
  }

  /// Shows `frame` as soon as it is decoded, even while playback is paused, and starts a new schedule there. If `frame`
  /// can never be played, the nearest frame that can be played is shown instead.
  mutating func seek(to frame: Int, offset: Duration) -> Action {
    let play = (shown ?? pending)?.play ?? 0
    let isPlayed = order.mayContain(frame)
    let nearest = isPlayed ? frame : order.nearest(to: frame)
    pending = PlaybackStep(frame: nearest, play: play, direction: direction)
    fresh = isPlayed ? offset : .zero
    beginsAtEnd = false
    pausedAt = nil
    isChosen = false
    failure = nil
    awaitedTime = nil
    return .restart
  }

  /// Changes the rate without a jump: the position in the animation at `now` stays the same, and the time until the
  /// next deadline is scaled.
  ///
  /// A step that is overdue keeps its deadline, because scaling its lateness could move the deadline to a time before
  /// the deadlines of frames that were already shown.
  mutating func setRate(_ newRate: PlaybackRate, at now: Duration) -> Action {
    guard newRate != rate else { return .none }
    let scaled = { [rate] (time: Duration) in
      time.scaled(
        by: rate.numerator * newRate.denominator, over: rate.denominator * newRate.numerator)
    }
    if fresh == nil {
      let moment = pausedAt ?? now
      passOverOvertaken(at: moment)
      let next = pending?.start ?? shown.map { order.end(of: $0) } ?? 0
      let rest = self.moment(next) - moment
      anchor =
        moment + (rest > .zero ? scaled(rest) : rest) - order.timeline.time(next, at: newRate)
      shownAt = moment - scaled(moment - shownAt)
    }
    rate = newRate
    return state == .playing ? .restart : .none
  }

  /// Changes the direction without a jump: the shown frame stays on screen for as long again as it has already been
  /// shown.
  mutating func setDirection(_ newDirection: PlaybackDirection, at now: Duration) -> Action {
    guard newDirection != direction else { return .none }
    direction = newDirection
    isChosen = false
    failure = nil
    if fresh != nil || shown == nil {
      if beginsAtEnd {
        pending = order.knownFirst(newDirection).map {
          PlaybackStep(frame: $0, direction: newDirection)
        }
      }
      pending?.direction = newDirection
      return state == .idle ? .none : .restart
    }
    guard var step = shown else { return .none }
    let moment = pausedAt ?? now
    let start = self.moment(step.start)
    let whole = duration(of: step)
    let elapsed = min(max(moment - start, .zero), whole)
    anchor += moment - (whole - elapsed) - start
    shownAt = self.moment(step.start)
    step.direction = newDirection
    shown = step
    pending = order.next(after: step)
    return state == .playing ? .restart : .none
  }
}
