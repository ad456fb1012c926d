internal import Synchronization

/// The composited frames of one image, decoded once for any number of consumers.
///
/// Pass the same shared frames to several ``FrameScheduler``s. Each scheduler has its own position, rate, direction and
/// late policy, and schedulers that show the same part of the animation share its decoding. Consumers whose positions
/// have drifted apart use separate decoding positions, of which there are at most four.
///
/// The memory in use consists of the frames that consumers hold (see ``PlaybackOptions/decodeAhead``), a few of the
/// frames shown last (their number is set when this object is created), and one canvas per decoding position. While
/// nothing plays or waits for a frame, the frames last shown and the canvases are charged to the ``MemoryBudget`` and
/// released on demand.
public final class SharedFrames: Sendable {
  /// The maximum number of decoding positions.
  static let maximumPositions = 4

  /// The frames in order. For a ``StreamedImage``, these are the frames that have arrived.
  package var frames: [FrameControl] { list.all }
  let list: FrameList
  /// The size of every frame after scaling.
  public let frameSize: PixelSize
  /// The total number of plays. For a ``StreamedImage``, this is the number that is known so far.
  package var playCount: PlayCount { list.playCount }
  /// The source of frames that are still to arrive, or nil if all frames are known.
  package var arrivals: (any FrameArrivals)? { list.arrivals }
  /// The frames that can be played now, and whether more frames may follow.
  package var arrival: FrameArrival {
    arrivals?.arrival(after: 0)
      ?? FrameArrival(frames: frames, playCount: playCount, isOpen: false)
  }
  /// The counts of the objects that consumers of these frames keep alive.
  package let live = LiveObjects()
  /// The size of the canvas before scaling.
  let sourceSize: PixelSize
  let scaler: FrameScaler?
  private let keeping: Int
  private let threads: DecodeThreads
  private let openingThreads: DecodeThreads
  private let isAtHand: (@Sendable (Int) -> Bool)?
  /// The number of frames beyond its lookahead that a consumer may decode in one batch. It is above 0 only if decoding
  /// is cheap in time and memory.
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
    /// The decoding positions, the least recently used first.
    var positions: [Position] = []
    var live: [Int: WeakTicket] = [:]
    /// The tickets of decoded frames that consumers have released, the oldest first; at most `keeping` of them.
    var recent: [FrameTicket] = []
    var decodeCount = 0
    var userCount = 0
    /// The identifiers of the calls that wait for a frame, numbered from -1 downwards.
    var callers: Set<Int> = []
    /// The number of playing streams plus the number of calls that wait for a frame.
    var activeCount = 0
  }

  /// Creates the shared frames of `image`. Nothing is decoded yet.
  ///
  /// Frames may be requested in any order. After the first seek or backward step, checkpoints limit the number of
  /// frames that a jump decodes, and stepping back decodes about one frame per step (more in a ``RemoteImage``). While
  /// a decoding position is in use, the cache keeps the two most recently used frames of the animation, whatever the
  /// limits of the cache.
  ///
  /// - Parameters:
  ///   - image: The image.
  ///   - rendering: The size and format of the frames. Default: the size and format in which frames are decoded.
  ///   - cache: The cache for decoded frames. Default: nil, no caching. With a cache, the whole file is read once
  ///     before the first frame, to compute its ``ContentIdentity``. The frames of a ``StreamedImage`` are cached once
  ///     the stream is complete; the frames of a ``RemoteImage`` are cached only if `identity` is given.
  ///   - identity: The identity of the image, if it is known, which avoids reading the whole file. Default: nil.
  ///   - keeping: The number of frames that are kept after they were shown, for consumers that are slightly behind.
  ///     Default: 2.
  ///   - budget: The memory budget to which canvases are charged. Default: nil, which selects the budget of the image:
  ///     ``MemoryBudget/shared``, unless a `FrameLoader` with another budget loaded the image.
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
    // Caches that do not conform to `QuickCaching` run the user's code.
    let isLight =
      origin.isLightToPlay && cache.map { $0.levels.allSatisfy { $0 is any QuickCaching } } ?? true
    let isAtHand: @Sendable (Int) -> Bool = { origin.isAtHand(origin.control($0)) }
    self.init(
      FrameList(origin), retaining: image, canvasSize: origin.canvasSize, scaler: renderer.scaler,
      keeping: keeping,
      // If frames are cached, the reader reads the whole file before the first frame to compute its identity, unless
      // the identity is known.
      openingThreads: cache != nil && !isIdentified ? .loading : nil,
      isAtHand: isLight ? isAtHand : nil, burst: isLight ? 1 : 0,
      resting: RestingCost(
        in: state.budget, ofReader: store.canvasCost + renderer.bitmapCost)
    ) {
      RenderedReader(origin, renderer, cache: cache, store: store, for: .playing)
    }
  }

  /// Creates shared frames without an image. `makeProducer` must create a producer that computes the frames.
  package convenience init(
    frames: [FrameControl], canvasSize: PixelSize, scaler: FrameScaler? = nil,
    playCount: PlayCount, keeping: Int = 2,
    threads: DecodeThreads = .shared, openingThreads: DecodeThreads? = nil,
    burst: Int = 0, resting: RestingCost? = nil,
    makeProducer: @escaping @Sendable () throws(AnimatedImageError) -> sending any FrameProducing
  ) {
    self.init(
      FrameList(frames, playCount), canvasSize: canvasSize, scaler: scaler, keeping: keeping,
      threads: threads, openingThreads: openingThreads, burst: burst, resting: resting,
      makeProducer: makeProducer)
  }

  /// Creates the shared frames of `list`. `makeProducer` must create a producer of these frames.
  init(
    _ list: FrameList, retaining image: (any AnimationSource)? = nil, canvasSize: PixelSize,
    scaler: FrameScaler? = nil, keeping: Int, threads: DecodeThreads = .shared,
    openingThreads: DecodeThreads? = nil, isAtHand: (@Sendable (Int) -> Bool)? = nil,
    burst: Int = 0, resting: RestingCost?,
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

  /// The number of decodes requested so far. Consumers that need the same frame share its decode.
  package var decodeCount: Int { state.withLock { $0.decodeCount } }

  /// Decodes frame `index` on another thread and returns the composited frame.
  ///
  /// For a ``StreamedImage``, this method waits until the frame has arrived.
  ///
  /// - Throws: ``AnimatedImageError/Code/parameter`` if no frame has this index, or the error with which a stream
  ///   failed before the frame arrived; the errors of decoding; ``AnimatedImageError/Code/cancelled``, never
  ///   `CancellationError`, if the task is cancelled before the frame is decoded.
  public func frame(at index: Int) async throws(AnimatedImageError) -> CompositedFrame {
    if let arrivals, index >= 0, await !arrivals.waitForFrame(index) {
      throw AnimatedImageError(.cancelled, "stopped while waiting for a frame", frameIndex: index)
    }
    guard index >= 0, index < list.count else {
      // A stream that failed before the frame arrived says why.
      if index >= 0, let error = arrivals?.arrival(after: .max).error { throw error }
      throw .noFrame(index, of: list.count)
    }
    let user = beginCall()
    defer { endCall(user) }
    begin()
    defer { end() }
    let ticket = ticket(for: index, user: user).ticket
    guard let outcome = await ticket.value() else {
      throw AnimatedImageError(.cancelled, "stopped while waiting for a frame", frameIndex: index)
    }
    keep(ticket)
    return try outcome.get()
  }

  /// Returns an identifier, to be passed as `user`, for a call that waits for a frame. If bytes never have to be
  /// fetched, all calls have the same identifier and so share one decoding position. Otherwise concurrent calls have
  /// different identifiers and use separate positions, and consecutive calls continue at the same position.
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

  /// Waits until no frame is being decoded, awaited or played.
  ///
  /// Once every stream of frames has ended, this method waits for at most as long as it takes to decode one frame. It
  /// does not end playback. It returns immediately if the calling task is cancelled.
  package func waitUntilIdle() async { await live.reach(.noWork) }

  /// Marks these frames as in use until ``end()`` is called.
  package func begin() {
    state.withLock { state in
      state.activeCount += 1
      // Frames in use cannot be released on demand, so they are not charged to the budget.
      if state.activeCount == 1 { resting?.budget.refundAll(of: share) }
    }
  }

  /// Ends the use of these frames that ``begin()`` began. Call this method with no lock held.
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

  /// Returns the number of tasks and clients that wait for frame `index`.
  package func waiterCount(for index: Int) -> Int {
    state.withLock { $0.live[index]?.ticket }?.waiterCount ?? 0
  }

  /// Returns a new number that identifies a consumer of these frames.
  package func addUser() -> Int {
    state.withLock { state in
      state.userCount += 1
      return state.userCount
    }
  }

  /// Returns the ticket for frame `index`, whether this call created the ticket, and the other tickets that this call
  /// examined.
  ///
  /// The examined tickets may have lost their other holders in the meantime. Releasing the last reference to a ticket
  /// may call the user's code, so callers must release the examined tickets with no lock held.
  package func ticket(
    for index: Int, user: Int, asking: (any QuickThread)? = nil
  ) -> (ticket: FrameTicket, isNew: Bool, passing: [FrameTicket]) {
    state.withLock { state in
      // A ticket whose outcome is an error may still be held, but is not returned again. The error may have been a read
      // error, and a new request should then try again.
      let known = state.live[index]?.ticket
      if let known, !known.isFailed { return (known, false, [FrameTicket]()) }
      let ticket = FrameTicket(index: index, live: live)
      // Loading the weak reference has retained the failed ticket, so the caller must release that ticket too.
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

  /// Keeps the ticket of a decoded frame that a consumer has released, for consumers that are slightly behind. Does
  /// nothing if these frames are no longer in use, because what they hold was charged to the budget when their use
  /// ended.
  package func keep(_ ticket: FrameTicket) {
    guard keeping > 0 else { return }
    let dropped = state.withLock { state -> FrameTicket? in
      guard state.activeCount > 0 else { return nil }
      if let place = state.recent.firstIndex(where: { $0 === ticket }) {
        state.recent.append(state.recent.remove(at: place))
        return nil
      }
      state.recent.append(ticket)
      return state.recent.count > keeping ? state.recent.removeFirst() : nil
    }
    _ = consume dropped
  }

  /// Returns the lane that reaches frame `index` most cheaply. In order of preference, this is a lane whose next frame
  /// is `index` or up to two frames before it, the lane that this consumer used last, a new lane if there are fewer
  /// than ``maximumPositions``, or the least recently used lane.
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
  /// Returns the description of frame `index`, which must have arrived.
  package func control(_ index: Int) -> FrameControl { list[index] }
}

extension SharedFrames: BudgetMember {
  package func shed(_ byteCount: Int) -> Int {
    // The positions and tickets are moved here so that they are freed after the lock is released. A lane that is busy
    // still completes its frame.
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
    // A lane that is busy releases its hold on cached frames after it has completed its frame.
    for position in dropped.positions { position.lane.rest() }
    withExtendedLifetime(dropped) {}
    return freed
  }
}

/// The amount that shared frames charge to a budget while nothing plays.
package struct RestingCost: Sendable {
  let budget: MemoryBudget
  /// The number of bytes that one decoding position holds.
  let readerCost: Int

  init(in budget: MemoryBudget, ofReader readerCost: Int) {
    self.budget = budget
    self.readerCost = readerCost
  }
}
