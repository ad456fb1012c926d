/// Options for opening and decoding an image.
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
  /// The number of threads that decode concurrently, including the caller's. Default: 0, which
  /// means one per processor. Values above the processor count plus one are clamped.
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
  /// The pixel format of the canvas, which has 16 bits per channel only on request.
  package var canvasFormat: PixelFormat { keeps16Bit ? .rgba16 : .rgba8 }

  /// The number of threads that decode concurrently, including the caller's. With more than the
  /// decode threads and the caller, work would only queue.
  package var threadCount: Int {
    parallelism > 0
      ? min(parallelism, DecodeThreads.processorCount + 1) : DecodeThreads.processorCount
  }
}

/// The decoder for a frame's compressed bytes. All decoders find the same frames and produce the same pixels for intact
/// frames.
public struct PixelDecoder: OpenChoice, Sendable, Hashable, CustomStringConvertible {
  package enum Kind: String, CaseIterable, Sendable { case fast, reference }

  package let kind: Kind
  package init(_ kind: Kind) { self.kind = kind }

  /// This package's own decoders, with libdeflate for inflating.
  public static let fast = PixelDecoder(.fast)
  /// The decoders of giflib and libpng, for comparison. For a damaged GIF frame, giflib yields only complete rows and
  /// accepts some invalid codes, while ``fast`` keeps every pixel before the damage.
  public static let reference = PixelDecoder(.reference)
}
