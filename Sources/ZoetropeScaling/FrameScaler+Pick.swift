// Copying and converting rows pixel by pixel.
//
// This code is unsafe for speed: rows are addressed by pointer. Each function documents how many pixels it reads and
// writes, and the two entry points check that both bitmaps contain these pixels.

extension FrameScaler {
  /// Draws `region` by copying one source pixel for each target pixel. If two neighbouring target rows have the same
  /// source row, the lower target row is copied from the upper one.
  func pick(
    _ bitmap: Bitmap, columns: [Int32], rows: [Int32], region: PixelRect,
    into buffer: inout PixelBuffer, isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    let pixelBytes = bitmap.format.bytesPerPixel
    let stride = buffer.bytesPerRow
    let target = unsafe buffer.baseAddress + region.x * pixelBytes
    let source = unsafe UnsafeRawPointer(bitmap.storage.baseAddress)
    let picks = columns[region.x..<region.maxX]
    var y = region.y
    while y < region.maxY {
      if isCancelled() { throw AnimatedImageError(.cancelled, "stopped while scaling") }
      let round = Round(from: y, to: region.maxY, rows: rows)
      // `picks` has one element for each column of the region, and each element is a valid column of the source rows.
      if pixelBytes == 4, round.isFull {
        unsafe Self.copyWords(
          picks, of: source, bitmap.bytesPerRow, rows, round, to: target, stride)
      } else {
        for y in round.drawn {
          let row = unsafe source + Int(rows[y]) * bitmap.bytesPerRow
          let out = unsafe target + y * stride
          switch pixelBytes {
          case 1: unsafe Self.copy(picks, of: row, to: out, as: UInt8.self)
          case 2: unsafe Self.copy(picks, of: row, to: out, as: UInt16.self)
          case 4: unsafe Self.copy(picks, of: row, to: out, as: UInt32.self)
          default: unsafe Self.copy(picks, of: row, to: out, as: UInt64.self)
          }
        }
      }
      for y in y + 1..<round.end where rows[y] == rows[y - 1] {
        // The row above lies in the region, so its pixels are already drawn.
        let out = unsafe target + y * stride
        unsafe out.copyMemory(from: out - stride, byteCount: region.width * pixelBytes)
      }
      y = round.end
    }
    extendLifetime(bitmap)
  }

  /// The target rows that are drawn together: up to four rows that pick different source rows, each followed by the
  /// rows that repeat it.
  private struct Round {
    /// The rows that are drawn from source rows. Only the first `count` elements are valid.
    private var firsts = SIMD4<Int>()
    private var count = 0
    /// The index after the last target row of the round.
    private(set) var end: Int

    init(from start: Int, to limit: Int, rows: [Int32]) {
      end = start
      while end < limit {
        if end == start || rows[end] != rows[end - 1] {
          if isFull { return }
          firsts[count] = end
          count += 1
        }
        end += 1
      }
    }

    var isFull: Bool { count == SIMD4<Int>.scalarCount }
    var drawn: some Sequence<Int> { (0..<count).lazy.map { firsts[$0] } }
    subscript(index: Int) -> Int { firsts[index] }
  }

