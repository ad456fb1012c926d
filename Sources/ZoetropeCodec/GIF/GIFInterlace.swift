/// The order of rows in an interlaced GIF image (GIF89a appendix E): every 8th from 0, every 8th
/// from 4, every 4th from 2, every 2nd from 1.
package enum GIFInterlace {
  /// A pass: its first row in the picture, the distance between its rows, and the number of picture rows that each of
  /// them fills until later passes arrive.
  struct Pass {
    let start, step, span: Int

    /// Returns the number of its rows in a picture of `height` rows.
    func count(height: Int) -> Int { height > start ? (height - start + step - 1) / step : 0 }
  }

  static let passes = [
    Pass(start: 0, step: 8, span: 8), Pass(start: 4, step: 8, span: 4),
    Pass(start: 2, step: 4, span: 2), Pass(start: 1, step: 2, span: 1),
  ]

  /// Returns the picture row of stored row `index`.
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
