extension RegionScaler {
  /// For each target row: one row summed from the source rows, then its pixels from that row.
  ///
  /// The summed row stays in the nearest cache, whatever the picture's height.
  mutating func runVerticalFirst(isCancelled: () -> Bool) throws(AnimatedImageError) {
    let width = unsafe max(axes.horizontal.sourceCount, horizontal.taps + columns.lowerBound)
    let words = PixelStorage(byteCount: (width + 16) * 8)
    let numbers = PixelStorage(
      byteCount: (width + 8) * MemoryLayout<SIMD4<Scalar>>.stride, zeroed: false)
    let wordRow = unsafe words.baseAddress
    let numberRow = unsafe numbers.baseAddress.bindMemory(
      to: SIMD4<Scalar>.self, capacity: width + 8)
    var products = unsafe ProductRing(slots: vertical.taps, width: width)
    for y in unsafe region.y..<region.maxY {
      try unsafe checkCancelled(at: y, isCancelled)
      let rows = unsafe sourceRows(of: y)
      for tap in unsafe 0..<taps.count {
        unsafe taps[tap] = sourceRow(min(rows.lowerBound + tap, rows.upperBound - 1))
      }
      unsafe classify(rows: rows)
      for run in unsafe opacity.runs {
        switch run.kind {
        case .clear: unsafe clear(run.range, y: y)
        case .opaque: unsafe drawFixed(run.range, y: y, scratch: wordRow)
        case .blended:
          unsafe drawBlended(
            run.range, y: y, rows: rows, products: &products, scratch: numberRow)
        }
      }
      if unsafe isPremultiplied { unsafe clampToAlpha(y: y) }
    }
    extendLifetime(words)
    extendLifetime(numbers)
  }

  private func drawFixed(_ range: Range<Int>, y: Int, scratch: UnsafeMutableRawPointer) {
    let needed = unsafe axes.horizontal.sources(of: range)
    unsafe taps.withUnsafeBufferPointer { taps in
      guard let rows = taps.baseAddress else { return }
      unsafe FixedRows.vertical(
        rows: rows, weights: vertical.pairs + y * (vertical.taps / 2), pairs: vertical.taps / 2,
        bits: axes.vertical.bits, fraction: fraction(before: axes.horizontal),
        range: needed.lowerBound * 4..<needed.upperBound * 4, into: scratch)
    }
    unsafe FixedRows.horizontalToBytes(
      row: scratch, starts: horizontal.starts, weights: horizontal.pairs,
      quads: horizontal.taps / 4, range: range, into: targetRow(y))
  }

  private func drawBlended(
    _ range: Range<Int>, y: Int, rows: Range<Int>, products: inout ProductRing,
    scratch: Rows.Pixels
  ) {
    let needed = unsafe axes.horizontal.sources(of: range)
    if Codec.allowsProducts, let weights = unsafe vertical.finePairs {
      let addresses = unsafe products.addresses(rows, count: vertical.taps) { row, target in
        unsafe ProductRows.multiply(row: sourceRow(row), range: columns, into: target)
      }
      // Only the codec of `Float` allows products.
      let target = unsafe UnsafeMutableRawPointer(scratch)
        .assumingMemoryBound(to: SIMD4<Float>.self)
      unsafe ProductRows.vertical(
        rows: addresses, weights: weights + y * vertical.taps, pairs: vertical.taps / 2,
        range: needed, into: target)
    } else {
      unsafe taps.withUnsafeBufferPointer { taps in
        guard let addresses = taps.baseAddress else { return }
        unsafe Rows.vertical(
          codec, rows: addresses, weights: vertical.weights + y * vertical.taps,
          count: rows.count, range: needed, into: scratch)
      }
    }
    unsafe Rows.horizontalEncoded(
      codec, row: scratch, table: horizontal, range: range, into: targetRow(y))
  }
}
