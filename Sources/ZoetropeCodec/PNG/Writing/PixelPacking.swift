internal import Glibc

/// Converts pixels to PNG rows. Each row has a zero filter byte, followed by samples.
///
/// Unsafe code: before its first store, every function checks that `target` has room for `height` rows of
/// `rowBytes + 1` bytes and for the few bytes by which the last wide store may exceed them. Functions that read a
/// bitmap also check that the rectangle lies in it.
enum PixelPacking {
  /// The number of spare bytes that a buffer must have after its scanlines.
  static let slack = 16

  /// Copies scanlines, which already have filter bytes, to `target`. The caller must be the only owner of `target`.
  static func write(_ scanlines: [UInt8], into target: PixelStorage) {
    unsafe target.store(scanlines.rawBytes)
  }

  /// Replaces the indices in `target` by their entries in `remap` and packs them to `depth` bits, in place.
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
    // A packed row is never longer than its source row, so writing never overtakes reading.
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

  /// Returns whether all pixels of `rect` are opaque, and whether all of them are grey.
  static func survey(_ bitmap: Bitmap, _ rect: PixelRect) -> (isOpaque: Bool, isGrey: Bool) {
    let isDeep = bitmap.format.bytesPerPixel == 8
    var (opaque, grey) = (true, true)
    for y in rect.y..<rect.maxY where opaque || grey {
      let row = bitmap.row(y, rect)
      if isDeep {
        var (alpha, tint): (UInt64, UInt64) = (.max, 0)
        for x in 0..<rect.width {
          let word = row.load(UInt64.self, at: x * 8)
          alpha &= word
          tint |= (word ^ (word >> 16)) & 0xffff_ffff
        }
        opaque = opaque && alpha >> 48 == 0xffff
        grey = grey && tint == 0
      } else {
        var (alpha, tint): (UInt32, UInt32) = (.max, 0)
        for x in 0..<rect.width {
          let word = row.load(UInt32.self, at: x * 4)
          alpha &= word
          tint |= (word ^ (word >> 8)) & 0xffff
        }
        opaque = opaque && alpha >> 24 == 0xff
        grey = grey && tint == 0
      }
    }
    return (opaque, grey)
  }

  /// Writes the 8-bit RGBA pixels in `rect` to `target`, starting at row `first`. `type` determines the samples: RGBA,
  /// RGB, grey with alpha, or grey.
  static func write(
    _ bitmap: Bitmap, _ rect: PixelRect, as type: PNGForm.ColorType, into target: PixelStorage,
    atRow first: Int = 0
  ) {
    let (width, height) = (rect.width, rect.height)
    precondition(PixelRect(bitmap.size).contains(rect) && bitmap.format.bytesPerPixel == 4)
    let rowBytes = width * type.channels
    precondition(first >= 0 && target.byteCount >= (rowBytes + 1) * (first + height) + slack)
    for y in 0..<height {
      let source =
        unsafe UnsafeRawPointer(bitmap.storage.baseAddress) + (rect.y + y) * bitmap.bytesPerRow
        + rect.x * 4
      let row = unsafe target.baseAddress + (first + y) * (rowBytes + 1)
      unsafe row.storeBytes(of: 0, as: UInt8.self)
      switch type {
      case .grey, .palette:
        for x in 0..<width {
          let level = unsafe source.load(fromByteOffset: x * 4, as: UInt8.self)
          unsafe row.storeBytes(of: level, toByteOffset: 1 + x, as: UInt8.self)
        }
      case .rgb:
        for x in 0..<width {
          // Four bytes are stored. The next pixel or row overwrites the last of them.
          let word = unsafe source.loadUnaligned(fromByteOffset: x * 4, as: UInt32.self)
          unsafe row.storeBytes(of: word, toByteOffset: 1 + x * 3, as: UInt32.self)
        }
      case .greyAlpha:
        for x in 0..<width {
          let word = unsafe source.loadUnaligned(fromByteOffset: x * 4, as: UInt32.self)
          let pair = UInt16(truncatingIfNeeded: word & 0xff | word >> 16 & 0xff00)
          unsafe row.storeBytes(of: pair.littleEndian, toByteOffset: 1 + x * 2, as: UInt16.self)
        }
      case .rgba: unsafe memcpy(row + 1, source, width * 4)
      }
    }
  }

