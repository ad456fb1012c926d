internal import Synchronization

/// One requested frame: a future for the picture or an error.
///
/// Consumers of the frame hold the ticket. A ticket that nobody holds is not decoded, and its bitmap is
/// freed with the last reference. Cancelling and the memory bound rely on this alone.
package final class FrameTicket: Sendable {
  package typealias Outcome = Result<CompositedFrame, AnimatedImageError>

  package let index: Int
  private let live: LiveObjects
  private let state = Mutex(State())

  private struct State {
    var outcome: Outcome?
    var decodeTime = Duration.zero
    var waiters: [ResultHandover<Outcome>] = []
    /// Drivers waiting on the playback thread.
    var clients: [any PlaybackThread.Client] = []
    /// Fetches the bytes that the frame needs.
    var fetch: Task<Void, Never>?
  }

  package init(index: Int, live: LiveObjects) {
    self.index = index
    self.live = live
    live.add(.ticket)
    live.add(.wanted)
  }

  deinit {
    if outcome == nil { live.remove(.wanted) }
    live.remove(.ticket)
    state.withLock { $0.fetch }?.cancel()
  }

  /// Begins a task that fetches the frame's bytes, and is cancelled once nobody wants the frame.
  ///
  /// Under the lock, so that a task which is done at once cannot be taken for the one that follows it.
  func begin(_ fetch: @escaping @Sendable () async -> Void) {
    state.withLock { $0.fetch = Task { await fetch() } }
  }

  /// The frame or its error, once it has been decoded.
  package var outcome: Outcome? { state.withLock { $0.outcome } }

  /// Whether there is an error instead of a frame.
  var isFailed: Bool {
    if case .failure = outcome { true } else { false }
  }

  /// Bytes of its picture; 0 until it is decoded.
  var cost: Int {
    guard case .success(let frame) = outcome else { return 0 }
    return frame.bitmap.cost
  }

  /// Number of waiters.
  var waiterCount: Int { state.withLock { $0.waiters.count + $0.clients.count } }

  /// How long decoding took.
  package var decodeTime: Duration { state.withLock { $0.decodeTime } }

  /// The outcome; if there is none yet, `client` is called when there is.
  func outcome(orCall client: any PlaybackThread.Client) -> Outcome? {
    state.withLock { state in
      // Checked under the lock: a driver is removed from here after it becomes obsolete.
      if state.outcome == nil, !client.isObsolete { state.clients.append(client) }
      return state.outcome
    }
  }

  /// Forgets a client that has become obsolete.
  func removeClient(_ client: any PlaybackThread.Client) {
    let removed = state.withLock { state in
      let removed = state.clients.filter { $0 === client }
      state.clients.removeAll { $0 === client }
      return removed
    }
    _ = consume removed
  }

  /// Waits for the outcome; nil when the calling task is cancelled first.
  package func value() async -> Outcome? {
    let waiter = ResultHandover<Outcome>()
    let outcome = state.withLock { state in
      if state.outcome == nil { state.waiters.append(waiter) }
      return state.outcome
    }
    if let outcome { return outcome }
    return await waiter.valueUnlessCancelled {
      state.withLock { state in state.waiters.removeAll { $0 === waiter } }
    }
  }

  /// Delivers the outcome to all waiters.
  func complete(_ outcome: Outcome, after decodeTime: Duration) {
    let (waiters, clients) = state.withLock { state in
      state.outcome = outcome
      state.decodeTime = decodeTime
      defer {
        state.waiters = []
        state.clients = []
      }
      return (state.waiters, state.clients)
    }
    live.remove(.wanted)
    for waiter in waiters { waiter.close(with: outcome) }
    for client in clients { PlaybackThread.shared.call(client, after: .signal) }
  }
}

