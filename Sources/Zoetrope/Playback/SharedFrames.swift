internal import Synchronization

/// The composited frames of one image for any number of consumers: each frame is decoded once.
///
/// Give one to several ``FrameScheduler``s and each keeps its own position, rate, direction and late
/// policy, while those that show the same part of the animation share its decoding. Consumers that
/// have drifted apart get a decoding position each, up to ``maximumPositions``.
///
/// Memory: the frames its consumers hold at the moment (see ``PlaybackOptions/decodeAhead``), the
/// `keeping` frames that were shown last, and one canvas for each decoding position. While nobody plays
/// or waits, the last two are charged to the ``MemoryBudget`` and go when it asks for them.
public final class SharedFrames: Sendable {
  /// Decoding positions kept at most for consumers that are apart.
  public static let maximumPositions = 4

  /// The frames, in order.
  public let frames: [FrameControl]
  /// Width and height of every frame, after scaling if frames are scaled.
  public let canvasSize: PixelSize
  /// How often the file asks to be played.
  public let playCount: PlayCount
  /// What the consumers of these frames keep alive.
  package let live = LiveObjects()
  /// Width and height of the canvas on which frames are placed.
  private let sourceSize: PixelSize
  /// Nil when frames keep the canvas's size.
  private let scaler: FrameScaler?
  private let keeping: Int
  private let threads: DecodeThreads
  private let openingThreads: DecodeThreads
  private let isAtHand: (@Sendable (Int) -> Bool)?
  /// Frames that a consumer has decoded beyond those it wants ahead, in one go with them: not 0 only
  /// where that takes little of the time, and little memory.
  package let burst: Int
  private let makeProducer: DecodeLane.Factory
  private let resting: RestingCost?
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
    /// In the order in which they were last used.
    var positions: [Position] = []
    var live: [Int: WeakTicket] = [:]
    /// Decoded frames that were let go of last, the oldest first.
    var recent: [FrameTicket] = []
    var decodeCount = 0
    var userCount = 0
    /// Streams that play and calls that wait for a frame.
    var activeCount = 0
  }

  /// Shares the frames of `image`; nothing is decoded yet.
  ///
  /// From the first seek or backward step on, canvases kept along the way bound what the next one
  /// decodes (see ``MemoryBudget``); frames played on from the start keep nothing.
  ///
  /// - Parameters:
  ///   - image: what is shown.
  ///   - keeping: frames kept for consumers that come a little later. Default: 2.
  public convenience init(_ image: AnimatedImage, keeping: Int = 2) {
    self.init(image, cache: nil, keeping: keeping)
  }

  package init(
    frames: [FrameControl], canvasSize: PixelSize, scaler: FrameScaler? = nil,
    playCount: PlayCount, keeping: Int = 2,
    threads: DecodeThreads = .shared, openingThreads: DecodeThreads? = nil,
    isAtHand: (@Sendable (Int) -> Bool)? = nil,
    burst: Int = 0, resting: RestingCost? = nil,
    makeProducer: @escaping @Sendable () throws(AnimatedImageError) -> sending any FrameProducing
  ) {
    self.frames = frames
    self.canvasSize = scaler?.size ?? canvasSize
    sourceSize = canvasSize
    self.scaler = scaler
    self.playCount = playCount
    self.keeping = max(keeping, 0)
    self.threads = threads
    self.openingThreads = openingThreads ?? threads
    self.isAtHand = isAtHand
    self.burst = burst
    self.makeProducer = makeProducer
    self.resting = resting
  }

  deinit { resting?.budget.refundAll(of: share) }

  /// Frames that were asked to be decoded so far.
  ///
  /// Does not grow with the number of consumers that are in step.
  public var decodeCount: Int { state.withLock { $0.decodeCount } }

  /// Frame `index`, composited, decoded on another thread.
  ///
  /// Throws ``AnimatedImageError/Code/parameter`` for an index past the end, what decoding throws, and
  /// ``AnimatedImageError/Code/cancelled`` when the calling task is cancelled first.
  public func frame(at index: Int) async throws(AnimatedImageError) -> CompositedFrame {
    guard frames.indices.contains(index) else {
      throw AnimatedImageError(.parameter, "no frame \(index) among \(frames.count)")
    }
    begin()
    defer { end() }
    let ticket = ticket(for: index, user: 0).ticket
    guard let outcome = await ticket.value() else {
      throw AnimatedImageError(.cancelled, "the task was cancelled", frameIndex: index)
    }
    keep(ticket)
    return try outcome.get()
  }

  /// Returns once nothing is decoded, waited for or played any more.
  ///
  /// When every stream has ended, that is at most one frame's decoding away. Ends nothing itself. When
  /// the calling task is cancelled it returns at once.
  public func idle() async { await live.reach(.noWork) }

  /// Somebody plays or waits from now on, until ``end()``.
  func begin() {
    state.withLock { state in
      state.activeCount += 1
      // Its users need it now: it cannot be given up, so it does not count.
      if state.activeCount == 1 { resting?.budget.refundAll(of: share) }
    }
  }

  /// Ends what ``begin()`` began. To be called under no lock.
  func end() {
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

  /// How many wait for frame `index`.
  package func waiterCount(for index: Int) -> Int {
    state.withLock { $0.live[index]?.ticket }?.waiterCount ?? 0
  }

  /// A number by which a consumer is told from others.
  func addUser() -> Int {
    state.withLock { state in
      state.userCount += 1
      return state.userCount
    }
  }

  /// The ticket for frame `index`, and whether it was made for this call.
  func ticket(for index: Int, user: Int) -> (ticket: FrameTicket, isNew: Bool) {
    let (ticket, isNew, passing) = state.withLock { state in
      if let ticket = state.live[index]?.ticket { return (ticket, false, [FrameTicket]()) }
      let ticket = FrameTicket(index: index, live: live)
      var passing: [FrameTicket] = []
      if state.live.count > 64 {
        // Looking at one holds it: the last holder must not let go of it under the lock.
        passing = state.live.values.compactMap(\.ticket)
        state.live = state.live.filter { $0.value.ticket != nil }
      }
      state.live[index] = WeakTicket(ticket: ticket)
      state.decodeCount += 1
      lane(for: index, user: user, in: &state).enqueue(ticket)
      return (ticket, true, passing)
    }
    _ = consume passing
    return (ticket, isNew)
  }

  /// Keeps a decoded frame that a consumer is done with for those that come a little later.
  func keep(_ ticket: FrameTicket) {
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

  /// The lane that gets to `index` most cheaply: one that is there, else one that only this consumer
  /// uses, else a new one, else the one that was not used for longest.
  private func lane(for index: Int, user: Int, in state: inout State) -> DecodeLane {
    let isNear = { (position: Position) in
      let next = position.nextIndex == self.frames.count ? 0 : position.nextIndex
      return next <= index && index - next <= 2
    }
    var choice =
      state.positions.lastIndex(where: isNear)
      ?? state.positions.lastIndex { $0.lastUser == user }
    if choice == nil, state.positions.count < Self.maximumPositions {
      let lane = DecodeLane(
        threads: threads, openingThreads: openingThreads, live: live, frames: frames,
        isAtHand: isAtHand,
        makeProducer: makeProducer)
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

extension SharedFrames: BudgetMember {
  package func shed(_ byteCount: Int) -> Int {
    // Freed after the lock is given back. A lane at work goes on with its frame.
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
    // One that is at work ends its hold on cached frames with that work.
    for position in dropped.positions { position.lane.rest() }
    withExtendedLifetime(dropped) {}
    return freed
  }
}

/// What frames that nobody plays are charged as.
package struct RestingCost: Sendable {
  let budget: MemoryBudget
  /// Bytes that one decoding position holds.
  let readerCost: Int

  init(in budget: MemoryBudget, ofReader readerCost: Int) {
    self.budget = budget
    self.readerCost = readerCost
  }
}

extension SharedFrames {
  /// Where the pictures of two frames may differ, in pixels of the pictures; everywhere when there is
  /// no earlier one.
  ///
  /// A picture depends on its frame alone, not on how playback came to it, so whatever order they
  /// are shown in, only the frames between them can have drawn or cleared anything.
  func dirtyRect(from previous: Int?, to index: Int) -> PixelRect {
    guard let previous else { return PixelRect(canvasSize) }
    let canvas = PixelRect(sourceSize)
    var dirty = PixelRect.empty
    for frame in min(previous, index)..<max(previous, index) where dirty != canvas {
      dirty = dirty.union(frames[frame + 1].rect.intersection(canvas))
      if frames[frame].disposal != .keep {
        dirty = dirty.union(frames[frame].rect.intersection(canvas))
      }
    }
    return scaler?.touched(by: dirty) ?? dirty
  }
}

extension SharedFrames {
  /// Shares the frames of `image`, rendered, looked for in a cache first and kept there.
  ///
  /// Frames may be asked for in any order: canvases kept along the way bound what a jump decodes, and
  /// stepping back decodes about one frame a step (see ``frame(at:)``). While one of its decoding
  /// positions is in use, the cache keeps the two frames used last, whatever its limits.
  ///
  /// - Parameters:
  ///   - image: what is shown.
  ///   - identity: its bytes' identity; nil, the default, finds it by
  ///     ``AnimatedImage/contentIdentity()`` before the first frame, on a decoding thread.
  ///   - rendering: how frames come out. Default: as they are.
  ///   - cache: where frames are looked for and kept. Default: ``MemoryFrameCache/shared``.
  ///   - budget: what canvases are charged to. Default: ``MemoryBudget/shared``.
  public convenience init(
    _ image: AnimatedImage, identity: ContentIdentity? = nil, rendering: Rendering = .init(),
    cache: any FrameCaching = MemoryFrameCache.shared, budget: MemoryBudget = .shared
  ) {
    let charged = image.charged(to: budget)
    if let identity { charged.access.identity = identity }
    self.init(charged, rendering: rendering, cache: cache, keeping: 2)
  }

  /// The frames of `image`, in `cache` when there is one and the bytes can be told from others.
  ///
  /// Canvases are charged to the image's budget.
  convenience init(
    _ image: AnimatedImage, rendering: Rendering = .init(), cache: (any FrameCaching)?, keeping: Int
  ) {
    let checkpoints = image.access.checkpoints(of: image)
    let renderer = FrameRenderer(rendering, of: image.canvasSize, options: image.options)
    // A cache of the caller's runs code of the caller's.
    let isLight = image.isLightToPlay && (cache == nil || cache is MemoryFrameCache)
    let image = image.preparedForPlaying
    let isAtHand: @Sendable (Int) -> Bool = { image.source.isAtHand(image.frames[$0].byteRange) }
    self.init(
      frames: image.frames, canvasSize: image.canvasSize, scaler: renderer.scaler,
      playCount: image.playCount, keeping: keeping,
      // A cached reader reads the whole file first, unless its identity is known.
      openingThreads: cache != nil && image.access.identity == nil ? .loading : nil,
      isAtHand: isLight ? isAtHand : nil, burst: isLight ? 1 : 0,
      resting: RestingCost(
        in: image.access.budget,
        ofReader: checkpoints.canvasCost + (renderer.scaler == nil ? 0 : renderer.bitmapCost))
    ) { () throws(AnimatedImageError) in
      guard let cache else {
        return SeekingReader(image, store: checkpoints, keepsCheckpoints: false)
      }
      return CachedFrameReader(image, renderer: renderer, cache: cache)
    }
  }
}
