/// A set of characters with which pictures are drawn.
package enum CellGlyphs: String, Sendable, Hashable, CaseIterable {
  /// The characters `▀`, `▄`, `█` and space, which give each cell two exact colours.
  case half
  /// Half blocks, quadrants and eighth blocks, which most fonts contain.
  case fine
  /// The characters of ``fine``, and the sextants of Unicode 13.
  case sextants
  /// The characters of ``sextants``, and the octants of Unicode 16.
  case octants
}

/// A way to split a cell into two parts. The split is drawn by a glyph whose ink is the first part, or by the inverse
/// of this glyph, if there is one.
struct BlockGlyph: Sendable, Hashable {
  /// The character whose ink covers the first part.
  let scalar: UInt32
  /// The character whose ink covers the second part, or 0 if there is none.
  let opposite: UInt32
  /// The shape of the first part.
  let shape: Shape

  enum Shape: Sendable, Hashable {
    /// The whole cell, which has a single colour.
    case whole
    /// The given number of eighths of the cell, counted from the bottom.
    case lower(Int)
    /// The given number of eighths of the cell, counted from the left.
    case left(Int)
    /// Some parts of a grid that is two parts wide and `rows` parts high. Each bit is one part, row by row, with the
    /// lowest bit at the top left.
    case parts(rows: Int, bits: Int)
  }

  /// The fraction of the cell that the ink covers.
  var area: Float {
    switch shape {
    case .whole: 0
    case .lower(let eighths), .left(let eighths): Float(eighths) / 8
    case .parts(let rows, let bits): Float(bits.nonzeroBitCount) / Float(rows * 2)
    }
  }

  private static let sets = Dictionary(
    uniqueKeysWithValues: CellGlyphs.allCases.map { ($0, list(of: $0)) })

  /// Returns the splits that the characters of `set` can draw. A glyph and its inverse are a single split. The first
  /// split is ``Shape/whole``.
  static func all(in set: CellGlyphs) -> [BlockGlyph] { sets[set] ?? [] }

  private static func list(of set: CellGlyphs) -> [BlockGlyph] {
    var glyphs = [BlockGlyph(scalar: 0x20, opposite: 0x2588, shape: .whole)]
    glyphs.append(BlockGlyph(scalar: 0x2584, opposite: 0x2580, shape: .lower(4)))
    if set == .half { return glyphs }
    glyphs.append(BlockGlyph(scalar: 0x258C, opposite: 0x2590, shape: .left(4)))
    let quadrants: [(UInt32, UInt32, Int)] = [
      (0x2598, 0x259F, 1), (0x259D, 0x2599, 2), (0x2596, 0x259C, 4), (0x259A, 0x259E, 9),
      (0x259B, 0x2597, 7),
    ]
    for (scalar, opposite, bits) in quadrants {
      glyphs.append(
        BlockGlyph(scalar: scalar, opposite: opposite, shape: .parts(rows: 2, bits: bits)))
    }
    for eighths in 1...7 where eighths != 4 {
      glyphs.append(
        BlockGlyph(
          scalar: 0x2580 + UInt32(eighths), opposite: eighths == 7 ? 0x2594 : 0,
          shape: .lower(eighths)))
      glyphs.append(
        BlockGlyph(
          scalar: 0x2590 - UInt32(eighths), opposite: eighths == 7 ? 0x2595 : 0,
          shape: .left(eighths)))
    }
    if set == .fine { return glyphs }
    for bits in 1...31 where bits != 21 {
      glyphs.append(
        BlockGlyph(
          scalar: sextant(bits), opposite: sextant(63 - bits), shape: .parts(rows: 3, bits: bits)))
    }
    if set == .sextants { return glyphs }
    let octants = octantScalars
    for bits in 1...127 {
      guard let scalar = octants[bits], let opposite = octants[255 - bits] else { continue }
      glyphs.append(
        BlockGlyph(scalar: scalar, opposite: opposite, shape: .parts(rows: 4, bits: bits)))
    }
    return glyphs
  }

  /// Returns the heights at which ``CellSampler`` divides cells for `set`, in 24ths of the height of a cell.
  static func bandCuts(for set: CellGlyphs) -> [Int] {
    switch set {
    case .half: [0, 12, 24]
    case .fine: [0, 3, 6, 9, 12, 15, 18, 21, 24]
    case .sextants, .octants: [0, 3, 6, 8, 9, 12, 15, 16, 18, 21, 24]
    }
  }

