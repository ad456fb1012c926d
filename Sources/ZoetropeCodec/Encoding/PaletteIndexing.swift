internal import Glibc

/// Finds the distinct colours of a picture and writes each pixel's index, in one pass.
///
/// Unsafe code: `target` has room for `height` rows of `width + 1` bytes (promised by the caller
/// and checked against its byte count), sources are read within `width * 4` bytes of each row, and
/// the hash table has 1,024 slots with at most 256 taken, so every probe ends at a free one.
struct ColorIndexer {
  /// The most colours that one-byte indices can distinguish.
  static let maximumCount = 256
  private static let slotBits: UInt32 = 10
  /// `(1 << 32 | colour) << 16 | index`; 0 is a free slot.
  private let slots = PixelStorage(byteCount: 8 << 10)

  /// Writes rows of a zero byte (the filter *none*) and one index per pixel; returns the colours in
  /// the order of their indices, or nil if there are more than 256.
  func index(_ bitmap: Bitmap, into target: PixelStorage) -> [UInt32]? {
    let (width, height) = (bitmap.width, bitmap.height)
    precondition(bitmap.format.bytesPerPixel == 4 && target.byteCount >= (width + 1) * height)
    unsafe slots.baseAddress.initializeMemory(as: UInt8.self, repeating: 0, count: 8 << 10)
    var colors: [UInt32] = []
    colors.reserveCapacity(Self.maximumCount)
    for y in 0..<height {
      let source = unsafe UnsafeRawPointer(bitmap.storage.baseAddress) + y * bitmap.bytesPerRow
      let row = unsafe target.baseAddress + y * (width + 1)
      unsafe row.storeBytes(of: 0, as: UInt8.self)
      if y > 0, unsafe memcmp(source, source - bitmap.bytesPerRow, width * 4) == 0 {
        unsafe memcpy(row + 1, row - width, width)
        continue
      }
      guard unsafe indexRow(source, width: width, into: row + 1, colors: &colors) else {
        return nil
      }
    }
    return colors
  }

  @inline(__always)
  private func indexRow(
    _ source: UnsafeRawPointer, width: Int, into target: UnsafeMutableRawPointer,
    colors: inout [UInt32]
  ) -> Bool {
    let table = unsafe slots.baseAddress.assumingMemoryBound(to: UInt64.self)
    var last = unsafe ~source.loadUnaligned(as: UInt32.self)
    var lastIndex: UInt8 = 0
    var x = 0
    while x < width {
      let word = unsafe source.loadUnaligned(fromByteOffset: x * 4, as: UInt32.self)
      if word != last {
        let key = UInt64(word) | 1 << 32
        var slot = Int((word &* 0x9E37_79B1) >> (32 - Self.slotBits))
        var entry = unsafe table[slot]
        while entry >> 16 != key {
          if entry == 0 {
            guard colors.count < Self.maximumCount else { return false }
            entry = key << 16 | UInt64(colors.count)
            unsafe table[slot] = entry
            colors.append(word)
            break
          }
          slot = (slot + 1) & (1 << Int(Self.slotBits) - 1)
          entry = unsafe table[slot]
        }
        last = word
        lastIndex = UInt8(truncatingIfNeeded: entry)
      } else {
        // A run of one colour: eight pixels at a time while it lasts.
        let pair = UInt64(word) << 32 | UInt64(word)
        let splat = UInt64(lastIndex) &* 0x0101_0101_0101_0101
        while x + 8 <= width {
          let at = unsafe source + x * 4
          var differs = unsafe at.loadUnaligned(as: UInt64.self) ^ pair
          unsafe differs |= at.loadUnaligned(fromByteOffset: 8, as: UInt64.self) ^ pair
          unsafe differs |= at.loadUnaligned(fromByteOffset: 16, as: UInt64.self) ^ pair
          unsafe differs |= at.loadUnaligned(fromByteOffset: 24, as: UInt64.self) ^ pair
          guard differs == 0 else { break }
          unsafe target.storeBytes(of: splat, toByteOffset: x, as: UInt64.self)
          x += 8
        }
        guard x < width, unsafe source.loadUnaligned(fromByteOffset: x * 4, as: UInt32.self) == word
        else { continue }
      }
      unsafe target.storeBytes(of: lastIndex, toByteOffset: x, as: UInt8.self)
      x += 1
    }
    return true
  }
}

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
    colors.flatMap { word in
      let color = RGBA(word: word)
      return [color.red, color.green, color.blue]
    }
  }

  /// The data of tRNS; empty when every colour is opaque.
  var transparencyBytes: [UInt8] { colors.prefix(translucentCount).map { UInt8($0 >> 24) } }
}
