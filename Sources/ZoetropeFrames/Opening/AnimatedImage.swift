// These types are re-exported so that callers can create descriptors without depending on SystemPackage themselves.
@_exported public import struct SystemPackage.Errno
@_exported public import struct SystemPackage.FileDescriptor
@_exported public import struct SystemPackage.FilePath

/// An opened GIF or PNG: its frames, play count and metadata. Pixels are decoded on demand.
///
/// An image may be used from any task. Opening an image scans the structure of the whole file, in time linear in the
/// size of the file and memory linear in the number of frames. No pixels are decoded, except those of a truncated last
/// frame, to determine whether that frame is complete. If the truncated frame is the only frame, its pixels are kept
/// for the first reader, within the memory that the process may use for frames decoded ahead.
public struct AnimatedImage: Sendable {
  /// The file's format.
  public var format: AnimationFormat { header.format }
  /// The size of every composited frame.
  public var canvasSize: PixelSize { header.canvasSize }
  /// The total number of times the animation plays.
  public let playCount: PlayCount
  /// The loop count as stored, or nil if the file stores none. In a GIF, this is the number of repeats; in an APNG, the
  /// number of plays.
  public let storedLoopCount: UInt32?
  /// The frames in playing order. There is at least one frame.
  public internal(set) var frames: [FrameControl]
  /// The comments, text, colour information and other metadata of the file.
  public let metadata: AnimationMetadata
  /// The damage found in the structure of the file. Damage in a frame's pixels is reported with each
  /// ``CompositedFrame``.
  public let damage: [Damage]
  /// The options with which the image was opened.
  public package(set) var options: DecodingOptions
  /// The size of the file in bytes.
  public var byteCount: Int { source.byteCount }
  /// The image that readers without animation support show, if the file is an APNG in which that image is not a frame;
  /// otherwise nil.
  public let staticImage: FrameControl?

  package let header: ImageHeader
  package var source: any ByteSource
  package var state: ReadingState

  /// Opens the file at `path`. The file stays open until the last copy of the image is released.
  ///
  /// If `path` is a pipe or a device, it is read to its end and its bytes are kept in memory, which blocks the calling
  /// thread. Reading stops with an error after ``DecodingLimits/liveBytes`` bytes, and as soon as the first bytes show
  /// that the data is not an image. Cancelling the task ends the wait for data within a tenth of a second.
  ///
  /// - Throws: `io` with the path if the file cannot be read; `notAnImage`, `truncated`, `malformed`, `unsupported` or
  ///   `noFrames` if nothing can be decoded; `limitExceeded` if the file exceeds one of the limits; `cancelled` if the
  ///   task is cancelled; with ``DamagePolicy/strict``, also an error for the first damage that this policy rejects.
  public init(
    contentsOf path: some FilePathConvertible, options: DecodingOptions = .init()
  ) throws(AnimatedImageError) {
    try self.init(contentsOf: path.filePath, options: options) { Task.isCancelled }
  }

  /// Opens the file at `path` like ``init(contentsOf:options:)``, for threads without a task. `isCancelled` takes the
  /// place of the check for cancellation of the task.
  package init(
    contentsOf path: FilePath, options: DecodingOptions, isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    try self.init(
      source: Self.source(at: path, options: options, isCancelled: isCancelled), options: options,
      isCancelled: isCancelled)
  }

