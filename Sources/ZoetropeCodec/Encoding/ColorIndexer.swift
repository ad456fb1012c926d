internal import Glibc

/// Finds the distinct colours of a picture and writes each pixel's index, in one pass.
///
/// Unsafe code: `target` has room for `height` rows of `width + 1` bytes (the caller's promise,
/// checked against its byte count), sources are read within `width * 4` bytes of each row, and the
/// hash table has 1,024 slots with at most 256 taken, so every probe ends at a free one.
struct ColorIndexer {
  /// The most colours that indices of one byte can tell apart.
  static let maximumCount = 256
  private static let slotBits: UInt32 = 10
  /// `(1 << 32 | colour) << 16 | index`; 0 is a free slot.
  private let slots = PixelStorage(byteCount: 8 << 10)

  /// Writes rows of a zero byte (the filter *none*) and one index a pixel; gives the colours in
  /// the order of their indices, or nil when there are more than 256.
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
        // A run: eight pixels at a time while it lasts.
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
