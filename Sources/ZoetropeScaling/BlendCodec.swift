internal import Glibc

/// Loads and stores pixels for the blending passes. A loaded pixel consists of four numbers with premultiplied colours,
/// so that the colour of a transparent pixel does not bleed into the neighbouring pixels.
protocol BlendCodec {
  associatedtype Scalar: BlendScalar
  /// A pixel as stored in memory.
  associatedtype Pixel: BitwiseCopyable

  /// The number of bytes of one pixel.
  static var bytesPerPixel: Int { get }
  /// Whether windows of opaque pixels may use the fixed-point passes, whose results differ from those of the blending
  /// passes only by rounding.
  static var allowsFixedPoint: Bool { get }

  /// Whether vertical sums may use integer products (see ``ProductRows``).
  static var allowsProducts: Bool { get }

  /// Returns the loaded form of a stored pixel, with its colours premultiplied.
  func decode(_ pixel: Pixel) -> SIMD4<Scalar>

  /// Converts a weighted sum to a stored pixel, by dividing the colours by alpha and clamping every channel. If alpha
  /// rounds to 0, all channels are 0.
  func encode(_ sum: SIMD4<Scalar>) -> Pixel
}

/// The number type of a blending pass.
///
/// The operations are protocol requirements rather than generic code over `SIMD4<Scalar>`, so that each operation
/// compiles to vector instructions.
protocol BlendScalar: SIMDScalar, Hashable, Codable {
  static func multiplyAdd(
    _ sum: SIMD4<Self>, _ pixel: SIMD4<Self>, _ weight: Self
  ) -> SIMD4<Self>

  static func add(_ one: SIMD4<Self>, _ other: SIMD4<Self>) -> SIMD4<Self>

  /// Returns the weights of `kernel` as numbers of this type.
  static func weights(of kernel: ResamplingKernel) -> [Self]
}

extension Float: BlendScalar {
  @inline(__always)
  static func multiplyAdd(
    _ sum: SIMD4<Float>, _ pixel: SIMD4<Float>, _ weight: Float
  ) -> SIMD4<Float> {
    sum + pixel * SIMD4<Float>(repeating: weight)
  }

  @inline(__always)
  static func add(_ one: SIMD4<Float>, _ other: SIMD4<Float>) -> SIMD4<Float> { one + other }

  static func weights(of kernel: ResamplingKernel) -> [Float] { kernel.floatWeights }
}

extension Double: BlendScalar {
  @inline(__always)
  static func multiplyAdd(
    _ sum: SIMD4<Double>, _ pixel: SIMD4<Double>, _ weight: Double
  ) -> SIMD4<Double> {
    sum + pixel * SIMD4<Double>(repeating: weight)
  }

  @inline(__always)
  static func add(_ one: SIMD4<Double>, _ other: SIMD4<Double>) -> SIMD4<Double> { one + other }

  static func weights(of kernel: ResamplingKernel) -> [Double] { kernel.weights }
}

/// The codec for pixels of four 8-bit sRGB channels with alpha last, which are blended in linear light.
struct LinearCodec8: BlendCodec {
  static var bytesPerPixel: Int { 4 }
  static var allowsFixedPoint: Bool { false }
  static var allowsProducts: Bool { false }

  private let toLight = SRGB.light8
  private let toCode = SRGB.codes

  @inline(__always)
  func decode(_ bytes: SIMD4<UInt8>) -> SIMD4<Float> {
    let light = SIMD4<Float>(
      toLight[Int(bytes[0])], toLight[Int(bytes[1])], toLight[Int(bytes[2])], 1)
    return light * SIMD4<Float>(repeating: Float(bytes[3]))
  }

  @inline(__always)
  func encode(_ sum: SIMD4<Float>) -> SIMD4<UInt8> {
    let total = sum[3]
    var bytes = SIMD4<UInt8>()
    if total >= 0.5 {
      let scale = Float(SRGB.codeSteps) / total
      bytes[0] = toCode[step(sum[0] * scale)]
      bytes[1] = toCode[step(sum[1] * scale)]
      bytes[2] = toCode[step(sum[2] * scale)]
      bytes[3] = UInt8(min(total, 255) + 0.5)
    }
    return bytes
  }

  @inline(__always)
  private func step(_ value: Float) -> Int {
    Int(min(max(value, 0), Float(SRGB.codeSteps)) + 0.5)
  }
}

/// The codec for pixels of four 16-bit sRGB channels with alpha last, which are blended in linear light. This codec is
/// slow, because each colour channel takes a call of `pow`.
struct LinearCodec16: BlendCodec {
  static var bytesPerPixel: Int { 8 }
  static var allowsFixedPoint: Bool { false }
  static var allowsProducts: Bool { false }

  private let toLight = SRGB.light16

  @inline(__always)
  func decode(_ words: SIMD4<UInt16>) -> SIMD4<Double> {
    let light = SIMD4<Double>(
      toLight[Int(words[0])], toLight[Int(words[1])], toLight[Int(words[2])], 1)
    return light * SIMD4<Double>(repeating: Double(words[3]))
  }

  func encode(_ sum: SIMD4<Double>) -> SIMD4<UInt16> {
    let total = sum[3]
    var words = SIMD4<UInt16>()
    if total >= 0.5 {
      for channel in 0..<3 {
        words[channel] = BlendMath.word(SRGB.code(of: sum[channel] / total) * 65535)
      }
      words[3] = BlendMath.word(total)
    }
    return words
  }
}

