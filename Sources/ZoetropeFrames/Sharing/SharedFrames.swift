internal import Synchronization

/// The composited frames of one image, decoded once for any number of consumers.
///
/// Pass one to several ``FrameScheduler``s: each has its own position, rate, direction and late policy, and schedulers
/// that show the same part of the animation share its decoding. Consumers that have drifted apart use separate decoding
/// positions, at most four.
///
/// Memory consists of the frames that consumers hold (see ``PlaybackOptions/decodeAhead``), the last `keeping` frames
/// shown, and one canvas per decoding position. While nothing plays or waits, the frames shown and the canvases are
/// charged to the ``MemoryBudget`` and released on demand.
public final class SharedFrames: Sendable {
  /// The maximum number of decoding positions.
  static let maximumPositions = 4

  /// The frames, in order; for a ``StreamedImage``, those that have arrived.
  package var frames: [FrameControl] { list.all }
  let list: FrameList
  /// The size of every frame, after scaling.
  public let frameSize: PixelSize
  /// The total number of plays; for a ``StreamedImage``, as known so far.
  package var playCount: PlayCount { list.playCount }
  /// The source of further frames; nil if all are known.
  package var arrivals: (any FrameArrivals)? { list.arrivals }
  /// The frames to play, and whether more may follow.
  package var arrival: FrameArrival {
    arrivals?.arrival(after: 0)
      ?? FrameArrival(frames: frames, playCount: playCount, isOpen: false)
  }
  /// Counts the objects that consumers of these frames keep alive.
  package let live = LiveObjects()
  /// The unscaled canvas size.
  let sourceSize: PixelSize
  let scaler: FrameScaler?
  private let keeping: Int
  private let threads: DecodeThreads
  private let openingThreads: DecodeThreads
  private let isAtHand: (@Sendable (Int) -> Bool)?
  /// The number of frames that a consumer may decode in one batch beyond its lookahead; above 0 only if decoding is
  /// cheap in time and memory.
  package let burst: Int
  private let makeProducer: DecodeLane.Factory
  private let resting: RestingCost?
  private let image: (any AnimationSource)?
  package let share = BudgetShare(.checkpoints)
  private let state = Mutex(State())

  private struct WeakTicket {
    weak var ticket: FrameTicket?
  }

  private struct Position {
    let lane: DecodeLane
    var nextIndex: Int
    var lastUser: Int
  }

  private struct State {
    /// Least recently used first.
    var positions: [Position] = []
    var live: [Int: WeakTicket] = [:]
    /// The most recently released decoded frames, oldest first.
    var recent: [FrameTicket] = []
    var decodeCount = 0
    var userCount = 0
    /// The numbers, from -1 down, of calls that wait for a frame.
    var callers: Set<Int> = []
    /// Number of playing streams and of calls that wait for a frame.
    var activeCount = 0
  }

  /// Creates the shared frames of `image`. Decodes nothing yet.
  ///
  /// Frames may be requested in any order. After the first seek or backward step, checkpoints limit the number of
  /// frames that a jump decodes, and stepping back decodes about one frame per step (more in a ``RemoteImage``). While
  /// a decoding position is in use, the cache keeps the two most recently used frames, whatever its limits.
  ///
  /// - Parameters:
  ///   - image: The image.
  ///   - rendering: The size and format of the frames. Default: as decoded.
  ///   - cache: The cache for decoded frames. Default: nil, no caching. With a cache, the whole file is read once
  ///     before the first frame, to compute its ``ContentIdentity``. A ``StreamedImage`` is cached once it is complete,
  ///     a ``RemoteImage`` only if its identity is given.
  ///   - identity: The image's identity, if known, which avoids reading the whole file.
  ///   - keeping: The number of frames kept for consumers slightly behind. Default: 2.
  ///   - budget: The budget that canvases are charged to. Default: nil, the image's own budget, which is
  ///     ``MemoryBudget/shared`` unless the image was opened with another.
  public convenience init(
    _ image: some AnimationSource, rendering: Rendering = .init(),
    cache: (any FrameCaching)? = nil, identity: ContentIdentity? = nil, keeping: Int = 2,
    budget: MemoryBudget? = nil
  ) {
    self.init(
      image.origin.base, of: image, rendering: rendering, cache: cache, identity: identity,
      keeping: keeping, budget: budget)
  }

