internal import Glibc

/// Converts pixels to the samples of a PNG row, each row after its zero filter byte.
///
/// Unsafe code: before its first store, every function checks that `target` holds `height` rows of
/// `rowBytes + 1` bytes, plus the few bytes by which its last wide store may overrun them, and that the
/// rectangle lies in the bitmap.
enum PixelPacking {
  /// Bytes that a buffer of scanlines needs beyond the scanlines.
  static let slack = 16

  /// Maps indices through `remap` and packs them to `depth` bits, in place.
  static func pack(
    _ target: PixelStorage, width: Int, height: Int, remap: [UInt8]?, depth: Int
  ) {
    precondition(target.byteCount >= (width + 1) * height)
    guard remap != nil || depth < 8 else { return }
    var table = [UInt8](repeating: 0, count: 256)
    for index in 0..<256 {
      table[index] = remap.map { index < $0.count ? $0[index] : 0 } ?? UInt8(index)
    }
    let rowBytes = (width * depth + 7) / 8
    let perByte = 8 / depth
    let base = unsafe target.baseAddress.assumingMemoryBound(to: UInt8.self)
    // Packed rows are never longer than their source rows, so writing stays behind reading.
    unsafe table.withUnsafeBufferPointer { table in
      for y in 0..<height {
        let source = unsafe base + y * (width + 1) + 1
        let row = unsafe base + y * (rowBytes + 1)
        unsafe row[0] = 0
        if depth == 8 {
          for x in 0..<width { unsafe row[x + 1] = table[Int(source[x])] }
          continue
        }
        var x = 0
        for byte in 0..<rowBytes {
          var packed: UInt8 = 0
          for place in 0..<perByte where x + place < width {
            let shift = UInt8(8 - depth * (place + 1))
            unsafe packed |= table[Int(source[x + place])] << shift
          }
          unsafe row[byte + 1] = packed
          x += perByte
        }
      }
    }
  }

  /// Whether every pixel of `rect` is opaque, and whether every one is grey.
  static func survey(_ bitmap: Bitmap, _ rect: PixelRect) -> (isOpaque: Bool, isGrey: Bool) {
    let isDeep = bitmap.format.bytesPerPixel == 8
    var (opaque, grey) = (true, true)
    for y in rect.y..<rect.maxY where opaque || grey {
      let row = bitmap.row(y, rect)
      if isDeep {
        var (alpha, tint): (UInt64, UInt64) = (.max, 0)
        for x in 0..<rect.width {
          let word = unsafe row.unsafeLoadUnaligned(fromByteOffset: x * 8, as: UInt64.self)
          alpha &= word
          tint |= (word ^ (word >> 16)) & 0xffff_ffff
        }
        opaque = opaque && alpha >> 48 == 0xffff
        grey = grey && tint == 0
      } else {
        var (alpha, tint): (UInt32, UInt32) = (.max, 0)
        for x in 0..<rect.width {
          let word = unsafe row.unsafeLoadUnaligned(fromByteOffset: x * 4, as: UInt32.self)
          alpha &= word
          tint |= (word ^ (word >> 8)) & 0xffff
        }
        opaque = opaque && alpha >> 24 == 0xff
        grey = grey && tint == 0
      }
    }
    return (opaque, grey)
  }

