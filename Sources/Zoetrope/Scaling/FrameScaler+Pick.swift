extension FrameScaler {
  /// Copies the picked pixels of `region`; a row picked twice is copied whole from the first.
  func pick(
    _ bitmap: Bitmap, columns: [Int32], rows: [Int32], region: PixelRect,
    into buffer: inout PixelBuffer, isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    let pixelBytes = bitmap.format.bytesPerPixel
    let target = unsafe buffer.baseAddress + region.x * pixelBytes
    let source = unsafe UnsafeRawPointer(bitmap.storage.baseAddress)
    let picks = columns[region.x..<region.maxX]
    for y in region.y..<region.maxY {
      if y & 15 == 0, isCancelled() {
        throw AnimatedImageError(.cancelled, "scaling was cancelled")
      }
      let out = unsafe target + y * buffer.bytesPerRow
      if y > region.y, rows[y] == rows[y - 1] {
        // The row above lies in the region, so `width` pixels of it are drawn.
        unsafe out.copyMemory(
          from: out - buffer.bytesPerRow, byteCount: region.width * pixelBytes)
        continue
      }
      let row = unsafe source + Int(rows[y]) * bitmap.bytesPerRow
      // Picks lie inside the source row, and there are as many as the region is wide.
      switch pixelBytes {
      case 1: unsafe Self.copy(picks, of: row, to: out, as: UInt8.self)
      case 2: unsafe Self.copy(picks, of: row, to: out, as: UInt16.self)
      case 4: unsafe Self.copyWords(picks, of: row, to: out)
      default: unsafe Self.copy(picks, of: row, to: out, as: UInt64.self)
      }
    }
    extendLifetime(bitmap)
  }

  /// As ``copy(_:of:to:as:)`` for four bytes a pixel, the common case: four pixels to one store, since
  /// the loop is bound by the number of its instructions.
  private static func copyWords(
    _ picks: ArraySlice<Int32>, of row: UnsafeRawPointer, to out: UnsafeMutableRawPointer
  ) {
    let pixels = unsafe row.assumingMemoryBound(to: UInt32.self)
    unsafe picks.withUnsafeBufferPointer { picks in
      guard var pick = picks.baseAddress else { return }
      var target = unsafe out
      // Each round reads eight picks and writes eight pixels; the rest, fewer, goes one by one.
      for _ in 0..<picks.count / 8 {
        let first = unsafe SIMD4<UInt32>(
          pixels[Int(pick[0])], pixels[Int(pick[1])], pixels[Int(pick[2])], pixels[Int(pick[3])])
        let second = unsafe SIMD4<UInt32>(
          pixels[Int(pick[4])], pixels[Int(pick[5])], pixels[Int(pick[6])], pixels[Int(pick[7])])
        unsafe target.storeBytes(of: first, as: SIMD4<UInt32>.self)
        unsafe target.storeBytes(of: second, toByteOffset: 16, as: SIMD4<UInt32>.self)
        unsafe pick += 8
        unsafe target += 32
      }
      for index in 0..<picks.count % 8 {
        unsafe target.storeBytes(
          of: pixels[Int(pick[index])], toByteOffset: index * 4, as: UInt32.self)
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
