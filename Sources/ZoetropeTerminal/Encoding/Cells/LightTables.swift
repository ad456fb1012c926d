internal import Glibc

/// Tables for converting between coded values and amounts of light.
struct LightTables: Sendable {
  /// For each coded value of red, its light as a vector whose other channels are 0.
  let red: [SIMD4<Float>]
  let green: [SIMD4<Float>]
  let blue: [SIMD4<Float>]
  /// The coded values of amounts of light. The value for `light` is at index `light * 8191`.
  let coded: [UInt8]

  static let steps: Float = 8191
  static let linear = LightTables(.linear)
  static let plain = LightTables(.coded)

  static func tables(for model: LightModel) -> LightTables {
    model == .linear ? linear : plain
  }

  private init(_ model: LightModel) {
    let light = (0..<256).map { code -> Float in
      let value = Double(code) / 255
      if model == .coded { return Float(value) }
      return Float(value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4))
    }
    red = light.map { SIMD4($0, 0, 0, 0) }
    green = light.map { SIMD4(0, $0, 0, 0) }
    blue = light.map { SIMD4(0, 0, $0, 0) }
    coded = (0...Int(Self.steps)).map { step in
      let value = Double(step) / Double(Self.steps)
      if model == .coded { return UInt8((value * 255).rounded()) }
      let code = value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
      return UInt8((min(max(code, 0), 1) * 255).rounded())
    }
  }

  /// Returns the light of an opaque colour.
  func light(of color: TerminalColor) -> SIMD4<Float> {
    red[Int(color.red)] + green[Int(color.green)] + blue[Int(color.blue)]
  }

  /// Returns the 24-bit colour that is nearest to `light`.
  @inline(__always)
  func color(of light: SIMD4<Float>) -> TerminalColor {
    let step = (light * Self.steps + 0.5).clamped(
      lowerBound: .zero, upperBound: .init(repeating: Self.steps))
    let index = SIMD4<Int32>(step)
    return TerminalColor(
      red: coded[Int(index.x)], green: coded[Int(index.y)], blue: coded[Int(index.z)])
  }
}
