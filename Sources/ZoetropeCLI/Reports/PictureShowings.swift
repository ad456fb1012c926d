import Zoetrope

/// The frames that show each written picture, for output without duplicate pictures.
struct PictureShowings {
  /// For each selected frame, the index of the written frame that has the same picture.
  private(set) var pictures: [Int: Int] = [:]
  /// For each written frame, the indices of the frames that show its picture, beginning with the frame itself.
  private(set) var frames: [Int: [Int]] = [:]
  /// For each written frame, the region where its picture differs from the picture written before it. Empty unless only
  /// changed pictures are written.
  var changedRects: [Int: PixelRect] = [:]

  /// Records that frame `index` shows the picture of frame `picture`.
  mutating func note(_ index: Int, as picture: Int) {
    pictures[index] = picture
    frames[picture, default: []].append(index)
  }

  /// Writes what is known about frame `index` as fields of the current JSON object.
  func write(_ index: Int, to json: inout JSONWriter) {
    if let frames = frames[index] { json.field("shown_by", frames) }
    if let picture = pictures[index], picture != index { json.field("same_as", picture) }
    if let rect = changedRects[index] {
      json.field("changed_rect", [rect.x, rect.y, rect.width, rect.height])
    }
  }
}
