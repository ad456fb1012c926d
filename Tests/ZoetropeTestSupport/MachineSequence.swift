package import Zoetrope

/// Random animations, options and controls, for checking the invariants of playback.
package struct RandomPlayback {
  package var random: SplitMix64

  package init(seed: UInt64) { random = SplitMix64(seed: seed) }

  package mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &random)
  }

  package mutating func happens(oneIn count: Int) -> Bool { number(1...count) == 1 }

  /// One to eight frames: whole, fractional, tiny and huge delays, and none at all.
  package mutating func frames() -> [FrameControl] {
    let kinds = [
      (10, 100), (10, 100), (7, 100), (1, 30), (1, 60), (1, 3), (1001, 30000), (0, 100), (0, 100),
      (1, 65535), (1, 1000),
    ]
    let rare = [(1, 4_294_967_295), (4_294_967_295, 1), (4_294_967_295, 4_294_967_291)]
    return (0..<number(1...8)).map { index in
      let (numerator, denominator) =
        happens(oneIn: 50) ? rare[number(0...2)] : kinds[number(0...kinds.count - 1)]
      return FrameControl(
        index: index, rect: PixelRect(x: 0, y: 0, width: 1, height: 1),
        delay: FrameDelay(numerator: UInt32(numerator), denominator: UInt32(denominator)),
        disposal: .keep, blend: .over, isIndependent: true, isInterlaced: false, palette: .global,
        byteRange: 0..<0)
    }
  }

  package mutating func rate() -> Double {
    [0.001, 0.01, 0.3, 0.5, 1, 1, 1.0 / 3, 1.25, 2, 7, 1000, .infinity, .nan, -1][number(0...13)]
  }

  package mutating func playCount() -> PlayCount {
    switch number(0...4) {
    case 0: .once
    case 1: .finite(2)
    case 2: .finite(.max)
    default: .indefinite
    }
  }

  package mutating func options(for count: Int) -> PlaybackOptions {
    var options = PlaybackOptions()
    if happens(oneIn: 2) { options.playCount = playCount() }
    if happens(oneIn: 4) {
      let lower = number(0...count - 1)
      options.range = lower..<number(lower + 1...count)
    }
    let range = options.range ?? 0..<count
    if happens(oneIn: 4) {
      options.startIndex = number(range.lowerBound...range.upperBound - 1)
    }
    if happens(oneIn: 8) {
      options.fixedDelay = happens(oneIn: 2) ? .milliseconds(number(0...40)) : enormousDelay()
    }
    options.delayPolicy = happens(oneIn: 3) ? .browser : .exact
    if happens(oneIn: 20) {
      options.delayPolicy = .minimum(.seconds(number(0...60)), replacement: enormousDelay())
    }
    options.rate = happens(oneIn: 2) ? 1 : rate()
    options.direction = happens(oneIn: 3) ? .backward : .forward
    options.bounces = happens(oneIn: 4)
    options.latePolicy =
      [
        .skip, .stretch, .latest, .catchUp(maximumRate: happens(oneIn: 5) ? .nan : 3),
      ][number(0...3)]
    options.buffering = happens(oneIn: 2) ? .newest : .lossless
    options.decodeAhead = [1, 2, 3, .max, .min][number(0...4)]
    return options
  }

  /// Used by programs that never need the next frame.
  package mutating func enormousDelay() -> Duration {
    let fractions = (number(0...999_999_999), number(0...999_999_999))
    let fraction = Duration(
      secondsComponent: 0, attosecondsComponent: Int64(fractions.0 * 1_000_000_000 + fractions.1))
    let most = Duration.seconds(Int64.max)
    return [.seconds(86400), .seconds(9_999_999_999), .seconds(1e17), most / 3, most, most * 18][
      number(0...5)] + fraction
  }

  /// Usually a short time, sometimes none, sometimes a stall of hours.
  package mutating func delay() -> Duration {
    switch number(0...19) {
    case 0: .seconds(number(1...30_000))
    case 1...3: .milliseconds(number(100...1000))
    case 4...9: .zero
    default: .microseconds(number(0...60_000))
    }
  }
}

