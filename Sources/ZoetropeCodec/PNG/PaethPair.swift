/// Two rows of the Paeth filter at once, for pixels of up to 4 bytes: the low half of each vector holds
/// a pixel of the first row, the high half one of a row further down, which runs one pixel behind, so
/// that the pixels it needs from the first row are done.
///
/// The chain of dependent operations is hardly longer than for one row, so this takes half the time.
@unsafe
struct PaethPair {
  /// The pixels that were done last.
  private(set) var left = unsafe PNGPixelLanes()
  private var raw: PNGPixelLanes
  private var up: PNGPixelLanes
  private var corner = unsafe PNGPixelLanes()
  // 3 corner - left. Kept from one step to the next because the compiler otherwise adds left and up
  // first, which makes the chain longer.
  private var base = SIMD8<Int16>.zero

  /// Starts with the first pixel of the first row and with none, all zero, of the other.
  @inline(always)
  init(raw: PNGPixelLanes, up: PNGPixelLanes) {
    unsafe self.raw = raw
    unsafe self.up = up
    unsafe self.raw.lanes.highHalf = .zero
    unsafe self.up.lanes.highHalf = .zero
    unsafe step()
  }

  /// Goes on to the next pixels.
  ///
  /// - Parameters:
  ///   - row: The filtered pixel of the first row.
  ///   - below: That of the other row.
  ///   - up: The pixel above that of the first row.
  ///   - between: The pixel above that of the other row.
  @inline(always)
  mutating func next(
    row: PNGPixelLanes, below: PNGPixelLanes, up above: PNGPixelLanes, between: PNGPixelLanes
  ) {
    unsafe raw = row
    unsafe raw.lanes.highHalf = below.lanes.lowHalf
    unsafe up = above
    unsafe up.lanes.highHalf = between.lanes.lowHalf
    unsafe step()
  }

  @inline(always)
  private mutating func step() {
    unsafe left = PNGUnfilter.predict(
      raw, left: left, up: up, corner: corner, threshold: base &- up.lanes)
    unsafe corner = up
    unsafe base = up.lanes &+ up.lanes &+ up.lanes &- left.lanes
  }
}
