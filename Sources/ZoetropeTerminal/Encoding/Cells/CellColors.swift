internal import Glibc

/// How colours are averaged and compared.
///
/// Each model is best by a measure of its own. ``coded`` has the better signal-to-noise ratio in
/// coded values: averaging light costs a photograph in 62 x 23 cells 0.5 to 0.7 dB. ``linear``
/// keeps the brightness that the eye sees: with ``coded`` a fine pattern of black and white becomes
/// too dark.
public enum LightModel: String, Sendable, Hashable {
  /// In coded values, with the least squared error. The default.
  case coded
  /// In amounts of light, so that fine patterns keep their brightness.
  case linear
}

/// Tables between coded values and amounts of light.
struct LightTables: Sendable {
  /// For each coded value of a channel, a vector with only that channel set.
  let red: [SIMD4<Float>]
  let green: [SIMD4<Float>]
  let blue: [SIMD4<Float>]
  /// The coded value for `light * 8191`.
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

  /// The amounts of light of an opaque colour.
  func light(of color: TerminalColor) -> SIMD4<Float> {
    red[Int(color.red)] + green[Int(color.green)] + blue[Int(color.blue)]
  }

  /// The nearest 24-bit colour.
  @inline(__always)
  func color(of light: SIMD4<Float>) -> TerminalColor {
    let step = (light * Self.steps + 0.5).clamped(
      lowerBound: .zero, upperBound: .init(repeating: Self.steps))
    let index = SIMD4<Int32>(step)
    return TerminalColor(
      red: coded[Int(index.x)], green: coded[Int(index.y)], blue: coded[Int(index.z)])
  }
}

/// Maps amounts of light to the colours of a terminal.
struct ColorMapper: Sendable {
  let depth: ColorDepth
  let dithers: Bool
  let tables: LightTables
  /// The light of the palette's entries, for depths with a palette.
  let palette: [SIMD4<Float>]

  init(depth: ColorDepth, dithers: Bool, model: LightModel) {
    self.depth = depth
    self.dithers = dithers
    let tables = LightTables.tables(for: model)
    self.tables = tables
    palette = depth == .full ? [] : model == .linear ? Self.linearPalette : Self.codedPalette
  }

  private static let linearPalette = light(LightTables.linear)
  private static let codedPalette = light(LightTables.plain)

  private static func light(_ tables: LightTables) -> [SIMD4<Float>] {
    (0..<256).map { tables.light(of: entry(UInt8($0))) }
  }

  /// xterm's colour for entry `index`.
  static func entry(_ index: UInt8) -> TerminalColor {
    if index < 16 {
      let word = basicColors[Int(index)]
      return TerminalColor(word: word)
    }
    if index >= 232 {
      let grey = 8 + 10 * (index - 232)
      return TerminalColor(red: grey, green: grey, blue: grey)
    }
    let levels: [UInt8] = [0, 95, 135, 175, 215, 255]
    let cube = Int(index) - 16
    return TerminalColor(
      red: levels[cube / 36], green: levels[cube / 6 % 6], blue: levels[cube % 6])
  }

  private static let basicColors: [UInt32] = [
    0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD, 0x00CDCD, 0xE5E5E5,
    0x7F7F7F, 0xFF0000, 0x00FF00, 0xFFFF00, 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF,
  ]

  /// Thresholds of an 8 x 8 ordered pattern, -32 to 31.
  private static let pattern: [Int] = (0..<64).map { position in
    let (x, y) = (position & 7, position >> 3)
    let mixed = x ^ y
    var value = 0
    for bit in 0..<3 {
      value = value << 2 | (mixed >> bit & 1) << 1 | (y >> bit & 1)
    }
    return value - 32
  }

  /// The threshold of the pattern at a spot, between 0 and 1.
  @inline(__always)
  static func threshold(x: Int, y: Int) -> Float {
    (Float(pattern[y & 7 << 3 | x & 7] + 32) + 0.5) / 64
  }

  /// The nearest colour for a spot of the screen; `x` and `y` place the dither pattern.
  @inline(__always)
  func color(of light: SIMD4<Float>, x: Int, y: Int) -> TerminalColor {
    let exact = tables.color(of: light)
    return depth == .full ? exact : reduce(exact, x: x, y: y)
  }

  /// The light of a colour that ``color(of:x:y:)`` gave.
  func light(of color: TerminalColor) -> SIMD4<Float> {
    color.kind == 0 ? tables.light(of: color) : palette[Int(color.word & 255)]
  }

  /// The nearest colour of a palette; between its colours, one of those around by the pattern.
  func reduce(_ color: TerminalColor, x: Int, y: Int) -> TerminalColor {
    let nearest = nearest(Int(color.red), Int(color.green), Int(color.blue))
    guard dithers else { return paletteColor(nearest) }
    // The steps of the palette are not even: white moved by half of the widest one would come out
    // as the light grey beside it. So a colour of the palette is not moved at all, and one near it
    // little.
    let distance = color.distance(to: Self.entry(nearest))
    let spread = min(depth == .indexed ? 40 : 96, distance * 8)
    let offset = Self.pattern[y & 7 << 3 | x & 7] * spread / 64
    if offset == 0 { return paletteColor(nearest) }
    func moved(_ value: UInt8) -> Int { min(max(Int(value) + offset, 0), 255) }
    return paletteColor(self.nearest(moved(color.red), moved(color.green), moved(color.blue)))
  }

  private func nearest(_ red: Int, _ green: Int, _ blue: Int) -> UInt8 {
    depth == .indexed
      ? Self.nearestIndexed(red, green, blue) : Self.nearestBasic(red, green, blue)
  }

  private func paletteColor(_ index: UInt8) -> TerminalColor {
    depth == .indexed ? .indexed(index) : .basic(index)
  }

  private static func nearestIndexed(_ red: Int, _ green: Int, _ blue: Int) -> UInt8 {
    func step(_ value: Int) -> Int { value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40 }
    func level(_ step: Int) -> Int { step == 0 ? 0 : 55 + 40 * step }
    let (r, g, b) = (step(red), step(green), step(blue))
    let mean = (red + green + blue) / 3
    let grey = min(max((mean - 3) / 10, 0), 23)
    func distance(_ r: Int, _ g: Int, _ b: Int) -> Int {
      (red - r) * (red - r) + (green - g) * (green - g) + (blue - b) * (blue - b)
    }
    let shade = 8 + 10 * grey
    let cube = distance(level(r), level(g), level(b))
    return distance(shade, shade, shade) < cube
      ? UInt8(232 + grey) : UInt8(16 + 36 * r + 6 * g + b)
  }

  private static func nearestBasic(_ red: Int, _ green: Int, _ blue: Int) -> UInt8 {
    var best = 0
    var bestDistance = Int.max
    for index in basicColors.indices {
      let word = basicColors[index]
      let r = red - Int(word >> 16)
      let g = green - Int(word >> 8 & 255)
      let b = blue - Int(word & 255)
      let distance = r * r + g * g + b * b
      if distance < bestDistance {
        bestDistance = distance
        best = index
      }
    }
    return UInt8(best)
  }
}
