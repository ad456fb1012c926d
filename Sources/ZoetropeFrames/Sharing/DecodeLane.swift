internal import Synchronization

/// A producer of frames and its queue of tickets. The tickets are served one at a time on the decoding threads.
///
/// After each ticket, the lane queues behind the other lanes, so that one long animation does not monopolize the
/// threads.
final class DecodeLane: Sendable {
  typealias Factory = @Sendable () throws(AnimatedImageError) -> sending any FrameProducing

  private struct WeakTicket {
    weak var ticket: FrameTicket?
    let index: Int
    /// The thread that requested the frame, if it may decode the frame itself.
    let asker: (any QuickThread)?
  }

  private struct Queue {
    var tickets: [WeakTicket] = []
    var isScheduled = false
    var history = DecodeHistory()
    /// Whether the producer has been created and has served a ticket.
    var isOpen = false
    /// Whether nothing is playing. The producer should then release the memory that it reserves as soon as it has no
    /// work.
    var isResting = false
  }

  private let makeProducer: Factory
  /// The producer, or nil until it has been created. The lock is rarely contended: only the thread that serves the lane
  /// and, briefly, ``rest()`` take it.
  private let producer = Mutex<(any FrameProducing)?>(nil)
  private let queue = Mutex(Queue())
  private let threads: DecodeThreads
  private let openingThreads: DecodeThreads
  private let live: LiveObjects
  private let weight: @Sendable (Int) -> DecodeHistory.Weight
  private let isAtHand: (@Sendable (Int) -> Bool)?

  /// Creates a lane.
  ///
  /// - Parameters:
  ///   - openingThreads: The threads on which the producer is created and decodes its first frame, both of which may
  ///     wait for slow input.
  ///   - weight: Returns what is known about the cost of a frame before it is decoded.
  ///   - isAtHand: Returns whether the bytes of a frame are in memory, in which case the requesting thread may decode
  ///     the frame if it is likely to be quick. Default: nil, which means that this is unknown or that the producer
  ///     runs the caller's code; frames are then never decoded on the requesting thread.
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

  /// Enqueues `ticket`, which the thread `asker` has requested. If no reference to the ticket is left when its turn
  /// comes, the lane skips the ticket.
  func enqueue(_ ticket: FrameTicket, for asker: (any QuickThread)? = nil) {
    let (schedules, light, isOpen) = queue.withLock { queue in
      queue.tickets.append(WeakTicket(ticket: ticket, index: ticket.index, asker: asker))
      queue.isResting = false
      defer { queue.isScheduled = true }
      return (!queue.isScheduled, lightTicket(in: queue), queue.isOpen)
    }
    if schedules { schedule(light, on: isOpen ? threads : openingThreads) }
  }

  /// Returns the next ticket if its frame is likely to be decoded quickly and the thread that requested the frame may
  /// decode it, or nil otherwise.
  private func lightTicket(in queue: Queue) -> WeakTicket? {
    guard isAtHand != nil, let next = queue.tickets.first, next.asker != nil,
      queue.history.isLight(next.index, weight(next.index))
    else { return nil }
    return next
  }

  /// Schedules the next call of `serve()`.
  ///
  /// - Parameter light: The next ticket, if its frame is likely to be decoded quickly. The call is then offered to the
  ///   thread that requested the frame.
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
    // The producer rests before the decode counts as finished, so that the memory it reserves has been released when
    // `waitUntilIdle()` returns. The decode counts as finished before the lane can be scheduled again, so that each
    // lane has at most one decode.
    restIfAsked()
    live.remove(.decode)
    let time: Duration
    switch step {
    case .done(let taken): time = taken
    case .lacking(let fetch): return goOn(after: fetch, for: next)
    }
    // A thread is requested only if there is work, because a needless wake-up costs more than decoding many frames.
    let (goesOn, light) = queue.withLock { queue in
      queue.history.note(next.index, weight(next.index), time)
      queue.isOpen = true
      queue.isScheduled = !queue.tickets.isEmpty
      return (queue.isScheduled, lightTicket(in: queue))
    }
    if goesOn { schedule(light, on: threads) }
  }

  /// Fetches the bytes that the frame of `wanted` needs, without occupying a thread, and then serves the lane again.
  ///
  /// The lane stays scheduled during the fetch. If the frame is no longer needed, the fetch is cancelled and the lane
  /// serves the next ticket.
  ///
  /// The other tickets of the lane also wait for the fetch. Most of them are for later frames that are drawn on this
  /// frame and therefore need the same bytes. A reader that skipped ahead to them would have to come back and replay
  /// the frames it skipped. Callers that are unrelated share a lane, and so may wait for each other's bytes, only if
  /// more than four decoding positions are needed at the same time.
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

  /// Makes the producer release the memory that it reserves for players, as soon as the producer has no work.
  func rest() {
    queue.withLock { $0.isResting = true }
    restIfAsked()
  }

  private func restIfAsked() {
    guard queue.withLock({ $0.isResting }) else { return }
    // If the producer is busy, the thread that serves the lane calls `rest()` after the decode.
    _ = producer.withLockIfAvailable { $0?.rest() }
  }

  /// Dequeues tickets up to and including the first whose frame is still needed, counts a decode for that ticket and
  /// returns it. Returns nil if no such ticket is queued.
  private func beginNextTicket() -> WeakTicket? {
    // The ticket must leave the lock with a strong reference. Otherwise the ticket's last reference might be released
    // while the lock is held.
    let found = queue.withLock { queue -> FrameTicket? in
      while !queue.tickets.isEmpty {
        if let ticket = queue.tickets.removeFirst().ticket { return ticket }
      }
      queue.isScheduled = false
      return nil
    }
    guard let found else { return nil }
    // The decode is counted before the ticket can be released, so that at every moment either the ticket or the decode
    // is counted.
    return withExtendedLifetime(found) {
      live.add(.decode)
      return WeakTicket(ticket: found, index: found.index, asker: nil)
    }
  }

  private enum Step {
    /// The outcome was delivered after a decode that took this long.
    case done(Duration)
    /// Bytes are missing, and this closure fetches them.
    case lacking(FrameFetch)
  }

  /// Decodes frame `index` and delivers the outcome to the ticket, unless bytes are missing. The ticket is held weakly,
  /// so that a replay stops as soon as nothing needs the frame any more.
  private func decode(_ index: Int, for wanted: WeakTicket) -> Step {
    let clock = ContinuousClock()
    let start = clock.now
    let isCancelled: @Sendable () -> Bool = { wanted.ticket == nil }
    var lacking: FrameFetch?
    let outcome = FrameTicket.Outcome { () throws(AnimatedImageError) in
      try producer.withLock { producer throws(AnimatedImageError) in
        if producer == nil {
          // The producer is kept even if this decode is cancelled, so that the frames it has replayed so far are not
          // lost.
          producer = try makeProducer()
        }
        lacking = producer?.fetch(for: index)
        guard lacking == nil, let producer else { throw Self.bytesMissing }
        do throws(AnimatedImageError) {
          return try producer.frame(at: index, isCancelled: isCancelled)
        } catch {
          // Either the replay is longer than expected, or the cache has dropped bytes. The result of `fetch(for:)` is
          // nil if another reader has fetched these bytes again in the meantime.
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

  private static let bytesMissing = AnimatedImageError(
    .bytesMissing, "bytes of the frame have not arrived yet")
}
