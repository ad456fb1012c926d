// The scaling of one region, pass by pass.
//
// This code is unsafe for speed: kernels, source and target are addressed by pointer. The only entry point, `draw`,
// takes these pointers from values that outlive the call, and checks that the region lies in the target.

/// Draws one region of a scaled bitmap. The scaler contains the addresses and scratch rows, and decides the order of
/// the passes.
///
/// Bounds: `region` lies in the target and contains at least one pixel. The windows of the region's rows and columns
/// lie in the source, which the construction of the kernels ensures. Scratch rows have room for a whole source or
/// target row and the padding that ``FixedRows`` requires.
///
/// A target pixel is computed by the fixed-point passes if every pixel of its window is opaque, and otherwise by the
/// blending passes. Because this choice depends only on the window, drawing a region gives the same pixels as drawing
/// the whole bitmap.
@unsafe
struct RegionScaler<Codec: BlendCodec> {
  typealias Scalar = Codec.Scalar
  typealias Rows = BlendRows<Codec>

  let codec: Codec
  let axes: FrameScaler.Axes
  let horizontal: KernelTable<Scalar>
  let vertical: KernelTable<Scalar>
  let source: UnsafeRawPointer
  let sourceStride: Int
  let target: UnsafeMutableRawPointer
  let targetStride: Int
  let region: PixelRect
  /// The source columns that the region depends on.
  let columns: Range<Int>
  /// The arithmetic to use.
  let arithmetic: Arithmetic
  /// Whether to clamp each colour to alpha. A filter that overshoots may otherwise produce colours above alpha, which
  /// are invalid in a premultiplied format.
  let isPremultiplied: Bool
  var opacity: OpacityMap
  /// The addresses of the rows of one vertical window, including the taps that pad the window.
  var taps: [UnsafeRawPointer]

  enum Arithmetic {
    /// Fixed point for every pixel, because the format has no alpha, or its colours are premultiplied.
    case fixed
    /// Blending for every pixel, because the fixed-point passes cannot be used.
    case blended
    /// Fixed point or blending, depending on the opacity of each window.
    case mixed
  }

  init(
    codec: Codec, bitmap: Bitmap, axes: FrameScaler.Axes, horizontal: KernelTable<Scalar>,
    vertical: KernelTable<Scalar>, target: UnsafeMutableRawPointer, targetStride: Int,
    region: PixelRect
  ) {
    unsafe self.codec = codec
    unsafe self.axes = axes
    unsafe self.horizontal = horizontal
    unsafe self.vertical = vertical
    unsafe source = UnsafeRawPointer(bitmap.storage.baseAddress)
    unsafe sourceStride = bitmap.bytesPerRow
    unsafe self.target = target
    unsafe self.targetStride = targetStride
    unsafe self.region = region
    let columns = axes.horizontal.sources(of: region.x..<region.maxX)
    unsafe self.columns = columns
    let isFixed = axes.horizontal.isFixedPoint && axes.vertical.isFixedPoint
    let premultiplied = bitmap.format.kind.isPremultiplied
    unsafe isPremultiplied = premultiplied
    if !Codec.allowsFixedPoint {
      unsafe arithmetic = .blended
    } else if premultiplied || bitmap.format == .rgbx8 {
      unsafe arithmetic = isFixed ? .fixed : .blended
    } else {
      unsafe arithmetic = isFixed ? .mixed : .blended
    }
    unsafe opacity = OpacityMap(sourceHeight: bitmap.height, columns: columns)
    unsafe taps = unsafe [UnsafeRawPointer](
      repeating: UnsafeRawPointer(target), count: axes.vertical.taps)
  }

  /// Draws the region. The method calls `isCancelled` before every eighth row, and throws `cancelled` if the result is
  /// true.
  mutating func run(isCancelled: () -> Bool) throws(AnimatedImageError) {
    if unsafe axes.verticalFirst {
      try unsafe runVerticalFirst(isCancelled: isCancelled)
    } else {
      try unsafe runHorizontalFirst(isCancelled: isCancelled)
    }
  }

  /// Returns the source rows that target row `y` depends on.
  func sourceRows(of y: Int) -> Range<Int> {
    unsafe Int(vertical.starts[y])..<Int(vertical.ends[y])
  }

  func sourceRow(_ y: Int) -> UnsafeRawPointer { unsafe source + y * sourceStride }

  func targetRow(_ y: Int) -> UnsafeMutableRawPointer { unsafe target + y * targetStride }

  func checkCancelled(at y: Int, _ isCancelled: () -> Bool) throws(AnimatedImageError) {
    if y & 7 == 0, isCancelled() {
      throw AnimatedImageError(.cancelled, "stopped while scaling")
    }
  }

  /// Returns the number of fraction bits of the values between the passes. The number is chosen so that the sums of the
  /// second pass always have ``FixedRows/sumBits`` fraction bits.
  func fraction(before second: ResamplingKernel) -> Int { FixedRows.sumBits - second.bits }

  /// Classifies the region's target pixels in a row that depends on source rows `rows`. The result is in the runs of
  /// ``opacity``.
  mutating func classify(rows: Range<Int>) {
    let all = unsafe region.x..<region.maxX
    switch unsafe arithmetic {
    case .fixed: unsafe opacity.setRun(all, .opaque)
    case .blended: unsafe opacity.setRun(all, .blended)
    case .mixed:
      let (source, stride, starts, ends) = unsafe (
        source, sourceStride, horizontal.starts, horizontal.ends
      )
      unsafe opacity.classify(
        rows: rows, source: source, stride: stride, starts: starts, ends: ends, range: all)
    }
  }

