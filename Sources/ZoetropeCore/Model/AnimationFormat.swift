/// The file formats that are decoded.
public enum AnimationFormat: String, Sendable, Hashable {
  /// GIF87a or GIF89a.
  case gif
  /// A PNG with animation chunks that make it an animation.
  case apng
  /// A PNG that is a still picture.
  case png
}
