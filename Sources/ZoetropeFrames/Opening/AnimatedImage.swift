// Re-exported so that callers can create descriptors without depending on SystemPackage themselves.
@_exported public import struct SystemPackage.Errno
@_exported public import struct SystemPackage.FileDescriptor
@_exported public import struct SystemPackage.FilePath

/// An opened GIF or PNG: its frames, play count and metadata. Pixels are decoded on demand.
///
/// A value that may be used from any task. Opening an image scans the structure of the whole file, in time linear in
/// the file's size and memory linear in the number of frames. No pixels are decoded, except those of a truncated last
/// frame, to determine whether that frame is complete. If it is the only frame, its pixels are kept for the first
/// reader and charged like frames decoded ahead.
public struct AnimatedImage: Sendable {
  /// The file's format.
  public var format: AnimationFormat { header.format }
  /// The size of every composited frame.
  public var canvasSize: PixelSize { header.canvasSize }
  /// The total number of plays.
  public let playCount: PlayCount
  /// The loop count as stored: the number of repeats in a GIF, of plays in an APNG; nil if the file stores none.
  public let storedLoopCount: UInt32?
  /// The frames, in order; at least one.
  public internal(set) var frames: [FrameControl]
  /// Comments, text, colour information and other metadata.
  public let metadata: AnimationMetadata
  /// Damage found in the structure of the file. Damage in pixels is reported with each ``CompositedFrame``.
  public let damage: [Damage]
  /// The options with which the image was opened.
  public package(set) var options: DecodingOptions
  /// The size of the file in bytes.
  public var byteCount: Int { source.byteCount }
  /// The static image of an APNG for readers without animation support; nil if that image is a frame.
  public let staticImage: FrameControl?

  package let header: ImageHeader
  package var source: any ByteSource
  package var state: ReadingState

  /// Opens the file at `path`. The file stays open until the last copy of the value is released.
  ///
  /// A pipe or a device is read to its end, which blocks the calling thread, and kept in memory: at most
  /// ``DecodingLimits/liveBytes``, and only the first bytes if they are not an image. Cancelling the task
  /// ends the wait within a tenth of a second.
  ///
  /// - Throws: `io` with the path if the file cannot be read; `notAnImage`, `truncated`, `malformed`,
  ///   `unsupported` or `noFrames` if nothing can be decoded; `limitExceeded`; with ``DamagePolicy/strict``
  ///   also for the first damage that loses pixels.
  public init(
    contentsOf path: some FilePathConvertible, options: DecodingOptions = .init()
  ) throws(AnimatedImageError) {
    try self.init(contentsOf: path.filePath, options: options) { Task.isCancelled }
  }

  /// Like ``init(contentsOf:options:)``, for threads without a task.
  package init(
    contentsOf path: FilePath, options: DecodingOptions, isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    try self.init(
      source: Self.source(at: path, options: options, isCancelled: isCancelled), options: options,
      isCancelled: isCancelled)
  }

