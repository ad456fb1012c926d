/// How an image is opened and decoded.
public struct DecodingOptions: Sendable, Hashable {
  /// What to do with damaged files. Default: ``DamagePolicy/salvage``.
  public var damage: DamagePolicy
  /// Bounds on what a file may ask for. Default: ``DecodingLimits/default``.
  public var limits: DecodingLimits
  /// Which decoders turn frames into pixels. Default: ``PixelDecoder/fast``.
  public var decoder: PixelDecoder
  /// The format of composited bitmaps: ``PixelFormat/rgba8`` (default), or ``PixelFormat/rgba16``
  /// to keep the 16 bits of a deep PNG. Other formats are made from these by conversion.
  public var pixelFormat: PixelFormat
  /// Threads that decode at one time, the caller's included. Default: 0, one per processor. Larger
  /// values are clamped to one more than that.
  public var parallelism: Int

  /// Options; each argument left out has its default.
  public init(
    damage: DamagePolicy = .salvage, limits: DecodingLimits = .default,
    decoder: PixelDecoder = .fast, pixelFormat: PixelFormat = .rgba8, parallelism: Int = 0
  ) {
    self.damage = damage
    self.limits = limits
    self.decoder = decoder
    self.pixelFormat = pixelFormat
    self.parallelism = parallelism
  }
}

extension DecodingOptions {
  /// The format of the canvas: 16 bits only when asked.
  package var canvasFormat: PixelFormat { pixelFormat == .rgba16 ? .rgba16 : .rgba8 }

  /// Threads that decode at one time, the caller's included.
  /// More than there are to decode on would only queue.
  package var threadCount: Int {
    parallelism > 0
      ? min(parallelism, DecodeThreads.processorCount + 1) : DecodeThreads.processorCount
  }
}

/// Which decoders turn a frame's compressed bytes into pixels. Both give the same pixels.
public enum PixelDecoder: String, Sendable, Hashable {
  /// The loops of this package, with libdeflate for inflating.
  case fast
  /// giflib's and libpng's own decoders, for comparison.
  case reference
}

/// Bounds on what a file may ask for; on by default.
///
/// Exceeding a pixel, frame or live-byte limit throws ``AnimatedImageError/Code/limitExceeded``, before
/// memory is taken; the detail names the limit, what was asked and what is allowed. Metadata past its
/// limits is left out, and the damage report says so.
public struct DecodingLimits: Sendable, Hashable {
  /// Pixels of the canvas, and of any one frame; a GIF frame past the first that has more ends the list
  /// of frames, and the damage report says so.
  public var canvasPixels: Int
  /// Frames in the file.
  public var frameCount: Int
  /// Bytes that one reader of the image may hold at one time, the source not counted: canvases, frames
  /// decoded, and on each thread that decodes the compressed bytes of a frame, as stored and put together.
  ///
  /// Frames decoded ahead take at most half of it, and of all readers of the process together at most
  /// half of ``MemoryBudget/defaultByteLimit``: what does not fit is decoded when it is asked for.
  public var liveBytes: Int
  /// Pixels that all frame rectangles of one play declare together.
  public var pixelsPerPlay: Int
  /// Bytes of one text or colour-profile chunk after inflating.
  public var metadataBytes: Int
  /// Bytes of all metadata kept, after inflating.
  public var metadataTotalBytes: Int
  /// Comments, text chunks and application blocks kept.
  public var metadataCount: Int

  /// Limits that no honest file meets: 64 megapixels, 100 000 frames, 1 GiB, 2³⁴ pixels a play.
  public static let `default` = DecodingLimits(
    canvasPixels: 64 << 20, frameCount: 100_000, liveBytes: 1 << 30, pixelsPerPlay: 1 << 34,
    metadataBytes: 1 << 20, metadataTotalBytes: 4 << 20, metadataCount: 256)
  /// Limits for files from strangers: 16 megapixels, 10 000 frames, 256 MiB, 2³² pixels a play.
  public static let strict = DecodingLimits(
    canvasPixels: 16 << 20, frameCount: 10_000, liveBytes: 256 << 20, pixelsPerPlay: 1 << 32,
    metadataBytes: 64 << 10, metadataTotalBytes: 256 << 10, metadataCount: 32)
  /// No limit at all: memory and time are the file's to choose.
  public static let none = DecodingLimits(
    canvasPixels: .max, frameCount: .max, liveBytes: .max, pixelsPerPlay: .max,
    metadataBytes: .max, metadataTotalBytes: .max, metadataCount: .max)
}
