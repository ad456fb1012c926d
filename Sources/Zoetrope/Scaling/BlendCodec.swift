/// How pixels enter and leave the passes that blend: as four numbers, the colours multiplied by
/// alpha, so that a transparent pixel's colour does not bleed into its neighbours.
protocol BlendCodec {
  associatedtype Scalar: BlendScalar

  /// Bytes of one pixel.
  static var bytesPerPixel: Int { get }
  /// Whether windows of opaque pixels may take the fixed-point passes, which give the same
  /// result to within rounding.
  static var allowsFixedPoint: Bool { get }

  /// Whether vertical sums may be taken of whole-number products.
  static var allowsProducts: Bool { get }

  /// The pixel at `address`, multiplied.
  func decode(_ address: UnsafeRawPointer) -> SIMD4<Scalar>

  /// Stores a sum of weighed pixels as one pixel: colours divided by alpha, all clamped to their
  /// range, and all zero when alpha rounds to 0.
  func encode(_ sum: SIMD4<Scalar>, at address: UnsafeMutableRawPointer)
}

/// The number type of a blending pass.
///
/// The operations are requirements, not generic code over `SIMD4<Scalar>`, so that each is
/// compiled as vector instructions.
protocol BlendScalar: SIMDScalar, Hashable, Codable {
  static func multiplyAdd(
    _ sum: SIMD4<Self>, _ pixel: SIMD4<Self>, _ weight: Self
  ) -> SIMD4<Self>

  static func add(_ one: SIMD4<Self>, _ other: SIMD4<Self>) -> SIMD4<Self>

  /// The kernel's weights in this type.
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
