internal import Synchronization

/// A producer and its queue of tickets, served one at a time on the decoding threads.
///
/// After each ticket the lane queues behind the other lanes, so that one long animation does not monopolize the
/// threads.
final class DecodeLane: Sendable {
  typealias Factory = @Sendable () throws(AnimatedImageError) -> sending any FrameProducing

  private struct WeakTicket {
    weak var ticket: FrameTicket?
    let index: Int
    /// The requesting thread, if it may decode the frame itself.
    let asker: (any QuickThread)?
  }

  private struct Queue {
    var tickets: [WeakTicket] = []
    var isScheduled = false
    var history = DecodeHistory()
    /// Whether the producer exists and has been used.
    var isOpen = false
    /// Whether nothing is playing, in which case the producer should rest when there is no work.
    var isResting = false
  }

  private let makeProducer: Factory
  /// Rarely contended: only the thread that serves the lane and, briefly, ``rest()`` lock it.
  private let producer = Mutex<(any FrameProducing)?>(nil)
  private let queue = Mutex(Queue())
  private let threads: DecodeThreads
  private let openingThreads: DecodeThreads
  private let live: LiveObjects
  private let weight: @Sendable (Int) -> DecodeHistory.Weight
  private let isAtHand: (@Sendable (Int) -> Bool)?

  /// - Parameters:
  ///   - openingThreads: The threads on which the producer is created and decodes its first frame, which may involve
  ///     slow input.
  ///   - weight: Returns what is known about a frame's cost before decoding.
  ///   - isAtHand: Whether a frame's bytes are in memory, in which case the requesting thread may decode a quick frame.
  ///     Nil, the default, if that is unknown or if the producer runs the caller's code.
  init(
    threads: DecodeThreads, openingThreads: DecodeThreads, live: LiveObjects,
    weight: @escaping @Sendable (Int) -> DecodeHistory.Weight = { _ in
      DecodeHistory.Weight(area: 0, bytes: 0)
    },
    isAtHand: (@Sendable (Int) -> Bool)? = nil, makeProducer: @escaping Factory
  ) {
    self.openingThreads = openingThreads
    self.threads = threads
    self.live = live
    self.weight = weight
    self.isAtHand = isAtHand
    self.makeProducer = makeProducer
  }

  /// Enqueues `ticket` for `asker`. The ticket is skipped if nothing holds it when its turn comes.
  func enqueue(_ ticket: FrameTicket, for asker: (any QuickThread)? = nil) {
    let (schedules, light, isOpen) = queue.withLock { queue in
      queue.tickets.append(WeakTicket(ticket: ticket, index: ticket.index, asker: asker))
      queue.isResting = false
      defer { queue.isScheduled = true }
      return (!queue.isScheduled, lightTicket(in: queue), queue.isOpen)
    }
    if schedules { schedule(light, on: isOpen ? threads : openingThreads) }
  }

  /// Returns the next ticket, if its frame is likely to be quick and its thread may decode it.
  private func lightTicket(in queue: Queue) -> WeakTicket? {
    guard isAtHand != nil, let next = queue.tickets.first, next.asker != nil,
      queue.history.isLight(next.index, weight(next.index))
    else { return nil }
    return next
  }

  /// - Parameter light: The next ticket, if its frame is likely to be quick.
  private func schedule(_ light: WeakTicket? = nil, on threads: DecodeThreads) {
    let work: @Sendable () -> Void = { [self] in serve() }
    if let light, let asker = light.asker, let isAtHand,
      asker.offer(work, lasting: DecodeHistory.lightTime, if: { isAtHand(light.index) })
    {
      return
    }
    threads.run(work)
  }

  private func serve() {
    guard let next = beginNextTicket() else { return restIfAsked() }
    let step = decode(next.index, for: next)
    // Rest before the decode counts as finished: `idle()` promises that nothing is held any more. Count it
    // as finished before the lane can be scheduled again, so that each lane counts once.
    restIfAsked()
    live.remove(.decode)
    let time: Duration
    switch step {
    case .done(let taken): time = taken
    case .lacking(let fetch): return goOn(after: fetch, for: next)
    }
    // Request a thread only when there is work: a needless wake-up costs more than many frames.
    let (goesOn, light) = queue.withLock { queue in
      queue.history.note(next.index, weight(next.index), time)
      queue.isOpen = true
      queue.isScheduled = !queue.tickets.isEmpty
      return (queue.isScheduled, lightTicket(in: queue))
    }
    if goesOn { schedule(light, on: threads) }
  }

