internal import Synchronization

/// The composited frames of one image, decoded once for any number of consumers.
///
/// Pass one to several ``FrameScheduler``s: each has its own position, rate, direction and late policy,
/// while those that show the same part of the animation share its decoding. Consumers that have drifted
/// apart use separate decoding positions, at most four.
///
/// Memory: the frames that consumers hold (see ``PlaybackOptions/decodeAhead``), the last `keeping` frames
/// shown, and one canvas per decoding position. While nobody plays or waits, the last two are charged to
/// the ``MemoryBudget`` and released on demand.
public final class SharedFrames: Sendable {
  /// The maximum number of decoding positions.
  static let maximumPositions = 4

  /// The frames, in order; of a ``StreamedImage``, those that have arrived.
  public var frames: [FrameControl] { played.all }
  private let played: PlayedFrames
  /// The size of every frame, after scaling.
  public let canvasSize: PixelSize
  /// The number of plays stored in the file; of a ``StreamedImage``, as known so far.
  public var playCount: PlayCount { played.stream?.playCount ?? storedPlayCount }
  private let storedPlayCount: PlayCount
  /// The stream that the frames belong to, if they are still arriving.
  var stream: StreamedImage? { played.stream }
  /// The frames to play, and whether more may follow.
  var arrival: StreamArrival {
    stream?.core.arrival(after: 0)
      ?? StreamArrival(frames: frames, playCount: playCount, isOpen: false)
  }
  /// Counts the objects that consumers of these frames keep alive.
  package let live = LiveObjects()
  /// The unscaled canvas size.
  private let sourceSize: PixelSize
  /// Nil if frames keep the canvas size.
  private let scaler: FrameScaler?
  private let keeping: Int
  private let threads: DecodeThreads
  private let openingThreads: DecodeThreads
  private let isAtHand: (@Sendable (Int) -> Bool)?
  /// Frames that a consumer may decode in one batch beyond its lookahead; more than 0 only if decoding is
  /// cheap in time and memory.
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
    /// Least recently used first.
    var positions: [Position] = []
    var live: [Int: WeakTicket] = [:]
    /// The most recently released decoded frames, oldest first.
    var recent: [FrameTicket] = []
    var decodeCount = 0
    var userCount = 0
    /// Number of playing streams and of calls that wait for a frame.
    var activeCount = 0
  }

  /// Creates the shared frames of `image`. Decodes nothing yet.
  ///
  /// Frames may be requested in any order. From the first seek or backward step on, checkpoints bound the
  /// frames decoded by a jump, and stepping back decodes about one frame per step. While a decoding
  /// position is in use, the cache keeps the two most recently used frames, whatever its limits.
  ///
  /// - Parameters:
  ///   - image: the image.
  ///   - rendering: the size and format of the frames. Default: as decoded.
  ///   - cache: the cache for decoded frames. Default: nil, no caching. With a cache, the whole file is
  ///     read once before the first frame, for its ``ContentIdentity``.
  ///   - identity: the image's identity, if known, which avoids reading the whole file.
  ///   - keeping: the number of frames kept for consumers slightly behind. Default: 2.
  ///   - budget: the budget that canvases are charged to. Default: ``MemoryBudget/shared``.
  public convenience init(
    _ image: AnimatedImage, rendering: Rendering = .init(), cache: (any FrameCaching)? = nil,
    identity: ContentIdentity? = nil, keeping: Int = 2, budget: MemoryBudget? = nil
  ) {
    let image = budget.map { image.charged(to: $0) } ?? image
    if let identity { image.access.identity = identity }
    let checkpoints = image.access.checkpoints(of: image)
    let renderer = FrameRenderer(rendering, of: image.canvasSize, options: image.options)
    // Any other cache runs user code.
    let mayBlock = cache?.mayBlock ?? false
    let isLight =
      image.isLightToPlay && (cache == nil || cache is MemoryFrameCache) && !mayBlock
    let player = image.preparedForPlaying
    let isIdentified =
      mayBlock ? player.access.storedIdentity != nil : player.access.identity != nil
    let isAtHand: @Sendable (Int) -> Bool = { player.source.isAtHand(player.frames[$0].byteRange) }
    self.init(
      frames: player.frames, canvasSize: player.canvasSize, scaler: renderer.scaler,
      playCount: player.playCount, keeping: keeping,
      // A cached reader reads the whole file first, unless its identity is known.
      openingThreads: cache != nil && !isIdentified ? .loading : nil,
      isAtHand: isLight ? isAtHand : nil, burst: isLight ? 1 : 0,
      resting: RestingCost(
        in: player.access.budget,
        ofReader: checkpoints.canvasCost + renderer.bitmapCost)
    ) { () throws(AnimatedImageError) in
      if cache == nil, rendering == Rendering() {
        return SeekingReader(player, store: checkpoints, keepsCheckpoints: false)
      }
      return CachedFrameReader(player, renderer: renderer, cache: cache)
    }
  }

  /// Creates the shared frames of an animation that is still arriving. Decodes nothing yet.
  ///
  /// Until the stream has ended, a jump back decodes from the last frame that needs no other. Frames are not
  /// cached: a cache knows an image by all of its bytes.
  ///
  /// - Parameters:
  ///   - image: the stream, which is retained.
  ///   - rendering: the size and format of the frames. Default: as decoded.
  ///   - keeping: the number of frames kept for consumers slightly behind. Default: 2.
  public convenience init(
    _ image: StreamedImage, rendering: Rendering = .init(), keeping: Int = 2
  ) {
    let core = image.core
    let renderer = FrameRenderer(rendering, of: image.canvasSize, options: core.options)
    self.init(
      played: PlayedFrames(image), canvasSize: image.canvasSize, scaler: renderer.scaler,
      playCount: .once, keeping: keeping,
      resting: RestingCost(
        in: core.budget,
        ofReader: core.options.canvasFormat.cost(of: image.canvasSize)
          + renderer.bitmapCost)
    ) { () throws(AnimatedImageError) in StreamReader(core, rendering) }
  }

  package convenience init(
    frames: [FrameControl], canvasSize: PixelSize, scaler: FrameScaler? = nil,
    playCount: PlayCount, keeping: Int = 2,
    threads: DecodeThreads = .shared, openingThreads: DecodeThreads? = nil,
    isAtHand: (@Sendable (Int) -> Bool)? = nil,
    burst: Int = 0, resting: RestingCost? = nil,
    makeProducer: @escaping @Sendable () throws(AnimatedImageError) -> sending any FrameProducing
  ) {
    self.init(
      played: PlayedFrames(frames), canvasSize: canvasSize, scaler: scaler, playCount: playCount,
      keeping: keeping, threads: threads, openingThreads: openingThreads, isAtHand: isAtHand,
      burst: burst, resting: resting, makeProducer: makeProducer)
  }

  private init(
    played: PlayedFrames, canvasSize: PixelSize, scaler: FrameScaler? = nil,
    playCount: PlayCount, keeping: Int = 2,
    threads: DecodeThreads = .shared, openingThreads: DecodeThreads? = nil,
    isAtHand: (@Sendable (Int) -> Bool)? = nil,
    burst: Int = 0, resting: RestingCost? = nil,
    makeProducer: @escaping @Sendable () throws(AnimatedImageError) -> sending any FrameProducing
  ) {
    self.played = played
    self.canvasSize = scaler?.size ?? canvasSize
    sourceSize = canvasSize
    self.scaler = scaler
    storedPlayCount = playCount
    self.keeping = max(keeping, 0)
    self.threads = threads
    self.openingThreads = openingThreads ?? threads
    self.isAtHand = isAtHand
    self.burst = burst
    self.makeProducer = makeProducer
    self.resting = resting
  }

  deinit { resting?.budget.refundAll(of: share) }

  /// The number of decodes requested so far. Consumers in step share them.
  public var decodeCount: Int { state.withLock { $0.decodeCount } }

  /// Returns frame `index`, composited, decoded on another thread.
  ///
  /// Of a ``StreamedImage``, waits until the frame has arrived.
  ///
  /// Throws ``AnimatedImageError/Code/parameter`` for an index past the end, decoding errors, and
  /// ``AnimatedImageError/Code/cancelled``, never `CancellationError`, if the task is cancelled first.
  public func frame(at index: Int) async throws(AnimatedImageError) -> CompositedFrame {
    try await frame(at: index, user: 0)
  }

  /// As ``frame(at:)``; different users decode at different positions, unless they are close.
  func frame(
    at index: Int, user: Int
  ) async throws(AnimatedImageError) -> CompositedFrame {
    if let stream, index >= 0, await !stream.core.reach(.frame(index)) {
      throw AnimatedImageError(.cancelled, "the task was cancelled", frameIndex: index)
    }
    guard index >= 0, index < played.count else {
      throw AnimatedImageError(.parameter, "no frame \(index) among \(played.count)")
    }
    begin()
    defer { end() }
    let ticket = ticket(for: index, user: user).ticket
    guard let outcome = await ticket.value() else {
      throw AnimatedImageError(.cancelled, "the task was cancelled", frameIndex: index)
    }
    keep(ticket)
    return try outcome.get()
  }

  /// Waits until nothing is being decoded, awaited or played.
  ///
  /// Once every stream has ended, this takes at most the decoding of one frame. Does not end playback.
  /// Returns immediately if the calling task is cancelled.
  public func idle() async { await live.reach(.noWork) }

  /// Marks the frames as in use until ``end()``.
  func begin() {
    state.withLock { state in
      state.activeCount += 1
      // Not charged while in use: it cannot be released then.
      if state.activeCount == 1 { resting?.budget.refundAll(of: share) }
    }
  }

  /// Balances ``begin()``. Call it with no lock held.
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

  /// Number of waiters for frame `index`.
  package func waiterCount(for index: Int) -> Int {
    state.withLock { $0.live[index]?.ticket }?.waiterCount ?? 0
  }

  /// A number that identifies a consumer.
  func addUser() -> Int {
    state.withLock { state in
      state.userCount += 1
      return state.userCount
    }
  }

  /// The ticket for frame `index`, whether this call created it, and tickets that were looked at.
  ///
  /// Those may have lost their other holders meanwhile, and releasing the last reference may call the user's
  /// code: callers release them with no lock held.
  func ticket(
    for index: Int, user: Int
  ) -> (ticket: FrameTicket, isNew: Bool, passing: [FrameTicket]) {
    state.withLock { state in
      // A failure may be one of reading, and is not for those who ask again: somebody may still hold it.
      let known = state.live[index]?.ticket
      if let known, !known.isFailed { return (known, false, [FrameTicket]()) }
      let ticket = FrameTicket(index: index, live: live)
      // Loading a weak ticket retains it.
      var passing = known.map { [$0] } ?? []
      if state.live.count > 64 {
        passing += state.live.values.compactMap(\.ticket)
        state.live = state.live.filter { $0.value.ticket != nil }
      }
      state.live[index] = WeakTicket(ticket: ticket)
      state.decodeCount += 1
      lane(for: index, user: user, in: &state).enqueue(ticket)
      return (ticket, true, passing)
    }
  }

  /// Keeps a decoded frame released by a consumer, for consumers slightly behind.
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

  /// The lane that reaches `index` most cheaply: one nearby, else this consumer's own, else a new one, else
  /// the least recently used.
  private func lane(for index: Int, user: Int, in state: inout State) -> DecodeLane {
    let isNear = { (position: Position) in
      let next = position.nextIndex == self.played.count ? 0 : position.nextIndex
      return next <= index && index - next <= 2
    }
    var choice =
      state.positions.lastIndex(where: isNear)
      ?? state.positions.lastIndex { $0.lastUser == user }
    if choice == nil, state.positions.count < Self.maximumPositions {
      let lane = DecodeLane(
        threads: threads, openingThreads: openingThreads, live: live, frames: played,
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

extension SharedFrames {
  /// Frame `index`, which has arrived.
  func control(_ index: Int) -> FrameControl { played[index] }
}

/// The frames that are played: all of an image's, or those of a stream so far.
struct PlayedFrames: Sendable {
  private let fixed: [FrameControl]
  let stream: StreamedImage?

  init(_ frames: [FrameControl]) {
    fixed = frames
    stream = nil
  }

  init(_ stream: StreamedImage) {
    fixed = []
    self.stream = stream
  }

  var all: [FrameControl] { stream?.frames ?? fixed }

  var count: Int { stream?.frameCount ?? fixed.count }

  subscript(index: Int) -> FrameControl { stream?.core.frame(index) ?? fixed[index] }
}

extension SharedFrames: BudgetMember {
  package func shed(_ byteCount: Int) -> Int {
    // Freed after the lock is released. A busy lane completes its frame.
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
    // A busy lane ends its hold on cached frames afterwards.
    for position in dropped.positions { position.lane.rest() }
    withExtendedLifetime(dropped) {}
    return freed
  }
}

/// The charge for shared frames while nobody plays.
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
  /// Where the bitmaps of two frames may differ; everywhere if there is no previous one.
  ///
  /// A bitmap depends only on its frame, not on the playback path, so only the frames between the two can
  /// have drawn or cleared anything.
  func dirtyRect(from previous: Int?, to index: Int) -> PixelRect {
    guard let previous else { return PixelRect(canvasSize) }
    let canvas = PixelRect(sourceSize)
    var dirty = PixelRect.empty
    for frame in min(previous, index)..<max(previous, index) where dirty != canvas {
      dirty = dirty.union(played[frame + 1].rect.intersection(canvas))
      let control = played[frame]
      if control.disposal != .keep { dirty = dirty.union(control.rect.intersection(canvas)) }
    }
    return scaler?.touched(by: dirty) ?? dirty
  }
}

extension AnimatedImage {
  /// The image with the parallelism for playing: one core, unless that may be too slow.
  ///
  /// A scheduler decodes ahead of time anyway, and decoding on several cores takes four more canvases and
  /// wakes threads for every frame. All cores are used from some 40 million pixels per second, a tenth of
  /// one core's throughput for GIF and a third for APNG.
  var preparedForPlaying: AnimatedImage {
    guard options.parallelism == 0, pixelRate < Self.lightPixelRate else { return self }
    var image = self
    image.options.parallelism = 1
    return image
  }

  /// Whether decoding takes little of the playing time, and a canvas little memory.
  var isLightToPlay: Bool {
    pixelRate < Self.lightPixelRate && canvasSize.area <= Self.lightArea
  }

  private static let lightPixelRate = 40_000_000.0
  private static let lightArea = 1 << 20

  /// Pixels decoded per second of playing.
  private var pixelRate: Double {
    frames.reduce(0.0) { $0 + Double($1.rect.size.area) } / (duration() / .seconds(1))
  }
}
