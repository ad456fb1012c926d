/// Finds for one cell the glyph and the two colours with the least squared error.
///
/// The error of a split with the mean colour on each side is the sum of all squares, which is the
/// same for every split, less what the means explain; so the split that explains most is the best
/// one, and only sums are needed, no samples.
struct SplitChooser: Sendable {
  let glyphs: [BlockGlyph]
  private let inkScale: [Float]
  private let paperScale: [Float]
  private let cuts: [Int]
  private let hasSides: Bool
  private let partRows: Int
  /// Where each split's sum stands in ``sums``.
  private let places: [Int]
  /// Sums by shape: nothing, lower 1 to 7 eighths, left 1 to 7 eighths, and from 16, 32 and 96 on
  /// the subsets of quadrants, sextants and octants by their bits.
  private var sums: [SIMD4<Float>]
  /// The light of the whole cell.
  private(set) var total = SIMD4<Float>.zero

  private static let prototypes = Dictionary(
    uniqueKeysWithValues: CellGlyphs.allCases.map { ($0, SplitChooser(making: $0)) })

  /// A chooser for a set of glyphs; its tables are shared by all of them.
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

  /// The light under the ink of split `index`.
  @inline(__always)
  private func ink(_ index: Int) -> SIMD4<Float> { sums[places[index]] }

  /// The mean light under the ink of split `index`; of the whole cell for the first.
  @inline(__always)
  func inkLight(_ index: Int) -> SIMD4<Float> {
    index == 0 ? total : ink(index) * inkScale[index]
  }

  /// The mean light beside the ink of split `index`.
  @inline(__always)
  func paperLight(_ index: Int) -> SIMD4<Float> { (total - ink(index)) * paperScale[index] }

  /// The shares of the ink and of the paper of split `index` that opaque pixels cover.
  func coverage(_ index: Int) -> (ink: Float, paper: Float) {
    (ink(index).w * inkScale[index], (total - ink(index)).w * paperScale[index])
  }

  /// The split whose outline comes nearest to that of the opaque pixels, among those that can be
  /// drawn with ink on their covered side alone.
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

  /// How much of the squared sum the two means of split `index` explain.
  @inline(__always)
  func explained(_ index: Int) -> Float {
    let ink = self.ink(index)
    let paper = total - ink
    let squares = ink * ink * inkScale[index] + paper * paper * paperScale[index]
    return squares.x + squares.y + squares.z
  }

  /// The split that explains most; an earlier one unless a later one is better by `margin`.
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
        // Only the step away from one colour for all has to be worth a second colour.
        needed = explained + 1e-6
      }
    }
    return (best, most)
  }

  /// Adds up the light of every shape of a cell from its samples.
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
    // One source for the half that quadrants share with the columns.
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
