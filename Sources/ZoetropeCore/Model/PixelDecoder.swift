/// Which decoders turn a frame's compressed bytes into pixels. Both give the same pixels.
public enum PixelDecoder: String, Sendable, Hashable {
  /// The loops of this package, with libdeflate for inflating.
  case fast
  /// giflib's and libpng's own decoders, for comparison.
  case reference
}