/// The codec for pixels of four 8-bit channels with alpha last, which are blended as coded values.
///
/// The product of two bytes is an integer below 65536, which single precision represents exactly.
struct StraightCodec8: BlendCodec {
  static var bytesPerPixel: Int { 4 }
  static var allowsFixedPoint: Bool { true }
  static var allowsProducts: Bool { true }

  @inline(__always)
  func decode(_ bytes: SIMD4<UInt8>) -> SIMD4<Float> {
    let words = SIMD4<UInt16>(widening: bytes)
    // Alpha is loaded as 255 * alpha, so that alpha has the same scale as the premultiplied colours.
    let full = SIMD4<UInt16>(words[0], words[1], words[2], 255)
    let products = full &* SIMD4<UInt16>(repeating: words[3])
    return BlendMath.float(products)
  }

  @inline(__always)
  func encode(_ sum: SIMD4<Float>) -> SIMD4<UInt8> {
    let total = sum[3]
    var bytes = SIMD4<UInt8>()
    // 127.5 is half a step of alpha. If the total is below this value, alpha rounds to 0.
    if total >= 127.5 {
      var scaled = sum * SIMD4<Float>(repeating: 255 / total)
      scaled[3] = total * (1 / 255)
      bytes = BlendMath.bytes(scaled)
    }
    return bytes
  }
}

/// The codec for pixels of four 16-bit channels with alpha last, which are blended as coded values in double precision.
///
/// With single precision, colours would be off by hundreds of steps where alpha is only a few steps above 0.
struct StraightCodec16: BlendCodec {
  static var bytesPerPixel: Int { 8 }
  static var allowsFixedPoint: Bool { false }
  static var allowsProducts: Bool { false }

  @inline(__always)
  func decode(_ words: SIMD4<UInt16>) -> SIMD4<Double> {
    let values = SIMD4<Double>(
      Double(words[0]), Double(words[1]), Double(words[2]), 65535)
    return values * SIMD4<Double>(repeating: Double(words[3]))
  }

  @inline(__always)
  func encode(_ sum: SIMD4<Double>) -> SIMD4<UInt16> {
    let total = sum[3]
    var words = SIMD4<UInt16>()
    if total >= 32767.5 {
      let scale = 65535 / total
      words[0] = BlendMath.word(sum[0] * scale)
      words[1] = BlendMath.word(sum[1] * scale)
      words[2] = BlendMath.word(sum[2] * scale)
      words[3] = BlendMath.word(total / 65535)
    }
    return words
  }
}

/// Conversions between integers and floating-point numbers, each of which compiles to a few vector instructions.
enum BlendMath {
  /// Converts integers below 65536 to floating point, exactly.
  ///
  /// The conversion puts each integer into the low bits of the floating-point number 2^23, whose lowest bit has the
  /// value 1, and subtracts 2^23. The standard library's generic conversion would convert one lane at a time.
  @inline(__always)
  static func float(_ words: SIMD4<UInt16>) -> SIMD4<Float> {
    let bits = SIMD4<UInt32>(widening: words) | 0x4B00_0000
    return SIMD4<Float>(bits: bits) - 8_388_608
  }

  /// Clamps each value to 0...255 and rounds it to the nearest integer.
  @inline(__always)
  static func bytes(_ values: SIMD4<Float>) -> SIMD4<UInt8> {
    let low = values.replacing(with: 0, where: values .< 0)
    let clamped = low.replacing(with: 255, where: low .> 255)
    let bits = SIMD4<UInt32>(bitsOf: clamped + 8_388_608)
    return SIMD4<UInt8>(truncating: bits)
  }

  /// Clamps `value` to 0...65535 and rounds it to the nearest integer.
  @inline(__always)
  static func word(_ value: Double) -> UInt16 {
    UInt16(min(max(value, 0), 65535) + 0.5)
  }
}

/// The sRGB transfer curve (IEC 61966-2-1), with tables that are computed on first use.
enum SRGB {
  /// The index of the last element of ``codes``.
  ///
  /// From one element to the next, the curve rises by at most 0.2 codes. Therefore, linear light that was converted
  /// from a code always converts back to the same code, and for any other light the resulting code is off by at most 1.
  static let codeSteps = 16383

  /// The linear light (0 to 1) of each 8-bit code.
  static let light8: [Float] = (0..<256).map { Float(light(of: Double($0) / 255)) }
  /// The linear light (0 to 1) of each 16-bit code. The table takes 512 KiB.
  static let light16: [Double] = (0..<65536).map { light(of: Double($0) / 65535) }
  /// The 8-bit codes of linear light. The element at `index` is the code of the light `index / codeSteps`.
  static let codes: [UInt8] = (0...codeSteps).map {
    UInt8((code(of: Double($0) / Double(codeSteps)) * 255).rounded())
  }

  /// Returns the linear light (0 to 1) of `code` (0 to 1).
  static func light(of code: Double) -> Double {
    code <= 0.04045 ? code / 12.92 : pow((code + 0.055) / 1.055, 2.4)
  }

  /// Returns the code (0 to 1) of linear light, which is clamped to 0...1.
  static func code(of light: Double) -> Double {
    let light = min(max(light, 0), 1)
    return light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
  }
}
