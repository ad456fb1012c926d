/// A key that all cached bitmaps of one image in one ``Rendition`` share.
public struct AnimationKey: Sendable, Hashable {
  /// The identity of the image's content.
  public let content: ContentIdentity
  /// The rendition of the bitmaps: how the image's frames were rendered.
  package let rendition: Rendition

  /// Creates the key of the image whose identity is `content`, rendered as `rendition` describes.
  public init(content: ContentIdentity, rendition: Rendition) {
    self.content = content
    self.rendition = rendition
  }

  /// Returns the key of the bitmap of frame `index`.
  public subscript(index: Int) -> FrameKey { FrameKey(self, index: index) }
}
