internal import Zoetrope

extension Bitmap {
  /// A hash of size and pixels: about 1 ns a pixel, for telling pictures of one loop apart.
  var contentHash: Int {
    var first = UInt64(truncatingIfNeeded: width) &* 0x9E37_79B9_7F4A_7C15
    var second = UInt64(truncatingIfNeeded: height) | 1
    for y in 0..<height {
      let row = pixels(row: y)
      for x in row.indices {
        // Two accumulators that turn and multiply: a change of any pixel changes both.
        first = (first ^ UInt64(row[x].word)) &* 0xD6E8_FEB8_6659_FD93
        second = (second &+ first) << 23 | (second &+ first) >> 41
      }
    }
    return Int(truncatingIfNeeded: first ^ second)
  }
}
