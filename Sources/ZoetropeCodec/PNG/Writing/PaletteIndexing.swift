/// The distinct colours of a picture, at most 256, and how to write their indices.
struct ColorTable {
  /// Colours as `RGBA.word`, in the order of the file.
  var colors: [UInt32]
  /// Maps the indices of ``ColorIndexer`` to those in the file; nil if they are the same.
  var remap: [UInt8]?
  /// The number of leading colours that are not opaque: the length of tRNS.
  var translucentCount = 0
  /// The form in which the indices are stored.
  var form: PNGForm

  /// The cheapest lossless form for `colors`, found in this order in a picture of `area` pixels.
  ///
  /// Nil if true colour is smaller, as in tiny pictures whose PLTE would outweigh the pixels.
  init?(found: [UInt32], area: Int, allowsGrey: Bool) {
    let isOpaque = found.allSatisfy { $0 >> 24 == 0xff }
    let depth = found.count <= 2 ? 1 : found.count <= 4 ? 2 : found.count <= 16 ? 4 : 8
    if isOpaque, allowsGrey, let grey = Self.greyDepth(of: found),
      // A palette of a few greys off the grid packs tighter than eight-bit grey.
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
    // Translucent colours come first: tRNS ends with the last of them.
    let order = translucent + found.indices.filter { found[$0] >> 24 == 0xff }
    colors = order.map { found[$0] }
    var target = [UInt8](repeating: 0, count: found.count)
    for (new, old) in order.enumerated() { target[old] = UInt8(new) }
    remap = target
  }

  /// The smallest depth at which grey samples hold every colour exactly; nil if a colour is not
  /// grey.
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
    var bytes: [UInt8] = []
    bytes.reserveCapacity(3 * colors.count)
    for word in colors {
      let color = RGBA(word: word)
      bytes.append(color.red)
      bytes.append(color.green)
      bytes.append(color.blue)
    }
    return bytes
  }

  /// The data of tRNS; empty when every colour is opaque.
  var transparencyBytes: [UInt8] { colors.prefix(translucentCount).map { UInt8($0 >> 24) } }
}
