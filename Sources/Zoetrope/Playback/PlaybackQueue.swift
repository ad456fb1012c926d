/// What the playback thread has to do: whoever waited longest comes first.
///
/// A deadline counts from when it was due, everything else from when it was asked for. So nobody who
/// asks again at once, as a loop without delays does, can keep anybody else from his turn, and where
/// there is more to do than time for it, all are late alike.
struct PlaybackQueue {
  typealias Client = PlaybackThread.Client
  typealias Instant = ContinuousClock.Instant

  /// Something to be done as soon as may be.
  enum Work {
    case call(any Client, PlaybackThread.Cause)
    case job(UnownedJob)
    case decode(@Sendable () -> Void)
  }

  /// What is to be done now.
  enum Turn {
    case work(Work)
    case wait(until: Instant?)
  }

  private struct Timer {
    let deadline: Instant
    let client: any Client
  }

  private var waiting: [(since: Instant, work: Work)?] = []
  /// Where the first of ``waiting`` that was not taken yet lies.
  private var head = 0
  /// A heap: none is due before the one at half its place.
  private var timers: [Timer] = []

  /// The earliest deadline.
  var nextDeadline: Instant? { timers.first?.deadline }

  /// Whether nothing is asked for; deadlines do not count.
  var isIdle: Bool { head == waiting.count }

  mutating func add(_ work: Work, at now: Instant) { waiting.append((now, work)) }

  mutating func add(_ client: any Client, at deadline: Instant) {
    timers.append(Timer(deadline: deadline, client: client))
    rise(from: timers.count - 1)
  }

  /// Takes out the deadlines of `client`; gives what was removed, to be let go of under no lock.
  mutating func removeTimers(of client: any Client) -> [any Client] {
    var removed: [any Client] = []
    while let place = timers.firstIndex(where: { $0.client === client }) {
      removed.append(takeTimer(at: place).client)
    }
    return removed
  }

  /// The turn of whoever waited longest, or how long there is to wait.
  mutating func take(at now: Instant) -> Turn {
    let due = timers.first.flatMap { $0.deadline <= now ? $0.deadline : nil }
    let asked = head < waiting.count ? waiting[head]?.since : nil
    if let due, asked.map({ due <= $0 }) ?? true {
      return .work(.call(takeTimer(at: 0).client, .deadline))
    }
    guard asked != nil, let (_, work) = waiting[head].take() else {
      return .wait(until: timers.first?.deadline)
    }
    head += 1
    // In bulk, so that taking one costs no shift.
    if head == waiting.count || head > 256 {
      waiting.removeFirst(head)
      head = 0
    }
    return .work(work)
  }

  private mutating func takeTimer(at place: Int) -> Timer {
    timers.swapAt(place, timers.count - 1)
    let timer = timers.removeLast()
    if place < timers.count {
      sink(from: place)
      rise(from: place)
    }
    return timer
  }

  private mutating func rise(from place: Int) {
    var place = place
    while place > 0, timers[place].deadline < timers[(place - 1) / 2].deadline {
      timers.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  private mutating func sink(from place: Int) {
    var place = place
    while true {
      var least = place
      for child in [2 * place + 1, 2 * place + 2] where child < timers.count {
        if timers[child].deadline < timers[least].deadline { least = child }
      }
      if least == place { return }
      timers.swapAt(place, least)
      place = least
    }
  }
}
