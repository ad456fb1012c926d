/// Four 8-bit sRGB channels, alpha last, blended as light.
struct LinearCodec8: BlendCodec {
  static var bytesPerPixel: Int { 4 }
  static var allowsFixedPoint: Bool { false }
  static var allowsProducts: Bool { false }

  private let toLight = SRGB.light8
  private let toCode = SRGB.codes

  @inline(__always)
  func decode(_ address: UnsafeRawPointer) -> SIMD4<Float> {
    let bytes = unsafe address.loadUnaligned(as: SIMD4<UInt8>.self)
    let light = SIMD4<Float>(
      toLight[Int(bytes[0])], toLight[Int(bytes[1])], toLight[Int(bytes[2])], 1)
    return light * SIMD4<Float>(repeating: Float(bytes[3]))
  }

  @inline(__always)
  func encode(_ sum: SIMD4<Float>, at address: UnsafeMutableRawPointer) {
    let total = sum[3]
    var bytes = SIMD4<UInt8>()
    if total >= 0.5 {
      let scale = Float(SRGB.codeSteps) / total
      bytes[0] = toCode[step(sum[0] * scale)]
      bytes[1] = toCode[step(sum[1] * scale)]
      bytes[2] = toCode[step(sum[2] * scale)]
      bytes[3] = UInt8(min(total, 255) + 0.5)
    }
    unsafe address.storeBytes(of: bytes, as: SIMD4<UInt8>.self)
  }

  @inline(__always)
  private func step(_ value: Float) -> Int {
    Int(min(max(value, 0), Float(SRGB.codeSteps)) + 0.5)
  }
}

/// Four 16-bit sRGB channels, alpha last, blended as light; one power a channel, so slow.
struct LinearCodec16: BlendCodec {
  static var bytesPerPixel: Int { 8 }
  static var allowsFixedPoint: Bool { false }
  static var allowsProducts: Bool { false }

  private let toLight = SRGB.light16

  @inline(__always)
  func decode(_ address: UnsafeRawPointer) -> SIMD4<Double> {
    let words = unsafe address.loadUnaligned(as: SIMD4<UInt16>.self)
    let light = SIMD4<Double>(
      toLight[Int(words[0])], toLight[Int(words[1])], toLight[Int(words[2])], 1)
    return light * SIMD4<Double>(repeating: Double(words[3]))
  }

  func encode(_ sum: SIMD4<Double>, at address: UnsafeMutableRawPointer) {
    let total = sum[3]
    var words = SIMD4<UInt16>()
    if total >= 0.5 {
      for channel in 0..<3 {
        words[channel] = BlendMath.word(SRGB.code(of: sum[channel] / total) * 65535)
      }
      words[3] = BlendMath.word(total)
    }
    unsafe address.storeBytes(of: words, as: SIMD4<UInt16>.self)
  }
}
