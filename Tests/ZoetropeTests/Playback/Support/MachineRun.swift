import Zoetrope

/// Plays a state machine as data: a list of decode times in, a list of presentations out.
///
/// One frame is decoded at a time, from the moment it is asked for. Nothing sleeps.
struct MachineRun {
  /// One frame as it was shown.
  struct Shown: Equatable, CustomStringConvertible {
    var frame: Int
    var at: Duration
    var skipped = 0
    var description: String { "\(frame)@\(at)+\(skipped)" }
  }

  var machine: PlaybackStateMachine
  var now = Duration.zero
  /// How long the decoding of each frame takes; the ones not named take no time.
  var decodeTimes: [Int: Duration] = [:]
  /// Added to the moment of every wake-up, as an imprecise timer does.
  var overshoot = Duration.zero
  private(set) var presentations: [PlaybackStateMachine.Presentation] = []
  private(set) var shown: [Shown] = []

  init(
    delays: [FrameDelay], playCount: PlayCount = .once, options: PlaybackOptions = .init()
  ) throws {
    machine = try PlaybackStateMachine(
      frames: PaintedFrames.controls(delays), playCount: playCount, options: options)
  }

  /// Plays until playback ends or suspends, or `limit` frames were shown, or `end` is reached.
  mutating func run(limit: Int = .max, until end: Duration? = nil) {
    let wanted = limit == .max ? Int.max : shown.count + limit
    var action = machine.handle(.begin, at: now)
    while true {
      switch action {
      case .fetch(let step):
        now += decodeTimes[step.frame] ?? .zero
        action = machine.handle(.ready(ahead: 0), at: now)
      case .wait(let moment):
        if let end, moment > end {
          now = end
          return
        }
        now = max(now, moment) + overshoot
        action = machine.handle(.due(ahead: 0), at: now)
      case .present(let presentation, let next):
        presentations.append(presentation)
        shown.append(
          Shown(frame: presentation.step.frame, at: now, skipped: presentation.skipped))
        action = next
        if shown.count >= wanted { return }
      case .end, .suspend, .restart, .none:
        return
      }
    }
  }

  /// Something the user does, now.
  mutating func control(_ event: PlaybackStateMachine.Event) {
    _ = machine.handle(event, at: now)
  }

  var frames: [Int] { shown.map(\.frame) }
  var times: [Duration] { shown.map(\.at) }
}

extension FrameDelay {
  /// A delay of `numerator`/`denominator` seconds.
  static func part(_ numerator: UInt32, _ denominator: UInt32) -> FrameDelay {
    FrameDelay(numerator: numerator, denominator: denominator)
  }
}

extension [FrameDelay] {
  /// `count` delays of 100 ms.
  static func tenths(_ count: Int) -> [FrameDelay] {
    Array(repeating: FrameDelay(centiseconds: 10), count: count)
  }
}
