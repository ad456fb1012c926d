internal import Synchronization

/// An animation that is decoded from byte ranges, read as frames need them: a file behind HTTP range requests, in
/// object storage, in an archive.
///
/// A frame costs the bytes of it and of the frames it depends on, from the last one that needs no other.
///
/// ```swift
/// let image = try await RemoteImage(reading: remote, index: index)
/// let bitmap = try await image.bitmap(at: 500)
/// for try await frame in FrameScheduler(image).frames() { show(frame.bitmap) }
/// ```
///
/// **Index.** With the file's ``ImageIndex``, opening reads nothing. Without one, opening reads the file's
/// structure: of a PNG its chunk headers, of a GIF every byte, because only the length of each block of at most
/// 255 bytes says where the next one begins.
///
/// **Reads.** Bytes are fetched first and decoded when they are here, so no decode thread waits for them. What was
/// read is kept up to ``RemoteOptions/cacheByteLimit``, charged to ``MemoryBudget/shared`` and dropped on demand;
/// at most 16 ranges are read at a time for each position. Concurrent requests for the same bytes share one read,
/// which is cancelled with the last of them. Frames taken in order are read ahead. A long way to a frame is
/// fetched and decoded in stretches of 4 MiB. A read that fails, or returns more or fewer bytes than asked for,
/// throws an error that names its range; the next request tries again.
///
/// Frames are not cached between images: a cache knows an image by all of its bytes. Safe to use from any thread.
public final class RemoteImage: Sendable {
  let image: AnimatedImage
  let fetcher: RangeFetcher
  let remoteOptions: RemoteOptions
  private let isForeign: Bool
  let frameSource: SharedFrames
  /// The numbers of the calls that wait for a frame.
  private let users = Mutex<Set<Int>>([])

  /// Opens the file behind `reader`.
  ///
  /// - Parameters:
  ///   - reader: reads the bytes.
  ///   - index: the file's index, if it was stored. Default: nil, the structure is read now.
  ///   - options: as for a whole file, except that each position decodes on one thread.
  ///   - remoteOptions: how bytes are read and kept.
  /// - Throws: the errors of `AnimatedImage(contentsOf:)`; `invalidIndex` if the index is of a file of another
  ///   size; what the reader throws, as `io` unless it is an ``AnimatedImageError``; `cancelled`, never
  ///   `CancellationError`, as soon as the task is cancelled.
  public convenience init(
    reading reader: some ByteRangeReading, index: ImageIndex? = nil,
    options: DecodingOptions = .init(), remoteOptions: RemoteOptions = .init()
  ) async throws(AnimatedImageError) {
    try await self.init(
      reading: reader, index: index, options: options, remoteOptions: remoteOptions,
      budget: .shared)
  }

  /// - Parameter budget: What the bytes kept, and canvases, are charged to.
  init(
    reading reader: some ByteRangeReading, index: ImageIndex? = nil,
    options: DecodingOptions = .init(), remoteOptions: RemoteOptions = .init(),
    budget: MemoryBudget
  ) async throws(AnimatedImageError) {
    let cache = ByteRangeCache(byteLimit: remoteOptions.cacheByteLimit)
    let memory = RemoteMemory(cache, budget: budget)
    let fetcher = RangeFetcher(reader, cache: cache) { memory.note($0) }
    // So that sums of offsets cannot overflow.
    guard fetcher.byteCount <= 1 << 56 else {
      throw AnimatedImageError(.parameter, "a file of \(fetcher.byteCount) bytes")
    }
    let image: AnimatedImage
    if let index {
      guard index.byteCount == fetcher.byteCount else {
        throw AnimatedImageError(
          .invalidIndex,
          "the index is of \(index.byteCount) bytes, the file has \(fetcher.byteCount)",
          format: index.format)
      }
      try index.check(options.limits)
      try index.scan.checkLiveBytes(header: index.header, options: options)
      image = try AnimatedImage(
        settled: index.scan, scannedAs: index.format, source: FetchedSource(fetcher),
        options: options)
    } else {
      let scan = try await RemoteScan(
        fetcher: fetcher, smallestSkip: remoteOptions.requestCost,
        readAhead: remoteOptions.readAhead > 0 ? remoteOptions.cacheByteLimit / 2 : 0
      ).scan(options.limits)
      image = try await Self.settle(scan, fetcher, options)
    }
    let charged = image.charged(to: budget)
    self.image = charged
    self.fetcher = fetcher
    self.remoteOptions = remoteOptions
    isForeign = index != nil
    frameSource = SharedFrames(
      remote: charged, fetcher, remoteOptions, isForeign: index != nil, rendering: .init(),
      keeping: 0
    )
  }

