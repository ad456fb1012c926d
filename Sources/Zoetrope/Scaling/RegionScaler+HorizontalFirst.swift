extension RegionScaler {
  /// For each target row: the source rows of its window scaled across, each once and kept while
  /// later rows need it, then summed downwards.
  mutating func runHorizontalFirst(isCancelled: () -> Bool) throws(AnimatedImageError) {
    var ring = unsafe RowRing<Scalar>(
      slots: vertical.taps, width: region.maxX,
      sourceWidth: max(axes.horizontal.sourceCount, horizontal.taps + columns.lowerBound))
    let all = unsafe region.x..<region.maxX
    for y in all.isEmpty ? 0..<0 : unsafe region.y..<region.maxY {
      try unsafe checkCancelled(at: y, isCancelled)
      let rows = unsafe sourceRows(of: y)
      unsafe classify(rows: rows)
      for run in unsafe opacity.runs {
        switch run.kind {
        case .clear: unsafe clear(run.range, y: y)
        case .opaque: unsafe drawFixed(run.range, y: y, rows: rows, ring: &ring)
        case .blended: unsafe drawBlended(run.range, y: y, rows: rows, ring: &ring)
        }
      }
      if unsafe isPremultiplied { unsafe clampToAlpha(y: y) }
    }
  }

  private mutating func drawFixed(
    _ range: Range<Int>, y: Int, rows: Range<Int>, ring: inout RowRing<Scalar>
  ) {
    for row in rows where unsafe !ring.hasWords(row) {
      // From a whole step on: rows are padded to one, and from elsewhere the last would end past them.
      let first = unsafe columns.lowerBound & ~3
      unsafe FixedRows.widen(
        row: sourceRow(row) + first * 4, count: (columns.upperBound - first) * 4,
        into: ring.wideSource + first * 8)
      unsafe FixedRows.horizontalToWords(
        row: ring.wideSource, starts: horizontal.starts, weights: horizontal.pairs,
        quads: horizontal.taps / 4, bits: axes.horizontal.bits,
        fraction: fraction(before: axes.vertical), range: region.x..<region.maxX,
        into: ring.words(row))
    }
    for tap in unsafe 0..<taps.count {
      unsafe taps[tap] = UnsafeRawPointer(
        ring.words(min(rows.lowerBound + tap, rows.upperBound - 1)))
    }
    unsafe taps.withUnsafeBufferPointer { taps in
      guard let addresses = taps.baseAddress else { return }
      unsafe FixedRows.verticalToBytes(
        rows: addresses, weights: vertical.pairs + y * (vertical.taps / 2),
        pairs: vertical.taps / 2, range: range.lowerBound * 4..<range.upperBound * 4,
        into: targetRow(y))
    }
  }

  private mutating func drawBlended(
    _ range: Range<Int>, y: Int, rows: Range<Int>, ring: inout RowRing<Scalar>
  ) {
    for row in rows where unsafe !ring.hasNumbers(row) {
      unsafe Rows.decode(codec, row: sourceRow(row), range: columns, into: ring.numberSource)
      unsafe Rows.horizontal(
        row: ring.numberSource, table: horizontal, range: region.x..<region.maxX,
        into: ring.numbers(row))
    }
    for (tap, row) in rows.enumerated() {
      unsafe taps[tap] = UnsafeRawPointer(ring.numbers(row))
    }
    unsafe taps.withUnsafeBufferPointer { taps in
      guard let addresses = taps.baseAddress else { return }
      unsafe Rows.verticalEncoded(
        codec, rows: addresses, weights: vertical.weights + y * vertical.taps,
        count: rows.count, range: range, into: targetRow(y))
    }
  }
}
