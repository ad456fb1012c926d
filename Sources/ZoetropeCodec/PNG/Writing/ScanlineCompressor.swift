/// Filters and compresses the scanlines of pictures.
///
/// A compressor has one owner at a time, which fills ``lines`` and calls ``pack(_:_:)``. It keeps its working memory
/// for the next picture.
final class ScanlineCompressor {
  private let effort: EncodingEffort
  /// The level at which ``EncodingEffort/balanced`` compresses small pictures after it has tried all filters. If the
  /// level is nil, small pictures are sampled as large ones are.
  private let levelAfterTrials: Int?
  private let compressors = CompressorSet()
  /// The compressor that ``EncodingEffort/fast`` uses.
  private lazy var deflater = ScanlineDeflater()
  /// The unfiltered scanlines. Each of them begins with a filter byte of 0.
  private(set) var lines = PixelStorage(byteCount: 64)
  private var filtered = PixelStorage(byteCount: 64)
  /// The compressed data, which is the result of ``pack(_:_:)``.
  private(set) var packed = PixelStorage(byteCount: 64)
  /// A second compressed result, for comparison, which only ``EncodingEffort/small`` uses.
  private var spare = PixelStorage(byteCount: 64)

  /// The maximum byte count of the scanlines of a small picture. The search for the best matches takes 28 bytes of
  /// memory for each byte of scanlines (libdeflate, levels 10 to 12). With this limit, two threads stay within the
  /// memory of a writer.
  static let trialLimit = 3 << 16

  init(effort: EncodingEffort, levelAfterTrials: Int? = nil) {
    self.effort = effort
    self.levelAfterTrials = levelAfterTrials
  }

  /// Returns the maximum number of bytes of memory that the search for the best matches takes. `lines` is the byte
  /// count of the scanlines.
  static func searchByteCount(_ lines: Int) -> Int { 1 << 20 + min(28 * lines, 8 << 20) }

  /// Ensures that ``lines`` has room for `count` bytes of scanlines, and returns it. The previous contents are lost.
  func reserve(_ count: Int) throws(AnimatedImageError) -> PixelStorage {
    try Self.reserve(&lines, count + PixelPacking.slack)
    return lines
  }

  private static func reserve(
    _ storage: inout PixelStorage, _ count: Int
  ) throws(AnimatedImageError) {
    if storage.byteCount < count { storage = try PixelStorage(asking: count, zeroed: false) }
  }

  /// Filters ``lines``, compresses them into ``packed``, and returns the number of compressed bytes. The contents of
  /// ``lines`` are lost.
  ///
  /// - Parameter isCancelled: A function that is polled between attempts. Each attempt compresses the whole picture.
  /// - Throws: `outOfMemory`; `cancelled` once `isCancelled` returns true.
  func pack(
    _ size: PixelSize, _ form: PNGForm, isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) -> Int {
    let line = form.rowBytes(width: size.width) + 1
    let total = line * size.height
    if effort == .small {
      return try packBest(size, form, line: line, level: 12, finals: 2, isCancelled)
    }
    if isCancelled() {
      throw AnimatedImageError(.cancelled, "stopped while compressing a frame", format: .png)
    }
    if effort == .fast { return try packFast(size, form, line: line) }
    if let levelAfterTrials, total <= Self.trialLimit {
      return try packBest(size, form, line: line, level: levelAfterTrials, finals: 1, isCancelled)
    }
    let level = try prepare(size, form, line: line)
    if isCancelled() {
      throw AnimatedImageError(.cancelled, "stopped while compressing a frame", format: .png)
    }
    return try compress(total, compressors.compressor(level: level))
  }