  /// The image that `scan` describes, after a truncated last frame was fetched and decoded.
  private static func settle(
    _ scan: ScannedImage, _ fetcher: RangeFetcher, _ options: DecodingOptions
  ) async throws(AnimatedImageError) -> AnimatedImage {
    let source = FetchedSource(fetcher)
    guard let cut = scan.cutFrame, let header = scan.header else {
      return try AnimatedImage(scan, source: source, options: options)
    }
    try scan.checkLiveBytes(header: header, options: options)
    source.pin(try await fetcher.bytes(in: cut.byteRange), at: cut.byteRange.lowerBound)
    let opened = await DecodeThreads.loading.resultUnlessCancelled { _ in
      Result { () throws(AnimatedImageError) in
        try AnimatedImage(scan, source: source, options: options)
      }
    }
    guard let opened else { throw AnimatedImageError(.cancelled, "cancelled while opening") }
    source.unpin(outside: 0..<0)
    return try opened.get()
  }

  // MARK: - Structure

  /// The file's format.
  public var format: AnimationFormat { image.format }
  /// The size of every composited frame.
  public var canvasSize: PixelSize { image.canvasSize }
  /// The total number of plays.
  public var playCount: PlayCount { image.playCount }
  /// The frames, in order; at least one.
  public var frames: [FrameControl] { image.frames }
  /// Comments, text, colour information and other metadata.
  public var metadata: AnimationMetadata { image.metadata }
  /// Damage found in the structure of the file.
  public var damage: [Damage] { image.damage }
  /// The size of the file in bytes.
  public var byteCount: Int { image.byteCount }
  /// How the image was opened.
  public var options: DecodingOptions { image.options }

  /// The index of the file, to open it without reading its structure. Reads nothing.
  public var index: ImageIndex { ImageIndex(of: image) }

  /// What was read so far, including what opening read.
  public var statistics: ReadStatistics { fetcher.statistics }

  /// The bytes that frame `index` takes when nothing is kept: those of it and of what it depends on, in ascending
  /// ranges, joined across gaps shorter than ``RemoteOptions/requestCost``. Empty if there is no such frame.
  ///
  /// They are read in this order, but not always in as many reads: a range longer than 4 MiB is read in stretches
  /// of whole frames, and a gap between two stretches is left out.
  public func byteRanges(forFrame index: Int) -> [Range<Int>] {
    guard frames.indices.contains(index) else { return [] }
    let first = frames[...index].lastIndex { $0.isIndependent } ?? 0
    var ranges: [Range<Int>] = []
    for frame in frames[first...index] {
      ranges.append(frame.byteRange, joiningWithin: remoteOptions.requestCost)
    }
    return ranges
  }

  // MARK: - Frames

