internal import ZoetropeFrames

/// Covers the changed pixels of a picture with a small number of rectangles.
enum ChangedRegions {
  /// Returns at most `limit` rectangles that cover all differences, from top to bottom.
  ///
  /// Two rectangles are merged if their union adds fewer than `worth` unchanged pixels. Choose `worth` so that this
  /// number of pixels costs about as many bytes as the overhead of another rectangle.
  static func cover(_ difference: PixelDifference, worth: Int, limit: Int) -> [PixelRect] {
    var regions: [PixelRect] = []
    let bounds = difference.bounds
    for y in bounds.y..<bounds.maxY {
      let range = difference.rows[y]
      if range.isEmpty { continue }
      let line = PixelRect(x: range.lowerBound, y: y, width: range.count, height: 1)
      if let last = regions.last, waste(last, line) < worth {
        regions[regions.count - 1] = last.union(line)
      } else {
        regions.append(line)
      }
    }
    // Rows are merged one by one, so it may take several rows before merging two regions becomes worthwhile.
    while regions.count > 1 {
      var best = 0
      for index in 0..<regions.count - 1
      where waste(regions[index], regions[index + 1]) < waste(regions[best], regions[best + 1]) {
        best = index
      }
      let joined = waste(regions[best], regions[best + 1])
      if joined >= worth && regions.count <= limit { break }
      regions[best] = regions[best].union(regions[best + 1])
      regions.remove(at: best + 1)
    }
    return regions
  }

  private static func waste(_ first: PixelRect, _ second: PixelRect) -> Int {
    first.union(second).size.area - first.size.area - second.size.area
  }
}
