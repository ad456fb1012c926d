extension FrameScaler {
  /// Copies the picked pixels of `region`; a row picked twice is copied whole from the first.
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
      if isCancelled() { throw AnimatedImageError(.cancelled, "scaling was cancelled") }
      let round = Round(from: y, to: region.maxY, rows: rows)
      // Picks lie inside the source rows, and there are as many as the region is wide.
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
        // The row above lies in the region, so as many pixels of it are drawn.
        let out = unsafe target + y * stride
        unsafe out.copyMemory(from: out - stride, byteCount: region.width * pixelBytes)
      }
      y = round.end
    }
    extendLifetime(bitmap)
  }

  /// Target rows that are drawn together: up to four that pick different source rows, and those
  /// after each that pick the same.
  private struct Round {
    /// The rows that are drawn, of which the first `count` count.
    private var firsts = SIMD4<Int>()
    private var count = 0
    /// The row after the last.
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

  /// Draws the four rows of a full round, four bytes a pixel, four pixels to a store.
  ///
  /// Side by side rather than one after the other: each pick is loaded once for all of them, and
  /// while one row waits for memory, which a thumbnail of a large picture mostly does, three others
  /// go on. (One row at a time took a third longer, and half as long again where all is in cache.)
  /// Not inlined, since its loop takes every register there is.
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
      // A pick and a pixel take four bytes each: one offset serves both. Each step reads four picks
      // and writes four pixels to each row; the rest goes one by one.
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
