/// Tables for converting between coded values and the light that cells average and compare.
///
/// Light is proportional to coded values, which gives the least squared error: if amounts of physical light were
/// averaged instead, a photograph in 62 x 23 cells would lose 0.5 to 0.7 dB. In return, a fine pattern of black and
/// white becomes too dark.
struct LightTables: Sendable {
  /// For each coded value of red, its light as a vector whose other channels are 0.
  let red: [SIMD4<Float>]
  let green: [SIMD4<Float>]
  let blue: [SIMD4<Float>]
  /// The coded values of amounts of light. The value for `light` is at index `light * 8191`.
  let coded: [UInt8]

  static let steps: Float = 8191
  static let shared = LightTables()

  private init() {
    let light = (0..<256).map { Float(Double($0) / 255) }
    red = light.map { SIMD4($0, 0, 0, 0) }
    green = light.map { SIMD4(0, $0, 0, 0) }
    blue = light.map { SIMD4(0, 0, $0, 0) }
    coded = (0...Int(Self.steps)).map { step in
      UInt8((Double(step) / Double(Self.steps) * 255).rounded())
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
