/// The result of ``AnimatedImage/optimize(to:options:progress:)``.
public struct OptimizedAnimation: Sendable, Hashable {
  /// The size of the file in bytes, which is at most ``sourceByteCount``.
  public let byteCount: Int
  /// The size of the source in bytes.
  public let sourceByteCount: Int
  /// The number of frames, which never changes.
  public let frameCount: Int
  /// Whether the source was copied because it could not be made smaller.
  public let isCopy: Bool
  /// Whether every picture equals that of the source. This is false only if a tolerance or a byte limit allowed
  /// pictures to change.
  public let isExact: Bool
  /// How much colours may differ. It is 0 if all pictures are exact.
  package let tolerance: Int
  /// The maximum number of colours in a palette, or nil if the number was not limited.
  package let colors: Int?
  /// Whether metadata was left out that was to be kept, because the file has to fit the byte limit, or because the
  /// metadata does not apply to pixels that are stored in another way.
  public let losesMetadata: Bool
  /// The first damage found while decoding, or an empty array. Without a byte limit, a damaged source is copied.
  public let damage: [Damage]
}