  /// Returns the bytes of the file at `path`; for a pipe, after all of them have been read.
  package static func source(
    at path: FilePath, options: DecodingOptions, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> any ByteSource {
    try FileSource.bytes(
      at: path, byteLimit: options.limits.liveBytes, isCancelled: isCancelled
    ) { (start) throws(AnimatedImageError) in try ScannedImage.checkSignature(start) }
  }

  /// Opens the image in `bytes` and retains them.
  ///
  /// - Throws: The errors of ``init(contentsOf:options:)`` except `io`.
  public init(bytes: [UInt8], options: DecodingOptions = .init()) throws(AnimatedImageError) {
    try self.init(source: MemorySource(bytes), options: options)
  }

  package init(
    source: any ByteSource, options: DecodingOptions, isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) {
    try self.init(
      ScannedImage.scan(source, options: options, isCancelled: isCancelled), source: source,
      options: options)
  }

  /// Creates the image in `source`, which was scanned to its end.
  package init(
    _ scan: ScannedImage, source: any ByteSource, options: DecodingOptions
  ) throws(AnimatedImageError) {
    var scan = scan
    guard let header = scan.header else {
      throw AnimatedImageError(.truncated, "no header", byteOffset: scan.byteCount)
    }
    // Counts the truncated frame, which is decoded next. It may be the only frame, and then the file is not an
    // animation.
    try scan.checkLiveBytes(header: header, options: options)
    let pixels = try scan.settleCutFrame(header: header, source: source, options: options)
    try self.init(settled: scan, scannedAs: header.format, source: source, options: options)
    state.openingFrame = pixels.flatMap { OpeningFrame($0, memory: .shared) }
  }

  /// Creates the image in `source` that `scan` describes, after it was decided whether to keep a truncated frame.
  package init(
    settled scan: ScannedImage, scannedAs format: AnimationFormat, source: any ByteSource,
    options: DecodingOptions
  ) throws(AnimatedImageError) {
    guard let settled = scan.header else {
      throw AnimatedImageError(.truncated, "no header", byteOffset: scan.byteCount)
    }
    guard !scan.frames.isEmpty else {
      throw AnimatedImageError(
        scan.isCut ? .truncated : .noFrames, "no frame can be decoded", format: format,
        byteOffset: scan.byteCount)
    }
    if settled.canvasSize.isEmpty {
      throw Self.emptyCanvas(settled)
    }
    if options.damage == .strict,
      let damage = scan.damage.first(where: { $0.kind.isRefusedByStrict })
    {
      throw damage.error(
        format: format, isDueToEnd: scan.isCut && damage.byteOffset == scan.byteCount)
    }
    self.init(arrived: scan, header: settled, source: source, options: options)
  }

  /// Returns the error for an image without any pixels.
  static func emptyCanvas(_ header: ImageHeader) -> AnimatedImageError {
    // IHDR does not allow such sizes, so the file is a GIF. Its logical screen follows the signature.
    AnimatedImageError(
      .malformed, "a canvas of \(header.canvasSize) that no frame enlarges",
      format: header.format, byteOffset: 6)
  }

  /// Creates the image in `source` as known so far, without checks. `scan` has at least one frame.
  init(
    arrived scan: ScannedImage, header: ImageHeader, source: any ByteSource,
    options: DecodingOptions
  ) {
    self.header = header
    self.source = source
    self.options = options
    playCount = scan.playCount
    storedLoopCount = scan.storedLoopCount
    frames = scan.frames
    staticImage = scan.staticImage
    metadata = scan.metadata
    damage = scan.damage
    state = ReadingState()
  }
}

// MARK: - Opening without blocking

extension AnimatedImage {
  /// Opens the file at `path` on one of the library's threads. See ``init(contentsOf:options:)``.
  ///
  /// Never blocks the cooperative pool, however slow the disk or the pipe is. Throws
  /// ``AnimatedImageError/Code/cancelled``, never `CancellationError`, as soon as the calling task is cancelled; a read
  /// in progress still completes, and its result is discarded. A pipe is read on a separate thread, which ends within a
  /// tenth of a second of the cancellation.
  public static func open(
    _ path: some FilePathConvertible, options: DecodingOptions = .init()
  ) async throws(AnimatedImageError) -> AnimatedImage {
    let path = path.filePath
    return try await opened(reading: path) { (flag) throws(AnimatedImageError) in
      try AnimatedImage(contentsOf: path, options: options) { flag.isRaised }
    }
  }

  /// Opens the image in `bytes` on one of the library's threads. See ``init(bytes:options:)``.
  ///
  /// Throws ``AnimatedImageError/Code/cancelled`` as soon as the calling task is cancelled.
  public static func open(
    bytes: [UInt8], options: DecodingOptions = .init()
  ) async throws(AnimatedImageError) -> AnimatedImage {
    try await opened { (flag) throws(AnimatedImageError) in
      try AnimatedImage(source: MemorySource(bytes), options: options) { flag.isRaised }
    }
  }

  /// Returns the result of `open` on one of the library's threads, or on a separate one if reading `path` may block
  /// indefinitely.
  package static func opened(
    reading path: FilePath? = nil,
    _ open: @escaping @Sendable (CancelFlag) throws(AnimatedImageError) -> AnimatedImage
  ) async throws(AnimatedImageError) -> AnimatedImage {
    let opened = await DecodeThreads.loading.resultUnlessCancelled(
      mayWaitForEver: { path.map { FileSource.mayWaitForEver(at: $0) } ?? false }
    ) { flag in
      Result { () throws(AnimatedImageError) in try open(flag) }
    }
    guard let opened else { throw AnimatedImageError(.cancelled, "cancelled while opening") }
    return try opened.get()
  }
}