  /// Draws the four rows of a full round, for formats with four bytes per pixel. Each store writes four pixels.
  ///
  /// The four rows are drawn side by side, so that each pick is loaded once for all rows. While one row waits for
  /// memory, which is common when a large bitmap is reduced to a thumbnail, the other three rows proceed. (Drawing one
  /// row at a time took a third longer, and 50 % longer with everything in cache.) The method is not inlined, because
  /// its loop needs every register.
  @inline(never)
  private static func copyWords(
    _ picks: ArraySlice<Int32>, of source: UnsafeRawPointer, _ sourceStride: Int, _ rows: [Int32],
    _ round: Round, to target: UnsafeMutableRawPointer, _ stride: Int
  ) {
    func pixels(_ index: Int) -> UnsafePointer<UInt32> {
      unsafe (source + Int(rows[round[index]]) * sourceStride)
        .assumingMemoryBound(to: UInt32.self)
    }
    func out(_ index: Int) -> UnsafeMutableRawPointer { unsafe target + round[index] * stride }
    let (row0, row1, row2, row3) = unsafe (pixels(0), pixels(1), pixels(2), pixels(3))
    let (out0, out1, out2, out3) = unsafe (out(0), out(1), out(2), out(3))
    unsafe picks.withUnsafeBytes { picks in
      guard let pick = picks.baseAddress else { return }
      // Picks and pixels take four bytes each, so the same offset applies to both. Each step reads four picks and
      // writes four pixels to each row. The remaining pixels are copied one by one.
      let whole = picks.count & ~15
      var offset = 0
      while offset != whole {
        let a = unsafe Int(pick.load(fromByteOffset: offset, as: Int32.self))
        let b = unsafe Int(pick.load(fromByteOffset: offset &+ 4, as: Int32.self))
        let c = unsafe Int(pick.load(fromByteOffset: offset &+ 8, as: Int32.self))
        let d = unsafe Int(pick.load(fromByteOffset: offset &+ 12, as: Int32.self))
        unsafe out0.storeBytes(
          of: SIMD4(row0[a], row0[b], row0[c], row0[d]), toByteOffset: offset,
          as: SIMD4<UInt32>.self)
        unsafe out1.storeBytes(
          of: SIMD4(row1[a], row1[b], row1[c], row1[d]), toByteOffset: offset,
          as: SIMD4<UInt32>.self)
        unsafe out2.storeBytes(
          of: SIMD4(row2[a], row2[b], row2[c], row2[d]), toByteOffset: offset,
          as: SIMD4<UInt32>.self)
        unsafe out3.storeBytes(
          of: SIMD4(row3[a], row3[b], row3[c], row3[d]), toByteOffset: offset,
          as: SIMD4<UInt32>.self)
        offset &+= 16
      }
      while offset != picks.count {
        let column = unsafe Int(pick.load(fromByteOffset: offset, as: Int32.self))
        unsafe out0.storeBytes(of: row0[column], toByteOffset: offset, as: UInt32.self)
        unsafe out1.storeBytes(of: row1[column], toByteOffset: offset, as: UInt32.self)
        unsafe out2.storeBytes(of: row2[column], toByteOffset: offset, as: UInt32.self)
        unsafe out3.storeBytes(of: row3[column], toByteOffset: offset, as: UInt32.self)
        offset &+= 4
      }
    }
  }

  @inline(__always)
  private static func copy<Word: BitwiseCopyable>(
    _ picks: ArraySlice<Int32>, of row: UnsafeRawPointer, to out: UnsafeMutableRawPointer,
    as _: Word.Type
  ) {
    let pixels = unsafe row.assumingMemoryBound(to: Word.self)
    let target = unsafe out.assumingMemoryBound(to: Word.self)
    unsafe picks.withUnsafeBufferPointer { picks in
      for index in 0..<picks.count { unsafe target[index] = pixels[Int(picks[index])] }
    }
  }
}

/// Converts rows of pixels from and to RGBA with 8 bits per channel and straight alpha.
///
/// Bounds: the source row and the target row contain `count` pixels of their formats, and do not overlap.
enum PixelRows {
  /// Converts `count` RGBA pixels to pixels of `format`.
  static func encode(
    _ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, _ format: PixelFormat,
    count: Int
  ) {
    let pixels = unsafe source.assumingMemoryBound(to: RGBA.self)
    switch format.kind {
    case .rgba8: unsafe target.copyMemory(from: source, byteCount: count * 4)
    case .bgra8: unsafe swapRedAndBlue(source, target, count)
    case .rgba8Premultiplied:
      unsafe map(pixels, target, count, PixelConversion.premultiply)
    case .bgra8Premultiplied:
      unsafe map(pixels, target, count) {
        PixelConversion.swapped(PixelConversion.premultiply($0))
      }
    case .rgbx8: unsafe map(pixels, target, count, PixelConversion.flatten)
    case .rgb565:
      unsafe map(pixels, target, count) {
        PixelConversion.pack565(PixelConversion.flatten($0))
      }
    case .gray8:
      unsafe map(pixels, target, count) { PixelConversion.luma(PixelConversion.flatten($0)) }
    case .rgba16:
      unsafe map(pixels, target, count) {
        SIMD4<UInt16>(
          PixelConversion.widen($0.red), PixelConversion.widen($0.green),
          PixelConversion.widen($0.blue), PixelConversion.widen($0.alpha))
      }
    }
  }