  /// Writes the pixels of 8-bit RGBA in `rect` as RGBA, RGB or grey with alpha.
  static func write(
    _ bitmap: Bitmap, _ rect: PixelRect, as type: PNGForm.ColorType, into target: PixelStorage
  ) {
    let (width, height) = (rect.width, rect.height)
    precondition(PixelRect(bitmap.size).contains(rect))
    let rowBytes = width * type.channels
    precondition(target.byteCount >= (rowBytes + 1) * height + slack)
    for y in 0..<height {
      let source =
        unsafe UnsafeRawPointer(bitmap.storage.baseAddress) + (rect.y + y) * bitmap.bytesPerRow
        + rect.x * 4
      let row = unsafe target.baseAddress + y * (rowBytes + 1)
      unsafe row.storeBytes(of: 0, as: UInt8.self)
      switch type {
      case .rgb:
        for x in 0..<width {
          // Stores four bytes, keeps three: the next pixel or row overwrites the fourth.
          let word = unsafe source.loadUnaligned(fromByteOffset: x * 4, as: UInt32.self)
          unsafe row.storeBytes(of: word, toByteOffset: 1 + x * 3, as: UInt32.self)
        }
      case .greyAlpha:
        for x in 0..<width {
          let word = unsafe source.loadUnaligned(fromByteOffset: x * 4, as: UInt32.self)
          let pair = UInt16(truncatingIfNeeded: word & 0xff | word >> 16 & 0xff00)
          unsafe row.storeBytes(of: pair.littleEndian, toByteOffset: 1 + x * 2, as: UInt16.self)
        }
      default: unsafe memcpy(row + 1, source, width * 4)
      }
    }
  }

  /// Writes the pixels of 16-bit RGBA in `rect`, most significant byte first.
  static func writeDeep(
    _ bitmap: Bitmap, _ rect: PixelRect, as type: PNGForm.ColorType, into target: PixelStorage
  ) {
    let (width, height) = (rect.width, rect.height)
    let rowBytes = width * type.channels * 2
    precondition(target.byteCount >= (rowBytes + 1) * height + slack)
    let channels: [Int]
    switch type {
    case .grey, .palette: channels = [0]
    case .greyAlpha: channels = [0, 3]
    case .rgb: channels = [0, 1, 2]
    case .rgba: channels = [0, 1, 2, 3]
    }
    for y in 0..<height {
      let source = bitmap.row(rect.y + y, rect)
      let row = unsafe target.baseAddress + y * (rowBytes + 1)
      unsafe row.storeBytes(of: 0, as: UInt8.self)
      var at = 1
      for x in 0..<width {
        for channel in channels {
          let sample = unsafe source.unsafeLoadUnaligned(
            fromByteOffset: x * 8 + channel * 2, as: UInt16.self)
          unsafe row.storeBytes(of: sample.bigEndian, toByteOffset: at, as: UInt16.self)
          at += 2
        }
      }
    }
  }
}

extension Bitmap {
  /// The bytes of row `y` between the sides of `rect`.
  @_lifetime(borrow self)
  fileprivate borrowing func row(_ y: Int, _ rect: PixelRect) -> RawSpan {
    let pixel = format.bytesPerPixel
    return row(y).extracting(rect.x * pixel..<rect.maxX * pixel)
  }
}

/// Finds the distinct colours of a picture and writes each pixel's index, in one pass.
///
/// Unsafe code: `target` has room for `height` rows of `width + 1` bytes, and the rectangle lies in the
/// bitmap (both are checked); sources are read within `width * 4` bytes of each of its rows, and the hash table has 2,048 slots with at most 256 taken, so every probe ends at a free one.
struct ColorIndexer {
  /// The most colours that one-byte indices can distinguish.
  static let maximumCount = 256
  private static let slotBits: UInt32 = 11
  /// `(1 << 32 | colour) << 16 | index`; 0 is a free slot.
  private let slots = PixelStorage(byteCount: 8 << slotBits)

