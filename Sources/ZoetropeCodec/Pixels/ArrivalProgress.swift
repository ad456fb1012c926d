/// How much of an arriving frame has been decoded.
package struct ArrivalProgress: Sendable, Hashable {
  /// The number of rows, counted from the top, whose pixels are final. It is 0 before the last pass of an interlaced
  /// frame.
  package var completeRows = 0
  /// The number of rows, counted from the top, that already show a part of the frame.
  package var shownRows = 0
  /// The number of complete passes. A frame that is not interlaced has one pass.
  package var completePasses = 0

  package init(completeRows: Int = 0, shownRows: Int = 0, completePasses: Int = 0) {
    self.completeRows = completeRows
    self.shownRows = shownRows
    self.completePasses = completePasses
  }
}
