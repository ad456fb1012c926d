/// Four 8-bit channels, alpha last, blended as coded.
///
/// Products of two bytes are whole numbers below 65536, exact in single precision.
struct StraightCodec8: BlendCodec {
  static var bytesPerPixel: Int { 4 }
  static var allowsFixedPoint: Bool { true }
  static var allowsProducts: Bool { true }

  @inline(__always)
  func decode(_ address: UnsafeRawPointer) -> SIMD4<Float> {
    let bytes = unsafe address.loadUnaligned(as: SIMD4<UInt8>.self)
    let words = SIMD4<UInt16>(widening: bytes)
    // Alpha goes in as 255 * alpha: all four numbers then have the same scale.
    let full = SIMD4<UInt16>(words[0], words[1], words[2], 255)
    let products = full &* SIMD4<UInt16>(repeating: words[3])
    return BlendMath.float(products)
  }

  @inline(__always)
  func encode(_ sum: SIMD4<Float>, at address: UnsafeMutableRawPointer) {
    let total = sum[3]
    var bytes = SIMD4<UInt8>()
    // Half a step of alpha: below it, alpha rounds to 0.
    if total >= 127.5 {
      var scaled = sum * SIMD4<Float>(repeating: 255 / total)
      scaled[3] = total * (1 / 255)
      bytes = BlendMath.bytes(scaled)
    }
    unsafe address.storeBytes(of: bytes, as: SIMD4<UInt8>.self)
  }
}

/// Four 16-bit channels, alpha last, blended as coded, in double precision.
///
/// Single precision would be off by hundreds where alpha is a few steps above 0.
struct StraightCodec16: BlendCodec {
  static var bytesPerPixel: Int { 8 }
  static var allowsFixedPoint: Bool { false }
  static var allowsProducts: Bool { false }

  @inline(__always)
  func decode(_ address: UnsafeRawPointer) -> SIMD4<Double> {
    let words = unsafe address.loadUnaligned(as: SIMD4<UInt16>.self)
    let values = SIMD4<Double>(
      Double(words[0]), Double(words[1]), Double(words[2]), 65535)
    return values * SIMD4<Double>(repeating: Double(words[3]))
  }

  @inline(__always)
  func encode(_ sum: SIMD4<Double>, at address: UnsafeMutableRawPointer) {
    let total = sum[3]
    var words = SIMD4<UInt16>()
    if total >= 32767.5 {
      let scale = 65535 / total
      words[0] = BlendMath.word(sum[0] * scale)
      words[1] = BlendMath.word(sum[1] * scale)
      words[2] = BlendMath.word(sum[2] * scale)
      words[3] = BlendMath.word(total / 65535)
    }
    unsafe address.storeBytes(of: words, as: SIMD4<UInt16>.self)
  }
}

/// Conversions between whole numbers and floating point that become a few vector instructions.
enum BlendMath {
  /// Whole numbers below 65536 as floating point, exact.
  ///
  /// The number is put into the low bits of 2^23, whose unit is 1, and 2^23 taken away: the
  /// generic conversion goes lane by lane.
  @inline(__always)
  static func float(_ words: SIMD4<UInt16>) -> SIMD4<Float> {
    let bits = SIMD4<UInt32>(widening: words) | 0x4B00_0000
    return unsafe unsafeBitCast(bits, to: SIMD4<Float>.self) - 8_388_608
  }

  /// Numbers clamped to 0 and 255 and rounded to nearest.
  @inline(__always)
  static func bytes(_ values: SIMD4<Float>) -> SIMD4<UInt8> {
    let low = values.replacing(with: 0, where: values .< 0)
    let clamped = low.replacing(with: 255, where: low .> 255)
    let bits = unsafe unsafeBitCast(clamped + 8_388_608, to: SIMD4<UInt32>.self)
    return SIMD4<UInt8>(truncating: bits)
  }

  /// A number clamped to 0 and 65535 and rounded to nearest.
  @inline(__always)
  static func word(_ value: Double) -> UInt16 {
    UInt16(min(max(value, 0), 65535) + 0.5)
  }
}
