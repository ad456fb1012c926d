/// Four rows of the Paeth filter at once, for pixels of up to 4 bytes: each 32-bit word of the vector
/// holds a pixel of one row, each row runs two pixels behind the one above it, so that the pixels above
/// it are done. (One would do; two take the moving of words out of the chain of dependent operations,
/// which is what the time goes into.)
///
/// Works in lanes of 8 bits, which need no widening.
@unsafe
struct PaethQuad {
  /// The pixels that were done last; the first row's in the lowest word.
  private(set) var left = SIMD4<UInt32>.zero
  private var corner = SIMD16<UInt8>.zero
  private var up: SIMD16<UInt8>

  /// Starts with the pixel above the first one of the first row.
  @inline(always) init(above: UInt32) {
    unsafe up = Self.bytes(SIMD4(above, 0, 0, 0))
  }

  /// Goes on to the next pixels.
  ///
  /// - Parameters:
  ///   - raw: The filtered pixels, one of each row; zero for a row that has not begun.
  ///   - above: The pixel above the next one of the first row.
  @inline(always)
  mutating func next(_ raw: SIMD4<UInt32>, above: UInt32) {
    let before = unsafe Self.bytes(left)
    let next = unsafe Self.bytes(SIMD4(above, left.x, left.y, left.z))
    let up = unsafe self.up
    let isLess = before .< up
    let low = up.replacing(with: before, where: isLess)
    let high = before.replacing(with: up, where: isLess)
    // How far high lies above the corner and the corner above low: with these, the rule of
    // `PNGUnfilter.predict` reads "low when 2 rise <= fall, high when 2 fall <= rise".
    let rise = unsafe Self.difference(high, corner)
    let fall = unsafe Self.difference(corner, low)
    let takesLow = unsafe rise .<= Self.difference(fall, rise)
    let takesHigh = unsafe fall .<= Self.difference(rise, fall)
    let toLow = unsafe SIMD16<UInt8>.zero.replacing(with: low &- corner, where: takesLow)
    let toHigh = unsafe SIMD16<UInt8>.zero.replacing(with: high &- corner, where: takesHigh)
    let sum = unsafe (Self.bytes(raw) &+ corner) &+ (toLow | toHigh)
    unsafe left = unsafeBitCast(sum, to: SIMD4<UInt32>.self)
    unsafe corner = up
    unsafe self.up = next
  }

  @inline(always)
  private static func bytes(_ words: SIMD4<UInt32>) -> SIMD16<UInt8> {
    unsafe unsafeBitCast(words, to: SIMD16<UInt8>.self)
  }

  /// `a - b`, or zero where that is negative: one instruction.
  @inline(always)
  private static func difference(_ a: SIMD16<UInt8>, _ b: SIMD16<UInt8>) -> SIMD16<UInt8> {
    a.replacing(with: b, where: a .< b) &- b
  }
}
