/// The order of rows in an interlaced GIF image (GIF89a appendix E). Four passes store every 8th row from row 0, every
/// 8th row from row 4, every 4th row from row 2, and every 2nd row from row 1.
package enum GIFInterlace {
  /// A pass of the interlacing. `start` is the first picture row of the pass, and `step` is the distance between its
  /// rows. Each row fills `span` rows of the picture until later passes arrive.
  struct Pass {
    let start, step, span: Int

    /// Returns the number of rows that the pass has in a picture of `height` rows.
    func count(height: Int) -> Int { height > start ? (height - start + step - 1) / step : 0 }
  }

  static let passes = [
    Pass(start: 0, step: 8, span: 8), Pass(start: 4, step: 8, span: 4),
    Pass(start: 2, step: 4, span: 2), Pass(start: 1, step: 2, span: 1),
  ]

  /// Returns the row of the picture to which the stored row `index` belongs.
  package static func row(_ index: Int, height: Int) -> Int {
    var rest = index
    for pass in passes {
      let count = pass.count(height: height)
      if rest < count { return pass.start + rest * pass.step }
      rest -= count
    }
    return height
  }
}