  /// Writes the rows of `rect`, each a zero byte (the filter *none*) and one index per pixel; returns the
  /// colours in the order of their indices, or nil if there are more than 256.
  func index(_ bitmap: Bitmap, _ rect: PixelRect, into target: PixelStorage) -> [UInt32]? {
    let (width, height) = (rect.width, rect.height)
    precondition(bitmap.format.bytesPerPixel == 4 && target.byteCount >= (width + 1) * height)
    precondition(PixelRect(bitmap.size).contains(rect))
    unsafe memset(slots.baseAddress, 0, 8 << Int(Self.slotBits))
    // Fetched once: it is a call to another module.
    let table = unsafe slots.baseAddress.assumingMemoryBound(to: UInt64.self)
    var colors: [UInt32] = []
    colors.reserveCapacity(Self.maximumCount)
    for y in 0..<height {
      let source =
        unsafe UnsafeRawPointer(bitmap.storage.baseAddress) + (rect.y + y) * bitmap.bytesPerRow
        + rect.x * 4
      let row = unsafe target.baseAddress + y * (width + 1)
      unsafe row.storeBytes(of: 0, as: UInt8.self)
      if y > 0, unsafe memcmp(source, source - bitmap.bytesPerRow, width * 4) == 0 {
        unsafe memcpy(row + 1, row - width, width)
        continue
      }
      let above = unsafe y > 0 ? source - bitmap.bytesPerRow : nil
      guard
        unsafe Self.indexRow(
          source, above: above, width: width, into: row + 1, table: table, colors: &colors)
      else { return nil }
    }
    return colors
  }

  /// Writes the indices of a row; false if there are too many colours.
  ///
  /// Takes eight pixels at a time: those of the row above, one colour, or any, which are looked up one by one
  /// without comparing neighbours, since such branches are mispredicted in dithered pictures.
  @inline(__always)
  private static func indexRow(
    _ source: UnsafeRawPointer, above: UnsafeRawPointer?, width: Int,
    into target: UnsafeMutableRawPointer, table: UnsafeMutablePointer<UInt64>,
    colors: inout [UInt32]
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
        guard let found = unsafe index(of: pixels, table, &colors) else { return false }
        unsafe target.storeBytes(
          of: UInt64(found) &* 0x0101_0101_0101_0101, toByteOffset: x, as: UInt64.self)
      } else {
        for place in 0..<8 {
          guard let found = unsafe index(of: pixels + place &* 4, table, &colors) else {
            return false
          }
          unsafe target.storeBytes(of: found, toByteOffset: x &+ place, as: UInt8.self)
        }
      }
      x &+= 8
    }
    while x < width {
      guard let found = unsafe index(of: source + x &* 4, table, &colors) else { return false }
      unsafe target.storeBytes(of: found, toByteOffset: x, as: UInt8.self)
      x &+= 1
    }
    return true
  }

  /// Two of eight pixels.
  @inline(__always)
  private static func pair(_ pixels: UnsafeRawPointer, _ number: Int) -> UInt64 {
    unsafe pixels.loadUnaligned(fromByteOffset: number &* 8, as: UInt64.self)
  }

  /// Whether eight pixels are those at `other`.
  @inline(__always)
  private static func areEqual(_ pixels: UnsafeRawPointer, _ other: UnsafeRawPointer) -> Bool {
    unsafe (pair(pixels, 0) ^ pair(other, 0)) | (pair(pixels, 1) ^ pair(other, 1))
      | (pair(pixels, 2) ^ pair(other, 2)) | (pair(pixels, 3) ^ pair(other, 3)) == 0
  }

  /// Whether eight pixels are the same.
  @inline(__always)
  private static func isOneColor(_ pixels: UnsafeRawPointer) -> Bool {
    let first = unsafe pair(pixels, 0)
    return unsafe (first ^ pair(pixels, 1)) | (first ^ pair(pixels, 2))
      | (first ^ pair(pixels, 3)) | (first ^ (first &<< 32 | first &>> 32)) == 0
  }

  /// The index of the pixel at `place`; nil if it is one colour too many.
  @inline(__always)
  private static func index(
    of place: UnsafeRawPointer, _ table: UnsafeMutablePointer<UInt64>, _ colors: inout [UInt32]
  ) -> UInt8? {
    let word = unsafe place.loadUnaligned(as: UInt32.self)
    let key = UInt64(word) | 1 &<< 32
    var slot = Int((word &* 0x9E37_79B1) &>> (32 &- slotBits))
    var entry = unsafe table[slot]
    while entry &>> 16 != key {
      if entry == 0 {
        guard colors.count < maximumCount else { return nil }
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
