internal import Glibc

/// Finds the distinct colours of a picture and writes the index of each pixel's colour, in one pass.
///
/// Unsafe code: the functions check that `target` has room for the rows of `width + 1` bytes and that the rectangle
/// lies in the bitmap. Only `width * 4` bytes of each row of the rectangle are read. At most 256 of the hash table's
/// 2,048 slots are taken, so every probe ends at a free slot.
struct ColorIndexer {
  /// The maximum number of colours that one-byte indices can distinguish.
  static let maximumCount = 256
  private static let slotBits: UInt32 = 11
  /// A hash table. A slot contains `(1 << 32 | colour) << 16 | index`, or 0 if it is free.
  private let slots = PixelStorage(byteCount: 8 << slotBits)

  /// Writes the rows of `rect`. Each row has a zero byte (the filter type *none*), followed by one index per pixel.
  /// Returns the colours in the order of their indices, or nil if there are more than 256 colours.
  ///
  /// - Throws: `cancelled` once `isCancelled` returns true.
  func index(
    _ bitmap: Bitmap, _ rect: PixelRect, into target: PixelStorage,
    isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) -> [UInt32]? {
    unsafe memset(slots.baseAddress, 0, 8 << Int(Self.slotBits))
    var colors: [UInt32] = []
    colors.reserveCapacity(Self.maximumCount)
    for y in stride(from: rect.y, to: rect.maxY, by: rect.pollRows) {
      try rect.poll(row: y, isCancelled)
      let band = PixelRect(
        x: rect.x, y: y, width: rect.width, height: min(rect.pollRows, rect.maxY - y))
      guard
        index(bitmap, band, into: target, atRow: y - rect.y, &colors, limit: Self.maximumCount)
      else { return nil }
    }
    return colors
  }

  /// Sets the palette in which ``index(_:_:into:atRow:)`` looks up colours.
  func prepare(_ table: ColorTable) {
    precondition(table.colors.count <= Self.maximumCount)
    unsafe memset(slots.baseAddress, 0, 8 << Int(Self.slotBits))
    let slots = unsafe slots.baseAddress.assumingMemoryBound(to: UInt64.self)
    for (place, word) in table.colors.enumerated() {
      var slot = Int((word &* 0x9E37_79B1) &>> (32 &- Self.slotBits))
      while unsafe slots[slot] != 0 { slot = (slot &+ 1) & (1 &<< Int(Self.slotBits) &- 1) }
      unsafe slots[slot] =
        (UInt64(word) | 1 &<< 32) &<< 16 | UInt64(place)
    }
  }

  /// Writes the rows of `rect` to `target`, starting at row `row`, with each pixel's index in the palette. Returns
  /// false if a pixel has a colour that is not in the palette.
  func index(
    _ bitmap: Bitmap, _ rect: PixelRect, into target: PixelStorage, atRow row: Int
  ) -> Bool {
    var none: [UInt32] = []
    return index(bitmap, rect, into: target, atRow: row, &none, limit: 0)
  }

  private func index(
    _ bitmap: Bitmap, _ rect: PixelRect, into storage: PixelStorage, atRow first: Int,
    _ colors: inout [UInt32], limit: Int
  ) -> Bool {
    let (width, height) = (rect.width, rect.height)
    precondition(bitmap.format.bytesPerPixel == 4 && first >= 0)
    precondition(storage.byteCount >= (width + 1) * (first + height))
    precondition(PixelRect(bitmap.size).contains(rect))
    let target = unsafe storage.baseAddress + first * (width + 1)
    // The address is fetched once, because fetching it is a call to another module.
    let table = unsafe slots.baseAddress.assumingMemoryBound(to: UInt64.self)
    for y in 0..<height {
      let source =
        unsafe UnsafeRawPointer(bitmap.storage.baseAddress) + (rect.y + y) * bitmap.bytesPerRow
        + rect.x * 4
      let row = unsafe target + y * (width + 1)
      unsafe row.storeBytes(of: 0, as: UInt8.self)
      if y > 0, unsafe memcmp(source, source - bitmap.bytesPerRow, width * 4) == 0 {
        unsafe memcpy(row + 1, row - width, width)
        continue
      }
      let above = unsafe y > 0 ? source - bitmap.bytesPerRow : nil
      guard
        unsafe Self.indexRow(
          source, above: above, width: width, into: row + 1, table: table, colors: &colors,
          limit: limit)
      else { return false }
    }
    return true
  }

  /// Writes the indices of a row. Returns false if there are too many colours.
  ///
  /// Eight pixels are processed at a time. If they equal the pixels above them, their indices are copied from the row
  /// above. If they all have one colour, it is looked up once. Otherwise each pixel is looked up. Neighbours are not
  /// compared in that case, because the branch would often be mispredicted in dithered pictures.
  @inline(__always)
  private static func indexRow(
    _ source: UnsafeRawPointer, above: UnsafeRawPointer?, width: Int,
    into target: UnsafeMutableRawPointer, table: UnsafeMutablePointer<UInt64>,
    colors: inout [UInt32], limit: Int
  ) -> Bool {
    let whole = width & ~7
    var x = 0
    while x < whole {
      let pixels = unsafe source + x &* 4
      if let above = unsafe above, unsafe areEqual(pixels, above + x &* 4) {
        let indices = unsafe target.loadUnaligned(
          fromByteOffset: x &- width &- 1, as: UInt64.self)
        unsafe target.storeBytes(of: indices, toByteOffset: x, as: UInt64.self)
      } else if unsafe isOneColor(pixels) {
        guard let found = unsafe index(of: pixels, table, &colors, limit) else { return false }
        unsafe target.storeBytes(
          of: UInt64(found) &* 0x0101_0101_0101_0101, toByteOffset: x, as: UInt64.self)
      } else {
        for place in 0..<8 {
          guard let found = unsafe index(of: pixels + place &* 4, table, &colors, limit) else {
            return false
          }
          unsafe target.storeBytes(of: found, toByteOffset: x &+ place, as: UInt8.self)
        }
      }
      x &+= 8
    }
    while x < width {
      guard let found = unsafe index(of: source + x &* 4, table, &colors, limit) else {
        return false
      }
      unsafe target.storeBytes(of: found, toByteOffset: x, as: UInt8.self)
      x &+= 1
    }
    return true
  }

