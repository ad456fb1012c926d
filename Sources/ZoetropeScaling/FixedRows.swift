// Fixed-point scaling of opaque pixels, and the classification that finds the pixels for which it may be used.
//
// This code is unsafe for speed: rows are addressed by pointer. Each type documents its bounds, and `RegionScaler`
// ensures that they hold.

/// The fixed-point passes over rows of four 8-bit channels. These passes are the hot loops of scaling.
///
/// A sum adds up 32-bit products of 16-bit values, two taps at a time. Multiplying pairs of sign-extended values and
/// adding the two products compiles to one `pmaddwd` on x86-64 (from SSE2 on), and to `smull` and `smlal` on arm64.
/// Single-precision sums ran at half the speed.
///
/// Bounds: the memory of the rows extends past the last requested channel to the next multiple of 32 channels and, for
/// the horizontal pass, to the end of the last window's padding. ``Bitmap`` rows and the scratch rows are padded
/// accordingly.
///
/// Range: the magnitude of a weight is below 2. The weights of a window sum to 1, and their magnitudes sum to at most
/// 1.6. Therefore, a sum in the first pass is below `255 * 1.6 * 2^bits`, an intermediate value is below
/// `255 * 1.6 * 2^6`, and a sum in the second pass is below `255 * 2.56 * 2^20`, so all of these values fit in their
/// types.
enum FixedRows {
  /// Words, each with the weights of two taps.
  typealias Weights = UnsafePointer<UInt32>

  /// The number of fraction bits of a sum in the second pass: the fraction bits of the intermediate values plus those
  /// of the weights.
  static let sumBits = 20

  // MARK: Vertical first

  /// Computes the weighted sums of `2 * pairs` rows of 8-bit channels, and stores them as 16-bit channels. `fraction`
  /// is the number of fraction bits in the result.
  ///
  /// The method writes channels `range`, rounded outwards to multiples of 32.
  static func vertical(
    rows: UnsafePointer<UnsafeRawPointer>, weights: Weights, pairs: Int, bits: Int,
    fraction: Int, range: Range<Int>, into target: UnsafeMutableRawPointer
  ) {
    let round = SIMD4<Int32>(repeating: 1 << Int32(truncatingIfNeeded: bits - fraction - 1))
    let left = SIMD4<Int32>(repeating: Int32(truncatingIfNeeded: 16 - (bits - fraction)))
    var position = range.lowerBound & ~31
    while position < range.upperBound {
      var (a, b, c, d) = (round, round, round, round)
      var (e, f, g, h) = (round, round, round, round)
      for pair in 0..<pairs {
        let weight = unsafe spread(weights[pair])
        let upper = unsafe rows[2 * pair] + position
        let lower = unsafe rows[2 * pair + 1] + position
        let upper0 = unsafe upper.loadUnaligned(as: SIMD16<UInt8>.self)
        let lower0 = unsafe lower.loadUnaligned(as: SIMD16<UInt8>.self)
        let upper0Low = widen(upper0.lowHalf)
        let lower0Low = widen(lower0.lowHalf)
        a &+= multiplyAdd(interleaveLow(upper0Low, lower0Low), weight)
        b &+= multiplyAdd(interleaveHigh(upper0Low, lower0Low), weight)
        let upper0High = widen(upper0.highHalf)
        let lower0High = widen(lower0.highHalf)
        c &+= multiplyAdd(interleaveLow(upper0High, lower0High), weight)
        d &+= multiplyAdd(interleaveHigh(upper0High, lower0High), weight)
        let upper1 = unsafe (upper + 16).loadUnaligned(as: SIMD16<UInt8>.self)
        let lower1 = unsafe (lower + 16).loadUnaligned(as: SIMD16<UInt8>.self)
        let upper1Low = widen(upper1.lowHalf)
        let lower1Low = widen(lower1.lowHalf)
        e &+= multiplyAdd(interleaveLow(upper1Low, lower1Low), weight)
        f &+= multiplyAdd(interleaveHigh(upper1Low, lower1Low), weight)
        let upper1High = widen(upper1.highHalf)
        let lower1High = widen(lower1.highHalf)
        g &+= multiplyAdd(interleaveLow(upper1High, lower1High), weight)
        h &+= multiplyAdd(interleaveHigh(upper1High, lower1High), weight)
      }
      let out = unsafe target + position * 2
      unsafe out.storeBytes(of: narrow(a, b, left: left), as: SIMD8<Int16>.self)
      unsafe (out + 16).storeBytes(of: narrow(c, d, left: left), as: SIMD8<Int16>.self)
      unsafe (out + 32).storeBytes(of: narrow(e, f, left: left), as: SIMD8<Int16>.self)
      unsafe (out + 48).storeBytes(of: narrow(g, h, left: left), as: SIMD8<Int16>.self)
      position += 32
    }
  }

