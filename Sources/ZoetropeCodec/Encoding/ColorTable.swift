/// The distinct colours of a picture of at most 256, and how their indices are to be written.
struct ColorTable {
  /// Colours as `RGBA.word`, in the order in which they are written.
  var colors: [UInt32]
  /// What the index given by ``ColorIndexer`` becomes in the file; nil when it stays.
  var remap: [UInt8]?
  /// How many of the first colours are not opaque: the length of tRNS.
  var translucentCount = 0
  /// The form in which the indices are written.
  var form: PNGForm

  /// The cheapest exact form for `colors`, found in this order in a picture of `area` pixels.
  ///
  /// Nil when true colour takes less room, as in tiny pictures whose PLTE would outweigh the pixels.
  init?(found: [UInt32], area: Int, allowsGrey: Bool) {
    let isOpaque = found.allSatisfy { $0 >> 24 == 0xff }
    let depth = found.count <= 2 ? 1 : found.count <= 4 ? 2 : found.count <= 16 ? 4 : 8
    if isOpaque, allowsGrey, let grey = Self.greyDepth(of: found),
      // A palette of few greys that lie off the grid packs tighter than eight bits of grey.
      grey <= depth || found.count > 16
    {
      colors = found
      form = PNGForm(colorType: .grey, bitDepth: grey)
      let step = UInt32(255 / ((1 << grey) - 1))
      remap = found.map { UInt8(($0 & 0xff) / step) }
      return
    }
    let translucent = found.indices.filter { found[$0] >> 24 != 0xff }
    let overhead = 12 + 3 * found.count + (isOpaque ? 0 : 12 + translucent.count)
    let saved = area * ((isOpaque ? 24 : 32) - depth) / 8
    guard saved > overhead else { return nil }
    form = PNGForm(colorType: .palette, bitDepth: depth)
    translucentCount = translucent.count
    guard translucent != Array(0..<translucent.count) else {
      colors = found
      return
    }
    // Colours that are not opaque come first: tRNS ends with the last of them.
    let order = translucent + found.indices.filter { found[$0] >> 24 == 0xff }
    colors = order.map { found[$0] }
    var target = [UInt8](repeating: 0, count: found.count)
    for (new, old) in order.enumerated() { target[old] = UInt8(new) }
    remap = target
  }

  /// The least depth at which grey samples hold every colour exactly; nil when one is not grey.
  private static func greyDepth(of colors: [UInt32]) -> Int? {
    var depth = 1
    for word in colors {
      let level = word & 0xff
      guard word >> 8 & 0xff == level, word >> 16 & 0xff == level else { return nil }
      while depth < 8, level % UInt32(255 / ((1 << depth) - 1)) != 0 { depth *= 2 }
    }
    return depth
  }

  /// The data of PLTE.
  var paletteBytes: [UInt8] {
    colors.flatMap { word in
      let color = RGBA(word: word)
      return [color.red, color.green, color.blue]
    }
  }

  /// The data of tRNS; empty when every colour is opaque.
  var transparencyBytes: [UInt8] { colors.prefix(translucentCount).map { UInt8($0 >> 24) } }
}
