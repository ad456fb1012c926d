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
