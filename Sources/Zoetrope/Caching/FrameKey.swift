/// Names one cached bitmap: which bytes, which frame of them, and what was done to it.
public struct FrameKey: Sendable, Hashable {
  /// The bytes and what was done to their frames: what all frames of one playback share.
  public let animation: AnimationKey
  /// The frame, from 0.
  public let index: Int

  /// The key of frame `index` of `animation`.
  public init(_ animation: AnimationKey, index: Int) {
    self.animation = animation
    self.index = index
  }
}

/// Names all cached bitmaps of one image in one ``Rendition``.
public struct AnimationKey: Sendable, Hashable {
  /// The bytes of the image.
  public let content: ContentIdentity
  /// What was done to its frames.
  public let rendition: Rendition

  /// The key of the image with these bytes, rendered so.
  public init(content: ContentIdentity, rendition: Rendition) {
    self.content = content
    self.rendition = rendition
  }

  /// The key of its frame `index`.
  public subscript(index: Int) -> FrameKey { FrameKey(self, index: index) }
}