  /// Writes the 16-bit RGBA pixels in `rect` to `target`, starting at row `first`. The most significant byte of each
  /// sample comes first.
  static func writeDeep(
    _ bitmap: Bitmap, _ rect: PixelRect, as type: PNGForm.ColorType, into target: PixelStorage,
    atRow first: Int = 0
  ) {
    let (width, height) = (rect.width, rect.height)
    let rowBytes = width * type.channels * 2
    precondition(first >= 0 && target.byteCount >= (rowBytes + 1) * (first + height) + slack)
    let channels: [Int]
    switch type {
    case .grey, .palette: channels = [0]
    case .greyAlpha: channels = [0, 3]
    case .rgb: channels = [0, 1, 2]
    case .rgba: channels = [0, 1, 2, 3]
    }
    for y in 0..<height {
      let source = bitmap.row(rect.y + y, rect)
      let row = unsafe target.baseAddress + (first + y) * (rowBytes + 1)
      unsafe row.storeBytes(of: 0, as: UInt8.self)
      var at = 1
      for x in 0..<width {
        for channel in channels {
          let sample = source.load(UInt16.self, at: x * 8 + channel * 2)
          unsafe row.storeBytes(of: sample.bigEndian, toByteOffset: at, as: UInt16.self)
          at += 2
        }
      }
    }
  }
}

extension Bitmap {
  /// Returns the bytes of row `y` that lie between the left and right sides of `rect`.
  @_lifetime(borrow self)
  borrowing func row(_ y: Int, _ rect: PixelRect) -> RawSpan {
    let pixel = format.bytesPerPixel
    return row(y).extracting(rect.x * pixel..<rect.maxX * pixel)
  }

  /// Returns the bitmap converted to ``PixelFormat/rgba8``. A bitmap in ``PixelFormat/rgba8`` or ``PixelFormat/rgbx8``
  /// is returned unchanged.
  ///
  /// - Throws: ``AnimatedImageError/Code/parameter`` if the bitmap has premultiplied alpha, from which straight colours
  ///   cannot be recovered exactly, or has 16 bits per sample; ``AnimatedImageError/Code/outOfMemory`` if allocation
  ///   fails.
  package func straightRGBA(
    isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) -> Bitmap {
    switch format {
    case .rgba8: return self
    // The fourth byte of a pixel is 255.
    case .rgbx8:
      return Bitmap(size: size, format: .rgba8, bytesPerRow: bytesPerRow, storage: storage)
    case .bgra8, .rgb565, .gray8: break
    default:
      throw AnimatedImageError(
        .parameter, "a picture in the format \(format) cannot be written without conversion")
    }
    var buffer = try PixelBuffer(asking: size)
    let rowBytes = buffer.bytesPerRow
    var target = buffer.mutableBytes
    for y in 0..<height {
      try PixelRect(size).poll(row: y, isCancelled)
      let source = row(y)
      for x in 0..<width {
        target.storeBytes(
          of: pixel(x, of: source), toByteOffset: y * rowBytes + x * 4, as: UInt32.self)
      }
    }
    return buffer.finish()
  }

  private func pixel(_ x: Int, of row: borrowing RawSpan) -> UInt32 {
    func byte(_ offset: Int) -> UInt32 { UInt32(row[offset]) }
    switch format {
    case .gray8: return byte(x) &* 0x01_0101 | 0xff00_0000
    case .rgb565:
      let word = byte(x * 2) | byte(x * 2 + 1) << 8
      let (red, green, blue) = (word >> 11, word >> 5 & 63, word & 31)
      // The top bits of each sample are repeated at its bottom, so that 31 becomes 255 and 0 stays 0.
      return red << 3 | red >> 2 | (green << 2 | green >> 4) << 8 | (blue << 3 | blue >> 2) << 16
        | 0xff00_0000
    default:
      return byte(x * 4 + 2) | byte(x * 4 + 1) << 8 | byte(x * 4) << 16 | byte(x * 4 + 3) << 24
    }
  }
}
