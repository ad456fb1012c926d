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
  /// Threads that decode at one time, the caller's included. Default: 0, one for each processor;
  /// a greater number than that helps nobody and is cut down.
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
