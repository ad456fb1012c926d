/// Chooses the frames that look least alike.
///
/// Each frame is judged by a picture of it of 16x16 pixels: 1 KiB of memory a frame.
package struct DistinctFrames {
  private var thumbnails: [[UInt8]] = []

  package init() {}

  /// Adds a frame, 8-bit RGBA.
  package mutating func add(_ bitmap: Bitmap) {
    let small = bitmap.scaled(
      to: TargetSize(width: 16, height: 16), fit: .stretch, filter: .box)
    var bytes: [UInt8] = []
    for y in 0..<small.height {
      let row = small.pixels(row: y)
      for x in 0..<small.width {
        // Colours that cannot be seen must not count.
        let alpha = Int(row[x].alpha)
        for channel in [row[x].red, row[x].green, row[x].blue, 255] {
          bytes.append(UInt8(Int(channel) * alpha / 255))
        }
      }
    }
    thumbnails.append(bytes)
  }

  /// The places of at most `count` of the frames added, in order: the first one, then again and again
  /// the one that is farthest from all that are chosen. Fewer if the others look like chosen ones,
  /// or once `isCancelled` returns true.
  package func choose(_ count: Int, isCancelled: () -> Bool = { false }) -> [Int] {
    guard !thumbnails.isEmpty, count > 0 else { return [] }
    var chosen = [0]
    var distances = thumbnails.map { Self.distance($0, thumbnails[0]) }
    while chosen.count < count, !isCancelled() {
      var farthest = 0
      for (place, distance) in distances.enumerated() where distance > distances[farthest] {
        farthest = place
      }
      guard distances[farthest] > 0 else { break }
      chosen.append(farthest)
      for place in distances.indices where distances[place] > 0 {
        let distance = Self.distance(thumbnails[place], thumbnails[farthest])
        distances[place] = min(distances[place], distance)
      }
    }
    return chosen.sorted()
  }

  /// The sum of the squared differences.
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var sum = 0
    for index in left.indices {
      let difference = Int(left[index]) - Int(right[index])
      sum += difference * difference
    }
    return sum
  }
}
