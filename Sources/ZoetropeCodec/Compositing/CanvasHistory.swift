/// The differences between the last few pictures of a canvas. With their help, a block that holds an earlier picture is
/// brought up to date by copying only the pixels that differ.
///
/// A player's consumer keeps each picture until the next one arrives, so the canvas moves to another block with every
/// frame. Copying the whole canvas would cost several times as much as drawing a small frame.
struct CanvasHistory {
  /// The maximum number of elements of ``earlier``. It exceeds the number of pictures in flight during playback.
  private static let maximumCount = 8

  /// The stamp of the picture being drawn.
  private(set) var stamp: PictureStamp
  /// The rectangles in which the picture being drawn differs from the previous picture.
  private var current = ChangedRects()
  /// For each earlier picture, most recent first, the rectangles in which it differs from the picture before it.
  private var earlier: [ChangedRects] = []

  /// Creates the history of a new canvas, whose first picture has the stamp `stamp`.
  init(from stamp: PictureStamp = .newCanvas()) { self.stamp = stamp }

  /// Records that `rect` is about to change.
  mutating func note(_ rect: PixelRect) { current.add(rect) }

  /// Ends the current picture, which now belongs to a bitmap, and begins the next.
  mutating func advance() {
    earlier.insert(current, at: 0)
    if earlier.count > Self.maximumCount { earlier.removeLast() }
    current = ChangedRects()
    if let next = stamp.next {
      stamp = next
    } else {
      stamp = .newCanvas()
      earlier = []
    }
  }

  /// Returns the rectangles in which the last finished picture differs from the picture that `stamp` identifies, or nil
  /// if they are unknown.
  func changes(since stamp: PictureStamp) -> [PixelRect]? {
    guard stamp.canvas == self.stamp.canvas else { return nil }
    let count = self.stamp.version - 1 - stamp.version
    guard count >= 0, count <= earlier.count else { return nil }
    var changes = ChangedRects()
    for picture in earlier.prefix(count) { picture.rects.forEach { changes.add($0) } }
    return changes.rects
  }
}

/// Rectangles that together cover all changes between two pictures. Distant changes have separate rectangles, so that
/// the area between them is not included.
private struct ChangedRects {
  /// The maximum number of rectangles. During playback, the pictures in flight need fewer, even if every frame has a
  /// disposal.
  private static let maximumCount = 16

  private(set) var rects: [PixelRect] = []
  private var area = 0

  mutating func add(_ rect: PixelRect) {
    guard !rect.isEmpty, !rects.contains(where: { $0.contains(rect) }) else { return }
    let union = rects.reduce(rect) { $0.union($1) }
    let sum = area + rect.size.area
    if rects.count == Self.maximumCount || union.size.area <= sum {
      rects = [union]
      area = union.size.area
    } else {
      rects.append(rect)
      area = sum
    }
  }
}
