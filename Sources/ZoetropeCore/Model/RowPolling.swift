/// How loops over the rows of a large picture end early: the loop calls ``poll(row:_:)`` before each row.
extension PixelRect {
  /// The number of pixels between two checks for cancellation where a pixel takes a few nanoseconds.
  package static let pollArea = 1 << 18

  /// The number of rows between two checks for cancellation.
  package var pollRows: Int { max(1, Self.pollArea / max(1, width)) }

  /// Calls `isCancelled` for the first row of the rectangle, and then once for each ``pollRows`` rows.
  ///
  /// - Throws: `cancelled` if `isCancelled` returns true.
  package func poll(row y: Int, _ isCancelled: () -> Bool) throws(AnimatedImageError) {
    guard (y - self.y) % pollRows == 0, isCancelled() else { return }
    throw AnimatedImageError(.cancelled, "stopped between two rows of a picture")
  }
}
