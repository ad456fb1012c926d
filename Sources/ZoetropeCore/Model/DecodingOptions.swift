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