  /// Fetches bytes that the frame of `wanted` needs, without occupying a thread, and then serves the lane
  /// again.
  ///
  /// The lane stays scheduled during the fetch. If the frame is no longer needed, the fetch is cancelled and the next
  /// ticket gets its turn.
  ///
  /// The other tickets wait as well. Most of them are for later frames that are drawn on this one and therefore need
  /// the same bytes; a reader that skipped ahead would have to come back and replay the frames it skipped. Unrelated
  /// callers share a lane, and so may wait for each other's bytes, only if there are more than four positions at the
  /// same time.
  private func goOn(after fetch: @escaping FrameFetch, for wanted: WeakTicket) {
    guard let ticket = wanted.ticket else { return schedule(on: threads) }
    ticket.begin { [self] in
      if let error = await fetch() {
        wanted.ticket?.complete(.failure(error), after: .zero)
      } else {
        queue.withLock { $0.tickets.insert(wanted, at: 0) }
      }
      schedule(on: threads)
    }
  }

  /// Makes the producer release the memory it reserves for players as soon as it has no work.
  func rest() {
    queue.withLock { $0.isResting = true }
    restIfAsked()
  }

  private func restIfAsked() {
    guard queue.withLock({ $0.isResting }) else { return }
    // If the producer is busy, the thread that serves the lane does this later.
    _ = producer.withLockIfAvailable { $0?.rest() }
  }

  /// Dequeues the oldest ticket that is still held and counts it as a decode.
  private func beginNextTicket() -> WeakTicket? {
    // Return the ticket from the lock: this may be its last reference.
    let found = queue.withLock { queue -> FrameTicket? in
      while !queue.tickets.isEmpty {
        if let ticket = queue.tickets.removeFirst().ticket { return ticket }
      }
      queue.isScheduled = false
      return nil
    }
    guard let found else { return nil }
    // Counted before the ticket may be released, so that at every moment either the ticket or the decode is counted.
    return withExtendedLifetime(found) {
      live.add(.decode)
      return WeakTicket(ticket: found, index: found.index, asker: nil)
    }
  }

  private enum Step {
    /// The outcome was delivered, after a decode of this duration.
    case done(Duration)
    /// Bytes must be fetched first.
    case lacking(FrameFetch)
  }

  /// Decodes frame `index`, unless bytes are missing. Holds the ticket weakly, so that a replay stops once the ticket's
  /// frame is no longer needed.
  private func decode(_ index: Int, for wanted: WeakTicket) -> Step {
    let clock = ContinuousClock()
    let start = clock.now
    let isCancelled: @Sendable () -> Bool = { wanted.ticket == nil }
    var lacking: FrameFetch?
    let outcome = FrameTicket.Outcome { () throws(AnimatedImageError) in
      try producer.withLock { producer throws(AnimatedImageError) in
        if producer == nil {
          // Keep the producer even if cancelled, so that the frames replayed so far are not lost.
          producer = try makeProducer()
        }
        lacking = producer?.fetch(for: index)
        guard lacking == nil, let producer else { throw Self.bytesMissing }
        do throws(AnimatedImageError) {
          return try producer.frame(at: index, isCancelled: isCancelled)
        } catch {
          // The replay is longer than expected, or the cache has dropped bytes. (By now another reader may have
          // fetched them again.)
          if error.code == .bytesMissing { lacking = producer.fetch(for: index) ?? { nil } }
          throw error
        }
      }
    }
    if let lacking { return .lacking(lacking) }
    let time = clock.now - start
    wanted.ticket?.complete(outcome, after: time)
    return .done(time)
  }

  private static let bytesMissing = AnimatedImageError(.bytesMissing, "bytes are not here yet")
}

/// Fetches bytes; returns an error if that failed. Cancelled when the frame is no longer needed.
package typealias FrameFetch = @Sendable () async -> AnimatedImageError?

extension SeekingReader: FrameProducing {
  package func frame(at index: Int) throws(AnimatedImageError) -> CompositedFrame {
    try frame(at: index) { false }
  }
}