  private convenience init(
    _ origin: some ImageOrigin, of image: any AnimationSource, rendering: Rendering,
    cache: (any FrameCaching)?, identity: ContentIdentity?, keeping: Int, budget: MemoryBudget?
  ) {
    let origin = budget.map { origin.detached(chargedTo: $0) } ?? origin
    let state = origin.state
    if let identity { state.identity = identity }
    let store = state.checkpoints(of: origin)
    let renderer = FrameRenderer(rendering, of: origin.canvasSize, options: origin.options)
    let isIdentified =
      cache?.mayBlock == true ? state.storedIdentity != nil : state.identity != nil
    // Caches that are not `QuickCaching` run user code.
    let isLight =
      origin.isLightToPlay && cache.map { $0.levels.allSatisfy { $0 is any QuickCaching } } ?? true
    let isAtHand: @Sendable (Int) -> Bool = { origin.isAtHand(origin.control($0)) }
    self.init(
      of: origin, retaining: image, scaler: renderer.scaler, keeping: keeping,
      // A cached reader reads the whole file first, unless its identity is known.
      openingThreads: cache != nil && !isIdentified ? .loading : nil,
      isAtHand: isLight ? isAtHand : nil, burst: isLight ? 1 : 0,
      resting: RestingCost(
        in: state.budget, ofReader: store.canvasCost + renderer.bitmapCost)
    ) {
      RenderedReader(origin, renderer, cache: cache, store: store, for: .playing)
    }
  }

  /// Creates the shared frames of `origin`. `makeProducer` creates a producer that reads them.
  convenience init(
    of origin: some ImageOrigin, retaining image: (any AnimationSource)? = nil,
    scaler: FrameScaler? = nil, keeping: Int, openingThreads: DecodeThreads? = nil,
    isAtHand: (@Sendable (Int) -> Bool)? = nil, burst: Int = 0, resting: RestingCost,
    makeProducer: @escaping @Sendable () throws(AnimatedImageError) -> sending any FrameProducing
  ) {
    self.init(
      FrameList(origin), retaining: image, canvasSize: origin.canvasSize, scaler: scaler,
      keeping: keeping, threads: .shared, openingThreads: openingThreads, isAtHand: isAtHand,
      burst: burst,
      resting: resting, makeProducer: makeProducer)
  }

  /// Creates shared frames without an image. `makeProducer` creates a producer that computes them.
  package convenience init(
    frames: [FrameControl], canvasSize: PixelSize, scaler: FrameScaler? = nil,
    playCount: PlayCount, keeping: Int = 2,
    threads: DecodeThreads = .shared, openingThreads: DecodeThreads? = nil,
    burst: Int = 0, resting: RestingCost? = nil,
    makeProducer: @escaping @Sendable () throws(AnimatedImageError) -> sending any FrameProducing
  ) {
    self.init(
      FrameList(frames, playCount), retaining: nil, canvasSize: canvasSize, scaler: scaler,
      keeping: keeping, threads: threads, openingThreads: openingThreads, isAtHand: nil,
      burst: burst,
      resting: resting, makeProducer: makeProducer)
  }

  private init(
    _ list: FrameList, retaining image: (any AnimationSource)?, canvasSize: PixelSize,
    scaler: FrameScaler?, keeping: Int, threads: DecodeThreads, openingThreads: DecodeThreads?,
    isAtHand: (@Sendable (Int) -> Bool)?, burst: Int, resting: RestingCost?,
    makeProducer: @escaping @Sendable () throws(AnimatedImageError) -> sending any FrameProducing
  ) {
    self.list = list
    self.image = image
    frameSize = scaler?.size ?? canvasSize
    sourceSize = canvasSize
    self.scaler = scaler
    self.keeping = max(keeping, 0)
    self.threads = threads
    self.openingThreads = openingThreads ?? threads
    self.isAtHand = isAtHand
    self.burst = burst
    self.makeProducer = makeProducer
    self.resting = resting
  }

  deinit { resting?.budget.refundAll(of: share) }

  /// The number of decodes requested so far. Consumers at the same position share decodes.
  package var decodeCount: Int { state.withLock { $0.decodeCount } }