  /// Returns the character for a sextant pattern of 1 to 62. Unicode has no sextant characters for the left and right
  /// half blocks.
  private static func sextant(_ bits: Int) -> UInt32 {
    UInt32(0x1FB00 + bits - 1 - (bits > 21 ? 1 : 0) - (bits > 42 ? 1 : 0))
  }

  /// The characters of octant patterns that no simpler character draws. The key is the pattern.
  static let octantScalars: [Int: UInt32] = {
    // Quadrants, halves and quarters already existed when Unicode added octants, and have no code point among these.
    // The patterns of a single corner and of the middle of one side have code points elsewhere.
    var known: Set<Int> = [0b11, 0b11_1111, 0b1100_0000, 0b1111_1100]
    for quadrants in 0..<16 {
      var bits = 0
      for part in 0..<4 where quadrants >> part & 1 == 1 {
        bits |= 0b101 << (part >> 1 * 4 + part & 1)
      }
      known.insert(bits)
    }
    var scalars: [Int: UInt32] = [
      1: 0x1CEA8, 2: 0x1CEAB, 64: 0x1CEA3, 128: 0x1CEA0, 20: 0x1FBE6, 40: 0x1FBE7,
    ]
    var next: UInt32 = 0x1CD00
    for bits in 0...255 where !known.contains(bits) && scalars[bits] == nil {
      scalars[bits] = next
      next += 1
    }
    return scalars
  }()
}

/// Finds the glyph and the two colours that draw a cell with the least squared error.
///
/// If each side of a split has its mean colour, the error of the split is the total sum of squares minus the part that
/// the two means explain. The total is the same for all splits, so the best split is the one whose means explain the
/// most. To find it, only the sums of the shapes are needed.
struct SplitChooser: Sendable {
  let glyphs: [BlockGlyph]
  private let inkScale: [Float]
  private let paperScale: [Float]
  private let cuts: [Int]
  private let hasSides: Bool
  private let partRows: Int
  /// For each split, the index of its sum in ``sums``.
  private let places: [Int]
  /// The sums of light of the shapes: first the empty shape, then 1 to 7 eighths from the bottom, and 1 to 7 eighths
  /// from the left. The sums for all patterns of quadrants, sextants and octants start at index 16, 32 and 96,
  /// respectively.
  private var sums: [SIMD4<Float>]
  /// The light of the whole cell.
  private(set) var total = SIMD4<Float>.zero

  private static let prototypes = Dictionary(
    uniqueKeysWithValues: CellGlyphs.allCases.map { ($0, SplitChooser(making: $0)) })

  /// Creates a chooser for a set of glyphs. All choosers for the same set share their tables.
  init(_ set: CellGlyphs) { self = Self.prototypes[set] ?? SplitChooser(making: set) }

  private init(making set: CellGlyphs) {
    glyphs = BlockGlyph.all(in: set)
    inkScale = glyphs.map { $0.area == 0 ? 0 : 1 / $0.area }
    paperScale = glyphs.map { 1 / (1 - $0.area) }
    cuts = BlockGlyph.bandCuts(for: set)
    hasSides = set != .half
    partRows = set == .octants ? 4 : set == .sextants ? 3 : set == .fine ? 2 : 0
    sums = Array(repeating: .zero, count: partRows == 4 ? 352 : partRows == 3 ? 96 : 32)
    places = glyphs.map { glyph in
      switch glyph.shape {
      case .whole: 0
      case .lower(let eighths): eighths
      case .left(let eighths): 7 + eighths
      case .parts(let rows, let bits): (rows == 2 ? 16 : rows == 3 ? 32 : 96) + bits
      }
    }
  }

  /// Returns the sum of the light under the ink of split `index`.
  @inline(__always)
  private func ink(_ index: Int) -> SIMD4<Float> { sums[places[index]] }

  /// Returns the mean light under the ink of split `index`. For the first split, which has no ink, returns the mean of
  /// the whole cell.
  @inline(__always)
  func inkLight(_ index: Int) -> SIMD4<Float> {
    index == 0 ? total : ink(index) * inkScale[index]
  }

