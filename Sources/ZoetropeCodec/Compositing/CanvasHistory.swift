/// Where the last few pictures of a canvas differ, so that a block which held an earlier one catches
/// up by copying that.
///
/// A player's consumer holds each picture until the next is there, so the canvas moves on to another
/// block for every frame. Copying all of it cost several times what drawing a small frame does.
struct CanvasHistory {
  /// More pictures than are in flight while an animation plays.
  private static let maximumCount = 8

  /// The picture that is being drawn.
  private(set) var stamp: PictureStamp
  /// Where it differs from the one handed out before.
  private var current = PixelRect.empty
  /// The same for the pictures before it, the last one first.
  private var earlier: [PixelRect] = []

  /// Of a canvas on which nothing was drawn, whose first picture is `stamp`.
  init(from stamp: PictureStamp = .newCanvas()) { self.stamp = stamp }

  /// Writes down that `rect` is about to change.
  mutating func note(_ rect: PixelRect) { current = current.union(rect) }

  /// The picture is handed out as it is, and the next one begins.
  mutating func advance() {
    earlier.insert(current, at: 0)
    if earlier.count > Self.maximumCount { earlier.removeLast() }
    current = .empty
    if let next = stamp.next {
      stamp = next
    } else {
      stamp = .newCanvas()
      earlier = []
    }
  }

  /// Where the picture handed out last differs from the one that `stamp` names; nil when unknown.
  func changes(since stamp: PictureStamp) -> PixelRect? {
    guard stamp.canvas == self.stamp.canvas else { return nil }
    let count = self.stamp.version - 1 - stamp.version
    guard count >= 0, count <= earlier.count else { return nil }
    return earlier.prefix(count).reduce(.empty) { $0.union($1) }
  }
}