/// A producer and its queue of tickets, served one at a time on the decoding threads.
///
/// After each ticket the lane queues up behind the other lanes, so that one long animation does not
/// monopolise the threads.
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
    /// Whether the producer exists and has been asked for a frame.
    var isOpen = false
    /// Whether nobody plays, so that the producer should rest when there is no work.
    var isResting = false
  }

  private let makeProducer: Factory
  /// Rarely contended: locked by the one thread that serves the lane, and briefly by ``rest()``.
  private let producer = Mutex<(any FrameProducing)?>(nil)
  private let queue = Mutex(Queue())
  private let threads: DecodeThreads
  private let openingThreads: DecodeThreads
  private let live: LiveObjects
  private let frames: PlayedFrames
  private let isAtHand: (@Sendable (Int) -> Bool)?

  /// - Parameters:
  ///   - openingThreads: where the producer is created and decodes its first frame, which may involve slow
  ///     input.
  ///   - frames: the frames' metadata.
  ///   - isAtHand: whether a frame's bytes are in memory, so that a quick frame may be decoded on the
  ///     playback thread. Nil where that is unknown, or where the producer runs the caller's code.
  init(
    threads: DecodeThreads, openingThreads: DecodeThreads, live: LiveObjects,
    frames: PlayedFrames, isAtHand: (@Sendable (Int) -> Bool)?, makeProducer: @escaping Factory
  ) {
    self.openingThreads = openingThreads
    self.frames = frames
    self.isAtHand = isAtHand
    self.threads = threads
    self.live = live
    self.makeProducer = makeProducer
  }

  /// Enqueues `ticket`. It is skipped if nobody holds it when its turn comes.
  func enqueue(_ ticket: FrameTicket) {
    let (schedules, light, isOpen) = queue.withLock { queue in
      queue.tickets.append(WeakTicket(ticket: ticket, index: ticket.index))
      queue.isResting = false
      defer { queue.isScheduled = true }
      return (!queue.isScheduled, lightFrame(in: queue), queue.isOpen)
    }
    if schedules { schedule(light, on: isOpen ? threads : openingThreads) }
  }

  /// The next frame to decode, if it is likely to be quick.
  private func lightFrame(in queue: Queue) -> Int? {
    guard let index = queue.tickets.first?.index else { return nil }
    return queue.history.isLight(index, weight(of: index)) ? index : nil
  }

  private func weight(of index: Int) -> DecodeHistory.Weight {
    let frame = frames[index]
    return DecodeHistory.Weight(area: frame.rect.size.area, bytes: frame.byteRange.count)
  }

  /// - Parameter light: the next frame to decode, if it is likely to be quick.
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
      queue.history.note(next.index, weight(of: next.index), time)
      queue.isOpen = true
      queue.isScheduled = !queue.tickets.isEmpty
      return (queue.isScheduled, lightFrame(in: queue))
    }
    if goesOn { schedule(light, on: threads) }
  }

  /// Fetches bytes that the frame of `wanted` needs, on no thread, and then serves the lane again.
  ///
  /// The lane stays scheduled meanwhile. When nobody wants the frame any more, the fetch is cancelled and the next
  /// ticket has its turn.
  ///
  /// The other tickets wait, too. They are for frames close behind, which mostly draw on this one and so lack its
  /// bytes as well; a reader that went ahead would have to come back, and to replay what it passed. Only callers at
  /// more than four places at once share a lane and may wait for each other's bytes.
  private func goOn(after fetch: @escaping FrameFetch, for wanted: WeakTicket) {
    guard let ticket = wanted.ticket else { return threads.run { [self] in serve() } }
    ticket.begin { [self] in
      if let error = await fetch() {
        wanted.ticket?.complete(.failure(error), after: .zero)
      } else {
        queue.withLock { $0.tickets.insert(wanted, at: 0) }
      }
      threads.run { [self] in serve() }
    }
  }

  /// Makes the producer release what it reserves for players, once it has no work.
  func rest() {
    queue.withLock { $0.isResting = true }
    restIfAsked()
  }

  private func restIfAsked() {
    guard queue.withLock({ $0.isResting }) else { return }
    // If the producer is busy, the thread that serves the lane does this afterwards.
    _ = producer.withLockIfAvailable { $0?.rest() }
  }

  /// The oldest ticket that is still held, counted as a decode.
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
    // Counted before the ticket may be released, so that at no moment neither the ticket nor the decode counts.
    return withExtendedLifetime(found) {
      live.add(.decode)
      return WeakTicket(ticket: found, index: found.index)
    }
  }

  private enum Step {
    /// The outcome was delivered after this time.
    case done(Duration)
    /// Bytes must be fetched first.
    case lacking(FrameFetch)
  }

  /// Decodes frame `index`, unless bytes are missing. Holds the ticket weakly, so that a replay stops when nobody
  /// wants its frame any more.
  private func decode(_ index: Int, for wanted: WeakTicket) -> Step {
    let clock = ContinuousClock()
    let start = clock.now
    let isCancelled: @Sendable () -> Bool = { wanted.ticket == nil }
    var lacking: FrameFetch?
    let outcome = FrameTicket.Outcome { () throws(AnimatedImageError) in
      try producer.withLock { producer throws(AnimatedImageError) in
        if producer == nil {
          // Keep it even if cancelled, so that the frames replayed so far are not lost.
          producer = try makeProducer()
        }
        lacking = producer?.fetch(for: index)
        guard lacking == nil, let producer else { throw Self.bytesMissing }
        do throws(AnimatedImageError) {
          return try producer.frame(at: index, isCancelled: isCancelled)
        } catch {
          // A longer replay than foreseen, or the cache has dropped what was there.
          // (By now another reader may have brought it back.)
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

/// A lane's recent decode times, which decide whether the next decode may run on the playback thread.
struct DecodeHistory: Sendable {
  /// The longest decode that may delay other playbacks.
  static let lightTime = Duration.milliseconds(1)

  /// A frame's cost as known before decoding.
  struct Weight: Sendable {
    /// Pixels covered.
    var area: Int
    /// Compressed bytes.
    var bytes: Int
  }

  /// Confidence that decodes take at most `lightTime`: a quick decode adds one, up to a limit; a slow one
  /// halves it, since a single one may have been preempted.
  private var lightCount = 0
  private var lastIndex = -1
  /// The heaviest frame known to be quick. The first frame of a play usually covers the whole canvas, so
  /// the small ones after it do not predict its cost.
  private var lightWeight = Weight(area: 0, bytes: 0)

  /// Whether decoding frame `index` is likely to be quick. False after a jump, which may have to decode
  /// any number of frames.
  func isLight(_ index: Int, _ weight: Weight) -> Bool {
    lightCount >= 16 && (index == lastIndex + 1 || index == 0)
      && weight.area <= lightWeight.area && weight.bytes <= lightWeight.bytes
  }

  /// Records that frame `index` took `time`.
  mutating func note(_ index: Int, _ weight: Weight, _ time: Duration) {
    lastIndex = index
    if time <= Self.lightTime {
      lightCount = min(lightCount + 1, 32)
      lightWeight.area = max(lightWeight.area, weight.area)
      lightWeight.bytes = max(lightWeight.bytes, weight.bytes)
    } else {
      lightCount /= 2
      lightWeight.area = min(lightWeight.area, weight.area - 1)
      lightWeight.bytes = min(lightWeight.bytes, weight.bytes - 1)
    }
  }
}

/// Produces composited frames on the calling thread.
///
/// Need not be `Sendable`: it is owned by one ``DecodeLane``, which never calls it concurrently. One call
/// is one decode step, the unit of cancelling.
package protocol FrameProducing: AnyObject {
  /// Frame `index`, composited. Ascending order must be cheapest.
  func frame(at index: Int) throws(AnimatedImageError) -> CompositedFrame

  /// As ``frame(at:)``; throws `cancelled` soon after `isCancelled` returns true, and stays usable.
  func frame(
    at index: Int, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame

  /// What fetches bytes that frame `index` needs and that are not here; nil if none is missing. Called before
  /// each frame, and again after each fetch. The default implementation returns nil.
  func fetch(for index: Int) -> FrameFetch?

  /// Releases resources reserved for playing. The default implementation does nothing.
  func rest()
}

extension FrameProducing {
  package func frame(
    at index: Int, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame {
    try frame(at: index)
  }

  package func fetch(for index: Int) -> FrameFetch? { nil }

  package func rest() {}
}

/// Fetches bytes; returns why it could not. Cancelled when nobody wants the frame any more.
package typealias FrameFetch = @Sendable () async -> AnimatedImageError?

extension FrameReader: FrameProducing {}
extension SeekingReader: FrameProducing {
  package func rest() { reader.rest() }
}
extension CachedFrameReader: FrameProducing {}
extension StreamReader: FrameProducing {
  package func frame(at index: Int) throws(AnimatedImageError) -> CompositedFrame {
    try frame(at: index) { false }
  }
}
