/// Options for opening and decoding an image.
public struct DecodingOptions: Sendable, Hashable {
  /// How to handle damaged files. Default: ``DamagePolicy/salvage``.
  public var damage: DamagePolicy
  /// The limits on the resources that decoding a file may use. Default: ``DecodingLimits/default``.
  public var limits: DecodingLimits
  /// The decoders that turn the compressed bytes of frames into pixels. Default: ``PixelDecoder/fast``.
  public var decoder: PixelDecoder
  /// Whether composited bitmaps have the format ``PixelFormat/rgba16``, which keeps all bits of a PNG with 16 bits per
  /// channel. Default: false, which means that they have the format ``PixelFormat/rgba8``.
  public var keeps16Bit: Bool
  /// The number of threads that decode concurrently, including the calling thread. Default: 0, which means one thread
  /// per processor. Values above the number of processors plus one are clamped.
  public var parallelism: Int

  /// Creates options. Omitted arguments have their default values.
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
  /// The pixel format of the canvas, which has 16 bits per channel only if ``keeps16Bit`` is true.
  package var canvasFormat: PixelFormat { keeps16Bit ? .rgba16 : .rgba8 }

  /// The number of threads that decode concurrently, including the calling thread. It is at most the number of decode
  /// threads plus one for the calling thread, because the work of further threads would only wait in a queue.
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
  /// accepts some invalid codes, whereas ``fast`` keeps every pixel before the damage.
  public static let reference = PixelDecoder(.reference)
}
