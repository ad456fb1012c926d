/// An image that a loader is receiving.
struct Arrival: Sendable {
  /// The image. The reference is weak, so that the stream is cancelled when nothing waits for the image or plays it any
  /// more.
  weak var image: StreamedImage?
  /// The image's identity in the cache's keys until all bytes of the image are known.
  let provisional: ContentIdentity
  /// The image's identity in the cache's keys once all bytes of the image are known, or nil until then.
  var content: ContentIdentity?
  /// The renditions in which the poster was cached.
  var renditions: Set<Rendition> = []
}

// Loading of images that are shown before all of their bytes have arrived.
extension FrameLoader {
  /// Loads the image named `id` from the byte chunks that `chunks` provides, and shows the image while the chunks
  /// arrive.
  ///
  /// The poster appears after the first frame has arrived, and ``LoadingPhase/playing(_:)`` after the second. For an
  /// image with one frame, the poster is the last phase, and the phases end when the stream ends. Concurrent loads of
  /// the same name share one stream, which is cancelled when nothing waits for the image or plays it any more.
  ///
  /// Until the stream has ended, the image's ``ContentIdentity`` is unknown. The poster is cached under a provisional
  /// identity, and moved to the real identity once all bytes have arrived. A complete image is then cached like any
  /// other image. An incomplete image is not cached, and the next load fetches it again.
  ///
  /// - Parameters:
  ///   - id: The name that identifies the image in later loads.
  ///   - slot: The place where the image is shown. The load cancels the previous load into the same slot.
  ///   - rendering: The size and format of the frames. Default: as decoded.
  ///   - playback: The playback options. Default: nil, which means the loader's options.
  ///   - priority: The priority of the load. Default: nil, which means the priority of the calling task.
  ///   - storage: Where the received bytes are kept. Default: up to 16 MiB in memory, and the rest in a file.
  ///   - chunks: Opens the stream. Before the first frame, errors of this closure or of the stream become
  ///     ``LoadingPhase/failed(_:)``; afterwards, playback continues with the frames that have arrived.
  public nonisolated func phases<Chunks: AsyncSequence & Sendable>(
    for id: some Hashable & Sendable, in slot: LoadSlot? = nil, rendering: Rendering = .init(),
    playback: PlaybackOptions? = nil, priority: TaskPriority? = nil,
    storage: StreamStorage = .init(), chunks: @escaping @Sendable () async throws -> Chunks
  ) -> AsyncStream<LoadingPhase>
  where Chunks.Element: Sequence, Chunks.Element.Element == UInt8 {
    let source = LoadSource.stream { [budget] options in
      try await StreamedImage(
        try await chunks(), options: options, storage: storage, budget: budget)
    }
    let request = Request(
      id: LoadIdentifier(id), source: source, rendering: rendering, priority: priority)
    return phases(of: request, in: slot, playback)
  }

  /// Shows the image that is already being received, or that `opening` begins to receive.
  ///
  /// - Parameters:
  ///   - shown: The image's poster if it is already shown, or nil.
  ///   - reception: Keeps the image until the load has ended, or nil if the load has no slot.
  func show(
    _ request: Request, _ opening: @escaping LoadSource.StreamOpening, after shown: Bitmap?,
    _ playback: PlaybackOptions?, _ reception: LoadReception?,
    _ phases: AsyncStream<LoadingPhase>.Continuation
  ) async throws(AnimatedImageError) {
    if shown == nil { phases.yield(.loading(nil)) }
    let image = try await receive(request, opening)
    reception?.keep(image)
    guard await image.waitForFrame(0) else {
      if Task.isCancelled {
        throw AnimatedImageError(.cancelled, "stopped while waiting for bytes")
      }
      throw image.progress.ending?.error
        ?? AnimatedImageError(.noFrames, "the stream ended before the first frame")
    }
    let shared = SharedFrames(image, rendering: request.rendering)
    let poster = try await shared.frame(at: 0)
    keep(poster, of: request, image)
    if poster.bitmap != shown { phases.yield(.poster(poster.bitmap)) }
    if await image.waitForFrame(1) {
      phases.yield(
        .playing(
          FrameScheduler(sharing: shared, options: playback ?? self.playback, clock: clock)))
    }
  }