  /// Compresses ``lines`` into ``packed`` for ``EncodingEffort/fast``, and returns the number of compressed bytes. The
  /// lines are filtered if that makes a sample smaller.
  ///
  /// Dithered and noisy pictures, for which filters do not help, are compressed by libdeflate, which finds more short
  /// repetitions.
  private func packFast(
    _ size: PixelSize, _ form: PNGForm, line: Int
  ) throws(AnimatedImageError) -> Int {
    let total = line * size.height
    try Self.reserve(&packed, ScanlineDeflater.bound(total))
    let plain = ScanlineDeflater.Form(
      bytesPerPixel: form.bytesPerPixel, line: line, isFiltered: false)
    let filtered = ScanlineDeflater.Form(
      bytesPerPixel: form.bytesPerPixel, line: line, isFiltered: true)
    let filter = try form.canFilter ? RowFilter(form: form, width: size.width) : nil
    if filter != nil { try Self.reserve(&self.filtered, total) }
    let light = try compressors.compressor(level: 1)
    var (sampled, unfiltered, byFilter, byBoth) = (0, 0, 0, 0)
    for rows in sample(size, line: line, bandBytes: 8 << 10, leastRows: 2) {
      let range = rows.lowerBound * line..<rows.upperBound * line
      sampled += range.count
      unfiltered += deflater.compress(lines, range: range, form: plain, into: packed)
      guard let filter else { continue }
      filter.filter(lines, rows: rows, into: self.filtered, fixed: 4)
      byBoth += light.compress(self.filtered, range: range, into: packed)
      byFilter += deflater.compress(self.filtered, range: range, form: filtered, into: packed)
    }
    // If the sample was the whole picture, ``packed`` already contains the result, because the filtered pixels were
    // compressed last. Drawings that compress well contain repetitions at longer distances than a sample shows, and
    // become larger by filtering. The lines are therefore not filtered if the unfiltered sample compresses to 1/20 of
    // its size or less. Measured for 199 pictures of 87 animations from sources other than these drawings: the files
    // have the same size with any limit from 1/8 to 1/20, and are larger without a limit.
    if let filter, byFilter < unfiltered, unfiltered > sampled / 20 {
      // The filtered lines of a gradient repeat a few pixels, which only libdeflate finds.
      let hasRepetitions = byBoth < byFilter / 2
      if sampled == total, !hasRepetitions { return byFilter }
      filter.filter(lines, rows: 0..<size.height, into: lines, fixed: 4)
      if hasRepetitions { return try compress(total, light) }
      return deflater.compress(lines, range: 0..<total, form: filtered, into: packed)
    }
    if unfiltered > sampled / 4 { return try compress(total, light) }
    if filter == nil, sampled == total { return unfiltered }
    return deflater.compress(lines, range: 0..<total, form: plain, into: packed)
  }

  /// Compresses the first `total` bytes of ``lines`` into ``packed``, and returns the number of compressed bytes.
  private func compress(
    _ total: Int, _ compressor: ZlibCompressor
  ) throws(AnimatedImageError) -> Int {
    try Self.reserve(&packed, compressor.bound(total))
    return compressor.compress(lines, range: 0..<total, into: packed)
  }

  /// Returns the ranges of the sampled rows: up to three bands, spread over the picture.
  private func sample(
    _ size: PixelSize, line: Int, bandBytes: Int, leastRows: Int
  ) -> [Range<Int>] {
    let rows = min(size.height, max(leastRows, bandBytes / line))
    let count = min(3, max(1, size.height / (rows * 4)))
    return (0..<count).map { band in
      let first = (size.height - rows) * (2 * band + 1) / (2 * count)
      return first..<first + rows
    }
  }

  /// Filters the scanlines if that helps, and returns the compression level to use.
  ///
  /// Whether to filter and which level to use is decided by compressing a few bands of rows at the fastest level.
  /// Drawings often contain exact repetitions and become larger by filtering, whereas filtering halves the size of
  /// photographs. At levels 8 and up, libdeflate searches exhaustively for places to split blocks, which pays off only
  /// for pictures that compress very well.
  private func prepare(
    _ size: PixelSize, _ form: PNGForm, line: Int
  ) throws(AnimatedImageError) -> Int {
    let filter = try form.canFilter ? RowFilter(form: form, width: size.width) : nil
    let probe = try compressors.compressor(level: 1)
    if form.canFilter { try Self.reserve(&filtered, line * size.height) }
    var (plain, byFilter, sampled) = (0, 0, 0)
    for rows in sample(size, line: line, bandBytes: 32 << 10, leastRows: 8) {
      let range = rows.lowerBound * line..<rows.upperBound * line
      try Self.reserve(&packed, probe.bound(range.count))
      sampled += range.count
      plain += probe.compress(lines, range: range, into: packed)
      guard let filter else { continue }
      filter.filter(lines, rows: rows, into: filtered)
      byFilter += probe.compress(filtered, range: range, into: packed)
    }
    if let filter, byFilter < plain {
      // The lines are filtered in place, which saves the memory of one picture.
      filter.filter(lines, rows: 0..<size.height, into: lines)
      // Level 6 would take a third longer and save half a percent.
      return 5
    }
    return plain < sampled / 12 ? 8 : 7
  }

