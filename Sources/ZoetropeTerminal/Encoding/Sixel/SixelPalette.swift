/// The fixed palette for pictures of too many colours, and its dither pattern.
enum SixelPalette {
  /// Levels of red, green and blue: 6 x 7 x 6 = 252 colours.
  private static let levels = (red: 6, green: 7, blue: 6)

  /// The colour of a register.
  static func color(_ register: Int) -> UInt32 {
    let blue = register % levels.blue
    let green = register / levels.blue % levels.green
    let red = register / levels.blue / levels.green
    return UInt32(red * 255 / (levels.red - 1)) << 16
      | UInt32(green * 255 / (levels.green - 1)) << 8 | UInt32(blue * 255 / (levels.blue - 1))
  }

  /// The register of a colour at a pixel; which of the nearest levels it is depends on the place.
  @inline(__always)
  static func index(of color: UInt32, x: Int, y: Int) -> Int {
    let mixed = x ^ y
    var threshold = 0
    for bit in 0..<3 { threshold = threshold << 2 | (mixed >> bit & 1) << 1 | (y >> bit & 1) }
    // 0 to 63 made the middle of 64 equal steps of one level.
    let offset = threshold * 2 + 1
    func level(_ value: UInt32, _ count: Int) -> Int {
      let scaled = Int(value) * (count - 1)
      return min((scaled * 128 + offset * 255) / (255 * 128), count - 1)
    }
    let red = level(color >> 16 & 255, levels.red)
    let green = level(color >> 8 & 255, levels.green)
    let blue = level(color & 255, levels.blue)
    return (red * levels.green + green) * levels.blue + blue
  }
}
