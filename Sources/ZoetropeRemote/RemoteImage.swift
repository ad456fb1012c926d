/// An animation decoded from byte ranges that are read on demand, for example by HTTP range requests, from object
/// storage or from an archive.
///
/// Decoding a frame reads the bytes of that frame and of the frames that it depends on, back to the last independent
/// frame.
///
/// ```swift
/// let image = try await RemoteImage(reading: remote, index: index)
/// let bitmap = try await image.bitmap(at: 500)
/// for try await frame in FrameScheduler(image).play() { show(frame.bitmap) }
/// ```
///
/// **Index.** With the file's ``ImageIndex``, opening reads nothing. Without an index, opening reads the file's
/// structure: the chunk headers of a PNG, or every byte of a GIF, where the length of each block of at most 255 bytes
/// determines where the next block begins.
///
/// **Reads.** The bytes that a frame needs are fetched before the frame is decoded, so no decode thread waits for them.
/// Up to ``RemoteOptions/byteLimit`` bytes are kept in memory; they are charged to ``MemoryBudget/shared`` and dropped
/// when the budget needs memory. Each decoding position reads at most 16 ranges at a time. Concurrent requests for the
/// same bytes share one read, which is cancelled once all of these requests are cancelled. If frames are requested in
/// order, the bytes that follow them are prefetched. If a frame needs many bytes, they are fetched and decoded in
/// stretches of up to 4 MiB, or of one frame if that is larger. A read that fails, or returns the wrong number of
/// bytes, throws an error that states the range; the next request for these bytes tries again.
///
/// Frames are cached only if ``SharedFrames`` is given the file's identity, because computing the identity would read
/// the whole file. A remote image is safe to use from any thread.
public final class RemoteImage: AnimationSource {
  let image: AnimatedImage
  let fetcher: RangeFetcher
  let remoteOptions: RemoteOptions
  private let isForeign: Bool

  /// Opens the file whose bytes `reader` reads.
  ///
  /// - Parameters:
  ///   - reader: Reads the bytes.
  ///   - index: The file's index, if it was stored. Default: nil, in which case opening reads the file's structure. If
  ///     any frame of an indexed file exceeds the limits of `options`, opening throws. Without the index, the frames
  ///     before a later frame that is too large would be kept.
  ///   - options: The decoding options. They have the same effect as for a local file, except that each reading
  ///     position decodes on one thread. Default: `DecodingOptions()`.
  ///   - remoteOptions: The options for reading and keeping bytes. Default: `RemoteOptions()`.
  /// - Throws: The errors of `AnimatedImage(contentsOf:)`; `invalidImageIndex` if the index belongs to a file of a
  ///   different size; errors of the reader, wrapped as `io` unless they are an ``AnimatedImageError`` with another
  ///   code than `cancelled`; `cancelled`, never `CancellationError`, as soon as the task is cancelled.
  public convenience init(
    reading reader: some ByteRangeReading, index: ImageIndex? = nil,
    options: DecodingOptions = .init(), remoteOptions: RemoteOptions = .init()
  ) async throws(AnimatedImageError) {
    try await self.init(
      reading: reader, index: index, options: options, remoteOptions: remoteOptions,
      budget: .shared)
  }

  /// Opens the file whose bytes `reader` reads.
  ///
  /// - Parameter budget: The budget for cached bytes and canvases.
  init(
    reading reader: some ByteRangeReading, index: ImageIndex? = nil,
    options: DecodingOptions = .init(), remoteOptions: RemoteOptions = .init(),
    budget: MemoryBudget
  ) async throws(AnimatedImageError) {
    let cache = ByteRangeCache(byteLimit: remoteOptions.byteLimit)
    let memory = RemoteMemory(cache, budget: budget)
    let fetcher = RangeFetcher(reader, cache: cache) { memory.note($0) }
    // This bound keeps sums of offsets from overflowing.
    guard fetcher.byteCount <= 1 << 56 else {
      throw AnimatedImageError(.parameter, "a file of \(fetcher.byteCount) bytes is too large")
    }
    let image: AnimatedImage
    if let index {
      guard index.byteCount == fetcher.byteCount else {
        throw AnimatedImageError(
          .invalidImageIndex,
          "the index is for a file of \(index.byteCount) bytes, but this file has \(fetcher.byteCount)",
          format: index.format)
      }
      try index.check(options.limits)
      try index.scan.checkLiveBytes(header: index.header, options: options)
      image = try AnimatedImage(
        settled: index.scan, scannedAs: index.format, source: FetchedSource(fetcher),
        options: options)
    } else {
      let scan = try await RemoteScan(
        fetcher: fetcher, smallestSkip: remoteOptions.gapByteLimit,
        readAhead: remoteOptions.readAheadByteCount > 0 ? remoteOptions.byteLimit / 2 : 0
      ).scan(options.limits)
      image = try await Self.settle(scan, fetcher, options)
    }
    let charged = image.charged(to: budget)
    self.image = charged
    self.fetcher = fetcher
    self.remoteOptions = remoteOptions
    isForeign = index != nil
  }