  /// Computes the weighted sum of the window of each target pixel in `range`, from a row of 16-bit channels, and stores
  /// the sums as pixels with 8 bits per channel.
  ///
  /// `weights` consists of `2 * quads` words for each target pixel, in the order described at ``window``.
  static func horizontalToBytes(
    row: UnsafeRawPointer, starts: UnsafePointer<Int32>, weights: Weights, quads: Int,
    range: Range<Int>, into target: UnsafeMutableRawPointer
  ) {
    let round = SIMD4<Int32>(repeating: 1 << Int32(sumBits - 1))
    var index = range.lowerBound
    while index < range.upperBound {
      // If the number of pixels is odd, the last pixel is computed twice, which is cheaper than a separate step.
      let next = min(index + 1, range.upperBound - 1)
      let first = unsafe window(
        row: row, start: Int(starts[index]), weights: weights + index * 2 * quads, quads: quads,
        from: round)
      let second = unsafe window(
        row: row, start: Int(starts[next]), weights: weights + next * 2 * quads, quads: quads,
        from: round)
      let bytes = clamp(narrowSum(first, second))
      unsafe (target + index * 4).storeBytes(of: bytes.lowHalf, as: SIMD4<UInt8>.self)
      unsafe (target + next * 4).storeBytes(of: bytes.highHalf, as: SIMD4<UInt8>.self)
      index += 2
    }
  }

  // MARK: Horizontal first

  /// Converts 8-bit channels to 16-bit channels. `count` is rounded up to a multiple of 16.
  static func widen(
    row: UnsafeRawPointer, count: Int, into target: UnsafeMutableRawPointer
  ) {
    var position = 0
    while position < count {
      let bytes = unsafe (row + position).loadUnaligned(as: SIMD16<UInt8>.self)
      let out = unsafe target + position * 2
      unsafe out.storeBytes(of: widen(bytes.lowHalf), as: SIMD8<Int16>.self)
      unsafe (out + 16).storeBytes(of: widen(bytes.highHalf), as: SIMD8<Int16>.self)
      position += 16
    }
  }

  /// Computes the weighted sum of the window of each target pixel in `range`, from a row of 16-bit channels, and stores
  /// the sums as pixels with 16 bits per channel. `fraction` is the number of fraction bits in the result.
  static func horizontalToWords(
    row: UnsafeRawPointer, starts: UnsafePointer<Int32>, weights: Weights, quads: Int,
    bits: Int, fraction: Int, range: Range<Int>, into target: UnsafeMutableRawPointer
  ) {
    let round = SIMD4<Int32>(repeating: 1 << Int32(truncatingIfNeeded: bits - fraction - 1))
    let left = SIMD4<Int32>(repeating: Int32(truncatingIfNeeded: 16 - (bits - fraction)))
    for index in range {
      let sum = unsafe window(
        row: row, start: Int(starts[index]), weights: weights + index * 2 * quads, quads: quads,
        from: round)
      let words = narrow(sum, sum, left: left)
      unsafe (target + index * 8).storeBytes(of: words.lowHalf, as: SIMD4<Int16>.self)
    }
  }