  /// Makes pixels `range` of target row `y` transparent black.
  func clear(_ range: Range<Int>, y: Int) {
    unsafe (targetRow(y) + range.lowerBound * Codec.bytesPerPixel).initializeMemory(
      as: UInt8.self, repeating: 0, count: range.count * Codec.bytesPerPixel)
  }

  /// Clamps each colour to alpha in the region's part of target row `y`.
  func clampToAlpha(y: Int) {
    let row = unsafe targetRow(y)
    for x in unsafe region.x..<region.maxX {
      let pixel = unsafe row + x * 4
      let bytes = unsafe pixel.loadUnaligned(as: SIMD4<UInt8>.self)
      let alpha = bytes[3]
      let lowered = SIMD4<UInt8>(
        min(bytes[0], alpha), min(bytes[1], alpha), min(bytes[2], alpha), alpha)
      unsafe pixel.storeBytes(of: lowered, as: SIMD4<UInt8>.self)
    }
  }
}

extension RegionScaler {
  /// Draws the region with the horizontal pass first.
  ///
  /// For each target row, the source rows of its window are scaled horizontally and then summed vertically. Scaled
  /// source rows are kept for as long as later target rows need them.
  mutating func runHorizontalFirst(isCancelled: () -> Bool) throws(AnimatedImageError) {
    var ring = try unsafe RowRing<Scalar>(
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
        case .blended: try unsafe drawBlended(run.range, y: y, rows: rows, ring: &ring)
        }
      }
      if unsafe isPremultiplied { unsafe clampToAlpha(y: y) }
    }
  }

  private mutating func drawFixed(
    _ range: Range<Int>, y: Int, rows: Range<Int>, ring: inout RowRing<Scalar>
  ) {
    for row in rows where unsafe !ring.hasWords(row) {
      // Start at a whole step. Rows are padded to whole steps, so if the first step started elsewhere, the last step
      // would end past the padding.
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
  ) throws(AnimatedImageError) {
    for row in rows where unsafe !ring.hasNumbers(row) {
      let scratch = try unsafe ring.numberSource()
      let target = try unsafe ring.numbers(row)
      unsafe Rows.decode(codec, row: sourceRow(row), range: columns, into: scratch)
      unsafe Rows.horizontal(
        row: scratch, table: horizontal, range: region.x..<region.maxX, into: target)
    }
    for (tap, row) in rows.enumerated() {
      let address = try unsafe ring.numbers(row)
      unsafe taps[tap] = UnsafeRawPointer(address)
    }
    unsafe taps.withUnsafeBufferPointer { taps in
      guard let addresses = taps.baseAddress else { return }
      unsafe Rows.verticalEncoded(
        codec, rows: addresses, weights: vertical.weights + y * vertical.taps,
        count: rows.count, range: range, into: targetRow(y))
    }
  }
}

extension RegionScaler {
  /// Draws the region with the vertical pass first.
  ///
  /// For each target row, the source rows of its window are summed into one row, which is then scaled horizontally.
  /// However high the bitmap is, this row stays in the first-level cache.
  mutating func runVerticalFirst(isCancelled: () -> Bool) throws(AnimatedImageError) {
    let width = unsafe max(axes.horizontal.sourceCount, horizontal.taps + columns.lowerBound)
    let words = try PixelStorage(asking: (width + 16) * 8)
    let numbers = try PixelStorage(
      asking: (width + 8) * MemoryLayout<SIMD4<Scalar>>.stride, zeroed: false)
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
          try unsafe drawBlended(
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
  ) throws(AnimatedImageError) {
    let needed = unsafe axes.horizontal.sources(of: range)
    if Codec.allowsProducts, let weights = unsafe vertical.finePairs {
      let addresses = try unsafe products.addresses(rows, count: vertical.taps) { row, target in
        unsafe ProductRows.multiply(row: sourceRow(row), range: columns, into: target)
      }
      // Only the codec whose numbers are of type `Float` allows products.
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

extension RegionScaler {
  /// Draws `region` of the scaled `bitmap` into `buffer`.
  ///
  /// - Precondition: `region` is not empty and lies in `buffer`, which has the format of `bitmap`.
  @safe static func draw(
    _ codec: Codec, _ bitmap: Bitmap, _ axes: FrameScaler.Axes, region: PixelRect,
    into buffer: inout PixelBuffer, isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    precondition(!region.isEmpty && PixelRect(buffer.size).contains(region))
    // The addresses belong to two memory blocks that outlive the call, because the bitmap and the buffer retain them.
    let target = unsafe buffer.baseAddress
    let targetStride = buffer.bytesPerRow
    try unsafe axes.horizontal.withTable(of: Codec.Scalar.self) {
      (horizontal) throws(AnimatedImageError) in
      try unsafe axes.vertical.withTable(of: Codec.Scalar.self) {
        (vertical) throws(AnimatedImageError) in
        var scaler = unsafe RegionScaler(
          codec: codec, bitmap: bitmap, axes: axes, horizontal: horizontal, vertical: vertical,
          target: target, targetStride: targetStride, region: region)
        try unsafe scaler.run(isCancelled: isCancelled)
      }
    }
    extendLifetime(bitmap)
  }
}
