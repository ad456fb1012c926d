/// The floating-point passes over rows of four channels, for pixels that alpha weighs and for
/// what the fixed-point passes do not take.
///
/// Bounds: callers hand in rows that hold every pixel of the windows and ranges they name, and
/// scratch rows padded by 8 pixels; no pass reads or writes past them. Sums run in the order of the taps, so a pixel comes out the
/// same whichever range it is computed in.
enum BlendRows<Codec: BlendCodec> {
  typealias Scalar = Codec.Scalar
  typealias Pixels = UnsafeMutablePointer<SIMD4<Scalar>>

  /// Decodes pixels `range` of a source row.
  static func decode(
    _ codec: Codec, row: UnsafeRawPointer, range: Range<Int>, into target: Pixels
  ) {
    for index in range {
      unsafe target[index] = codec.decode(row + index * Codec.bytesPerPixel)
    }
  }

  /// Sums pixels `range` of `count` source rows.
  static func vertical(
    _ codec: Codec, rows: UnsafePointer<UnsafeRawPointer>, weights: UnsafePointer<Scalar>,
    count: Int, range: Range<Int>, into target: Pixels
  ) {
    for index in range {
      let offset = index * Codec.bytesPerPixel
      var sum = SIMD4<Scalar>()
      for tap in 0..<count {
        let pixel = unsafe codec.decode(rows[tap] + offset)
        sum = unsafe Scalar.multiplyAdd(sum, pixel, weights[tap])
      }
      unsafe target[index] = sum
    }
  }

  /// The sum of one window: even and odd taps apart, since an addition has to wait for the one
  /// before it.
  @inline(__always)
  static func window(
    row: Pixels, start: Int, count: Int, weights: UnsafePointer<Scalar>
  ) -> SIMD4<Scalar> {
    var even = SIMD4<Scalar>()
    var odd = SIMD4<Scalar>()
    var tap = 0
    while tap + 1 < count {
      even = unsafe Scalar.multiplyAdd(even, row[start + tap], weights[tap])
      odd = unsafe Scalar.multiplyAdd(odd, row[start + tap + 1], weights[tap + 1])
      tap += 2
    }
    if tap < count {
      even = unsafe Scalar.multiplyAdd(even, row[start + tap], weights[tap])
    }
    return Scalar.add(even, odd)
  }

  /// Sums windows of a row into encoded pixels `range` of `target`.
  static func horizontalEncoded(
    _ codec: Codec, row: Pixels, table: KernelTable<Scalar>, range: Range<Int>,
    into target: UnsafeMutableRawPointer
  ) {
    for index in range {
      let start = unsafe Int(table.starts[index])
      let sum = unsafe window(
        row: row, start: start, count: Int(table.ends[index]) - start,
        weights: table.weights + index * table.taps)
      unsafe codec.encode(sum, at: target + index * Codec.bytesPerPixel)
    }
  }

  /// Sums windows of a row into pixels `range` of `target`.
  static func horizontal(
    row: Pixels, table: KernelTable<Scalar>, range: Range<Int>, into target: Pixels
  ) {
    for index in range {
      let start = unsafe Int(table.starts[index])
      unsafe target[index] = window(
        row: row, start: start, count: Int(table.ends[index]) - start,
        weights: table.weights + index * table.taps)
    }
  }

  /// Sums pixels `range` of `count` decoded rows into encoded pixels of `target`.
  static func verticalEncoded(
    _ codec: Codec, rows: UnsafePointer<UnsafeRawPointer>, weights: UnsafePointer<Scalar>,
    count: Int, range: Range<Int>, into target: UnsafeMutableRawPointer
  ) {
    for index in range {
      var sum = SIMD4<Scalar>()
      for tap in 0..<count {
        let pixel = unsafe rows[tap].load(
          fromByteOffset: index * MemoryLayout<SIMD4<Scalar>>.stride, as: SIMD4<Scalar>.self)
        sum = unsafe Scalar.multiplyAdd(sum, pixel, weights[tap])
      }
      unsafe codec.encode(sum, at: target + index * Codec.bytesPerPixel)
    }
  }
}
