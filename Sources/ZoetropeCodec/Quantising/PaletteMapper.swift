/// What stands for each colour in a palette: the nearest entry, and a second one to mix with.
///
/// Answers are found for cells of 4x4x4 colours when they are first asked for, and kept; 1 MiB. Colours of the palette
/// itself are exact.
package struct PaletteMapper: Sendable {
  /// Opaque, as words of ``RGBA``.
  package let palette: [UInt32]
  private let positions: [Oklab]
  private let search: NearestColor
  private let mixing: Mixing
  /// For each cell its ``Choice``.
  private var cells: [UInt32]
  /// A hash table of the palette: a word and its number, or 0.
  private var exact: [(word: UInt32, index: UInt8)]

  /// How much entries are mixed.
  package struct Mixing: Sendable, Hashable {
    /// The square of the distance of the nearest entry below which it is good enough.
    package var tolerance: Int
    /// How much a mixture of distant entries counts as worse than its mean, in 1/16 of the square of their distance.
    package var penalty: Int

    package static let none = Mixing(tolerance: .max, penalty: 0)
    package static let light = Mixing(tolerance: 30 * 30, penalty: 4)
    package static let full = Mixing(tolerance: 0, penalty: 2)
  }

  /// An answer: two entries, the share of the second in 1/64, and the distance of the first.
  package struct Choice {
    fileprivate var word: UInt32
    package var first: Int { Int(word & 255) }
    package var second: Int { Int(word >> 8 & 255) }
    /// At most 32.
    package var share: UInt32 { word >> 16 & 63 }
    /// The distance of the first entry, in units of ``Oklab``, clamped.
    package var error: Int { Int(word >> 22) }
  }

  /// - Parameter palette: At most 256 opaque colours, and at least one.
  package init(_ palette: [UInt32], mixing: Mixing) {
    self.palette = palette
    self.mixing = mixing
    positions = palette.map { Oklab.Converter.shared.color($0) }
    search = NearestColor(palette)
    cells = [UInt32](repeating: .max, count: 1 << 18)
    exact = Array(repeating: (0, 0), count: 1 << 10)
    for (index, word) in palette.enumerated() {
      var slot = Self.slot(word)
      while exact[slot].word != 0 { slot = (slot + 1) & 1023 }
      exact[slot] = (word, UInt8(index))
    }
  }

  @inline(__always)
  private static func slot(_ word: UInt32) -> Int { Int((word &* 0x9e37_79b1) &>> 22) }

  /// The number of an opaque colour that is in the palette.
  @inline(__always)
  package func index(of word: UInt32) -> Int? {
    var slot = Self.slot(word)
    while exact[slot].word != 0 {
      if exact[slot].word == word { return Int(exact[slot].index) }
      slot = (slot &+ 1) & 1023
    }
    return nil
  }

  /// What stands for an opaque colour that is not in the palette.
  @inline(__always)
  package mutating func choice(_ word: UInt32) -> Choice {
    let (red, green, blue) = (word >> 2 & 63, word >> 10 & 63, word >> 18 & 63)
    let cell = Int(red | green << 6 | blue << 12)
    let known = cells[cell]
    if known != .max { return Choice(word: known) }
    let found = find(cell)
    cells[cell] = found
    return Choice(word: found)
  }

  @inline(never)
  private func find(_ cell: Int) -> UInt32 {
    func sample(_ bits: Int) -> Int { bits << 2 | bits >> 4 }
    let color = Oklab.Converter.shared.color(
      red: sample(cell & 63), green: sample(cell >> 6 & 63), blue: sample(cell >> 12))
    let (first, distance) = search.nearest(to: color)
    var best = (second: first, share: 0, error: distance)
    if distance > mixing.tolerance {
      let origin = positions[first]
      let toColor = (
        Int(color.lightness - origin.lightness), Int(color.a - origin.a), Int(color.b - origin.b)
      )
      for (index, position) in positions.enumerated() where index != first {
        let step = (
          Int(position.lightness - origin.lightness), Int(position.a - origin.a),
          Int(position.b - origin.b)
        )
        let along = toColor.0 * step.0 + toColor.1 * step.1 + toColor.2 * step.2
        guard along > 0 else { continue }
        let length = step.0 * step.0 + step.1 * step.1 + step.2 * step.2
        let share = min((along * 64 + length / 2) / length, 32)
        guard share > 0 else { continue }
        let l = toColor.0 - step.0 * share / 64
        let a = toColor.1 - step.1 * share / 64
        let b = toColor.2 - step.2 * share / 64
        let contrast = length * share * (64 - share) / 4096
        let error = l * l + a * a + b * b + contrast * mixing.penalty / 16
        if error < best.error { best = (index, share, error) }
      }
    }
    var root = 0
    while root < 1022, (root + 1) * (root + 1) <= distance { root += 1 }
    let entries = UInt32(first) | UInt32(best.second) << 8
    return entries | UInt32(best.share) << 16 | UInt32(root) << 22
  }
}
