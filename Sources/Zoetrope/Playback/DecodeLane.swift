internal import Synchronization

/// A producer and the tickets that wait for it, served one by one on the decoding threads.
///
/// Between two tickets the lane queues up behind the other lanes, so that one long animation does not
/// keep the threads from the rest.
final class DecodeLane: Sendable {
  typealias Factory = @Sendable () throws(AnimatedImageError) -> sending any FrameProducing

  private struct WeakTicket {
    weak var ticket: FrameTicket?
    let index: Int
  }

  private struct Queue {
    var tickets: [WeakTicket] = []
    var isScheduled = false
    var history = DecodeHistory()
    /// Whether the producer was made and has been asked for a frame.
    var isOpen = false
    /// Whether nobody plays, so that the producer rests when there is no work.
    var isResting = false
  }

  private let makeProducer: Factory
  /// Locked by the one thread that serves the lane, and for a moment when it is told to rest: hardly
  /// ever waited for.
  private let producer = Mutex<(any FrameProducing)?>(nil)
  private let queue = Mutex(Queue())
  private let threads: DecodeThreads
  private let openingThreads: DecodeThreads
  private let live: LiveObjects
  private let frames: [FrameControl]
  private let isAtHand: (@Sendable (Int) -> Bool)?

  /// - Parameters:
  ///   - openingThreads: where the producer is made and gives its first frame, when that may take long
  ///     for another reason than decoding.
  ///   - frames: what is known of the frames before they are decoded.
  ///   - isAtHand: whether a frame's bytes are in memory, so that it may be decoded on the thread that
  ///     asks, when that is the one which drives playbacks and the frame is quick to decode. Nil for a
  ///     producer of which that is not known, or that runs code of the caller's.
  init(
    threads: DecodeThreads, openingThreads: DecodeThreads, live: LiveObjects,
    frames: [FrameControl], isAtHand: (@Sendable (Int) -> Bool)?, makeProducer: @escaping Factory
  ) {
    self.openingThreads = openingThreads
    self.frames = frames
    self.isAtHand = isAtHand
    self.threads = threads
    self.live = live
    self.makeProducer = makeProducer
  }

  /// Decodes `ticket` after those before it, unless nobody holds it any more by then.
  func enqueue(_ ticket: FrameTicket) {
    let (schedules, light, isOpen) = queue.withLock { queue in
      queue.tickets.append(WeakTicket(ticket: ticket, index: ticket.index))
      queue.isResting = false
      defer { queue.isScheduled = true }
      return (!queue.isScheduled, lightFrame(in: queue), queue.isOpen)
    }
    if schedules { schedule(light, on: isOpen ? threads : openingThreads) }
  }

  /// The frame that is decoded next, if that is likely to be quick.
  private func lightFrame(in queue: Queue) -> Int? {
    guard let index = queue.tickets.first?.index else { return nil }
    return queue.history.isLight(index, weight(of: index)) ? index : nil
  }

  private func weight(of index: Int) -> DecodeHistory.Weight {
    let frame = frames[index]
    return DecodeHistory.Weight(area: frame.rect.size.area, bytes: frame.byteRange.count)
  }

  /// - Parameter light: the frame that is decoded, if that is likely to be quick.
  private func schedule(_ light: Int?, on threads: DecodeThreads) {
    let work: @Sendable () -> Void = { [self] in serve() }
    if let light, let isAtHand,
      PlaybackThread.shared.offer(
        work, lasting: DecodeHistory.lightTime, if: { isAtHand(light) })
    {
      return
    }
    threads.run(work)
  }

  private func serve() {
    guard let next = nextTicket() else { return restIfAsked() }
    live.add(.decode)
    let time = decode(next.index, for: next)
    // Before the decode counts as over: `idle()` promises that nothing is held any more. And the decode
    // counts as over before the lane may be scheduled again, so that a lane counts once.
    restIfAsked()
    live.remove(.decode)
    // A thread is asked for again only when there is work: waking one up to find none costs more
    // than many a frame.
    let (goesOn, light) = queue.withLock { queue in
      queue.history.note(next.index, weight(of: next.index), time)
      queue.isOpen = true
      queue.isScheduled = !queue.tickets.isEmpty
      return (queue.isScheduled, lightFrame(in: queue))
    }
    if goesOn { schedule(light, on: threads) }
  }

  /// Has the producer give up what it set aside for players, once it has no work.
  func rest() {
    queue.withLock { $0.isResting = true }
    restIfAsked()
  }

  private func restIfAsked() {
    guard queue.withLock({ $0.isResting }) else { return }
    // If it is at work, whoever serves the lane does this afterwards.
    _ = producer.withLockIfAvailable { $0?.rest() }
  }

  /// The oldest ticket that somebody still holds.
  private func nextTicket() -> WeakTicket? {
    // The ticket leaves the lock with the result: whoever looks at it may be its last holder.
    let found = queue.withLock { queue -> FrameTicket? in
      while !queue.tickets.isEmpty {
        if let ticket = queue.tickets.removeFirst().ticket { return ticket }
      }
      queue.isScheduled = false
      return nil
    }
    return found.map { WeakTicket(ticket: $0, index: $0.index) }
  }

  /// Holds the ticket weakly meanwhile: when the last one who wants the frame goes, a replay on the
  /// way to it ends. Returns how long it took.
  private func decode(_ index: Int, for wanted: WeakTicket) -> Duration {
    let clock = ContinuousClock()
    let start = clock.now
    let isCancelled: @Sendable () -> Bool = { wanted.ticket == nil }
    let outcome = FrameTicket.Outcome { () throws(AnimatedImageError) in
      try producer.withLock { producer throws(AnimatedImageError) in
        if let producer { return try producer.frame(at: index, isCancelled: isCancelled) }
        let made = try makeProducer()
        // Kept if cancelled, as the way that was covered is.
        producer = made
        return try made.frame(at: index, isCancelled: isCancelled)
      }
    }
    let time = clock.now - start
    wanted.ticket?.complete(outcome, after: time)
    return time
  }
}
