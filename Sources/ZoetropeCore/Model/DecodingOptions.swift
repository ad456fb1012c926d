/// How an image is opened and decoded.
public struct DecodingOptions: Sendable, Hashable {
  /// How to treat damaged files. Default: ``DamagePolicy/salvage``.
  public var damage: DamagePolicy
  /// Bounds on what a file may use. Default: ``DecodingLimits/default``.
  public var limits: DecodingLimits
  /// Which decoders turn frames into pixels. Default: ``PixelDecoder/fast``.
  public var decoder: PixelDecoder
  /// Whether composited bitmaps are ``PixelFormat/rgba16``, which keeps the 16 bits of a deep PNG.
  /// Default: false, ``PixelFormat/rgba8``.
  public var keeps16Bit: Bool
  /// Threads that decode concurrently, including the caller's. Default: 0, one per processor.
  /// Values above the processor count plus one are clamped.
  public var parallelism: Int

  /// Creates options; omitted arguments take their defaults.
  public init(
    damage: DamagePolicy = .salvage, limits: DecodingLimits = .default,
    decoder: PixelDecoder = .fast, keeps16Bit: Bool = false, parallelism: Int = 0
  ) {
    self.damage = damage
    self.limits = limits
    self.decoder = decoder
    self.keeps16Bit = keeps16Bit
    self.parallelism = parallelism
  }
}

extension DecodingOptions {
  /// The format of the canvas: 16 bits only on request.
  package var canvasFormat: PixelFormat { keeps16Bit ? .rgba16 : .rgba8 }

  /// Threads that decode concurrently, including the caller's. Beyond one per decode thread plus
  /// the caller's, work would only queue.
  package var threadCount: Int {
    parallelism > 0
      ? min(parallelism, DecodeThreads.processorCount + 1) : DecodeThreads.processorCount
  }
}

/// The decoders for a frame's compressed bytes. All of them find the same frames, and give intact frames the
/// same pixels.
public struct PixelDecoder: OpenChoice, Sendable, Hashable, CustomStringConvertible {
  package enum Kind: String, CaseIterable, Sendable { case fast, reference }

  package let kind: Kind
  package init(_ kind: Kind) { self.kind = kind }

  /// This package's own decoders, with libdeflate for inflating.
  public static let fast = PixelDecoder(.fast)
  /// The decoders of giflib and libpng, for comparison. For a damaged GIF frame, giflib yields only complete
  /// rows, while ``fast`` keeps every pixel before the damage, and giflib accepts some invalid codes.
  public static let reference = PixelDecoder(.reference)
}

/// Bounds on what a file may use; on by default.
///
/// Exceeding a pixel, frame or live-byte limit throws ``AnimatedImageError/Code/limitExceeded``
/// before memory is allocated; ``AnimatedImageError/limit`` has the numbers. Metadata past its limits is
/// dropped and reported as damage.
public struct DecodingLimits: Sendable, Hashable {
  /// Pixels of the canvas, of any one frame, and of a scaled frame. A GIF frame after the first that
  /// exceeds it ends the list of frames and is reported as damage.
  public var canvasPixels: Int
  /// Frames in the file.
  public var frameCount: Int
  /// Bytes that one reader of the image may hold at a time, not counting the source: canvases,
  /// decoded frames and, for each decoding thread, a frame's compressed bytes both as stored and
  /// joined.
  ///
  /// Frames decoded ahead take at most half of it. Those of all readers in the process together
  /// take at most half of ``MemoryBudget/defaultByteLimit``; frames that do not fit are decoded on
  /// demand.
  public var liveBytes: Int
  /// Total pixels of all frame rectangles in one play.
  public var pixelsPerPlay: Int
  /// Bytes of one text or colour-profile chunk after inflating.
  package var metadataBytes: Int
  /// Bytes of all metadata kept, after inflating.
  package var metadataTotalBytes: Int
  /// Comments, text chunks and application blocks kept.
  package var metadataCount: Int

  /// Limits that no legitimate file reaches: 64 megapixels, 100 000 frames, 1 GiB, 2³⁴ pixels per
  /// play.
  public static let `default` = DecodingLimits(
    canvasPixels: 64 << 20, frameCount: 100_000, liveBytes: 1 << 30, pixelsPerPlay: 1 << 34,
    metadataBytes: 1 << 20, metadataTotalBytes: 4 << 20, metadataCount: 256)
  /// Limits for untrusted files: 16 megapixels, 10 000 frames, 256 MiB, 2³² pixels per play.
  public static let strict = DecodingLimits(
    canvasPixels: 16 << 20, frameCount: 10_000, liveBytes: 256 << 20, pixelsPerPlay: 1 << 32,
    metadataBytes: 64 << 10, metadataTotalBytes: 256 << 10, metadataCount: 32)
  /// No limits: the file decides how much memory and time it takes.
  public static let none = DecodingLimits(
    canvasPixels: .max, frameCount: .max, liveBytes: .max, pixelsPerPlay: .max,
    metadataBytes: .max, metadataTotalBytes: .max, metadataCount: .max)
}