  /// Returns the stream that is arriving for the requested name, or opens a new stream. Waits until the canvas is
  /// known.
  private func receive(
    _ request: Request, _ opening: @escaping LoadSource.StreamOpening
  ) async throws(AnimatedImageError) -> StreamedImage {
    let id = request.id
    if let image = arriving(id) { return image }
    return try await streams.value(for: id, priority: request.priority) {
      [self, streams, gate, decoding] (retirement) async throws(AnimatedImageError) in
      // Check again, because another task may have added a stream since the check above.
      if let image = await arriving(id) { return image }
      let place = try await gate.enter(streams.urgency(of: id))
      let image = try await LoadSource.opened(opening, decoding)
      withExtendedLifetime(place) {}
      await register(image, id, unless: retirement)
      return image
    }
  }

  /// Returns the stream of the image named `id`, or nil if there is none or it has failed.
  private func arriving(_ id: LoadIdentifier) -> StreamedImage? {
    guard let image = arrivals[id]?.image else { return nil }
    let ending = image.progress.ending
    return ending == nil || ending == .complete ? image : nil
  }

  private func register(
    _ image: StreamedImage, _ id: LoadIdentifier, unless retirement: CancelFlag
  ) {
    guard !retirement.isRaised else { return }
    var random = SystemRandomNumberGenerator()
    let provisional = ContentIdentity(high: random.next(), low: random.next())
    // Remove streams that are no longer in use. A stream without an identity has not ended yet, and is removed after
    // its end.
    arrivals = arrivals.filter { $0.value.image != nil || $0.value.content == nil }
    arrivals[id] = Arrival(image: image, provisional: provisional)
    // Retain the received bytes, but not the image, because releasing the image must end the stream.
    let core = image.core
    Task { [weak self] in
      _ = await core.reach(.end)
      await self?.settle(id, provisional, core)
    }
  }

  /// Caches the poster, under the provisional identity if the real one is not known yet. Does nothing if the cache may
  /// wait for a disk.
  private func keep(_ poster: CompositedFrame, of request: Request, _ image: StreamedImage) {
    guard !cache.mayBlock, let arrival = arrivals[request.id], arrival.image === image else {
      return
    }
    let rendition = Rendition(request.rendering, of: image.canvasSize, options: decoding)
    let content = arrival.content ?? arrival.provisional
    let key = AnimationKey(content: content, rendition: rendition)[0]
    cache.storeIfPossible(CachedFrame(poster.bitmap, damage: poster.damage), for: key)
    guard arrival.content == nil else { return }
    arrivals[request.id]?.renditions.insert(rendition)
    known.put(
      KnownImage(identity: content, cached: content, canvasSize: image.canvasSize), for: request.id)
  }

  /// Keeps the image of a complete stream under the image's identity, and discards the image of an incomplete stream.
  private func settle(
    _ id: LoadIdentifier, _ provisional: ContentIdentity, _ core: StreamCore
  ) async {
    var opened: AnimatedImage?
    var cached: ContentIdentity?
    if core.ending == .complete, let image = core.settled {
      opened = try? await LoadSource.identified(image, budget)
      if let opened { cached = await identity(of: opened) }
    }
    // If another stream of the same name has replaced this one meanwhile, only the provisional entries are removed.
    known.remove(id, ifIdentityIs: provisional)
    defer {
      // A cache that may wait for a disk has no provisional entries.
      if !cache.mayBlock { cache.remove(provisional) }
    }
    guard let arrival = arrivals[id], arrival.provisional == provisional else { return }
    if let opened, let cached, let identity = opened.state.identity {
      for rendition in arrival.renditions {
        let old = AnimationKey(content: provisional, rendition: rendition)[0]
        guard let poster = cache.frame(for: old) else { continue }
        cache.storeIfPossible(poster, for: AnimationKey(content: cached, rendition: rendition)[0])
      }
      // The shelf charges the image's bytes to the budget from now on.
      core.refund()
      shelf.put(opened, for: id)
      known.put(
        KnownImage(identity: identity, cached: cached, canvasSize: opened.canvasSize), for: id)
      arrivals[id]?.content = cached
    } else {
      arrivals[id] = nil
    }
  }
}