  /// Converts `count` pixels of `format` to RGBA pixels.
  static func decode(
    _ source: UnsafeRawPointer, _ format: PixelFormat, to target: UnsafeMutableRawPointer,
    count: Int
  ) {
    let pixels = unsafe source.assumingMemoryBound(to: RGBA.self)
    switch format.kind {
    case .rgba8: unsafe target.copyMemory(from: source, byteCount: count * 4)
    case .bgra8: unsafe swapRedAndBlue(source, target, count)
    case .rgba8Premultiplied:
      unsafe map(pixels, target, count, PixelConversion.unpremultiply)
    case .bgra8Premultiplied:
      unsafe map(pixels, target, count) {
        PixelConversion.unpremultiply(PixelConversion.swapped($0))
      }
    case .rgbx8:
      unsafe map(pixels, target, count) {
        RGBA(red: $0.red, green: $0.green, blue: $0.blue)
      }
    case .rgb565:
      unsafe map(
        source.assumingMemoryBound(to: UInt16.self), target, count, PixelConversion.unpack565)
    case .gray8:
      unsafe map(source.assumingMemoryBound(to: UInt8.self), target, count) {
        RGBA(red: $0, green: $0, blue: $0)
      }
    case .rgba16:
      unsafe map(source.assumingMemoryBound(to: SIMD4<UInt16>.self), target, count) {
        RGBA(
          red: PixelConversion.narrow($0[0]), green: PixelConversion.narrow($0[1]),
          blue: PixelConversion.narrow($0[2]), alpha: PixelConversion.narrow($0[3]))
      }
    }
  }

  @inline(__always)
  private static func map<In: BitwiseCopyable, Out: BitwiseCopyable>(
    _ source: UnsafePointer<In>, _ target: UnsafeMutableRawPointer, _ count: Int,
    _ transform: (In) -> Out
  ) {
    let out = unsafe target.assumingMemoryBound(to: Out.self)
    for index in 0..<count { unsafe out[index] = transform(source[index]) }
  }

  /// Copies `count` pixels, exchanging bytes 0 and 2 of each pixel.
  private static func swapRedAndBlue(
    _ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer, _ count: Int
  ) {
    let words = unsafe source.assumingMemoryBound(to: UInt32.self)
    let out = unsafe target.assumingMemoryBound(to: UInt32.self)
    for index in 0..<count {
      let word = unsafe UInt32(littleEndian: words[index])
      let swapped = word & 0xFF00_FF00 | (word & 0xFF) << 16 | word >> 16 & 0xFF
      unsafe out[index] = swapped.littleEndian
    }
  }
}

extension PixelRows {
  /// Converts rows `rows` of `bitmap` to the format of `buffer`, which has the same size as the bitmap. `hub` is
  /// scratch memory with room for one row of RGBA pixels.
  static func convert(
    _ bitmap: Bitmap, rows: Range<Int>, into buffer: borrowing PixelBuffer, hub: PixelStorage
  ) {
    precondition(buffer.size == bitmap.size && hub.byteCount >= bitmap.width * 4)
    precondition((0..<bitmap.height).contains(rows) || rows.isEmpty)
    let target = unsafe buffer.baseAddress
    for y in rows {
      // Each of the two rows contains `width` pixels of its format, and `hub` has room for `width` RGBA pixels.
      let from = unsafe UnsafeRawPointer(bitmap.storage.baseAddress) + y * bitmap.bytesPerRow
      let to = unsafe target + y * buffer.bytesPerRow
      if bitmap.format == .rgba8 {
        unsafe encode(from, to: to, buffer.format, count: bitmap.width)
      } else if buffer.format == .rgba8 {
        unsafe decode(from, bitmap.format, to: to, count: bitmap.width)
      } else {
        unsafe decode(from, bitmap.format, to: hub.baseAddress, count: bitmap.width)
        unsafe encode(hub.baseAddress, to: to, buffer.format, count: bitmap.width)
      }
    }
  }
}