  /// Returns the mean light of the part of split `index` that is not ink.
  @inline(__always)
  func paperLight(_ index: Int) -> SIMD4<Float> { (total - ink(index)) * paperScale[index] }

  /// Returns, for each of the two parts of split `index`, ink and paper, which fraction of it opaque pixels cover.
  func coverage(_ index: Int) -> (ink: Float, paper: Float) {
    (ink(index).w * inkScale[index], (total - ink(index)).w * paperScale[index])
  }

  /// Returns the split whose outline is nearest to that of the opaque pixels. Only splits whose covered part can be
  /// drawn as ink are considered.
  func bestOutline() -> Int {
    var best = 0
    var most = total.w * total.w
    for index in glyphs.indices.dropFirst() {
      let (ink, paper) = coverage(index)
      if paper > ink, glyphs[index].opposite == 0 { continue }
      let area = glyphs[index].area
      let explained = ink * ink * area + paper * paper * (1 - area)
      if explained > most + 1e-6 { (best, most) = (index, explained) }
    }
    return best
  }

  /// Returns the part of the sum of squares that is explained by the two means of split `index`.
  @inline(__always)
  func explained(_ index: Int) -> Float {
    let ink = self.ink(index)
    let paper = total - ink
    let squares = ink * ink * inkScale[index] + paper * paper * paperScale[index]
    return squares.x + squares.y + squares.z
  }

  /// Returns the split that explains the most, and how much it explains. A split with two colours is chosen only if it
  /// explains more than a single colour by at least `margin`.
  func best(margin: Float) -> (index: Int, explained: Float) {
    let sums = self.sums.span
    let places = self.places.span
    let inkScale = self.inkScale.span
    let paperScale = self.paperScale.span
    var best = 0
    let squares = total * total
    var most = squares.x + squares.y + squares.z
    var needed = most + margin
    for index in 1..<places.count {
      let ink = sums[places[index]]
      let paper = total - ink
      let squares = ink * ink * inkScale[index] + paper * paper * paperScale[index]
      let explained = squares.x + squares.y + squares.z
      if explained > needed {
        best = index
        most = explained
        // The full margin is required for going from one colour to two, but not for further improvements.
        needed = explained + 1e-6
      }
    }
    return (best, most)
  }

  /// Computes the light of each shape from the samples of a cell.
  mutating func load(_ sampler: borrowing CellSampler, cell: Int, cellCount: Int) {
    let bands = sampler.bands.span
    guard hasSides else {
      sums[4] = bands[cellCount + cell]
      total = bands[cell] + sums[4]
      return
    }
    var left = InlineArray<25, SIMD4<Float>>(repeating: .zero)
    var right = InlineArray<25, SIMD4<Float>>(repeating: .zero)
    var leftBelow = SIMD4<Float>.zero
    var rightBelow = SIMD4<Float>.zero
    var band = cuts.count - 2
    while band >= 0 {
      let at = (band * cellCount + cell) * 2
      leftBelow += bands[at]
      rightBelow += bands[at + 1]
      left[cuts[band]] = leftBelow
      right[cuts[band]] = rightBelow
      band -= 1
    }
    total = leftBelow + rightBelow
    for eighths in 1...7 { sums[eighths] = left[24 - 3 * eighths] + right[24 - 3 * eighths] }
    let columns = sampler.columns.span
    var below = SIMD4<Float>.zero
    for eighths in 1...7 {
      below += columns[cell * 8 + eighths - 1]
      sums[7 + eighths] = below
    }
    // Quadrants and columns both contain the left half. Use the same sum for both.
    sums[11] = leftBelow
    for rows in 2...partRows {
      let base = rows == 2 ? 16 : rows == 3 ? 32 : 96
      let step = 24 / rows
      for row in 0..<rows {
        sums[base + 1 << (2 * row)] = left[row * step] - left[(row + 1) * step]
        sums[base + 2 << (2 * row)] = right[row * step] - right[(row + 1) * step]
      }
      for bits in 3..<1 << (2 * rows) where bits & (bits - 1) != 0 {
        sums[base + bits] = sums[base + bits & (bits - 1)] + sums[base + bits & -bits]
      }
    }
  }
}
