internal import Glibc

/// Applies PNG's row filters. Each row gets the filter whose output has the smallest sum of absolute values, or all
/// rows get the same filter.
///
/// Unsafe code: rows lie in buffers that have `padding` bytes before them and more bytes after them. The bytes before
/// the first pixel are zero, as the format requires. Every access stays within `rowBytes` rounded up to a multiple of
/// 16.
struct RowFilter {
  /// The number of zero bytes before a copied row. It is the greatest distance by which filters look to the left,
  /// rounded up for alignment.
  private static let padding = 16
  private let bytesPerPixel: Int
  private let rowBytes: Int
  private let stride: Int
  /// The current row and the row above it, each after `padding` zero bytes.
  private let rows: PixelStorage
  /// The row as filtered by Sub, Up, Average and Paeth.
  private let candidates: PixelStorage

  /// Creates a filter for rows of `width` pixels.
  ///
  /// - Throws: `outOfMemory` if allocation fails.
  init(form: PNGForm, width: Int) throws(AnimatedImageError) {
    bytesPerPixel = form.bytesPerPixel
    rowBytes = form.rowBytes(width: width)
    stride = Self.padding + (rowBytes + 31) & ~15
    rows = try PixelStorage(asking: 2 * stride)
    candidates = try PixelStorage(asking: 4 * stride)
  }

