internal import Glibc

/// PNG's row filters, and the choice among them by the smallest sum of absolute differences.
///
/// Unsafe code: rows lie in buffers with `padding` bytes in front and behind (zero in front of the
/// first pixel, as the format wants it), and every access is within `rowBytes` rounded up to 16.
struct RowFilter {
  /// Zero bytes in front of a row copy: the widest distance to the left, kept aligned.
  private static let padding = 16
  private let bytesPerPixel: Int
  private let rowBytes: Int
  private let stride: Int
  /// This row and the one above, each behind `padding` zero bytes.
  private let rows: PixelStorage
  /// Candidates for Sub, Up, Average and Paeth.
  private let candidates: PixelStorage

  init(form: PNGForm, width: Int) {
    bytesPerPixel = form.bytesPerPixel
    rowBytes = form.rowBytes(width: width)
    stride = Self.padding + (rowBytes + 31) & ~15
    rows = PixelStorage(byteCount: 2 * stride)
    candidates = PixelStorage(byteCount: 4 * stride)
  }

  /// Filters rows `range` of `source` into `target`, both buffers of scanlines (a filter byte and
  /// `rowBytes` bytes each); row `r` goes to the same place in `target`.
  func filter(_ source: PixelStorage, rows range: Range<Int>, into target: PixelStorage) {
    let line = rowBytes + 1
    precondition(range.lowerBound >= 0 && rowBytes > 0)
    precondition(min(source.byteCount, target.byteCount) >= range.upperBound * line)
    var current = unsafe rows.baseAddress + Self.padding
    var above = unsafe current + stride
    if range.lowerBound > 0 {
      unsafe memcpy(above, source.baseAddress + (range.lowerBound - 1) * line + 1, rowBytes)
    } else {
      unsafe memset(above, 0, rowBytes)
    }
    for y in range {
      let input = unsafe source.baseAddress + y * line + 1
      unsafe memcpy(current, input, rowBytes)
      let best = unsafe choose(current: current, above: above)
      let output = unsafe target.baseAddress + y * line
      unsafe output.storeBytes(of: UInt8(best), as: UInt8.self)
      let chosen =
        unsafe best == 0 ? current : candidates.baseAddress + (best - 1) * stride
      unsafe memcpy(output + 1, chosen, rowBytes)
      unsafe swap(&current, &above)
    }
  }

  private typealias Lane = SIMD16<UInt8>

  /// Computes the four candidates; gives the number of the best filter, 0 for none.
  private func choose(current: UnsafeMutableRawPointer, above: UnsafeMutableRawPointer) -> Int {
    // Lanes past the row's end must count nothing: the last, partial lane is masked.
    var (none, sub, up) = (SIMD16<UInt32>(), SIMD16<UInt32>(), SIMD16<UInt32>())
    var (average, paeth) = (SIMD16<UInt32>(), SIMD16<UInt32>())
    let target = unsafe candidates.baseAddress
    var x = 0
    while x < rowBytes {
      // Sums of 8-bit magnitudes fit 16 bits for 256 lanes of 16 bytes.
      let end = min(x + 256 * 16, rowBytes)
      var (none16, sub16, up16) = (SIMD16<UInt16>(), SIMD16<UInt16>(), SIMD16<UInt16>())
      var (average16, paeth16) = (SIMD16<UInt16>(), SIMD16<UInt16>())
      while x < end {
        let value = unsafe current.loadUnaligned(fromByteOffset: x, as: Lane.self)
        let left = unsafe current.loadUnaligned(fromByteOffset: x - bytesPerPixel, as: Lane.self)
        let over = unsafe above.loadUnaligned(fromByteOffset: x, as: Lane.self)
        let corner = unsafe above.loadUnaligned(fromByteOffset: x - bytesPerPixel, as: Lane.self)
        let bySub = value &- left
        let byUp = value &- over
        let byAverage = value &- ((left & over) &+ ((left ^ over) &>> 1))
        let byPaeth = value &- Self.paeth(left, over, corner)
        unsafe target.storeBytes(of: bySub, toByteOffset: x, as: Lane.self)
        unsafe target.storeBytes(of: byUp, toByteOffset: x + stride, as: Lane.self)
        unsafe target.storeBytes(of: byAverage, toByteOffset: x + 2 * stride, as: Lane.self)
        unsafe target.storeBytes(of: byPaeth, toByteOffset: x + 3 * stride, as: Lane.self)
        let counts = min(16, rowBytes - x)
        let mask = counts == 16 ? Lane(repeating: 0xff) : Self.mask(counts)
        none16 &+= Self.magnitude(value & mask)
        sub16 &+= Self.magnitude(bySub & mask)
        up16 &+= Self.magnitude(byUp & mask)
        average16 &+= Self.magnitude(byAverage & mask)
        paeth16 &+= Self.magnitude(byPaeth & mask)
        x += 16
      }
      none &+= SIMD16<UInt32>(truncatingIfNeeded: none16)
      sub &+= SIMD16<UInt32>(truncatingIfNeeded: sub16)
      up &+= SIMD16<UInt32>(truncatingIfNeeded: up16)
      average &+= SIMD16<UInt32>(truncatingIfNeeded: average16)
      paeth &+= SIMD16<UInt32>(truncatingIfNeeded: paeth16)
    }
    let sums = [none, sub, up, average, paeth].map { $0.wrappedSum() }
    var best = 0
    for (index, sum) in sums.enumerated() where sum < sums[best] { best = index }
    return best
  }

  @inline(__always)
  private static func mask(_ count: Int) -> Lane {
    let places = Lane(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    return Lane(repeating: 0).replacing(with: 0xff, where: places .< UInt8(count))
  }

  /// The distance of each difference from zero, modulo 256.
  @inline(__always)
  private static func magnitude(_ value: Lane) -> SIMD16<UInt16> {
    let negated = 0 &- value
    return SIMD16<UInt16>(truncatingIfNeeded: pointwiseMin(value, negated))
  }

  /// Paeth's predictor in 8 bits: when both neighbours lie on one side of the corner, the third
  /// distance is the sum of the other two and can be taken as 255, else their difference.
  @inline(__always)
  private static func paeth(_ left: Lane, _ over: Lane, _ corner: Lane) -> Lane {
    let toLeft = pointwiseMax(over, corner) &- pointwiseMin(over, corner)
    let toOver = pointwiseMax(left, corner) &- pointwiseMin(left, corner)
    let leftAbove = left .>= corner
    let overAbove = over .>= corner
    let apart = leftAbove .^ overAbove
    let difference = pointwiseMax(toLeft, toOver) &- pointwiseMin(toLeft, toOver)
    let toCorner = Lane(repeating: 0xff).replacing(with: difference, where: apart)
    let takesLeft = (toLeft .<= toOver) .& (toLeft .<= toCorner)
    let takesOver = toOver .<= toCorner
    return corner.replacing(with: over, where: takesOver).replacing(with: left, where: takesLeft)
  }
}