  /// Computes the weighted sums of `2 * pairs` rows of 16-bit channels, and stores them as 8-bit channels. The method
  /// writes only channels `range`, so that pixels outside a dirty rectangle keep their values.
  static func verticalToBytes(
    rows: UnsafePointer<UnsafeRawPointer>, weights: Weights, pairs: Int, range: Range<Int>,
    into target: UnsafeMutableRawPointer
  ) {
    var position = range.lowerBound
    while position + 16 <= range.upperBound {
      let bytes = unsafe column(rows: rows, weights: weights, pairs: pairs, at: position)
      unsafe (target + position).storeBytes(of: bytes, as: SIMD16<UInt8>.self)
      position += 16
    }
    guard position < range.upperBound else { return }
    let bytes = unsafe column(rows: rows, weights: weights, pairs: pairs, at: position)
    for lane in 0..<range.upperBound - position {
      unsafe (target + position + lane).storeBytes(of: bytes[lane], as: UInt8.self)
    }
  }

  // MARK: Steps

  /// Returns the weighted sum of one window of the horizontal pass, which consists of `4 * quads` pixels from `start`
  /// on.
  ///
  /// Of the four pixels of a quad, the first load contains pixels 0 and 1, and the second load pixels 2 and 3.
  /// Interleaving the two loads pairs pixel 0 with 2 and pixel 1 with 3, so the weights of a quad are stored in the
  /// order of taps 0, 2, 1, 3. (Pairing neighbouring pixels would need a shuffle within one vector, which took three
  /// times as long.)
  @inline(__always)
  private static func window(
    row: UnsafeRawPointer, start: Int, weights: Weights, quads: Int, from round: SIMD4<Int32>
  ) -> SIMD4<Int32> {
    var even = round
    var odd = SIMD4<Int32>()
    var pixels = unsafe row + start * 8
    for quad in 0..<quads {
      let one = unsafe pixels.loadUnaligned(as: SIMD8<Int16>.self)
      let two = unsafe (pixels + 16).loadUnaligned(as: SIMD8<Int16>.self)
      let weight = unsafe UnsafeRawPointer(weights + 2 * quad)
        .loadUnaligned(as: SIMD2<UInt32>.self)
      even &+= multiplyAdd(interleaveLow(one, two), spread(weight[0]))
      odd &+= multiplyAdd(interleaveHigh(one, two), spread(weight[1]))
      unsafe pixels += 32
    }
    return even &+ odd
  }

  /// Returns the weighted sums of sixteen channels from `position` on, in the vertical pass over 16-bit rows.
  @inline(__always)
  private static func column(
    rows: UnsafePointer<UnsafeRawPointer>, weights: Weights, pairs: Int, at position: Int
  ) -> SIMD16<UInt8> {
    let round = SIMD4<Int32>(repeating: 1 << Int32(sumBits - 1))
    var (a, b, c, d) = (round, round, round, round)
    for pair in 0..<pairs {
      let weight = unsafe spread(weights[pair])
      let upper = unsafe rows[2 * pair] + position * 2
      let lower = unsafe rows[2 * pair + 1] + position * 2
      let upper0 = unsafe upper.loadUnaligned(as: SIMD8<Int16>.self)
      let lower0 = unsafe lower.loadUnaligned(as: SIMD8<Int16>.self)
      a &+= multiplyAdd(interleaveLow(upper0, lower0), weight)
      b &+= multiplyAdd(interleaveHigh(upper0, lower0), weight)
      let upper1 = unsafe (upper + 16).loadUnaligned(as: SIMD8<Int16>.self)
      let lower1 = unsafe (lower + 16).loadUnaligned(as: SIMD8<Int16>.self)
      c &+= multiplyAdd(interleaveLow(upper1, lower1), weight)
      d &+= multiplyAdd(interleaveHigh(upper1, lower1), weight)
    }
    return SIMD16(
      lowHalf: clamp(narrowSum(a, b)), highHalf: clamp(narrowSum(c, d)))
  }