/// A random run of the playback state machine, whose invariants are checked at each step.
///
/// A random generator acts as time, decoding, a consumer that takes frames late, a timer that fires late, and a user
/// who controls playback.
package final class MachineSequence {
  private enum Doing {
    case fetching(until: Duration)
    case waiting(until: Duration)
    case nothing
  }

  private var choices: RandomPlayback
  private var machine: PlaybackStateMachine
  private let options: PlaybackOptions
  private let frames: [FrameControl]
  private var now = Duration.zero {
    didSet { now = min(now, PlaybackStateMachine.endOfTime) }
  }
  private var hasBegun = false
  private var doing = Doing.nothing
  private var last: PlaybackStateMachine.Presentation?
  /// When the frame on screen ends; nil after a control.
  private var undisturbedEnd: Duration?
  /// The target of a seek, if it has not been shown yet.
  private var sought: Int?
  /// Whether the order of frames was changed since the last one was shown.
  private var isSteered = false
  private var operations: [(event: PlaybackStateMachine.Event, now: Duration)] = []
  private var violations: [String] = []

  /// Runs `count` operations; returns violated invariants, with the operations that led to them.
  package static func violations(seed: UInt64, operations count: Int) -> [String] {
    let sequence: MachineSequence
    do { sequence = try MachineSequence(seed: seed) } catch { return ["options: \(error)"] }
    sequence.hasBegun = true
    sequence.perform(sequence.machine.handle(.begin, at: sequence.now))
    for _ in 0..<count where sequence.violations.isEmpty { sequence.operate() }
    return sequence.violations.map {
      "seed \(seed): \($0) after \(sequence.operations.suffix(12)) of \(sequence.options)"
        + " with \(sequence.frames.map { "\($0.delay)" })"
    }
  }

  private init(seed: UInt64) throws(AnimatedImageError) {
    choices = RandomPlayback(seed: seed)
    frames = choices.frames()
    options = choices.options(for: frames.count)
    machine = try PlaybackStateMachine(
      frames: frames, playCount: choices.playCount(), options: options)
    if choices.happens(oneIn: 10) {
      now = PlaybackStateMachine.endOfTime - .seconds(choices.number(0...100_000))
    }
    // Before the first frame as well.
    for _ in 0..<choices.number(0...3) { control() }
  }

  private func operate() {
    if choices.happens(oneIn: 4) { return control() }
    switch doing {
    case .fetching(let moment):
      // A consumer that has not taken the previous frame may delay this one.
      now = max(now, moment) + (choices.happens(oneIn: 4) ? choices.delay() : .zero)
      let most = options.latePolicy == .latest ? machine.upcoming(3).count : 0
      let ahead = most > 0 && choices.happens(oneIn: 2) ? Int.max : choices.number(0...most)
      let fails = choices.happens(oneIn: 2000)
      perform(
        handle(
          fails ? .unready(AnimatedImageError(.malformed, "made to fail")) : .ready(ahead: ahead)))
    case .waiting(let moment):
      now = max(now, moment) + (choices.happens(oneIn: 3) ? choices.delay() : .zero)
      perform(handle(.due(ahead: 0)))
    case .nothing:
      now += choices.delay()
      control()
    }
  }

  private func handle(_ event: PlaybackStateMachine.Event) -> PlaybackStateMachine.Action {
    operations.append((event, now))
    return machine.handle(event, at: now)
  }

  private func control() {
    if choices.happens(oneIn: 2) { now += choices.delay() }
    // A wake-up comes first: no control happens long after it was due.
    if case .waiting(let moment) = doing, choices.happens(oneIn: 2) { now = min(now, moment) }
    let event: PlaybackStateMachine.Event
    switch choices.number(0...5) {
    case 0: event = .pause
    case 1: event = .resume
    case 2:
      let frame = choices.number(
        machine.order.range.lowerBound...machine.order.range.upperBound - 1)
      sought = frame
      event = .seek(frame: frame, offset: .zero)
    case 3: event = seekToTime()
    case 4: event = .setRate(PlaybackRate(choices.rate()))
    default:
      if !machine.state.isEnded { isSteered = true }
      event = .setDirection(choices.happens(oneIn: 2) ? .forward : .backward)
    }
    undisturbedEnd = nil
    let action = handle(event)
    if action == .restart {
      // Before playback has begun, there is no work that could be restarted.
      if hasBegun { perform(machine.handle(.begin, at: now)) }
    } else {
      check(action == .none || machine.state.isEnded, "a control gives \(action)")
    }
  }

  private func seekToTime() -> PlaybackStateMachine.Event {
    let timeline = machine.order.timeline
    let range = machine.order.range
    let starts = (0...frames.count).map { timeline.time(timeline.ticks(0..<$0), at: .normal) }
    let index = choices.number(range.lowerBound...range.upperBound - 1)
    let length = starts[index + 1] - starts[index]
    let time = starts[index] + (choices.happens(oneIn: 2) ? .zero : length / choices.number(2...9))
    let (frame, offset) = timeline.position(
      at: time, in: range, playCount: machine.order.playCount)
    if length > .zero { check(frame == index, "\(time) is in frame \(index), not \(frame)") }
    sought = frame
    return .seek(frame: frame, offset: offset)
  }

  private func perform(_ action: PlaybackStateMachine.Action) {
    switch action {
    case .fetch(let step):
      check(step == machine.pending, "\(step) is fetched and not pending")
      doing = .fetching(until: now + (choices.happens(oneIn: 3) ? choices.delay() : .zero))
    case .wait(let moment):
      if machine.state == .playing, let shown = machine.shown {
        let most = machine.order.timeline.time(
          machine.order.timeline.ticks(shown.frame), at: machine.rate)
        check(moment - now <= most + .nanoseconds(1), "waits \(moment - now) in a frame of \(most)")
        if let end = undisturbedEnd { check(moment <= end, "waits until \(moment), past \(end)") }
      }
      doing = .waiting(until: moment)
    case .present(let presentation, let next):
      check(presentation)
      undisturbedEnd = now + presentation.duration
      perform(next)
    case .suspend:
      check(machine.state == .paused, "suspends while \(machine.state)")
      doing = .nothing
    case .restart, .none: check(false, "\(action) of a report")
    case .end: doing = .nothing
    }
  }

  private func check(_ shown: PlaybackStateMachine.Presentation) {
    let step = shown.step
    check(machine.order.range.contains(step.frame), "frame \(step.frame) is out of range")
    check(shown.deadline <= now, "shown \(shown.deadline - now) before its deadline")
    check(shown.lateness >= .zero, "lateness \(shown.lateness)")
    check(shown.duration >= .zero, "duration \(shown.duration)")
    check(shown.skipped >= 0 && step.play >= 0, "skipped \(shown.skipped) in play \(step.play)")
    check(
      shown.deadline + shown.lateness == now,
      "\(shown.lateness) late for \(shown.deadline) at \(now)")
    if options.latePolicy != .skip, options.latePolicy != .latest {
      check(shown.skipped == 0, "skips under \(options.latePolicy)")
    }
    if let last {
      check(shown.deadline >= last.deadline, "the deadline goes back from \(last.deadline)")
      check(step.play >= last.step.play, "the play goes back from \(last.step.play)")
      if sought == nil, !isSteered, shown.skipped == 0 {
        check(step == machine.order.next(after: last.step), "\(step) after \(last.step)")
      }
    } else if sought == nil {
      let first = options.startIndex ?? machine.order.first(step.direction)
      check(step.frame == first, "begins with \(step.frame), not \(first)")
    }
    if let sought { check(step.frame == sought, "shows \(step.frame), not \(sought)") }
    sought = nil
    isSteered = false
    last = shown
  }

  private func check(_ holds: Bool, _ message: @autoclosure () -> String) {
    if !holds { violations.append(message()) }
  }
}

extension PlaybackRate {
  fileprivate static var normal: PlaybackRate { PlaybackRate(1) }
}
