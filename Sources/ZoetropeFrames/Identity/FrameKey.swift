/// Identifies one cached bitmap by content, rendition and frame index.
public struct FrameKey: Sendable, Hashable {
  /// The content and rendition, which all frames of one playback share.
  public let animation: AnimationKey
  /// The frame index, from 0.
  public let index: Int

  /// Creates the key of frame `index` of `animation`.
  package init(_ animation: AnimationKey, index: Int) {
    self.animation = animation
    self.index = index
  }
}
