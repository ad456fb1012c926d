/// Identifies all cached bitmaps of one image in one ``Rendition``.
public struct AnimationKey: Sendable, Hashable {
  /// The content of the image.
  public let content: ContentIdentity
  /// How its frames were rendered.
  package let rendition: Rendition

  /// Creates the key of an image and a rendition.
  public init(content: ContentIdentity, rendition: Rendition) {
    self.content = content
    self.rendition = rendition
  }

  /// The key of frame `index`.
  public subscript(index: Int) -> FrameKey { FrameKey(self, index: index) }
}