  /// Decodes frame `index` on another thread and returns it composited.
  ///
  /// For a ``StreamedImage``, waits until the frame has arrived.
  ///
  /// Throws ``AnimatedImageError/Code/parameter`` for an index past the end, decoding errors, and
  /// ``AnimatedImageError/Code/cancelled``, never `CancellationError`, if the task is cancelled first.
  public func frame(at index: Int) async throws(AnimatedImageError) -> CompositedFrame {
    if let arrivals, index >= 0, await !arrivals.waitForFrame(index) {
      throw AnimatedImageError(.cancelled, "the task was cancelled", frameIndex: index)
    }
    guard index >= 0, index < list.count else {
      throw AnimatedImageError(
        .parameter, "frame \(index) does not exist; there are \(list.count) frames")
    }
    let user = beginCall()
    defer { endCall(user) }
    begin()
    defer { end() }
    let ticket = ticket(for: index, user: user).ticket
    guard let outcome = await ticket.value() else {
      throw AnimatedImageError(.cancelled, "the task was cancelled", frameIndex: index)
    }
    keep(ticket)
    return try outcome.get()
  }

  /// Returns an identifier for a call that waits for a frame. All calls share one position, unless bytes must be
  /// fetched: then concurrent calls use separate positions, and consecutive calls continue at the same one.
  private func beginCall() -> Int {
    guard list.isFetched else { return 0 }
    return state.withLock { state in
      var caller = -1
      while !state.callers.insert(caller).inserted { caller -= 1 }
      return caller
    }
  }

  private func endCall(_ caller: Int) {
    if caller < 0 { state.withLock { _ = $0.callers.remove(caller) } }
  }

  /// Waits until nothing is being decoded, awaited or played.
  ///
  /// Once every stream has ended, this takes at most as long as decoding one frame. Does not end playback. Returns
  /// immediately if the calling task is cancelled.
  package func waitUntilIdle() async { await live.reach(.noWork) }

  /// Marks the frames as in use until ``end()``.
  package func begin() {
    state.withLock { state in
      state.activeCount += 1
      // Frames in use are not charged, because they cannot be released.
      if state.activeCount == 1 { resting?.budget.refundAll(of: share) }
    }
  }

  /// Balances ``begin()``. Call it with no lock held.
  package func end() {
    let lanes = state.withLock { state -> [DecodeLane]? in
      state.activeCount -= 1
      guard state.activeCount == 0 else { return nil }
      if let resting {
        let recent = state.recent.reduce(0) { $0 + $1.cost }
        let cost = recent + state.positions.count * resting.readerCost
        resting.budget.charge(cost, to: self)
        resting.budget.stamp(share)
      }
      return state.positions.map(\.lane)
    }
    guard let lanes else { return }
    for lane in lanes { lane.rest() }
    resting?.budget.settle()
  }

  /// Returns the number of waiters for frame `index`.
  package func waiterCount(for index: Int) -> Int {
    state.withLock { $0.live[index]?.ticket }?.waiterCount ?? 0
  }

  /// Returns a number that identifies a consumer.
  package func addUser() -> Int {
    state.withLock { state in
      state.userCount += 1
      return state.userCount
    }
  }

  /// Returns the ticket for frame `index`, whether this call created it, and the tickets that were examined.
  ///
  /// The examined tickets may have lost their other holders meanwhile, and releasing the last reference may call the
  /// user's code, so callers must release them with no lock held.
  package func ticket(
    for index: Int, user: Int, asking: (any QuickThread)? = nil
  ) -> (ticket: FrameTicket, isNew: Bool, passing: [FrameTicket]) {
    state.withLock { state in
      // A failed ticket may still be held, but is not reused: the failure may have been a read error, which a new
      // request should retry.
      let known = state.live[index]?.ticket
      if let known, !known.isFailed { return (known, false, [FrameTicket]()) }
      let ticket = FrameTicket(index: index, live: live)
      // Loading a weak reference retained this ticket, so the caller must release it.
      var passing = known.map { [$0] } ?? []
      if state.live.count > 64 {
        passing += state.live.values.compactMap(\.ticket)
        state.live = state.live.filter { $0.value.ticket != nil }
      }
      state.live[index] = WeakTicket(ticket: ticket)
      state.decodeCount += 1
      lane(for: index, user: user, in: &state).enqueue(ticket, for: asking)
      return (ticket, true, passing)
    }
  }

