// Re-exported: a path is a `FilePath`, and making one should take no dependency of the caller's own.
@_exported public import SystemPackage

/// An opened GIF or PNG: its frames, plays and metadata, without pixels until they are asked for.
///
/// A value that may be used from any task. Opening scans the structure of the whole file: time in
/// proportion to reading it, memory in proportion to the number of frames. No pixel is decoded,
/// except of a frame in which the file ends, to tell whether it is complete.
public struct AnimatedImage: Sendable {
  /// The file's format.
  public var format: AnimationFormat { header.format }
  /// Width and height of every composited frame.
  public var canvasSize: PixelSize { header.canvasSize }
  /// How often the animation plays in total.
  public let playCount: PlayCount
  /// The loop count as the file stores it: repeats in GIF, plays in APNG; nil when it has none.
  public let storedLoopCount: UInt32?
  /// The frames, in order; at least one.
  public let frames: [FrameControl]
  /// What the file says beside its pixels.
  public let metadata: AnimationMetadata
  /// What is not as the format says, as far as the structure shows it. Pixels are reported with each
  /// ``CompositedFrame``.
  public let damage: [Damage]
  /// How the image was opened.
  public package(set) var options: DecodingOptions
  /// Bytes of the file.
  public var byteCount: Int { source.byteCount }
  /// APNG: the picture that readers without animation show, when it is not a frame; else nil.
  public let staticImage: FrameControl?

  package let header: ImageHeader
  package let source: any ByteSource
  /// What random access keeps from call to call.
  package private(set) var access: FrameAccess

  /// Opens the file at `path`; it stays open until the last copy of the value is gone.
  ///
  /// A pipe or a device is read to its end, which blocks the calling thread until that comes, and kept
  /// in memory: at most ``DecodingLimits/liveBytes``, and no more than its first bytes when no image
  /// begins so. Cancelling the task ends the wait within a tenth of a second.
  ///
  /// - Throws: `io` with the path when it cannot be read, `notAnImage`, `truncated`, `malformed`, `unsupported`
  ///   or `noFrames` when nothing can be decoded, `limitExceeded`; with ``DamagePolicy/strict`` also
  ///   for the first damage that costs pixels.
  public init(
    contentsOf path: FilePath, options: DecodingOptions = .init()
  ) throws(AnimatedImageError) {
    let source = try FileSource.bytes(
      at: path, byteLimit: options.limits.liveBytes,
      checkingStart: { (start) throws(AnimatedImageError) in try ImageScan.checkSignature(start) })
    try self.init(source: source, options: options)
  }

  /// Opens the image in `bytes`, which are kept.
  ///
  /// - Throws: As ``init(contentsOf:options:)``, `io` aside.
  public init(bytes: [UInt8], options: DecodingOptions = .init()) throws(AnimatedImageError) {
    try self.init(source: MemorySource(bytes), options: options)
  }

  package init(
    source: any ByteSource, options: DecodingOptions
  ) throws(AnimatedImageError) {
    var scan = try ImageScan.scan(source, options: options)
    guard let header = scan.header else {
      throw AnimatedImageError(.truncated, "no header", byteOffset: scan.byteCount)
    }
    // With the cut frame, which is about to be decoded. It may turn out to be all there is, and the
    // file no animation after all.
    try scan.checkLiveBytes(header: header, options: options)
    try ImageScan.settleCutFrame(of: &scan, header: header, source: source, options: options)
    try self.init(settled: scan, scannedAs: header.format, source: source, options: options)
  }

  /// The image in `source` that `scan` describes, when it is settled what becomes of a cut frame.
  package init(
    settled scan: ScannedImage, scannedAs format: AnimationFormat, source: any ByteSource,
    options: DecodingOptions
  ) throws(AnimatedImageError) {
    guard let settled = scan.header else {
      throw AnimatedImageError(.truncated, "no header", byteOffset: scan.byteCount)
    }
    guard !scan.frames.isEmpty else {
      let isCut = scan.damage.contains { $0.kind == .cutBlock || $0.kind == .cutFrame }
      throw AnimatedImageError(
        isCut ? .truncated : .noFrames, "no frame can be decoded", format: format,
        byteOffset: scan.byteCount)
    }
    if settled.canvasSize.isEmpty {
      // IHDR has no such sizes: a GIF, whose logical screen stands behind the signature.
      throw AnimatedImageError(
        .malformed, "a canvas of \(settled.canvasSize) that no frame enlarges",
        format: settled.format, byteOffset: 6)
    }
    if options.damage == .strict,
      let damage = scan.damage.first(where: { $0.kind.isRefusedByStrict })
    {
      throw damage.error(format: format)
    }
    self.header = settled
    self.source = source
    self.options = options
    playCount = scan.playCount
    storedLoopCount = scan.storedLoopCount
    frames = scan.frames
    staticImage = scan.staticImage
    metadata = scan.metadata
    damage = scan.damage
    access = FrameAccess()
  }

  /// The same image, whose random access is charged to `budget`, apart from this one's.
  package func charged(to budget: MemoryBudget) -> AnimatedImage {
    var image = self
    image.access = FrameAccess(budget: budget)
    image.access.identity = access.identity
    return image
  }
}

// MARK: - Opening without blocking

extension AnimatedImage {
  /// Opens the file at `path` on a thread of the library's own, as ``init(contentsOf:options:)``.
  ///
  /// Never blocks the cooperative pool, however slow the disk or the pipe is. Throws
  /// ``AnimatedImageError/Code/cancelled``, never `CancellationError`, as soon as the calling task is
  /// cancelled; a read that is under way is then completed for nobody.
  public static func open(
    _ path: FilePath, options: DecodingOptions = .init()
  ) async throws(AnimatedImageError) -> AnimatedImage {
    try await opened { () throws(AnimatedImageError) in
      try AnimatedImage(contentsOf: path, options: options)
    }
  }

  /// Opens the image in `bytes` on a thread of the library's own, as ``init(bytes:options:)``.
  ///
  /// Throws ``AnimatedImageError/Code/cancelled`` as soon as the calling task is cancelled.
  public static func open(
    bytes: [UInt8], options: DecodingOptions = .init()
  ) async throws(AnimatedImageError) -> AnimatedImage {
    try await opened { () throws(AnimatedImageError) in
      try AnimatedImage(bytes: bytes, options: options)
    }
  }

  private static func opened(
    _ open: @escaping @Sendable () throws(AnimatedImageError) -> AnimatedImage
  ) async throws(AnimatedImageError) -> AnimatedImage {
    let opened = await DecodeThreads.loading.resultUnlessCancelled {
      Result { () throws(AnimatedImageError) in try open() }
    }
    guard let opened else { throw AnimatedImageError(.cancelled, "cancelled while opening") }
    return try opened.get()
  }
}
