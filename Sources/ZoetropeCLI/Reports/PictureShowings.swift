import Zoetrope

/// Which frames show each written picture, if duplicates were left out.
struct PictureShowings {
  /// The written frame whose picture each examined frame shows.
  private(set) var pictures: [Int: Int] = [:]
  /// The frames that show the picture of a frame, itself first.
  private(set) var frames: [Int: [Int]] = [:]
  /// Where the picture of a frame differs from the one before.
  var changedRects: [Int: PixelRect] = [:]

  /// Notes that frame `index` shows the picture of frame `picture`.
  mutating func note(_ index: Int, as picture: Int) {
    pictures[index] = picture
    frames[picture, default: []].append(index)
  }

  /// Writes what is known about frame `index` as fields of the current object.
  func write(_ index: Int, to json: inout JSONWriter) {
    if let frames = frames[index] { json.field("shown_by", frames) }
    if let picture = pictures[index], picture != index { json.field("same_as", picture) }
    if let rect = changedRects[index] {
      json.field("changed_rect", [rect.x, rect.y, rect.width, rect.height])
    }
  }
}