  /// Keeps a decoded frame that a consumer released, for consumers slightly behind.
  package func keep(_ ticket: FrameTicket) {
    guard keeping > 0 else { return }
    let dropped = state.withLock { state -> FrameTicket? in
      if let place = state.recent.firstIndex(where: { $0 === ticket }) {
        state.recent.append(state.recent.remove(at: place))
        return nil
      }
      state.recent.append(ticket)
      return state.recent.count > keeping ? state.recent.removeFirst() : nil
    }
    _ = consume dropped
  }

  /// Returns the lane that reaches `index` most cheaply: one nearby, else this consumer's own, else a new one, else the
  /// least recently used.
  private func lane(for index: Int, user: Int, in state: inout State) -> DecodeLane {
    let isNear = { (position: Position) in
      let next = position.nextIndex == self.list.count ? 0 : position.nextIndex
      return next <= index && index - next <= 2
    }
    var choice =
      state.positions.lastIndex(where: isNear)
      ?? state.positions.lastIndex { $0.lastUser == user }
    if choice == nil, state.positions.count < Self.maximumPositions {
      let lane = DecodeLane(
        threads: threads, openingThreads: openingThreads, live: live,
        weight: { [list] in
          let frame = list[$0]
          return DecodeHistory.Weight(area: frame.rect.size.area, bytes: frame.byteRange.count)
        }, isAtHand: isAtHand, makeProducer: makeProducer)
      state.positions.append(Position(lane: lane, nextIndex: 0, lastUser: user))
      choice = state.positions.count - 1
    }
    var position = state.positions.remove(at: choice ?? 0)
    position.nextIndex = index + 1
    position.lastUser = user
    state.positions.append(position)
    return position.lane
  }
}

extension SharedFrames {
  /// Returns frame `index`, which has arrived.
  package func control(_ index: Int) -> FrameControl { list[index] }
}

/// The frames of an image: all of them, or those that have arrived so far.
struct FrameList: Sendable {
  private let fixed: [FrameControl]
  private let fixedPlayCount: PlayCount
  /// The image whose frames are still arriving; nil if all frames are known.
  private let growing: (any ImageOrigin)?
  let arrivals: (any FrameArrivals)?
  let isFetched: Bool

  init(_ frames: [FrameControl], _ playCount: PlayCount, isFetched: Bool = false) {
    fixed = frames
    fixedPlayCount = playCount
    growing = nil
    arrivals = nil
    self.isFetched = isFetched
  }

  init(_ image: some ImageOrigin) {
    arrivals = image.arrivals
    growing = arrivals == nil ? nil : image
    fixed = arrivals == nil ? image.frames : []
    fixedPlayCount = image.playCount
    isFetched = image.isFetched
  }

  var all: [FrameControl] { growing?.frames ?? fixed }

  var count: Int { growing?.frameCount ?? fixed.count }

  var playCount: PlayCount { growing?.playCount ?? fixedPlayCount }

  subscript(index: Int) -> FrameControl { growing?.control(index) ?? fixed[index] }
}

extension SharedFrames: BudgetMember {
  package func shed(_ byteCount: Int) -> Int {
    // Kept here to be freed after the lock is released. A busy lane completes its frame.
    var dropped: (positions: [Position], recent: [FrameTicket]) = ([], [])
    let freed = state.withLock { state in
      guard state.activeCount == 0 else { return 0 }
      dropped = (state.positions, state.recent)
      state.positions = []
      state.recent = []
      let freed = share.heldBytes
      resting?.budget.refund(freed, of: share)
      return freed
    }
    // A busy lane releases its hold on cached frames when it has finished.
    for position in dropped.positions { position.lane.rest() }
    withExtendedLifetime(dropped) {}
    return freed
  }
}

/// The charge for shared frames while nothing plays.
package struct RestingCost: Sendable {
  let budget: MemoryBudget
  /// Bytes that one decoding position holds.
  let readerCost: Int

  init(in budget: MemoryBudget, ofReader readerCost: Int) {
    self.budget = budget
    self.readerCost = readerCost
  }
}
