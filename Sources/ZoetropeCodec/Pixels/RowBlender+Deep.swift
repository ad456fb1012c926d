// Unsafe code: bounds as in RowBlender.swift.
extension RowBlender {
  /// Blends onto RGBA of 16 bits in the machine's byte order, exactly; 8-bit samples count times 257.
  ///
  /// - Parameter palette: 256 colours as `RGBA.word`; or a key; read for layouts that have them only.
  @unsafe
  package static func overDeep(
    _ layout: FramePixels.Layout, from source: UnsafeRawPointer,
    to target: UnsafeMutablePointer<SIMD4<UInt16>>, count: Int, palette: UnsafePointer<UInt32>
  ) {
    for x in 0..<max(count, 0) {
      let over = unsafe RowExpander.deepPixel(layout, source, x, palette)
      unsafe target[x] = blendDeep(over, target[x])
    }
  }

  /// One pixel of 16 bits a channel over another.
  ///
  /// Weights as for 8 bits, in units of 1/65535: their sum is below 2^32, times a channel below 2^48.
  package static func blendDeep(_ over: SIMD4<UInt16>, _ under: SIMD4<UInt16>) -> SIMD4<UInt16> {
    if over.w == 0 { return under }
    if over.w == 65535 || under.w == 0 { return over }
    let overWeight = UInt64(over.w) * 65535
    let underWeight = UInt64(under.w) * UInt64(65535 - over.w)
    let sum = overWeight + underWeight
    func mixed(_ above: UInt16, _ below: UInt16) -> UInt16 {
      let value = UInt64(above) * overWeight + UInt64(below) * underWeight
      return UInt16((2 * value + sum) / (2 * sum))
    }
    return SIMD4(
      mixed(over.x, under.x), mixed(over.y, under.y), mixed(over.z, under.z),
      UInt16((2 * sum + 65535) / (2 * 65535)))
  }
}
