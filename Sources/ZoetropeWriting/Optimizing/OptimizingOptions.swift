/// Options of ``AnimatedImage/optimize(to:options:progress:)``.
public struct OptimizingOptions: Sendable, Hashable {
  /// How much time is spent. Default: `balanced`, which uses estimates to choose how each frame is stored. `small`
  /// tries many ways of storing each frame, and keeps the shortest result.
  public var effort: EncodingEffort
  /// How much colours may differ from the original, from 0 to 200, as in ``AnimationWriterOptions/tolerance``. Default:
  /// 0, which is lossless.
  public var tolerance: Int
  /// Whether comments, profiles and other metadata are left out. Default: false.
  public var stripsMetadata: Bool
  /// The number of bytes that may be held besides the output. Default: nil, which means eight canvases plus 16 MiB.
  public var memoryByteLimit: Int?
  /// The number of threads that encode, including the calling thread. Default: 0, which means one per processor. The
  /// number does not affect the output.
  public var parallelism: Int

  /// Creates options; omitted arguments take their defaults.
  public init(
    effort: EncodingEffort = .balanced, tolerance: Int = 0, stripsMetadata: Bool = false,
    memoryByteLimit: Int? = nil, parallelism: Int = 0
  ) {
    self.effort = effort
    self.tolerance = tolerance
    self.stripsMetadata = stripsMetadata
    self.memoryByteLimit = memoryByteLimit
    self.parallelism = parallelism
  }

  /// The options for writing the file.
  var writerOptions: AnimationWriterOptions {
    AnimationWriterOptions(
      effort: effort, tolerance: tolerance, memoryByteLimit: memoryByteLimit,
      parallelism: parallelism)
  }
}