  @inline(__always)
  private static func narrowSum(_ a: SIMD4<Int32>, _ b: SIMD4<Int32>) -> SIMD8<Int16> {
    SIMD8<Int16>(truncating: a &>> Int32(sumBits), b &>> Int32(sumBits))
  }

  /// Shifts each sum to the left by the distance in `left`, and then to the right by 16 bits. Because the second shift
  /// is by a constant, the compiler can tell that the result fits in 16 bits, and uses a pack instruction.
  @inline(__always)
  private static func narrow(
    _ a: SIMD4<Int32>, _ b: SIMD4<Int32>, left: SIMD4<Int32>
  ) -> SIMD8<Int16> {
    SIMD8<Int16>(truncating: (a &<< left) &>> 16, (b &<< left) &>> 16)
  }

  /// Clamps each word to 0...255. The method avoids comparisons, which do not compile to vector instructions here, and
  /// instead uses the fact that `x & ~(x >> 15)` is the greater of `x` and 0.
  @inline(__always)
  private static func clamp(_ words: SIMD8<Int16>) -> SIMD8<UInt8> {
    let top = SIMD8<Int16>(repeating: 255)
    let room = top &- (words & ~(words &>> 15))
    return SIMD8<UInt8>(truncating: top &- (room & ~(room &>> 15)))
  }

  @inline(__always)
  static func spread(_ pair: UInt32) -> SIMD8<Int16> {
    unsafe unsafeBitCast(SIMD4<UInt32>(repeating: pair), to: SIMD8<Int16>.self)
  }

  @inline(__always)
  private static func widen(_ bytes: SIMD8<UInt8>) -> SIMD8<Int16> {
    SIMD8<Int16>(widening: bytes)
  }

  /// Multiplies the two vectors lane by lane, and returns the sums of neighbouring products: lanes 0 and 1, lanes 2 and
  /// 3, and so on.
  @inline(__always)
  static func multiplyAdd(_ a: SIMD8<Int16>, _ b: SIMD8<Int16>) -> SIMD4<Int32> {
    let products = SIMD8<Int32>(widening: a) &* SIMD8<Int32>(widening: b)
    return products.evenHalf &+ products.oddHalf
  }

  @inline(__always)
  static func interleaveLow(_ a: SIMD8<Int16>, _ b: SIMD8<Int16>) -> SIMD8<Int16> {
    var mixed = SIMD8<Int16>()
    mixed.evenHalf = a.lowHalf
    mixed.oddHalf = b.lowHalf
    return mixed
  }

  @inline(__always)
  static func interleaveHigh(_ a: SIMD8<Int16>, _ b: SIMD8<Int16>) -> SIMD8<Int16> {
    var mixed = SIMD8<Int16>()
    mixed.evenHalf = a.highHalf
    mixed.oddHalf = b.highHalf
    return mixed
  }
}

/// Classifies each target pixel of a row by whether its source pixels are all opaque, all transparent, or neither.
///
/// Bounds: `columns` lie in the source, which has 4 bytes per pixel, and the windows lie in `columns`.
struct OpacityMap {
  enum Kind: UInt8 {
    case clear, opaque, blended
  }

  struct Run {
    let range: Range<Int>
    let kind: Kind
  }

  /// The target pixels of the last classified row as runs of equal kind, from left to right.
  private(set) var runs: [Run] = []

  /// The source rows that were classified last. If a bitmap is enlarged, several target rows have the same source rows.
  private var lastRows = 0..<0
  /// The kind of each source row within ``columns``. Each element is computed when it is first needed.
  private var rowKinds: [Kind?]
  private let columns: Range<Int>
  /// For each column, the pixels of the window's rows, combined with AND in this array and with OR in ``any``.
  private var all: [UInt32]
  private var any: [UInt32]
  /// For each column, the number of columns to its left that are not fully opaque, and the number of columns to its
  /// left that are not fully transparent.
  private var counts: [SIMD2<Int32>]