  /// Opens the file at `path` and returns access to its bytes. A pipe or a device is read to its end first.
  package static func source(
    at path: FilePath, options: DecodingOptions, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> any ByteSource {
    try FileSource.bytes(
      at: path, byteLimit: options.limits.liveBytes, isCancelled: isCancelled
    ) { (start) throws(AnimatedImageError) in try ScannedImage.checkSignature(start) }
  }

  /// Opens the image in `bytes`. The image retains `bytes`.
  ///
  /// - Throws: The errors of ``init(contentsOf:options:)`` except `io` and `cancelled`.
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

  /// Creates the image in `source` from `scan`, the result of scanning `source` to its end.
  package init(
    _ scan: ScannedImage, source: any ByteSource, options: DecodingOptions
  ) throws(AnimatedImageError) {
    var scan = scan
    guard let header = scan.header else {
      throw AnimatedImageError(
        .truncated, "the file ends before its header is complete", byteOffset: scan.byteCount)
    }
    // The live-byte check includes the truncated frame, because that frame is decoded next. The truncated frame may be
    // the only frame, in which case the file is not an animation.
    try scan.checkLiveBytes(header: header, options: options)
    let pixels = try scan.settleCutFrame(header: header, source: source, options: options)
    try self.init(settled: scan, scannedAs: header.format, source: source, options: options)
    state.openingFrame = pixels.flatMap { OpeningFrame($0, memory: .shared) }
  }

  /// Creates the image in `source` from `scan`. Whether a truncated last frame is kept has already been decided, and
  /// `scan` contains the result.
  package init(
    settled scan: ScannedImage, scannedAs format: AnimationFormat, source: any ByteSource,
    options: DecodingOptions
  ) throws(AnimatedImageError) {
    guard let settled = scan.header else {
      throw AnimatedImageError(
        .truncated, "the file ends before its header is complete", byteOffset: scan.byteCount)
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

  /// Returns the error for a file whose canvas has no pixels.
  static func emptyCanvas(_ header: ImageHeader) -> AnimatedImageError {
    // A PNG with an empty canvas is rejected when IHDR is read, so the file is a GIF. The logical screen size follows
    // the six bytes of the signature.
    AnimatedImageError(
      .malformed, "the canvas is \(header.canvasSize), and the first frame does not enlarge it",
      format: header.format, byteOffset: 6)
  }

  /// Creates, without any checks, an image of the part of `source` that has been scanned so far. `scan` must have at
  /// least one frame.
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
  /// Opens the file at `path` on one of the library's threads. For details, see ``init(contentsOf:options:)``.
  ///
  /// This method never blocks the cooperative pool, however slow the disk or the pipe is. It throws
  /// ``AnimatedImageError/Code/cancelled``, never `CancellationError`, as soon as the calling task is cancelled. A read
  /// in progress still completes, and its result is discarded. A pipe is read on a separate thread, which ends within a
  /// tenth of a second of the cancellation. Any number of tasks may call this method at the same time; at most 16
  /// files are opened concurrently. An image that is open, but waits for a busy actor such as the main actor, does not
  /// count.
  public static func open(
    _ path: some FilePathConvertible, options: DecodingOptions = .init()
  ) async throws(AnimatedImageError) -> AnimatedImage {
    let path = path.filePath
    return try await opened(reading: path) { (flag) throws(AnimatedImageError) in
      try AnimatedImage(contentsOf: path, options: options) { flag.isRaised }
    }
  }

  /// Opens the image in `bytes` on one of the library's threads. For details, see ``init(bytes:options:)``.
  ///
  /// This method throws ``AnimatedImageError/Code/cancelled`` as soon as the calling task is cancelled.
  public static func open(
    bytes: [UInt8], options: DecodingOptions = .init()
  ) async throws(AnimatedImageError) -> AnimatedImage {
    try await opened { (flag) throws(AnimatedImageError) in
      try AnimatedImage(source: MemorySource(bytes), options: options) { flag.isRaised }
    }
  }

  /// Calls `open` on one of the library's threads and returns its result. If reading `path` may block indefinitely,
  /// `open` is called on a separate thread instead.
  ///
  /// This method does not run on the caller's actor: a busy actor would keep its places at the gate.
  @concurrent package static func opened(
    reading path: FilePath? = nil,
    _ open: @escaping @Sendable (CancelFlag) throws(AnimatedImageError) -> AnimatedImage
  ) async throws(AnimatedImageError) -> AnimatedImage {
    let cancelled = AnimatedImageError(.cancelled, "stopped while opening the image")
    guard let place = await OpenGate.shared.enter() else { throw cancelled }
    defer { place.leave() }
    return try await DecodeThreads.loading.valueUnlessCancelled(
      orThrow: cancelled,
      mayWaitForEver: {
        guard let path, FileSource.mayWaitForEver(at: path) else { return false }
        // Images that never open must not keep others from being opened.
        place.leave()
        return true
      }, open)
  }
}
