/// The colours that are assigned to a terminal's registers, and a record of which registers have been defined in the
/// terminal.
struct SixelRegisters: Sendable {
  /// The number of registers.
  let count: Int
  /// The colours of pictures that have more colours than there are registers.
  let palette: SixelPalette
  /// Whether the terminal keeps definitions from one image to the next.
  private let isKept: Bool
  private var table: ColorTable
  private var defined = Array(repeating: false, count: 256)

  init(count: Int, isKept: Bool) {
    (self.count, self.isKept) = (count, isKept)
    palette = SixelPalette(limit: count)
    table = ColorTable(limit: count)
  }

  /// Feeds `hasher` everything on which the bytes of the next picture depend.
  func hash(into hasher: inout Hasher) {
    hasher.combine(table.colors)
    hasher.combine(defined)
  }

  /// Returns the register of `color`. The colour must have a register.
  @inline(__always)
  mutating func register(of color: UInt32) -> Int { table.index(of: color) ?? 0 }

  /// Returns the register of `color`, or nil if the colour has none.
  @inline(__always)
  func registerIfAny(of color: UInt32) -> Int? { table.number(of: color) }

  /// Forgets which registers are defined in the terminal.
  mutating func forgetDefinitions() { defined = Array(repeating: false, count: 256) }

  /// Assigns a register to each colour. Existing assignments are kept if there is room for all colours.
  ///
  /// Of the new colours, those that are selected most often get the lowest numbers, which are the shortest.
  mutating func claim(for colors: [UInt32], counts: [Int]) {
    let added = colors.indices.filter { !table.contains(colors[$0]) }
    if added.isEmpty { return }
    var claimed = added
    if table.colors.count + added.count > count {
      table.removeAll()
      forgetDefinitions()
      claimed = Array(colors.indices)
    }
    for index in claimed.sorted(by: { counts[$0] > counts[$1] }) {
      _ = table.index(of: colors[index])
    }
  }

  /// Appends definitions of those registers in `used` that the terminal does not know. If `exact` is true, the
  /// registers get their assigned colours; otherwise, they get the colours of ``palette``.
  mutating func appendDefinitions(of used: [Bool], exact: Bool, to sequence: inout [UInt8]) {
    for register in 0..<256 where used[register] && !(isKept && exact && defined[register]) {
      let color = exact ? table.colors[register] : palette.color(register)
      sequence.append(35)
      sequence.append(decimal: register)
      sequence.append(ascii: ";2")
      for shift in [16, 8, 0] {
        sequence.append(59)
        sequence.append(decimal: (Int(color >> UInt32(shift) & 255) * 100 + 127) / 255)
      }
      defined[register] = exact
    }
  }
}

/// Counts the number of places of a picture in which each colour is used.
///
/// A place is eight columns of a band, which is about the size of a small change. Inside a place, a colour is selected
/// once, no matter how many pixels have this colour. Counting pixels instead would give short numbers to flat areas and
/// long numbers to dithered areas, in which colours are selected all the time. For a moving spot, this would take 4 %
/// more bytes.
struct ColorUses: Sendable {
  /// The number of places in which each colour is used. The index is the number of the colour.
  private(set) var counts: [Int]
  /// For each colour, the places of the current band in which the colour is used, with one bit per place.
  private var seen: [UInt64]
  private var band = -1

  init(count: Int) {
    counts = Array(repeating: 0, count: count)
    seen = Array(repeating: 0, count: count)
  }

  /// Counts a pixel of colour `index`. Pixels must be counted in the order of rows.
  @inline(__always)
  mutating func add(_ index: Int, x: Int, y: Int) {
    if y / 6 != band {
      band = y / 6
      for index in seen.indices { seen[index] = 0 }
    }
    // Columns beyond 512 share bits with others, so counts can only be too low.
    let bit: UInt64 = 1 << UInt64(x >> 3 & 63)
    if seen[index] & bit == 0 {
      seen[index] |= bit
      counts[index] += 1
    }
  }
}

/// The fixed palette, with its dither pattern, for pictures with too many colours.
struct SixelPalette: Sendable {
  /// The number of levels of red, green and blue.
  private let levels: (red: Int, green: Int, blue: Int)
  /// The number of greys of a palette that has no other colours, or nil if it has.
  private let greyCount: Int?

  /// Creates a palette of at most `limit` colours, which must be at least 2. Of 256 registers, the palette uses
  /// 6 x 7 x 6 = 252.
  init(limit: Int) {
    // The eye distinguishes more levels of green than of red, and of red than of blue.
    var counts = [2, 2, 2]
    var channel = 0
    while counts.reduce(1, *) / counts[channel] * (counts[channel] + 1) <= limit {
      counts[channel] += 1
      channel = (channel + 1) % 3
    }
    levels = (red: counts[1], green: counts[0], blue: counts[2])
    greyCount = limit < 8 ? limit : nil
  }

  /// Returns the colour of a register.
  func color(_ register: Int) -> UInt32 {
    if let greyCount { return UInt32(register * 255 / (greyCount - 1)) * 0x01_01_01 }
    let blue = register % levels.blue
    let green = register / levels.blue % levels.green
    let red = register / levels.blue / levels.green
    return UInt32(red * 255 / (levels.red - 1)) << 16
      | UInt32(green * 255 / (levels.green - 1)) << 8 | UInt32(blue * 255 / (levels.blue - 1))
  }

  /// Returns the register for a colour at a pixel. The position of the pixel decides between the two nearest levels of
  /// each channel.
  @inline(__always)
  func index(of color: UInt32, x: Int, y: Int) -> Int {
    let mixed = x ^ y
    var threshold = 0
    for bit in 0..<3 { threshold = threshold << 2 | (mixed >> bit & 1) << 1 | (y >> bit & 1) }
    // The offset is the middle of one of 64 equal steps.
    let offset = threshold * 2 + 1
    func level(_ value: UInt32, _ count: Int) -> Int {
      let scaled = Int(value) * (count - 1)
      return min((scaled * 128 + offset * 255) / (255 * 128), count - 1)
    }
    if let greyCount {
      let light = (color >> 16 & 255) * 2 + (color >> 8 & 255) * 7 + (color & 255)
      return level(light / 10, greyCount)
    }
    let red = level(color >> 16 & 255, levels.red)
    let green = level(color >> 8 & 255, levels.green)
    let blue = level(color & 255, levels.blue)
    return (red * levels.green + green) * levels.blue + blue
  }
}