  init(sourceHeight: Int, columns: Range<Int>) {
    self.columns = columns
    rowKinds = [Kind?](repeating: nil, count: sourceHeight)
    all = []
    any = []
    counts = []
  }

  /// Makes all target pixels in `range` a single run of `kind`.
  mutating func setRun(_ range: Range<Int>, _ kind: Kind) {
    runs.removeAll(keepingCapacity: true)
    runs.append(Run(range: range, kind: kind))
  }

  /// Classifies target pixels `range` of a row that depends on source rows `rows`. The window of each target pixel is
  /// given by `starts` and `ends`.
  mutating func classify(
    rows: Range<Int>, source: UnsafeRawPointer, stride: Int, starts: UnsafePointer<Int32>,
    ends: UnsafePointer<Int32>, range: Range<Int>
  ) {
    if rows == lastRows { return }
    lastRows = rows
    var common: Kind?
    for row in rows {
      let kind: Kind
      if let known = rowKinds[row] {
        kind = known
      } else {
        kind = unsafe Self.kind(of: source + row * stride, columns)
        rowKinds[row] = kind
      }
      if common != nil, common != kind { common = .blended } else { common = kind }
    }
    if let common, common != .blended {
      setRun(range, common)
      return
    }
    unsafe countColumns(rows: rows, source: source, stride: stride)
    runs.removeAll(keepingCapacity: true)
    // Windows lie in `columns`, so their starts and ends are valid indices of `counts`.
    unsafe counts.withUnsafeBufferPointer { counts in
      let base = columns.lowerBound
      var first = range.lowerBound
      var current: Kind?
      for index in range {
        let before = unsafe counts[Int(starts[index]) &- base]
        let after = unsafe counts[Int(ends[index]) &- base]
        let kind: Kind =
          after[0] == before[0] ? .opaque : after[1] == before[1] ? .clear : .blended
        if kind != current {
          if let current { runs.append(Run(range: first..<index, kind: current)) }
          first = index
          current = kind
        }
      }
      if let current { runs.append(Run(range: first..<range.upperBound, kind: current)) }
    }
  }

  private mutating func countColumns(
    rows: Range<Int>, source: UnsafeRawPointer, stride: Int
  ) {
    let count = columns.count
    if all.count != count {
      all = [UInt32](repeating: 0, count: count)
      any = all
      counts = [SIMD2<Int32>](repeating: SIMD2(), count: count + 1)
    }
    unsafe all.withUnsafeMutableBufferPointer { all in
      unsafe any.withUnsafeMutableBufferPointer { any in
        unsafe all.update(repeating: .max)
        unsafe any.update(repeating: 0)
        for row in rows {
          let pixels = unsafe (source + row * stride + columns.lowerBound * 4)
            .assumingMemoryBound(to: UInt32.self)
          for index in 0..<count {
            unsafe all[index] &= pixels[index]
            unsafe any[index] |= pixels[index]
          }
        }
      }
    }
    unsafe counts.withUnsafeMutableBufferPointer { counts in
      var hole: Int32 = 0
      var mark: Int32 = 0
      for index in 0..<count {
        hole &+= UInt32(littleEndian: all[index]) < 0xFF00_0000 ? 1 : 0
        mark &+= UInt32(littleEndian: any[index]) > 0x00FF_FFFF ? 1 : 0
        unsafe counts[index + 1] = SIMD2(hole, mark)
      }
    }
  }

  /// Returns the kind that all pixels of a source row within `columns` have in common, or `.blended` if their kinds
  /// differ.
  private static func kind(of row: UnsafeRawPointer, _ columns: Range<Int>) -> Kind {
    let pixels = unsafe row.assumingMemoryBound(to: UInt32.self)
    var all = UInt32.max
    var any: UInt32 = 0
    for index in columns {
      unsafe all &= pixels[index]
      unsafe any |= pixels[index]
    }
    if UInt32(littleEndian: all) >> 24 == 255 { return .opaque }
    return UInt32(littleEndian: any) >> 24 == 0 ? .clear : .blended
  }
}