  /// Returns the image that `scan` describes, after fetching and decoding the last frame if it is truncated.
  private static func settle(
    _ scan: ScannedImage, _ fetcher: RangeFetcher, _ options: DecodingOptions
  ) async throws(AnimatedImageError) -> AnimatedImage {
    let source = FetchedSource(fetcher)
    guard let cut = scan.cutFrame, let header = scan.header else {
      return try AnimatedImage(scan, source: source, options: options)
    }
    try scan.checkLiveBytes(header: header, options: options)
    source.pin(try await fetcher.bytes(in: cut.byteRange), at: cut.byteRange.lowerBound)
    let image = try await DecodeThreads.loading.valueUnlessCancelled(
      orThrow: AnimatedImageError(.cancelled, "stopped while opening the image")
    ) { _ throws(AnimatedImageError) in
      try AnimatedImage(scan, source: source, options: options)
    }
    source.unpin(outside: 0..<0)
    return image
  }

  // MARK: - Structure

  /// The file's format.
  public var format: AnimationFormat { image.format }
  /// The size of every composited frame.
  public var canvasSize: PixelSize { image.canvasSize }
  /// The total number of plays.
  public var playCount: PlayCount { image.playCount }
  /// The frames in order. There is at least one frame.
  public var frames: [FrameControl] { image.frames }
  /// Comments, text, colour information and other metadata.
  public var metadata: AnimationMetadata { image.metadata }
  /// Damage found in the structure of the file.
  public var damage: [Damage] { image.damage }
  /// The size of the file in bytes.
  public var byteCount: Int { image.byteCount }
  /// The options with which the image was opened.
  public var options: DecodingOptions { image.options }

  /// The index of the file, with which the file can be opened again without reading its structure. Getting the index
  /// reads nothing.
  public var index: ImageIndex { ImageIndex(of: image) }

  /// Statistics of all reads so far, including those made by opening.
  public var statistics: ReadStatistics { fetcher.statistics }

  /// Returns the byte ranges that frame `index` needs if nothing is cached: those of the frame itself and of the frames
  /// that it depends on. The ranges are in ascending order, merged across gaps shorter than
  /// ``RemoteOptions/gapByteLimit``. The result is empty if the frame does not exist.
  ///
  /// The ranges are read in this order, but the number of reads may differ: a range longer than 4 MiB is read in
  /// stretches of whole frames, and a gap between two stretches is not read.
  public func byteRanges(forFrame index: Int) -> [Range<Int>] {
    guard frames.indices.contains(index) else { return [] }
    let first = frames[...index].lastIndex { $0.isIndependent } ?? 0
    var ranges: [Range<Int>] = []
    for frame in frames[first...index] {
      ranges.append(frame.byteRange, joiningWithin: remoteOptions.gapByteLimit)
    }
    return ranges
  }

  /// How the frames are read: by fetching the byte ranges that they need.
  public var origin: FrameOrigin {
    FrameOrigin(
      FetchedImage(
        image: image, fetcher: fetcher, remoteOptions: remoteOptions, isForeign: isForeign))
  }
}

/// An image whose bytes are fetched when frames need them.
private struct FetchedImage: ImageOrigin {
  var image: AnimatedImage
  let fetcher: RangeFetcher
  let remoteOptions: RemoteOptions
  let isForeign: Bool

  var format: AnimationFormat { image.format }
  var canvasSize: PixelSize { image.canvasSize }
  var options: DecodingOptions { image.options }
  var frames: [FrameControl] { image.frames }
  var playCount: PlayCount { image.playCount }
  var isFetched: Bool { true }
  var state: ReadingState {
    get { image.state }
    set { image.state = newValue }
  }

  func makeReader(for role: ReaderRole) -> any FrameReading {
    FetchedReader(image, fetcher: fetcher, options: remoteOptions, isForeign: isForeign)
  }

  /// Returns the identity that the caller provided, or nil if there is none, because computing it would read the whole
  /// file. Also returns nil if `cache` may block: it is then a store, which has identities of its own.
  func identity(in cache: any FrameCaching, isCancelled: () -> Bool) -> ContentIdentity? {
    cache.mayBlock ? nil : state.identity
  }
}
