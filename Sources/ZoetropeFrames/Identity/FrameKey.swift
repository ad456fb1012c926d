/// A key that identifies one cached bitmap by its image, its rendition and its frame index.
public struct FrameKey: Sendable, Hashable {
  /// The content and the rendition, which are the same for all frames of one playback.
  public let animation: AnimationKey
  /// The index of the frame, counted from 0.
  public let index: Int

  /// Creates the key of frame `index` of `animation`.
  package init(_ animation: AnimationKey, index: Int) {
    self.animation = animation
    self.index = index
  }
}
