// Conversions between lanes of different widths, written out lane by lane.
//
// The standard library's `init(truncatingIfNeeded:)` is a generic loop. If the module is compiled in several threads,
// as packages are, the loop remains a call, which made a hot loop four times as slow. The conversions in this file are
// always inlined, and compile to single unpack and pack instructions.

extension SIMD8<Int32> {
  /// Converts the lanes of `x` by sign extension.
  @inline(__always)
  init(widening x: SIMD8<Int16>) {
    self.init(
      Int32(x[0]), Int32(x[1]), Int32(x[2]), Int32(x[3]), Int32(x[4]), Int32(x[5]),
      Int32(x[6]), Int32(x[7]))
  }
}

extension SIMD8<Int16> {
  /// Converts the lanes of `x` by zero extension.
  @inline(__always)
  init(widening x: SIMD8<UInt8>) {
    self.init(
      Int16(x[0]), Int16(x[1]), Int16(x[2]), Int16(x[3]), Int16(x[4]), Int16(x[5]),
      Int16(x[6]), Int16(x[7]))
  }

  /// Converts the lanes of `low`, followed by those of `high`, by keeping the low half of each lane.
  @inline(__always)
  init(truncating low: SIMD4<Int32>, _ high: SIMD4<Int32>) {
    self.init(
      Int16(truncatingIfNeeded: low[0]), Int16(truncatingIfNeeded: low[1]),
      Int16(truncatingIfNeeded: low[2]), Int16(truncatingIfNeeded: low[3]),
      Int16(truncatingIfNeeded: high[0]), Int16(truncatingIfNeeded: high[1]),
      Int16(truncatingIfNeeded: high[2]), Int16(truncatingIfNeeded: high[3]))
  }
}

extension SIMD8<UInt8> {
  /// Converts the lanes of `x` by keeping the low half of each lane.
  @inline(__always)
  init(truncating x: SIMD8<Int16>) {
    self.init(
      UInt8(truncatingIfNeeded: x[0]), UInt8(truncatingIfNeeded: x[1]),
      UInt8(truncatingIfNeeded: x[2]), UInt8(truncatingIfNeeded: x[3]),
      UInt8(truncatingIfNeeded: x[4]), UInt8(truncatingIfNeeded: x[5]),
      UInt8(truncatingIfNeeded: x[6]), UInt8(truncatingIfNeeded: x[7]))
  }
}

extension SIMD8<UInt16> {
  /// Converts the lanes of `x` by zero extension.
  @inline(__always)
  init(widening x: SIMD8<UInt8>) {
    self.init(
      UInt16(x[0]), UInt16(x[1]), UInt16(x[2]), UInt16(x[3]), UInt16(x[4]), UInt16(x[5]),
      UInt16(x[6]), UInt16(x[7]))
  }
}

extension SIMD4<UInt16> {
  /// Converts the lanes of `x` by zero extension.
  @inline(__always)
  init(widening x: SIMD4<UInt8>) {
    self.init(UInt16(x[0]), UInt16(x[1]), UInt16(x[2]), UInt16(x[3]))
  }
}

extension SIMD4<UInt32> {
  /// Converts the lanes of `x` by zero extension.
  @inline(__always)
  init(widening x: SIMD4<UInt16>) {
    self.init(UInt32(x[0]), UInt32(x[1]), UInt32(x[2]), UInt32(x[3]))
  }
}

extension SIMD4<UInt8> {
  /// Converts the lanes of `x` by keeping the low byte of each lane.
  @inline(__always)
  init(truncating x: SIMD4<UInt32>) {
    self.init(
      UInt8(truncatingIfNeeded: x[0]), UInt8(truncatingIfNeeded: x[1]),
      UInt8(truncatingIfNeeded: x[2]), UInt8(truncatingIfNeeded: x[3]))
  }
}

extension SIMD4<Float> {
  /// Converts the lanes of `x`, rounding each lane to the nearest representable value.
  @inline(__always)
  init(converting x: SIMD4<Int32>) {
    self.init(Float(x[0]), Float(x[1]), Float(x[2]), Float(x[3]))
  }
}
