/// Options of ``AnimatedImage/optimize(to:options:progress:)``.
public struct OptimizingOptions: Sendable, Hashable {
  /// How much time to spend. Default: `balanced`, which decides by estimates; `small` tries all ways of storing each
  /// frame and keeps the shortest.
  public var effort: EncodingEffort
  /// How much colours may differ, as in ``AnimationWriterOptions/tolerance``: 0 to 200. Default: 0, lossless.
  public var tolerance: Int
  /// Whether comments, profiles and other metadata are left out. Default: false.
  public var stripsMetadata: Bool
  /// The number of bytes that may be held, besides the output. Default: nil, eight canvases and 16 MiB.
  public var memoryLimit: Int?
  /// The number of threads that encode, including the calling thread. Default: 0, one per processor. It does not
  /// affect the output.
  public var parallelism: Int

  /// Creates options; omitted arguments take their defaults.
  public init(
    effort: EncodingEffort = .balanced, tolerance: Int = 0, stripsMetadata: Bool = false,
    memoryLimit: Int? = nil, parallelism: Int = 0
  ) {
    self.effort = effort
    self.tolerance = tolerance
    self.stripsMetadata = stripsMetadata
    self.memoryLimit = memoryLimit
    self.parallelism = parallelism
  }

  /// The options for writing the file.
  var writerOptions: AnimationWriterOptions {
    AnimationWriterOptions(
      effort: effort, tolerance: tolerance, memoryLimit: memoryLimit, parallelism: parallelism)
  }
}

/// The result of ``AnimatedImage/optimize(to:options:progress:)``.
public struct OptimizedAnimation: Sendable, Hashable {
  /// The size of the file in bytes; at most ``sourceByteCount``.
  public let byteCount: Int
  /// The size of the source.
  public let sourceByteCount: Int
  /// The number of frames, which never changes.
  public let frameCount: Int
  /// Whether the source could not be made smaller and was copied.
  public let isCopy: Bool
  /// Whether every picture equals that of the source. False only with a tolerance.
  public let isExact: Bool
  /// How much colours may differ and the maximum number of colours in a palette, if a frame is not exact.
  package let tolerance: Int
  package let colors: Int?
  /// Whether metadata was left out so that the file fits the byte limit.
  package let losesMetadata: Bool
  /// The first damage found while decoding. Without a byte limit, a damaged source is copied.
  package let damage: [Damage]
}