  /// Returns two of the eight pixels at `pixels`. `number` is the number of the pair, from 0 to 3.
  @inline(__always)
  private static func pair(_ pixels: UnsafeRawPointer, _ number: Int) -> UInt64 {
    unsafe pixels.loadUnaligned(fromByteOffset: number &* 8, as: UInt64.self)
  }

  /// Returns whether the eight pixels at `pixels` equal the eight at `other`.
  @inline(__always)
  private static func areEqual(_ pixels: UnsafeRawPointer, _ other: UnsafeRawPointer) -> Bool {
    unsafe (pair(pixels, 0) ^ pair(other, 0)) | (pair(pixels, 1) ^ pair(other, 1))
      | (pair(pixels, 2) ^ pair(other, 2)) | (pair(pixels, 3) ^ pair(other, 3)) == 0
  }

  /// Returns whether the eight pixels at `pixels` all have the same colour.
  @inline(__always)
  private static func isOneColor(_ pixels: UnsafeRawPointer) -> Bool {
    let first = unsafe pair(pixels, 0)
    return unsafe (first ^ pair(pixels, 1)) | (first ^ pair(pixels, 2))
      | (first ^ pair(pixels, 3)) | (first ^ (first &<< 32 | first &>> 32)) == 0
  }

  /// Returns the index of the colour of the pixel at `place`, or nil if the colour is new and there are `limit` colours
  /// already.
  @inline(__always)
  private static func index(
    of place: UnsafeRawPointer, _ table: UnsafeMutablePointer<UInt64>, _ colors: inout [UInt32],
    _ limit: Int
  ) -> UInt8? {
    let word = unsafe place.loadUnaligned(as: UInt32.self)
    let key = UInt64(word) | 1 &<< 32
    var slot = Int((word &* 0x9E37_79B1) &>> (32 &- slotBits))
    var entry = unsafe table[slot]
    while entry &>> 16 != key {
      if entry == 0 {
        guard colors.count < limit else { return nil }
        entry = key &<< 16 | UInt64(colors.count)
        unsafe table[slot] = entry
        colors.append(word)
        break
      }
      slot = (slot &+ 1) & (1 &<< Int(slotBits) &- 1)
      entry = unsafe table[slot]
    }
    return UInt8(truncatingIfNeeded: entry)
  }
}

/// The distinct colours of a picture, at most 256, and the form in which the indices of its pixels are stored.
struct ColorTable {
  /// The colours, as `RGBA.word`, in the order in which the file stores them.
  var colors: [UInt32]
  /// A mapping from the indices of ``ColorIndexer`` to those in the file, or nil if the two are equal.
  var remap: [UInt8]?
  /// The number of leading colours that are not opaque. This is the byte count of tRNS.
  var translucentCount = 0
  /// The form in which the indices are stored.
  var form: PNGForm

  /// Creates a table in the smallest lossless form for a picture of `area` pixels. `found` lists the colours of the
  /// picture in the order of their first appearance.
  ///
  /// Returns nil if RGB or RGBA samples take fewer bytes, as in tiny pictures, for which PLTE would take more bytes
  /// than the indices save.
  init?(found: [UInt32], area: Int, allowsGrey: Bool) {
    let isOpaque = found.allSatisfy { $0 >> 24 == 0xff }
    let depth = found.count <= 2 ? 1 : found.count <= 4 ? 2 : found.count <= 16 ? 4 : 8
    if isOpaque, allowsGrey, let grey = Self.greyDepth(of: found),
      // If there are few greys but they need eight bits as samples, the indices of a palette take fewer bits.
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
    // Colours that are not opaque come first, so that tRNS can end after the last of them.
    let order = translucent + found.indices.filter { found[$0] >> 24 == 0xff }
    colors = order.map { found[$0] }
    var target = [UInt8](repeating: 0, count: found.count)
    for (new, old) in order.enumerated() { target[old] = UInt8(new) }
    remap = target
  }

  /// Returns the smallest bit depth at which grey samples represent all `colors` exactly, or nil if one of the colours
  /// is not grey.
  private static func greyDepth(of colors: [UInt32]) -> Int? {
    var depth = 1
    for word in colors {
      let level = word & 0xff
      guard word >> 8 & 0xff == level, word >> 16 & 0xff == level else { return nil }
      while depth < 8, level % UInt32(255 / ((1 << depth) - 1)) != 0 { depth *= 2 }
    }
    return depth
  }

  /// The data of the PLTE chunk.
  var paletteBytes: [UInt8] { colors.flatMap(\.rgbBytes) }

  /// The data of the tRNS chunk, or an empty array if every colour is opaque.
  var transparencyBytes: [UInt8] { colors.prefix(translucentCount).map { UInt8($0 >> 24) } }
}