  /// Filters the rows `range` of `source` and writes them to `target`, which may be the same buffer as `source`. Both
  /// contain scanlines, which consist of a filter byte and `rowBytes` bytes. A row has the same position in both.
  ///
  /// - Parameter fixed: The type of the filter for all rows, 1 to 4, or nil to choose a filter for each row.
  func filter(
    _ source: PixelStorage, rows range: Range<Int>, into target: PixelStorage, fixed: Int? = nil
  ) {
    precondition((1...4).contains(fixed ?? 1))
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
      if fixed == 4 {
        // Computing only the Paeth filter takes a third of the time of computing all four.
        unsafe computePaeth(current: current, above: above)
      }
      let chosenBest = unsafe fixed == 4 ? 4 : choose(current: current, above: above)
      let best = fixed ?? chosenBest
      let output = unsafe target.baseAddress + y * line
      unsafe output.storeBytes(of: UInt8(best), as: UInt8.self)
      let chosen =
        unsafe best == 0 ? current : candidates.baseAddress + (best - 1) * stride
      unsafe memcpy(output + 1, chosen, rowBytes)
      unsafe swap(&current, &above)
    }
  }

  private typealias Lane = SIMD16<UInt8>
  // The operand is a vector, because the standard library broadcasts a scalar lane by lane.
  private static var half: Lane { @inline(always) get { Lane(repeating: 127) } }
  private static var full: Lane { @inline(always) get { Lane(repeating: 0xff) } }

  /// The sum of the absolute values of the bytes that one filter outputs. Each 16-bit lane receives the values of two
  /// bytes per addition.
  private struct Sums {
    private var lanes = SIMD8<UInt16>.zero
    private(set) var total: UInt64 = 0

    @inline(always)
    mutating func add(_ value: Lane) {
      // The absolute value of a byte is its distance from zero modulo 256. The values of neighbouring bytes are then
      // added in one lane. This avoids the standard library's conversions, which remain function calls in large loops.
      let magnitude = value.replacing(with: Lane.zero &- value, where: value .> RowFilter.half)
      let pairs = unsafe unsafeBitCast(magnitude, to: SIMD8<UInt16>.self)
      lanes &+= (pairs & SIMD8(repeating: 0xff)) &+ (pairs &>> SIMD8(repeating: 8))
    }

    /// Adds the lanes to the total and clears them. The lanes have room for 255 additions of at most 256 each.
    @inline(always)
    mutating func flush() {
      for lane in 0..<8 { total &+= UInt64(lanes[lane]) }
      lanes = .zero
    }
  }

  /// Computes the output of all four filters and returns the type of the best one, or 0 for *none*.
  private func choose(current: UnsafeMutableRawPointer, above: UnsafeMutableRawPointer) -> Int {
    var (none, sub, up, average, paeth) = (Sums(), Sums(), Sums(), Sums(), Sums())
    let target = unsafe candidates.baseAddress
    let whole = rowBytes & ~15
    let one = Lane(repeating: 1)
    var x = 0
    var mask = Lane(repeating: 0xff)
    while x < rowBytes {
      // The last vector may extend past the end of the row, where bytes must not count.
      if x == whole { mask = Self.mask(rowBytes &- whole) }
      let end = x == whole ? rowBytes : min(x &+ 255 &* 16, whole)
      while x < end {
        let value = unsafe current.loadUnaligned(fromByteOffset: x, as: Lane.self)
        let left = unsafe current.loadUnaligned(fromByteOffset: x &- bytesPerPixel, as: Lane.self)
        let over = unsafe above.loadUnaligned(fromByteOffset: x, as: Lane.self)
        let corner = unsafe above.loadUnaligned(fromByteOffset: x &- bytesPerPixel, as: Lane.self)
        let bySub = value &- left
        let byUp = value &- over
        let byAverage = value &- ((left & over) &+ ((left ^ over) &>> one))
        let byPaeth = value &- Self.paeth(left, over, corner)
        unsafe target.storeBytes(of: bySub, toByteOffset: x, as: Lane.self)
        unsafe target.storeBytes(of: byUp, toByteOffset: x &+ stride, as: Lane.self)
        unsafe target.storeBytes(of: byAverage, toByteOffset: x &+ 2 &* stride, as: Lane.self)
        unsafe target.storeBytes(of: byPaeth, toByteOffset: x &+ 3 &* stride, as: Lane.self)
        none.add(value & mask)
        sub.add(bySub & mask)
        up.add(byUp & mask)
        average.add(byAverage & mask)
        paeth.add(byPaeth & mask)
        x &+= 16
      }
      none.flush()
      sub.flush()
      up.flush()
      average.flush()
      paeth.flush()
    }
    var (best, least) = (0, none.total)
    if sub.total < least { (best, least) = (1, sub.total) }
    if up.total < least { (best, least) = (2, up.total) }
    if average.total < least { (best, least) = (3, average.total) }
    return paeth.total < least ? 4 : best
  }

  /// Computes the output of the Paeth filter.
  private func computePaeth(current: UnsafeMutableRawPointer, above: UnsafeMutableRawPointer) {
    let target = unsafe candidates.baseAddress + 3 * stride
    var x = 0
    while x < rowBytes {
      let value = unsafe current.loadUnaligned(fromByteOffset: x, as: Lane.self)
      let left = unsafe current.loadUnaligned(fromByteOffset: x &- bytesPerPixel, as: Lane.self)
      let over = unsafe above.loadUnaligned(fromByteOffset: x, as: Lane.self)
      let corner = unsafe above.loadUnaligned(fromByteOffset: x &- bytesPerPixel, as: Lane.self)
      unsafe target.storeBytes(
        of: value &- Self.paeth(left, over, corner), toByteOffset: x, as: Lane.self)
      x &+= 16
    }
  }

  @inline(always)
  private static func mask(_ count: Int) -> Lane {
    let places = Lane(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    return Lane.zero.replacing(with: full, where: places .< Lane(repeating: UInt8(count)))
  }

  @inline(always)
  private static func distance(_ first: Lane, _ second: Lane) -> Lane {
    let isLess = first .< second
    return first.replacing(with: second, where: isLess)
      &- second.replacing(with: first, where: isLess)
  }

  /// Computes the Paeth predictor with 8-bit operations. If left and above lie on the same side of the corner, the
  /// distance of the corner from the estimate is the sum of the other two distances, so it can be replaced by 255.
  /// Otherwise it is the difference of those two.
  @inline(always)
  private static func paeth(_ left: Lane, _ over: Lane, _ corner: Lane) -> Lane {
    let toLeft = distance(over, corner)
    let toOver = distance(left, corner)
    let leftBelow = Lane.zero.replacing(with: full, where: left .< corner)
    let overBelow = Lane.zero.replacing(with: full, where: over .< corner)
    let apart = leftBelow ^ overBelow
    let toCorner = (distance(toLeft, toOver) & apart) | ~apart
    let upward = corner.replacing(with: over, where: toOver .<= toCorner)
    // Left is chosen if it is no farther from the estimate than the nearer of the other two.
    let other = toOver.replacing(with: toCorner, where: toCorner .< toOver)
    return upward.replacing(with: left, where: toLeft .<= other)
  }
}