  /// Returns an estimate of the number of bytes that ``pack(_:_:)`` would return. The contents of ``lines`` are lost.
  func estimate(_ size: PixelSize, _ form: PNGForm) throws(AnimatedImageError) -> Int {
    let line = form.rowBytes(width: size.width) + 1
    guard effort == .balanced, levelAfterTrials != nil, line * size.height <= Self.trialLimit else {
      return try pack(size, form)
    }
    return try trials(size, form, line: line) { false }[0].count
  }

  /// Returns, for each way of filtering, the number of bytes to which ``lines`` are compressed at a middle level. The
  /// smallest number comes first.
  private func trials(
    _ size: PixelSize, _ form: PNGForm, line: Int, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> [(filtering: Filtering, count: Int)] {
    let total = line * size.height
    let compressor = try compressors.compressor(level: 7)
    try Self.reserve(&packed, compressor.bound(total))
    let filter = try filterForTrials(form, width: size.width)
    if filter != nil { try Self.reserve(&filtered, total) }
    var trials: [(filtering: Filtering, count: Int)] = []
    for filtering in filter == nil ? [.none] : Filtering.all {
      try Self.check(isCancelled)
      let source = apply(filtering, filter, height: size.height)
      trials.append((filtering, compressor.compress(source, range: 0..<total, into: packed)))
    }
    return trials.sorted { $0.count < $1.count }
  }

  /// Compresses ``lines`` into ``packed`` in every way that may give the smallest result, and returns the number of
  /// compressed bytes.
  ///
  /// All ways of filtering are tried at a middle level. The best one or two of these are then tried at `level`, because
  /// only the most thorough search shows which of them is better.
  private func packBest(
    _ size: PixelSize, _ form: PNGForm, line: Int, level: Int, finals: Int,
    _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> Int {
    let total = line * size.height
    let filter = try filterForTrials(form, width: size.width)
    let trials = filter == nil ? [] : try trials(size, form, line: line, isCancelled)
    try Self.check(isCancelled)
    let best = try compressors.compressor(level: level)
    try Self.reserve(&packed, best.bound(total))
    let first = apply(trials.first?.filtering ?? .none, filter, height: size.height)
    let count = best.compress(first, range: 0..<total, into: packed)
    guard finals > 1, trials.count > 1 else { return count }
    try Self.check(isCancelled)
    try Self.reserve(&spare, packed.byteCount)
    let second = apply(trials[1].filtering, filter, height: size.height)
    let other = best.compress(second, range: 0..<total, into: spare)
    // A count of 0 would mean that the result did not fit in the buffer, which the bound rules out.
    guard other > 0, other < count else { return count }
    swap(&packed, &spare)
    return other
  }

  /// Returns a row filter if filtering may help. With ``EncodingEffort/small``, it may help for palette indices too:
  /// palettes are sorted by lightness, so the indices of a gradient may be similar.
  private func filterForTrials(
    _ form: PNGForm, width: Int
  ) throws(AnimatedImageError) -> RowFilter? {
    let isTried = effort == .small && form.bitDepth == 8
    return try form.canFilter || isTried ? RowFilter(form: form, width: width) : nil
  }

  private static func check(_ isCancelled: () -> Bool) throws(AnimatedImageError) {
    if isCancelled() { throw AnimatedImageError(.cancelled, "stopped while compressing") }
  }

  /// The way in which all rows of a picture are filtered.
  private enum Filtering {
    case none, chosen
    case fixed(Int)

    static let all: [Filtering] = [.none, .chosen] + (1...4).map { .fixed($0) }
  }

  /// Returns the scanlines after the given filtering. The result is ``lines`` if no filter is used, and otherwise
  /// ``filtered``.
  private func apply(_ filtering: Filtering, _ filter: RowFilter?, height: Int) -> PixelStorage {
    switch filtering {
    case .none: return lines
    case .chosen: filter?.filter(lines, rows: 0..<height, into: filtered)
    case .fixed(let number):
      filter?.filter(lines, rows: 0..<height, into: filtered, fixed: number)
    }
    return filtered
  }
}
