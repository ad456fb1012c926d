import Zoetrope

/// The frames of one image as they are asked for: composited, or as stored.
final class FrameSource {
  private let composited: FrameReader
  private let stored: StoredFrameReader
  private let isRaw: Bool

  init(image: AnimatedImage, isRaw: Bool) {
    composited = FrameReader(image)
    stored = StoredFrameReader(image)
    self.isRaw = isRaw
  }

  /// Frame `index`, or the static image for nil; nil when it has no pixels.
  func frame(at index: Int?) throws(AnimatedImageError) -> CompositedFrame? {
    guard let index else { return try stored.staticImage() }
    if isRaw { return try stored.frame(at: index) }
    return try composited.frame(at: index)
  }
}