  /// Returns the bitmap of frame `index`.
  ///
  /// Frames may be requested in any order and concurrently; equal requests are read and decoded once. Decoding runs
  /// on the library's own threads and continues from the previous request or the nearest checkpoint, whose
  /// canvases are charged to ``MemoryBudget/shared``.
  ///
  /// - Parameters:
  ///   - index: the frame, from 0.
  ///   - rendering: its size and format. Default: as decoded.
  /// - Throws: `parameter` if there is no such frame; what the reader throws; `invalidIndex` if the index does not
  ///   fit the file's bytes; the errors of decoding; `cancelled`, never `CancellationError`, as soon as the task is
  ///   cancelled. Reads are then cancelled unless others wait for them.
  public func bitmap(
    at index: Int, rendering: Rendering = .init()
  ) async throws(AnimatedImageError) -> Bitmap {
    guard !Task.isCancelled else {
      throw AnimatedImageError(.cancelled, "cancelled before reading", format: format)
    }
    let options = image.options
    try Rendition(rendering, of: image.canvasSize, options: options).check(options.limits)
    // Calls one after another continue at one position; concurrent ones fetch at several.
    let user = users.withLock { users in
      let user = (1...).first { !users.contains($0) } ?? 1
      users.insert(user)
      return user
    }
    defer { users.withLock { _ = $0.remove(user) } }
    let composited = try await frameSource.frame(at: index, user: user)
    guard rendering != Rendering() else { return composited.bitmap }
    return try await image.onThread(.shared) { (image, flag) throws(AnimatedImageError) in
      var renderer = FrameRenderer(rendering, of: image.canvasSize, options: image.options)
      return try renderer.render(composited) { flag.isRaised }.bitmap
    }
  }

  /// Returns the bitmap shown `time` after the start of the first play; see ``bitmap(at:rendering:)``.
  ///
  /// Times past the last play give the last frame.
  public func bitmap(
    at time: Duration, policy: DelayPolicy = .browser, rendering: Rendering = .init()
  ) async throws(AnimatedImageError) -> Bitmap {
    try await bitmap(at: image.frameIndex(at: time, policy: policy), rendering: rendering)
  }

  /// Frames of this image for players.
  fileprivate func shared(_ rendering: Rendering, keeping: Int) -> SharedFrames {
    SharedFrames(
      remote: image, fetcher, remoteOptions, isForeign: isForeign, rendering: rendering,
      keeping: keeping)
  }
}

extension SharedFrames {
  /// Does not retain the ``RemoteImage``, which has one of its own.
  fileprivate convenience init(
    remote image: AnimatedImage, _ fetcher: RangeFetcher, _ remoteOptions: RemoteOptions,
    isForeign: Bool, rendering: Rendering, keeping: Int
  ) {
    let checkpoints = image.access.checkpoints(of: image)
    let renderer = FrameRenderer(rendering, of: image.canvasSize, options: image.options)
    self.init(
      frames: image.frames, canvasSize: image.canvasSize, scaler: renderer.scaler,
      playCount: image.playCount, keeping: keeping,
      resting: RestingCost(
        in: image.access.budget,
        ofReader: checkpoints.canvasCost + renderer.bitmapCost)
    ) { () throws(AnimatedImageError) in
      try renderer.check()
      return RemoteReader(
        image, fetcher: fetcher, store: checkpoints, options: remoteOptions, isForeign: isForeign,
        rendering: rendering)
    }
  }

  /// Creates the shared frames of a remote image. Reads and decodes nothing yet.
  ///
  /// Frames may be requested in any order. Bytes are read ahead of each decoding position.
  ///
  /// - Parameters:
  ///   - image: the image.
  ///   - rendering: the size and format of the frames. Default: as decoded.
  ///   - keeping: the number of frames kept for consumers slightly behind. Default: 2.
  public static func remote(
    _ image: RemoteImage, rendering: Rendering = .init(), keeping: Int = 2
  ) -> SharedFrames { image.shared(rendering, keeping: keeping) }
}

extension FrameScheduler {
  /// Creates a scheduler for a remote image. Reads and decodes nothing yet.
  ///
  /// Frames are late when their bytes are; ``PlaybackOptions/latePolicy`` says what happens then. Playback fails if
  /// bytes cannot be read.
  ///
  /// - Parameters:
  ///   - image: the image to play.
  ///   - rendering: the size and format of the frames. Default: as decoded.
  ///   - options: how it is played.
  ///   - clock: the clock that frames are timed by. Default: the system's clock.
  public convenience init(
    _ image: RemoteImage, rendering: Rendering = .init(), options: PlaybackOptions = .init(),
    clock: some Clock<Duration> = ContinuousClock()
  ) {
    self.init(
      sharing: .remote(image, rendering: rendering, keeping: 0), options: options, clock: clock)
  }
}
