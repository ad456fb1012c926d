/// A map from colours to a palette. It finds the nearest entry to a colour, and a second entry to mix with the nearest
/// one.
///
/// The nearest entry is found separately for every colour, and the second is usually chosen for a whole cell of similar
/// colours. The latest results are cached, which takes up to 2 MiB. Opaque colours are mapped to opaque entries if the
/// palette has any.
package struct PaletteMapper: Sendable {
  /// The entries as words of ``RGBA``.
  package let palette: [UInt32]
  private let positions: [SIMD4<Int32>]
  private let search: NearestColor
  private let opaqueSearch: NearestColor
  private let mixing: Mixing
  /// A cache of results for visible colours. The bits of a colour determine its place; see ``choice(_:)``. Each element
  /// is `choice << 32 | color` for the latest colour at that place, or 0.
  private var known: [UInt64]
  /// For each cell of 4x4x4 opaque or 16x8x16x8 translucent colours, the nearest entry and the entry to mix with it,
  /// combined in one word. The word is `.max` until the cell is looked up.
  private var partners: [UInt16]
  /// A hash table of the palette. Each slot contains an entry and the number of that entry, or 0 if the slot is free.
  private var exact: [(word: UInt32, index: UInt8)]

  /// Parameters that determine how much entries are mixed.
  package struct Mixing: Sendable, Hashable {
    /// The square of the distance up to which the nearest entry alone is good enough.
    package var tolerance: Int
    /// The penalty for mixing distant entries, in sixteenths. The error of a mixture is the squared error of its mean,
    /// plus this factor times the variance of the mixture.
    package var penalty: Int

    /// The greatest distance between two entries whose mixture can be better than the nearest entry alone, as a
    /// multiple of the distance d of the nearest entry from the colour.
    ///
    /// With the second entry at distance D from the nearest one and in the share x, with the colour at distance t along
    /// the line between both, and with k = penalty / 16, the error of the mixture is d² - 2txD + x²D² + kx(1 - x)D².
    /// This is less than d² only if 2t / D > x + k(1 - x). The share is t / D, limited to 1/2 and rounded by at most
    /// 1/128, and t is at most d. It follows that D / d < (1 + k) / (k - 1/128).
    fileprivate var reach: Float {
      let (k, rounding): (Float, Float) = (Float(penalty) / 16, 1 / 128)
      return k > rounding ? (1 + k) / (k - rounding) : 16_384
    }

    package static let none = Mixing(tolerance: .max, penalty: 0)
    /// Parameters that avoid patterns where the nearest entry is hardly distinguishable from the colour. At equal file
    /// size, the metric SSIMULACRA2 prefers more colours to more patterns, even without this tolerance. With a higher
    /// tolerance, smooth gradients show steps.
    package static let light = Mixing(tolerance: 40 * 40, penalty: 8)
    package static let full = Mixing(tolerance: 0, penalty: 2)
  }

  /// The result for a colour: the nearest entry, a second entry to mix with it, and the share of the second entry.
  package struct Choice {
    fileprivate var word: UInt32
    package var first: Int { Int(word & 255) }
    package var second: Int { Int(word >> 8 & 255) }
    /// The share of the second entry in units of 1/64, at most 32.
    package var share: UInt32 { word >> 16 & 63 }
    /// The distance of the first entry from the colour, in units of ``Oklab``, clamped to 1022.
    package var error: Int { Int(word >> 22) }
  }

  /// Creates a mapper.
  ///
  /// - Parameter palette: From 1 to 256 colours. Opaque colours are moved to the end. If all entries are opaque, only
  ///   opaque colours may be looked up.
  package init(_ palette: [UInt32], mixing: Mixing) {
    let translucent = palette.filter { $0 < 0xff00_0000 }
    let palette = translucent + palette.filter { $0 >= 0xff00_0000 }
    self.palette = palette
    self.mixing = mixing
    positions = palette.map { Oklab.Converter.shared.color($0).vector }
    search = NearestColor(palette)
    opaqueSearch = NearestColor(palette, isOpaque: true)
    known = [UInt64](repeating: 0, count: 1 << 17)
    let cellCount = translucent.isEmpty ? 1 << 18 : 1 << 19
    partners = mixing == .none ? [] : [UInt16](repeating: .max, count: cellCount)
    exact = Array(repeating: (0, 0), count: 1 << 10)
    // Transparent black is omitted, because fully transparent pixels are not looked up.
    for (index, word) in palette.enumerated() where word != 0 {
      var slot = Self.slot(word)
      while exact[slot].word != 0 { slot = (slot + 1) & 1023 }
      exact[slot] = (word, UInt8(index))
    }
  }

  @inline(__always)
  private static func slot(_ word: UInt32) -> Int { Int((word &* 0x9e37_79b1) &>> 22) }

  /// Returns the number of a colour in the palette, or nil for transparent black and for a colour that the palette does
  /// not contain.
  @inline(__always)
  package func index(of word: UInt32) -> Int? {
    var slot = Self.slot(word)
    while exact[slot].word != 0 {
      if exact[slot].word == word { return Int(exact[slot].index) }
      slot = (slot &+ 1) & 1023
    }
    return nil
  }

  /// Returns the result for a visible colour that is not in the palette.
  @inline(__always)
  package mutating func choice(_ word: UInt32) -> Choice {
    // The place is computed from the low bits of the samples, which differ most within a picture.
    let colors = word & 63 | word >> 2 & 0xfc0 | word >> 4 & 0x1_f000
    let place = Int(colors ^ (~word >> 24) << 9)
    let entry = known[place]
    if UInt32(truncatingIfNeeded: entry) == word {
      return Choice(word: UInt32(truncatingIfNeeded: entry &>> 32))
    }
    let found = find(word)
    known[place] = UInt64(found) << 32 | UInt64(word)
    return Choice(word: found)
  }

  @inline(never)
  private mutating func find(_ word: UInt32) -> UInt32 {
    let color = Oklab.Converter.shared.color(word)
    let search = search(for: word)
    var partner: (first: Int, second: Int)?
    var limit = Int.max
    if mixing != .none {
      let found = self.partner(near: word)
      let rest = color.vector &- positions[found.first]
      limit = Int((rest &* rest).wrappedSum()) + 1
      partner = found
    }
    let (first, distance) = search.nearest(to: color, below: limit)
    var best = (second: first, share: Int32(0), error: distance)
    if distance > mixing.tolerance, let partner {
      if partner.first != first {
        best = mixture(color, first, distance, among: search)
      } else if let found = share(of: partner.second, in: color, with: first) {
        best = (partner.second, found.share, found.error)
      }
    }
    // The square root is rounded down exactly, because a Float has more bits than such squares.
    let root = Int(Float(min(distance, 1022 * 1022)).squareRoot())
    let entries = UInt32(first) | UInt32(best.second) << 8
    return entries | UInt32(best.share) << 16 | UInt32(root) << 22
  }

  /// The search among those entries to which `word` may be mapped.
  @inline(__always)
  private func search(for word: UInt32) -> NearestColor {
    word < 0xff00_0000 ? search : opaqueSearch
  }

  /// Returns the nearest entry and the entry to mix with it, computed for the colour in the middle of the cell of
  /// `word`. Trying all entries for each colour would take longer than everything else.
  private mutating func partner(near word: UInt32) -> (first: Int, second: Int) {
    var (cell, middle): (UInt32, UInt32)
    if word >= 0xff00_0000 {
      cell = word >> 2 & 63 | word >> 4 & 0xfc0 | word >> 6 & 0x3_f000
      middle = word & 0xfffc_fcfc | 0x0002_0202
    } else {
      cell = word >> 4 & 15 | word >> 7 & 0x1f0 | word >> 11 & 0x1e00 | word >> 14 & 0x3_e000
      cell |= 1 << 18
      middle = word & 0xf8f0_f8f0 | 0x0408_0408
    }
    let place = Int(cell)
    if partners[place] == .max {
      let color = Oklab.Converter.shared.color(middle)
      let search = search(for: word)
      let (first, distance) = search.nearest(to: color)
      let second = mixture(color, first, distance, among: search).second
      partners[place] = UInt16(first) << 8 | UInt16(second)
    }
    return (Int(partners[place] >> 8), Int(partners[place] & 255))
  }

  /// Returns the entry that comes closest to `color` when mixed with the nearest entry, or the nearest entry itself if
  /// no mixture is better. Entries that are too far away to be better are not tried.
  private func mixture(
    _ color: Oklab, _ first: Int, _ distance: Int, among search: NearestColor
  ) -> (second: Int, share: Int32, error: Int) {
    var best = (second: first, share: Int32(0), error: distance)
    let reach = Int32(min(Float(distance).squareRoot() * mixing.reach, 16_384))
    for place in search.places(within: reach, of: positions[first].x) {
      let second = search.index(at: place)
      guard let found = share(of: second, in: color, with: first), found.error < best.error
      else { continue }
      best = (second, found.share, found.error)
    }
    return best
  }

  /// Returns the share of `second`, in units of 1/64, at which a mixture with `first` comes closest to `color`, and the
  /// error of that mixture. Returns nil if the share is 0.
  @inline(__always)
  private func share(of second: Int, in color: Oklab, with first: Int) -> (
    share: Int32, error: Int
  )? {
    let origin = positions[first]
    let toColor = color.vector &- origin
    let step = positions[second] &- origin
    let along = (toColor &* step).wrappedSum()
    guard along > 0 else { return nil }
    let length = (step &* step).wrappedSum()
    // Floats are used, because integer division is slow. IEEE 754 defines the result of each operation to the last bit.
    let share = Int32(min(Float(along) * 64 / Float(length) + 0.5, 32))
    guard share > 0 else { return nil }
    let rest = toColor &- ((step &* share) &>> 6)
    // The product of the shares is in units of 1/4096, and the penalty in units of 1/16, hence the shift by 16.
    let contrast = (Int(length) &* Int(share &* (64 &- share)) &* mixing.penalty) &>> 16
    return (share, Int((rest &* rest).wrappedSum()) &+ contrast)
  }
}
