/// The order of rows in an interlaced GIF image (GIF89a appendix E): every 8th from 0, every 8th
/// from 4, every 4th from 2, every 2nd from 1.
package enum GIFInterlace {
  /// The row of the picture at which stored row `index` is shown.
  package static func row(_ index: Int, height: Int) -> Int {
    var rest = index
    for (start, step) in [(0, 8), (4, 8), (2, 4)] {
      let count = height > start ? (height - start + step - 1) / step : 0
      if rest < count { return start + rest * step }
      rest -= count
    }
    return 1 + rest * 2
  }
}
