internal import Synchronization

/// Loads images by name and reports their phases: loading, poster, playing, or failed.
///
/// ```swift
/// let phases = FrameLoader.shared.phases(for: url, in: slot) { _ in try await fetch(url) }
/// for await phase in phases { show(phase) }
/// ```
///
/// The cache is checked first: an image that was shown before appears immediately, without a loading phase. Concurrent
/// loads of the same name share one fetch, at the highest of their priorities. At any time, at most
/// `maxConcurrentLoads` images are being fetched, opened and decoded up to their first frame. Files that together
/// exceed a quarter of the memory budget load one after another. A stream no longer counts towards `maxConcurrentLoads`
/// once the size of its canvas is known. Decoding runs on the library's own threads.
///
/// **Cancelling.** Leaving the loop over the phases, cancelling its task, or starting a new load into the same
/// ``LoadSlot`` ends the phases without a failure. The fetch is cancelled when no load waits for its result any more.
/// Decoding that is cancelled stops after the current frame, and scaling after the current row.
public actor FrameLoader {
  /// The shared loader, which uses ``MemoryFrameCache/shared``.
  public static let shared = FrameLoader()

  /// A function that fetches the bytes of an image. The function may call `progress` with values from 0 to 1.
  public typealias Fetch =
    @Sendable (_ progress: @escaping @Sendable (Double) -> Void) async throws -> [UInt8]

  struct Request: Sendable {
    let id: LoadIdentifier
    let source: LoadSource
    let rendering: Rendering
    let priority: TaskPriority?

    init(id: LoadIdentifier, source: LoadSource, rendering: Rendering, priority: TaskPriority?) {
      self.id = id
      self.source = source
      self.rendering = rendering
      self.priority = priority
    }

    /// Creates a request for a file. The image's name is the path as a `FilePath`, whatever type was passed.
    init(
      fileAt path: some FilePathConvertible, rendering: Rendering, priority: TaskPriority?
    ) {
      let path = path.filePath
      self.init(
        id: LoadIdentifier(path), source: .file(path), rendering: rendering, priority: priority)
    }
  }

  let cache: any FrameCaching
  let budget: MemoryBudget
  let decoding: DecodingOptions
  let playback: PlaybackOptions
  let clock: any Clock<Duration>
  package nonisolated let gate: LoadGate
  let shelf: ImageShelf
  private let progress = LoadProgress()
  private let loads = FrameCoalescer<LoadIdentifier, OpenedImage>()
  /// The identity and size of recently opened images, for the posters of images that are no longer on the shelf.
  let known = KnownImages()
  let streams = FrameCoalescer<LoadIdentifier, StreamedImage>()
  /// The images whose bytes are arriving.
  var arrivals: [LoadIdentifier: Arrival] = [:]

  /// An opened image and its place among the concurrent loads. The place is held until the first frame is decoded,
  /// because an opened image takes memory while it waits to be decoded.
  struct OpenedImage: Sendable {
    let image: AnimatedImage
    let place: LoadPlace?
  }

  /// Creates a loader.
  ///
  /// - Parameters:
  ///   - cache: The cache of rendered frames, keyed by ``ContentIdentity``. To compute this identity, the loader reads
  ///     each image completely when it opens the image. Default: ``MemoryFrameCache/shared``.
  ///   - budget: The budget that canvases and compressed bytes are charged to. Default: ``MemoryBudget/shared``.
  ///   - maxConcurrentLoads: The maximum number of concurrent loads, at least 1. Default: 4.
  ///   - decoding: The options for opening images. Default: `DecodingOptions()`.
  ///   - playback: The playback options, unless a load specifies others. Default: `PlaybackOptions()`.
  ///   - clock: The clock that players use. Default: the system's clock.
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
    gate = LoadGate(limit: maxConcurrentLoads) { budget.byteLimit / 4 }
    shelf = ImageShelf(budget: budget)
  }

  // MARK: Phases

  /// Loads the image named `id` from the bytes that `data` fetches.
  ///
  /// If the image is not available, `data` is called once for all concurrent loads of the name. An error thrown by
  /// `data` becomes ``LoadingPhase/failed(_:)`` and is not cached: the next load tries again.
  ///
  /// - Parameters:
  ///   - id: The name that identifies the image.
  ///   - slot: The place where the image is shown. The load cancels the previous load into the same slot.
  ///   - rendering: The size and format of the frames. Default: as decoded.
  ///   - playback: The playback options. Default: nil, which means the loader's options.
  ///   - priority: The priority of the load. Default: nil, which means the priority of the calling task.
  ///   - data: Fetches the bytes.
  public nonisolated func phases(
    for id: some Hashable & Sendable, in slot: LoadSlot? = nil, rendering: Rendering = .init(),
    playback: PlaybackOptions? = nil, priority: TaskPriority? = nil, data: @escaping Fetch
  ) -> AsyncStream<LoadingPhase> {
    let request = Request(
      id: LoadIdentifier(id), source: .data(data), rendering: rendering, priority: priority)
    return phases(of: request, in: slot, playback)
  }

  /// Loads the file at `path`, which also serves as the image's name. If the file was modified since it was last
  /// loaded, it is opened again.
  ///
  /// The parameters are those of ``phases(for:in:rendering:playback:priority:data:)``.
  public nonisolated func phases(
    forFileAt path: some FilePathConvertible, in slot: LoadSlot? = nil,
    rendering: Rendering = .init(),
    playback: PlaybackOptions? = nil, priority: TaskPriority? = nil
  ) -> AsyncStream<LoadingPhase> {
    let request = Request(
      fileAt: path, rendering: rendering, priority: priority)
    return phases(of: request, in: slot, playback)
  }

  // MARK: One picture

  /// Returns the first frame of the image named `id`, from the cache or from the bytes that `data` fetches.
  ///
  /// - Parameters:
  ///   - id: The name that identifies the image.
  ///   - rendering: The size and format of the bitmap. Default: as decoded.
  ///   - priority: The priority of the load. Default: nil, which means the priority of the calling task.
  ///   - data: Fetches the bytes.
  /// - Throws: Errors of `data` (wrapped as `io` unless they are an ``AnimatedImageError`` with another code than
  ///   `cancelled`), of opening and of decoding; `cancelled`, never `CancellationError`, if the task is cancelled.
  public func bitmap(
    for id: some Hashable & Sendable, rendering: Rendering = .init(),
    priority: TaskPriority? = nil, data: @escaping Fetch
  ) async throws(AnimatedImageError) -> Bitmap {
    try await poster(
      of: Request(
        id: LoadIdentifier(id), source: .data(data), rendering: rendering, priority: priority))
  }

  /// Returns the first frame of the file at `path`. See ``bitmap(for:rendering:priority:data:)``.
  public func bitmap(
    forFileAt path: some FilePathConvertible, rendering: Rendering = .init(),
    priority: TaskPriority? = nil
  ) async throws(AnimatedImageError) -> Bitmap {
    try await poster(
      of: Request(
        fileAt: path, rendering: rendering, priority: priority))
  }

  // MARK: The image

  /// Returns the opened image named `id`, from memory or from the bytes that `data` fetches.
  ///
  /// Use the returned image for its frames, times and metadata, or for `bitmaps()` with a cache.
  ///
  /// The parameters and errors are those of ``bitmap(for:rendering:priority:data:)``, and concurrent loads of the name
  /// share one fetch. No pixels are decoded.
  public func image(
    for id: some Hashable & Sendable, priority: TaskPriority? = nil, data: @escaping Fetch
  ) async throws(AnimatedImageError) -> AnimatedImage {
    try await open(
      Request(id: LoadIdentifier(id), source: .data(data), rendering: .init(), priority: priority),
      nil
    ).image
  }

  /// Opens the file at `path` and returns the image. See ``image(for:priority:data:)``.
  public func image(
    forFileAt path: some FilePathConvertible, priority: TaskPriority? = nil
  ) async throws(AnimatedImageError) -> AnimatedImage {
    try await open(
      Request(
        fileAt: path, rendering: .init(), priority: priority),
      nil
    ).image
  }

  /// Prefetches the image named `id`: opens the image and caches its first frame.
  ///
  /// Returns immediately and ignores failures. A load of the same name joins the prefetch and raises the prefetch's
  /// priority.
  ///
  /// - Parameters:
  ///   - id: The name that identifies the image.
  ///   - slot: The place where the image will be shown. The next load into the slot, or a call of
  ///     ``LoadSlot/cancel()``, cancels the prefetch. Default: nil, which means no slot.
  ///   - rendering: The size and format in which the image will be shown. Default: as decoded.
  ///   - priority: The priority of the load. Default: `.low`.
  ///   - data: Fetches the bytes.
  public nonisolated func prefetch(
    for id: some Hashable & Sendable, in slot: LoadSlot? = nil, rendering: Rendering = .init(),
    priority: TaskPriority = .low, data: @escaping Fetch
  ) {
    prefetch(
      Request(
        id: LoadIdentifier(id), source: .data(data), rendering: rendering, priority: priority),
      in: slot)
  }

  /// Prefetches the file at `path`. See ``prefetch(for:in:rendering:priority:data:)``.
  public nonisolated func prefetch(
    forFileAt path: some FilePathConvertible, in slot: LoadSlot? = nil,
    rendering: Rendering = .init(),
    priority: TaskPriority = .low
  ) {
    prefetch(
      Request(
        fileAt: path, rendering: rendering, priority: priority),
      in: slot)
  }

  /// The number of images being fetched and opened.
  package nonisolated var loadCount: Int { loads.count + streams.count }

  /// Forgets the image named `id`, so that the next load fetches the image again. Loads that are in progress keep their
  /// fetch. The cached frames of the image stay, and are reused if its bytes have not changed.
  public func forget(_ id: some Hashable & Sendable) {
    let id = LoadIdentifier(id)
    loads.retire(id)
    streams.retire(id)
    shelf.remove(id)
    known.remove(id)
    arrivals[id] = nil
  }

  /// Forgets the file at `path`. See ``forget(_:)``.
  public func forget(fileAt path: some FilePathConvertible) { forget(path.filePath) }

  // MARK: Loading

  nonisolated func phases(
    of request: Request, in slot: LoadSlot?, _ playback: PlaybackOptions?
  ) -> AsyncStream<LoadingPhase> {
    let (stream, continuation) = AsyncStream.makeStream(of: LoadingPhase.self)
    let release = holdFetch(of: request, in: slot)
    let reception = slot?.reception(of: request.id)
    let task = Task(priority: request.priority) {
      defer { release() }
      do throws(AnimatedImageError) {
        try await load(request, playback, reception, continuation)
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
    let release = holdFetch(of: request, in: slot)
    let task = Task(priority: request.priority) {
      defer { release() }
      do throws(AnimatedImageError) { _ = try await poster(of: request) } catch {}
    }
    slot?.replace(with: task)
  }

  /// Keeps a fetch in progress of the same name until the returned closure is called. Otherwise, replacing the load in
  /// `slot` would end the fetch before the new load has joined it.
  private nonisolated func holdFetch(
    of request: Request, in slot: LoadSlot?
  ) -> @Sendable () -> Void {
    guard slot != nil else { return {} }
    if case .stream = request.source { return streams.hold(request.id, keepsValue: true) }
    // A fetched image has a place in the gate, for which the new load may have to wait.
    return loads.hold(request.id, keepsValue: false)
  }

  private func load(
    _ request: Request, _ playback: PlaybackOptions?, _ reception: LoadReception?,
    _ phases: AsyncStream<LoadingPhase>.Continuation
  ) async throws(AnimatedImageError) {
    let shown = await knownPoster(of: request)
    if let shown { phases.yield(.poster(shown.bitmap)) }
    if case .stream(let opening) = request.source,
      await shelvedImage(request.id, request.source) == nil
    {
      return try await show(
        request, opening, after: shown?.bitmap, playback, reception, phases)
    }
    let (shared, isAnimation) = try await show(request, shown, phases)
    if isAnimation {
      phases.yield(
        .playing(
          FrameScheduler(sharing: shared, options: playback ?? self.playback, clock: clock)))
    }
  }

  /// Reports the first frame to `phases`, unless `shown` is a poster of the same content. Returns the frames, and
  /// whether there is more than one frame.
  private func show(
    _ request: Request, _ shown: (bitmap: Bitmap, identity: ContentIdentity)?,
    _ phases: AsyncStream<LoadingPhase>.Continuation
  ) async throws(AnimatedImageError) -> (SharedFrames, isAnimation: Bool) {
    let opened = try await open(request, shown == nil ? phases : nil)
    let shared = SharedFrames(opened.image, rendering: request.rendering, cache: cache)
    var isShown = false
    if let shown { isShown = await identity(of: opened.image) == shown.identity }
    if !isShown {
      phases.yield(.poster(try await shared.frame(at: 0).bitmap))
    }
    return withExtendedLifetime(opened) { (shared, opened.image.frames.count > 1) }
  }

  private func poster(of request: Request) async throws(AnimatedImageError) -> Bitmap {
    if let known = await knownPoster(of: request) { return known.bitmap }
    let opened = try await open(request, nil)
    let shared = SharedFrames(opened.image, rendering: request.rendering, cache: cache)
    let bitmap = try await shared.frame(at: 0).bitmap
    return withExtendedLifetime(opened) { bitmap }
  }

  /// Returns the cached poster and the image's identity in the cache's keys, or nil if no poster is cached or the file
  /// was modified.
  ///
  /// A store also has the posters of files that other processes opened.
  private func knownPoster(
    of request: Request
  ) async -> (bitmap: Bitmap, identity: ContentIdentity)? {
    var key: FrameKey?
    if let known = known.image(for: request.id), await request.source.isCurrent(known.identity) {
      let rendition = Rendition(request.rendering, of: known.canvasSize, options: decoding)
      key = AnimationKey(content: known.cached, rendition: rendition)[0]
    }
    guard cache.mayBlock else {
      guard let key, let bitmap = cache.bitmap(for: key) else { return nil }
      return (bitmap, key.animation.content)
    }
    // A lookup that may wait for a disk must not run on this actor.
    return await DecodeThreads.checking.result { [key, cache, decoding] in
      var key = key
      if key == nil, case .file(let path) = request.source {
        key =
          cache.diskStore?.knownKey(
            ofFileAt: path, rendering: request.rendering, options: decoding)?[0]
      }
      guard let key, let bitmap = cache.bitmap(for: key) else { return nil }
      return (bitmap, key.animation.content)
    }
  }

  /// Returns the identity of `image` in the cache's keys, or nil if it cannot be computed.
  nonisolated func identity(of image: AnimatedImage) async -> ContentIdentity? {
    guard cache.mayBlock else { return image.state.identity }
    return try? await image.state.lookupThreads.value { [cache] flag throws(AnimatedImageError) in
      try cache.identity(of: image) { flag.isRaised }
    }
  }

  /// Returns the image from the shelf, or from a shared load whose progress is reported to `phases`.
  private func open(
    _ request: Request, _ phases: AsyncStream<LoadingPhase>.Continuation?
  ) async throws(AnimatedImageError) -> OpenedImage {
    let (id, source) = (request.id, request.source)
    if let image = await shelvedImage(id, source) { return OpenedImage(image: image, place: nil) }
    phases?.yield(.loading(nil))
    let watcher = phases.map { progress.watch(id, $0) }
    defer { if let watcher { progress.stopWatching(id, watcher) } }
    return try await loads.value(for: id, priority: request.priority) {
      [self, loads, gate, progress, shelf, known, decoding, budget, cache]
      (retirement) async throws(AnimatedImageError) in
      // Check the shelf again here, and shelve the image before the run ends: otherwise a load that begins between two
      // runs for the same name would fetch again. This actor may be waiting for the cache meanwhile, so the run does
      // not wait for the actor.
      if let image = await shelvedImage(id, source) {
        return OpenedImage(image: image, place: nil)
      }
      progress.restart(id, by: retirement)
      let place = try await gate.enter(loads.urgency(of: id), byteCount: source.fileByteCount())
      let (image, isComplete) = try await source.open(
        options: decoding, budget: budget, cache: cache
      ) {
        progress.report($0, of: id, by: retirement)
      }
      guard isComplete else { return OpenedImage(image: image, place: place) }
      shelf.put(image, for: id, unless: retirement)
      if let identity = image.state.identity, let cached = await self.identity(of: image) {
        known.put(
          KnownImage(identity: identity, cached: cached, canvasSize: image.canvasSize), for: id,
          unless: retirement)
      }
      return OpenedImage(image: image, place: place)
    }
  }

  /// Returns the image on the shelf, or nil if it is not there or its file was modified.
  private nonisolated func shelvedImage(
    _ id: LoadIdentifier, _ source: LoadSource
  ) async -> AnimatedImage? {
    guard let image = shelf.image(for: id), let identity = image.state.identity,
      await source.isCurrent(identity)
    else { return nil }
    return image
  }
}

/// A phase of a load by ``FrameLoader``.
///
/// This type is an enum, unlike the library's other states, because a view must draw each of the four phases, which
/// makes exhaustive switching the natural use.
public enum LoadingPhase: Sendable {
  /// The bytes are being fetched. The value is the progress from 0 to 1, or nil if the progress is unknown.
  case loading(Double?)
  /// The first frame is available. If the poster came from the cache and the image's bytes have changed since, this
  /// phase is reported again. (Files are checked before their cached poster is shown.)
  case poster(Bitmap)
  /// The image is an animation and ready to play: iterate ``FrameScheduler/play()``. This is the last phase of an
  /// animation; for a still image, the poster is the last phase.
  case playing(FrameScheduler)
  /// The load failed. This is the last phase. A cancelled load ends without this phase.
  case failed(AnimatedImageError)
}
