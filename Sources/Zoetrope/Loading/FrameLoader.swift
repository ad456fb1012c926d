internal import Synchronization
public import SystemPackage

/// Loads pictures by name and shows them in phases: loading, poster, playing, or failed.
///
/// ```swift
/// let phases = FrameLoader.shared.phases(for: url, in: slot) { _ in try await fetch(url) }
/// for await phase in phases { show(phase) }
/// ```
///
/// The cache is asked first: what was shown before shows again at once, without a loading phase.
/// Concurrent loads of the same name share one fetch, at the highest of their priorities. Fetching and
/// opening is done for `maxConcurrentLoads` names at a time, decoding on the library's own threads.
///
/// **Cancelling.** Leaving the loop, cancelling its task, or a new load into the same ``LoadSlot``
/// ends the phases without a failure. The fetch is cancelled when nobody waits for it any more; work
/// stops between frames and between rows of scaling.
public actor FrameLoader {
  /// The loader of this process, on ``MemoryFrameCache/shared``.
  public static let shared = FrameLoader()

  /// Fetches the bytes of a picture. Calls `progress` with numbers from 0 to 1, or not at all.
  public typealias Fetch =
    @Sendable (_ progress: @escaping @Sendable (Double) -> Void) async throws -> [UInt8]

  /// What is loaded, and how.
  private struct Request: Sendable {
    let id: LoadIdentifier
    let source: LoadSource
    let rendering: Rendering
    let priority: TaskPriority?
  }

  private let cache: any FrameCaching
  private let budget: MemoryBudget
  private let decoding: DecodingOptions
  private let playback: PlaybackOptions
  private let clock: any Clock<Duration>
  private let gate: LoadGate
  private let shelf: ImageShelf
  private let progress = LoadProgress()
  private let loads = FrameCoalescer<LoadIdentifier, AnimatedImage>()
  /// The identity and size of images last opened, for posters of those no longer on the shelf.
  private var known: [LoadIdentifier: (identity: ContentIdentity, canvasSize: PixelSize)] = [:]

  /// Creates a loader.
  ///
  /// - Parameters:
  ///   - cache: where rendered frames are looked up and kept, under the ``ContentIdentity`` of their
  ///     image: a loader reads each image whole when it opens it.
  ///   - budget: what canvases and compressed bytes are charged to.
  ///   - maxConcurrentLoads: concurrent fetches, at least 1. Default: 4, since loads wait for the network
  ///     or the disk most of the time.
  ///   - decoding: how images are opened.
  ///   - playback: how animations are played, unless a load says otherwise.
  ///   - clock: where players take time from. Default: the system's clock.
  public init(
    cache: any FrameCaching = MemoryFrameCache.shared, budget: MemoryBudget = .shared,
    maxConcurrentLoads: Int = 4, decoding: DecodingOptions = .init(),
    playback: PlaybackOptions = .init(), clock: some Clock<Duration> = ContinuousClock()
  ) {
    self.cache = cache
    self.budget = budget
    self.decoding = decoding
    self.playback = playback
    self.clock = clock
    gate = LoadGate(limit: maxConcurrentLoads)
    shelf = ImageShelf(budget: budget)
  }

  // MARK: Phases

  /// Loads the picture called `id` from what `data` fetches.
  ///
  /// `data` is called when the picture is not available, once for all who ask at the same time. What it
  /// throws becomes ``LoadingPhase/failed(_:)`` and is not kept: the next load tries again.
  ///
  /// - Parameters:
  ///   - id: its name, by which it is known again.
  ///   - slot: where it is shown; a load into the same slot before this one is cancelled.
  ///   - rendering: the size and format of its frames. Default: as decoded.
  ///   - playback: how it is played. Default: nil, as the loader plays.
  ///   - priority: how urgent it is. Default: nil, as the calling task.
  ///   - data: fetches the bytes.
  public nonisolated func phases(
    for id: some Hashable & Sendable, in slot: LoadSlot? = nil, rendering: Rendering = .init(),
    playback: PlaybackOptions? = nil, priority: TaskPriority? = nil, data: @escaping Fetch
  ) -> AsyncStream<LoadingPhase> {
    let request = Request(
      id: LoadIdentifier(id), source: .data(data), rendering: rendering, priority: priority)
    return phases(of: request, in: slot, playback)
  }

  /// Loads the file at `path`, which is its name. A file that was rewritten is opened again.
  ///
  /// Parameters are as in ``phases(for:in:rendering:playback:priority:data:)``.
  public nonisolated func phases(
    forFileAt path: FilePath, in slot: LoadSlot? = nil, rendering: Rendering = .init(),
    playback: PlaybackOptions? = nil, priority: TaskPriority? = nil
  ) -> AsyncStream<LoadingPhase> {
    let request = Request(
      id: LoadIdentifier(path), source: .file(path), rendering: rendering, priority: priority)
    return phases(of: request, in: slot, playback)
  }

  // MARK: One picture

  /// The first frame of the picture called `id`, from the cache or from what `data` fetches.
  ///
  /// - Parameters:
  ///   - id: its name, by which it is known again.
  ///   - rendering: its size and format. Default: as decoded.
  ///   - priority: how urgent it is. Default: nil, as the calling task.
  ///   - data: fetches the bytes.
  /// - Throws: what `data` throws (`io`, unless it is an ``AnimatedImageError``), what opening and
  ///   decoding throw, and `cancelled`, never `CancellationError`, when the task is cancelled.
  public func bitmap(
    for id: some Hashable & Sendable, rendering: Rendering = .init(),
    priority: TaskPriority? = nil, data: @escaping Fetch
  ) async throws(AnimatedImageError) -> Bitmap {
    try await poster(
      of: Request(
        id: LoadIdentifier(id), source: .data(data), rendering: rendering, priority: priority))
  }

  /// The first frame of the file at `path`, as ``bitmap(for:rendering:priority:data:)``.
  public func bitmap(
    forFileAt path: FilePath, rendering: Rendering = .init(), priority: TaskPriority? = nil
  ) async throws(AnimatedImageError) -> Bitmap {
    try await poster(
      of: Request(
        id: LoadIdentifier(path), source: .file(path), rendering: rendering, priority: priority))
  }

  /// Loads the picture called `id` ahead of time: opens it and puts its first frame into the cache.
  ///
  /// Returns at once and ignores failures. A load that asks for the same name meanwhile joins this one
  /// and raises its priority.
  ///
  /// - Parameters:
  ///   - id: its name.
  ///   - slot: cancels it, and is cancelled by the next load into it; nil, the default, cannot be.
  ///   - rendering: the size and format in which it will be shown.
  ///   - priority: Default: `.low`.
  ///   - data: fetches the bytes.
  public nonisolated func prefetch(
    for id: some Hashable & Sendable, in slot: LoadSlot? = nil, rendering: Rendering = .init(),
    priority: TaskPriority = .low, data: @escaping Fetch
  ) {
    prefetch(
      Request(
        id: LoadIdentifier(id), source: .data(data), rendering: rendering, priority: priority),
      in: slot)
  }

  /// Loads the file at `path` ahead of time, as ``prefetch(for:in:rendering:priority:data:)``.
  public nonisolated func prefetch(
    forFileAt path: FilePath, in slot: LoadSlot? = nil, rendering: Rendering = .init(),
    priority: TaskPriority = .low
  ) {
    prefetch(
      Request(
        id: LoadIdentifier(path), source: .file(path), rendering: rendering, priority: priority),
      in: slot)
  }

  /// Names that are being fetched and opened.
  package nonisolated var loadCount: Int { loads.count }

  /// Forgets the image called `id`: the next load fetches it again. Its cached frames stay, and are
  /// found again if its bytes are the same.
  public func forget(_ id: some Hashable & Sendable) {
    let id = LoadIdentifier(id)
    shelf.remove(id)
    known[id] = nil
  }

  // MARK: Loading

  private nonisolated func phases(
    of request: Request, in slot: LoadSlot?, _ playback: PlaybackOptions?
  ) -> AsyncStream<LoadingPhase> {
    let (stream, continuation) = AsyncStream.makeStream(of: LoadingPhase.self)
    let task = Task(priority: request.priority) {
      do throws(AnimatedImageError) {
        try await load(request, playback, continuation)
      } catch {
        if error.code != .cancelled { continuation.yield(.failed(error)) }
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    slot?.replace(with: task)
    return stream
  }

  private nonisolated func prefetch(_ request: Request, in slot: LoadSlot?) {
    let task = Task(priority: request.priority) {
      do throws(AnimatedImageError) { _ = try await poster(of: request) } catch {}
    }
    slot?.replace(with: task)
  }

  private func load(
    _ request: Request, _ playback: PlaybackOptions?,
    _ phases: AsyncStream<LoadingPhase>.Continuation
  ) async throws(AnimatedImageError) {
    let shown = await knownPoster(of: request)
    if let shown { phases.yield(.poster(shown.bitmap)) }
    let image = try await open(request, shown == nil ? phases : nil)
    let shared = SharedFrames(image, rendering: request.rendering, cache: cache)
    if shown == nil || shown?.identity != image.access.identity {
      phases.yield(.poster(try await shared.frame(at: 0).bitmap))
    }
    if image.frames.count > 1 {
      phases.yield(
        .playing(
          FrameScheduler(sharing: shared, options: playback ?? self.playback, clock: clock)))
    }
  }

  private func poster(of request: Request) async throws(AnimatedImageError) -> Bitmap {
    if let known = await knownPoster(of: request) { return known.bitmap }
    let image = try await open(request, nil)
    let shared = SharedFrames(image, rendering: request.rendering, cache: cache)
    return try await shared.frame(at: 0).bitmap
  }

  /// The poster in the cache, unless its file was rewritten.
  private func knownPoster(
    of request: Request
  ) async -> (bitmap: Bitmap, identity: ContentIdentity)? {
    // A lookup that may wait for a disk is not for this actor.
    guard !cache.mayBlock, let known = known[request.id],
      await request.source.isCurrent(known.identity)
    else {
      return nil
    }
    let rendition = Rendition(request.rendering, of: known.canvasSize, options: decoding)
    let key = AnimationKey(content: known.identity, rendition: rendition)[0]
    return cache.bitmap(for: key).map { ($0, known.identity) }
  }

  /// The image from the shelf, or from a load shared with all who ask for it now, whose progress is
  /// reported to `phases`.
  private func open(
    _ request: Request, _ phases: AsyncStream<LoadingPhase>.Continuation?
  ) async throws(AnimatedImageError) -> AnimatedImage {
    let (id, source) = (request.id, request.source)
    if let image = await shelvedImage(id, source) { return image }
    phases?.yield(.loading(nil))
    let watcher = phases.map { progress.watch(id, $0) }
    defer { if let watcher { progress.stopWatching(id, watcher) } }
    let image = try await loads.value(for: id, priority: request.priority) {
      [self, loads, gate, progress, shelf, decoding, budget]
      () async throws(AnimatedImageError) in
      // Looked up again here, and shelved before the run ends: whoever asks between two runs of one
      // name would fetch once more otherwise.
      if let image = await shelvedImage(id, source) { return image }
      let urgency = loads.urgency(of: id)
      let image = try await gate.run(urgency) { () async throws(AnimatedImageError) in
        try await source.open(options: decoding, budget: budget) { progress.report($0, of: id) }
      }
      shelf.put(image, for: id)
      return image
    }
    // Emptied when full: that loses only the posters of images that are not on the shelf either.
    if known.count >= 1024 { known.removeAll(keepingCapacity: true) }
    if let identity = image.access.identity { known[id] = (identity, image.canvasSize) }
    return image
  }

  /// The image on the shelf, unless its file was rewritten.
  private nonisolated func shelvedImage(
    _ id: LoadIdentifier, _ source: LoadSource
  ) async -> AnimatedImage? {
    guard let image = shelf.image(for: id), let identity = image.access.identity,
      await source.isCurrent(identity)
    else { return nil }
    return image
  }
}

/// The state of a load, from ``FrameLoader``.
///
/// An enum, unlike the library's other sets of states: a view draws each of the four phases and takes
/// its value, so a `switch` over all of them is the natural use, and a fifth would have to be drawn too.
public enum LoadingPhase: Sendable {
  /// The bytes are being fetched; from 0 to 1, nil while the progress is unknown.
  case loading(Double?)
  /// The first frame. Comes once, or twice when fetched bytes turn out to have changed since a cached
  /// one was shown. (A file is checked before its cached poster is shown.)
  case poster(Bitmap)
  /// The image is an animation and ready to play: take its ``FrameScheduler/frames()``. The last
  /// phase of a successful load; a still picture ends with its poster.
  case playing(FrameScheduler)
  /// The load failed: the last phase. A load that is cancelled ends without it.
  case failed(AnimatedImageError)
}

/// A place where one picture at a time is shown, such as a view.
///
/// Give it to ``FrameLoader/phases(for:in:rendering:playback:priority:data:)``: the next load into the same slot
/// cancels the one before, whose phases then end.
public final class LoadSlot: Sendable {
  private let current = Mutex<Task<Void, Never>?>(nil)

  /// An empty slot.
  public init() {}

  /// Cancels what is being loaded into the slot, if anything.
  public func cancel() { replace(with: nil) }

  package func replace(with task: Task<Void, Never>?) {
    let old = current.withLock { current in
      let old = current
      current = task
      return old
    }
    old?.cancel()
  }
}
