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
/// Loads of the same name at the same time share one fetch. Fetching and opening is done for
/// `maxConcurrentLoads` names at a time, decoding on threads of the library's own.
///
/// **Cancelling.** Leaving the loop, cancelling its task, or a new load into the same ``LoadSlot``
/// ends the phases without a failure. The fetch is cancelled when nobody waits for it any more; work
/// stops between frames and between rows of scaling.
public actor FrameLoader {
  /// The loader of this process, on ``MemoryFrameCache/shared``.
  public static let shared = FrameLoader()

  private let cache: any FrameCaching
  private let budget: MemoryBudget
  private let decoding: DecodingOptions
  private let playback: PlaybackOptions
  private let gate: LoadGate
  private let shelf: ImageShelf
  private let progress = LoadProgress()
  private let loads = FrameCoalescer<LoadIdentifier, AnimatedImage>()
  /// What images were when they were last opened, for posters of those no longer on the shelf.
  private var known: [LoadIdentifier: (identity: ContentIdentity, canvasSize: PixelSize)] = [:]

  /// A loader.
  ///
  /// - Parameters:
  ///   - cache: where rendered frames are looked for and kept.
  ///   - budget: what canvases and compressed bytes are charged to.
  ///   - maxConcurrentLoads: fetches under way at one time, at least 1. Default: 4, since loads wait
  ///     for the network or the disk most of the time.
  ///   - decoding: how images are opened.
  ///   - playback: how animations are played.
  public init(
    cache: any FrameCaching = MemoryFrameCache.shared, budget: MemoryBudget = .shared,
    maxConcurrentLoads: Int = 4, decoding: DecodingOptions = .init(),
    playback: PlaybackOptions = .init()
  ) {
    self.cache = cache
    self.budget = budget
    self.decoding = decoding
    self.playback = playback
    gate = LoadGate(limit: maxConcurrentLoads)
    shelf = ImageShelf(budget: budget)
  }

  /// Loads the picture called `id` from what `data` fetches.
  ///
  /// `data` is called when the picture is not at hand, once for all who ask at the same time; it is
  /// given a function to tell its progress with, from 0 to 1, and may ignore it. What it throws
  /// becomes ``LoadingPhase/failed(_:)`` and is not kept: the next load tries again.
  ///
  /// - Parameters:
  ///   - id: its name, by which it is known again.
  ///   - slot: where it is shown; a load into the same slot before this one is cancelled.
  ///   - rendering: how frames come out. Default: as they are.
  ///   - data: fetches the bytes.
  public nonisolated func phases(
    for id: some Hashable & Sendable, in slot: LoadSlot? = nil, rendering: Rendering = .init(),
    data:
      @escaping @Sendable (_ progress: @escaping @Sendable (Double) -> Void) async throws -> [UInt8]
  ) -> AsyncStream<LoadingPhase> {
    start(LoadIdentifier(id), in: slot, rendering, .data(data))
  }

  /// Loads the file at `path`, which is its name. A file written anew since is opened anew.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - slot: where it is shown; a load into the same slot before this one is cancelled.
  ///   - rendering: how frames come out. Default: as they are.
  public nonisolated func phases(
    forFileAt path: FilePath, in slot: LoadSlot? = nil, rendering: Rendering = .init()
  ) -> AsyncStream<LoadingPhase> {
    start(LoadIdentifier(path), in: slot, rendering, .file(path))
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

  private nonisolated func start(
    _ id: LoadIdentifier, in slot: LoadSlot?, _ rendering: Rendering, _ source: LoadSource
  ) -> AsyncStream<LoadingPhase> {
    let (stream, continuation) = AsyncStream.makeStream(of: LoadingPhase.self)
    let task = Task {
      do throws(AnimatedImageError) {
        try await load(id, rendering, source, continuation)
      } catch {
        if error.code != .cancelled { continuation.yield(.failed(error)) }
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    slot?.replace(with: task)
    return stream
  }

  private func load(
    _ id: LoadIdentifier, _ rendering: Rendering, _ source: LoadSource,
    _ phases: AsyncStream<LoadingPhase>.Continuation
  ) async throws(AnimatedImageError) {
    let shown = await showKnownPoster(id, rendering, source, phases)
    let image = try await open(id, source, isSilent: shown != nil, phases)
    let shared = SharedFrames(image, rendering: rendering, cache: cache, keeping: 2)
    if shown != image.access.identity {
      phases.yield(.poster(try await shared.frame(at: 0).bitmap))
    }
    if image.frames.count > 1 {
      let clock = ContinuousClock()
      phases.yield(.playing(FrameScheduler(sharing: shared, options: playback, clock: clock)))
    }
  }

  /// Shows the poster if the cache has it and no file was written anew; gives the identity of what was
  /// shown.
  private func showKnownPoster(
    _ id: LoadIdentifier, _ rendering: Rendering, _ source: LoadSource,
    _ phases: AsyncStream<LoadingPhase>.Continuation
  ) async -> ContentIdentity? {
    guard let known = known[id], await source.isCurrent(known.identity) else { return nil }
    let rendition = Rendition(rendering, of: known.canvasSize, options: decoding)
    let key = AnimationKey(content: known.identity, rendition: rendition)[0]
    guard let bitmap = cache.bitmap(for: key) else { return nil }
    phases.yield(.poster(bitmap))
    return known.identity
  }

  /// The image from the shelf, or from a load that is shared with all who ask for it now.
  private func open(
    _ id: LoadIdentifier, _ source: LoadSource, isSilent: Bool,
    _ phases: AsyncStream<LoadingPhase>.Continuation
  ) async throws(AnimatedImageError) -> AnimatedImage {
    if let image = await shelvedImage(id, source) { return image }
    var watcher: Int?
    if !isSilent {
      phases.yield(.loading(nil))
      watcher = progress.watch(id, phases)
    }
    defer { if let watcher { progress.stopWatching(id, watcher) } }
    let image = try await loads.value(for: id) {
      [self, gate, progress, shelf, decoding, budget] () async throws(AnimatedImageError) in
      // Looked up again, and put there before the run ends: who asks between two runs of one name
      // would fetch once more otherwise.
      if let image = await shelvedImage(id, source) { return image }
      let image = try await gate.run { () async throws(AnimatedImageError) in
        try await source.open(options: decoding, budget: budget) { progress.report($0, of: id) }
      }
      shelf.put(image, for: id)
      return image
    }
    // Emptied when full: what is lost is the poster of an image that is not on the shelf either.
    if known.count >= 1024 { known.removeAll(keepingCapacity: true) }
    if let identity = image.access.identity { known[id] = (identity, image.canvasSize) }
    return image
  }

  /// The image that was opened before, unless its file was written anew since.
  private nonisolated func shelvedImage(
    _ id: LoadIdentifier, _ source: LoadSource
  ) async -> AnimatedImage? {
    guard let image = shelf.image(for: id), let identity = image.access.identity,
      await source.isCurrent(identity)
    else { return nil }
    return image
  }
}

/// How far a load is, from ``FrameLoader``.
public enum LoadingPhase: Sendable {
  /// The bytes are being fetched; from 0 to 1, nil while nothing is known.
  case loading(Double?)
  /// The first frame. Comes once; twice when fetched bytes turn out to have changed since a cached one
  /// was shown. (A file is looked at before its cached poster is shown.)
  case poster(Bitmap)
  /// The image is an animation and ready to play: take its ``FrameScheduler/frames()``. The last
  /// phase of a load that succeeds; a still picture ends with its poster.
  case playing(FrameScheduler<ContinuousClock>)
  /// The load ended with an error: the last phase. A load that is cancelled ends without it.
  case failed(AnimatedImageError)
}

/// A place where one picture at a time is shown, such as a view.
///
/// Give it to ``FrameLoader/phases(for:in:rendering:data:)``: the next load into the same slot
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
