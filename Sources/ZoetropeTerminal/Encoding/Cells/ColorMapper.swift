internal import Glibc

/// Maps amounts of light to the colours that a terminal can show.
struct ColorMapper: Sendable {
  let depth: ColorDepth
  let tables = LightTables.shared

  /// The light of each palette entry.
  private static let palette = (0..<256).map { LightTables.shared.light(of: entry(UInt8($0))) }

  /// Returns the colour that entry `index` of the palette has in xterm.
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

  /// The thresholds of an ordered 8 x 8 pattern, from -32 to 31.
  private static let pattern: [Int] = (0..<64).map { position in
    let (x, y) = (position & 7, position >> 3)
    let mixed = x ^ y
    var value = 0
    for bit in 0..<3 {
      value = value << 2 | (mixed >> bit & 1) << 1 | (y >> bit & 1)
    }
    return value - 32
  }

  /// Returns the threshold of the pattern at a spot, between 0 and 1.
  @inline(__always)
  static func threshold(x: Int, y: Int) -> Float {
    (Float(pattern[y & 7 << 3 | x & 7] + 32) + 0.5) / 64
  }

  /// Returns the colour of the terminal that is nearest to `light`.
  @inline(__always)
  func color(of light: SIMD4<Float>) -> TerminalColor {
    let exact = tables.color(of: light)
    return depth == .full ? exact : reduce(exact)
  }

  /// Returns the light of a colour that ``color(of:)`` returned.
  func light(of color: TerminalColor) -> SIMD4<Float> {
    color.kind == 0 ? tables.light(of: color) : Self.palette[Int(color.word & 255)]
  }

  /// Returns the colour of the palette that looks most similar to `color`.
  ///
  /// Colours are not dithered, because cells are too large for a pattern: flat areas would have visible bars.
  func reduce(_ color: TerminalColor) -> TerminalColor {
    let wanted = Self.appearance(of: color)
    var best: UInt8 = 0
    var least = Float.infinity
    func consider(_ index: Int) {
      let difference = Self.appearances[index] - wanted
      let distance = (difference * difference).sum()
      if distance < least { (best, least) = (UInt8(index), distance) }
    }
    guard depth == .indexed else {
      for index in 0..<16 { consider(index) }
      return .basic(best)
    }
    // The candidates are the eight corners of the cube that contains the colour, and the three greys nearest to its
    // brightness.
    func step(_ value: UInt8) -> Int { value < 95 ? 0 : min((Int(value) - 55) / 40, 4) }
    let corner = 16 + 36 * step(color.red) + 6 * step(color.green) + step(color.blue)
    for offset in [0, 1, 6, 7, 36, 37, 42, 43] { consider(corner + offset) }
    let brightness = (2 * Int(color.red) + 5 * Int(color.green) + Int(color.blue)) / 8
    let grey = min(max((brightness - 3) / 10, 1), 22)
    for index in 231 + grey...233 + grey { consider(index) }
    return .indexed(best)
  }

  /// The amount of physical light of each coded value, by the transfer function of sRGB.
  private static let linear = (0..<256).map { code -> Float in
    let value = Double(code) / 255
    return Float(value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4))
  }

  private static let appearances = (0..<256).map { appearance(of: entry(UInt8($0))) }

  /// Returns a colour in Oklab, in which distances are approximately perceptual.
  ///
  /// The numbers are Björn Ottosson's: https://bottosson.github.io/posts/oklab/
  private static func appearance(of color: TerminalColor) -> SIMD4<Float> {
    let (r, g, b) = (linear[Int(color.red)], linear[Int(color.green)], linear[Int(color.blue)])
    func cone(_ red: Float, _ green: Float, _ blue: Float) -> Float {
      cbrt(red * r + green * g + blue * b)
    }
    let long = cone(0.412_221_5, 0.536_332_5, 0.051_446)
    let middle = cone(0.211_903_5, 0.680_699_5, 0.107_397)
    let short = cone(0.088_302_5, 0.281_718_8, 0.629_978_7)
    return SIMD4(
      0.210_454_3 * long + 0.793_617_8 * middle - 0.004_072 * short,
      1.977_998_5 * long - 2.428_592_2 * middle + 0.450_593_7 * short,
      0.025_904 * long + 0.782_771_8 * middle - 0.808_675_8 * short, 0)
  }
}
