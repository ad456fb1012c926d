/// Which target pixels of a row are made of opaque pixels only, of transparent ones only, or of
/// something else.
///
/// Bounds: columns lie in the source, 4 bytes a pixel; windows in `columns`.
struct OpacityMap {
  enum Kind: UInt8 {
    case clear, opaque, blended
  }

  struct Run {
    let range: Range<Int>
    let kind: Kind
  }

  /// The target pixels of the row last looked at, from left to right.
  private(set) var runs: [Run] = []

  /// The window last looked at; rows of an enlarged picture share theirs.
  private var lastRows = 0..<0
  /// What is known of each source row over `columns`, found when first asked for.
  private var rowKinds: [Kind?]
  private let columns: Range<Int>
  /// For each column: alpha of all rows of the window, and-ed and or-ed.
  private var all: [UInt32]
  private var any: [UInt32]
  /// Columns before each column that are not wholly opaque, and that are not wholly clear.
  private var counts: [SIMD2<Int32>]

  init(sourceHeight: Int, columns: Range<Int>) {
    self.columns = columns
    rowKinds = [Kind?](repeating: nil, count: sourceHeight)
    all = []
    any = []
    counts = []
  }

  /// Makes the row one run.
  mutating func setRun(_ range: Range<Int>, _ kind: Kind) {
    runs.removeAll(keepingCapacity: true)
    runs.append(Run(range: range, kind: kind))
  }

  /// Looks at source rows `rows` and sets the runs of target pixels `range`, whose windows
  /// `starts` and `ends` say.
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
    // Windows lie in `columns`, so starts and ends are indices of the counts.
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

  /// What all pixels of a source row have in common.
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
