/// Encodes a frame of a GIF in several ways and keeps the shortest result.
///
/// The ways differ in three choices: the colour table (global or local); the index of unchanged pixels (the index of
/// their colour, the transparent index, or whichever of the two makes longer phrases); and when the table of phrases is
/// cleared. If the frame comes from the source of an edit, its original bytes are a candidate too.
///
/// A search has one owner at a time. It takes about seven bytes of memory per pixel plus 200 KB, and keeps four bytes
/// per pixel plus 200 KB for the next frame.
package final class GIFFrameSearch {
  /// How many ways of encoding a frame are tried.
  package enum Depth: Sendable {
    /// A few ways for a frame of at most 16,384 pixels. For a larger frame, only the way that gives the shortest result
    /// for a sample of the frame.
    case estimate
    /// All ways that are likely to be best for a frame of at most 16,384 pixels. For a larger frame, the ways that give
    /// short results for a sample of the frame.
    case all
  }

  private let depth: Depth
  private let globalTable: [UInt32]
  private let globalIndices: [UInt32: UInt8]
  private let search = LZWSearch()
  private var colors = FrameColors()
  /// Whether the frame should have a transparent index even if no pixel needs it; see ``FrameWork/isCleared``.
  private var isCleared = false
  /// Two versions of the frame's indices. In ``drawn``, each pixel has the index of its colour. In ``kept``, pixels
  /// that may be left unchanged have the transparent index instead.
  private var drawn: [UInt8] = []
  private var kept: [UInt8] = []
  /// The number of the table that these are for, or nil at the beginning of a frame.
  private var filled: Int?

  /// Creates a search.
  ///
  /// - Parameter globalTable: The colours of the file's global table, all opaque, as `RGBA.word`. The array is empty if
  ///   there is no global table.
  package init(globalTable: [UInt32], depth: Depth) {
    self.depth = depth
    self.globalTable = globalTable
    globalIndices = Dictionary(
      zip(globalTable, (0...255).map { UInt8($0) }), uniquingKeysWith: { first, _ in first })
  }

  /// Returns the encoded frame. Its graphic control is provisional: only the transparent index is set.
  ///
  /// - Precondition: No pixel in the rectangle is transparent in the picture but opaque in the base.
  /// - Throws: `unwritable` if the frame needs more than 256 colours; `outOfMemory`; `cancelled`.
  package func code(
    _ work: FrameWork, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> [UInt8] {
    try colors.collect(work, isCancelled: isCancelled)
    filled = nil
    isCleared = work.isCleared
    var best: [UInt8]?
    if let source = work.source {
      var bytes = GIFFrameEncoder.control(
        delay: 0, disposal: .keep, transparentIndex: source.transparentIndex)
      try bytes.makeRoom(adding: source.bytes.count)
      bytes += source.bytes
      best = bytes
    }
    let tables = tables()
    if work.rect.size.area > 2 * Self.sampleArea {
      for choice in try choices(of: tables, work.rect, isCancelled) {
        try fill(tables[choice.table], number: choice.table, isCancelled)
        try code(choice.attempt, &best, isCancelled)
      }
    } else {
      for (number, table) in tables.enumerated() {
        var helps = true
        for attempt in try attempts(table, number: number, work.rect, isCancelled)
        where attempt.rule.lookahead < Self.farLookahead || helps {
          let length = best?.count
          try code(attempt, &best, isCancelled)
          helps = best?.count != length
        }
      }
    }
    guard let best else { throw GIFFrameEncoder.tooManyColors }
    return best
  }

  static func check(_ isCancelled: () -> Bool) throws(AnimatedImageError) {
    guard isCancelled() else { return }
    throw AnimatedImageError(.cancelled, "stopped while compressing a frame", format: .gif)
  }

  // MARK: Tables

  /// A colour table, and the indices of the frame's colours in the table.
  private struct Table {
    /// For each of the frame's colours, its index in the table. The index is nil if the table lacks the colour, or if
    /// the colour's index serves as the transparent index.
    var indices: [UInt8?]
    var transparent: UInt8?
    /// The colours of a local table, or an empty array if this is the global table.
    var local: [UInt32] = []

    /// Whether some colour of the frame has no index in the table. Only unchanged pixels have such a colour.
    var lacksColor: Bool { indices.contains(nil) }

    /// The minimum code size of LZW data with indices into this table.
    var codeSize: Int {
      let greatest = max(indices.reduce(0) { max($0, $1 ?? 0) }, transparent ?? 0)
      return LZWCompressor.minimumCodeSize(greatestIndex: greatest)
    }
  }

  private func tables() -> [Table] {
    var found: [Table] = []
    if let table = globalChoice() {
      if isCleared, table.transparent == nil, let local = localChoice(withOptional: true),
        local.transparent != nil
      {
        return [local]
      }
      found.append(table)
    }
    // A local table takes space, so it is tried only if it saves at least one bit per index, or two for an estimate.
    let least = depth == .all ? 1 : 2
    if let bits = found.first?.codeSize, bits < 2 + least { return found }
    for optional in [true, false] {
      guard let table = localChoice(withOptional: optional) else { continue }
      if found.allSatisfy({ $0.codeSize >= table.codeSize + least }) { found.append(table) }
    }
    return found
  }

  private func globalChoice() -> Table? {
    guard !globalTable.isEmpty else { return nil }
    var table = Table(indices: [])
    var isTaken = [Bool](repeating: false, count: globalTable.count)
    var isRequired = isTaken
    for (color, required) in zip(colors.words, colors.isRequired) {
      let index = globalIndices[color]
      if required, index == nil { return nil }
      table.indices.append(index)
      guard let index else { continue }
      isTaken[Int(index)] = true
      if required { isRequired[Int(index)] = true }
    }
    guard colors.hasUnchanged || colors.needsTransparency || isCleared else { return table }
    if let free = isTaken.firstIndex(of: false) ?? isRequired.firstIndex(of: false) {
      table.transparent = UInt8(free)
      for color in table.indices.indices where table.indices[color] == UInt8(free) {
        table.indices[color] = nil
      }
    } else if colors.needsTransparency || colors.isIncomplete || table.lacksColor {
      return nil
    }
    return table
  }

  /// Returns a local table, or nil if the frame's colours do not fit in one.
  ///
  /// - Parameter withOptional: Whether the table includes the colours that only unchanged pixels have, so that these
  ///   pixels can be drawn too.
  private func localChoice(withOptional: Bool) -> Table? {
    let mayStay = colors.hasUnchanged || colors.needsTransparency || isCleared
    if withOptional, colors.isIncomplete { return nil }
    var table = Table(indices: [UInt8?](repeating: nil, count: colors.words.count))
    for wanted in withOptional ? [true, false] : [true] {
      for color in colors.words.indices where colors.isRequired[color] == wanted {
        guard table.local.count < 256 else { return nil }
        table.indices[color] = UInt8(table.local.count)
        table.local.append(colors.words[color])
      }
    }
    if mayStay {
      if table.local.count < 256 {
        table.transparent = UInt8(table.local.count)
        table.local.append(RGBA.black.word)
      } else if colors.needsTransparency || !withOptional {
        return nil
      }
    }
    // A colour table has at least two entries, even if no pixel is drawn.
    if table.local.isEmpty { table.local = [RGBA.black.word] }
    return table
  }

  // MARK: Coding

  /// The index to use for unchanged pixels. In the last two cases, the search may use either index and tries the one
  /// named first before the other.
  private enum Way { case color, transparent, transparentOrColor, colorOrTransparent }

  /// One way to encode the pixels in ``drawn`` and ``kept``.
  private struct Attempt {
    var way: Way
    var rule: LZWSearch.Rule
    var codeSize: Int
    /// All bytes before the image data: the graphic control, the image descriptor and the local colour table, if any.
    var head: [UInt8]
  }

  /// Fills ``drawn`` and ``kept`` for `table` and returns the ways of encoding them.
  private func attempts(
    _ table: Table, number: Int, _ rect: PixelRect, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> [Attempt] {
    try fill(table, number: number, isCancelled)
    let drawnGreatest = UInt8(IndexedBlitter.greatestIndex(in: drawn.rawBytes))
    let keptGreatest = UInt8(IndexedBlitter.greatestIndex(in: kept.rawBytes))
    try Self.check(isCancelled)
    let head = GIFFrameEncoder.descriptor(rect, localTable: table.local)
    return ways(hasChoice: drawn != kept).flatMap { way in
      let usesTransparent =
        way != .color || colors.needsTransparency || colors.isIncomplete || table.lacksColor
        || isCleared
      let greatest =
        switch way {
        case .color: drawnGreatest
        case .transparent: keptGreatest
        default: max(drawnGreatest, keptGreatest)
        }
      let start =
        GIFFrameEncoder.control(
          delay: 0, disposal: .keep,
          transparentIndex: usesTransparent ? table.transparent : nil) + head
      return lookaheads(rect.size.area).map { lookahead in
        Attempt(
          way: way,
          rule: LZWSearch.Rule(
            lookahead: lookahead, branches: depth == .all && rect.size.area <= 1 << 20 ? 8 : 4),
          codeSize: LZWCompressor.minimumCodeSize(greatestIndex: greatest), head: start)
      }
    }
  }

  /// Encodes all pixels, and replaces `best` if the result is shorter.
  private func code(
    _ attempt: Attempt, _ best: inout [UInt8]?, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    var attempt = attempt
    while true {
      var bytes = attempt.head
      let limit = best.map { $0.count - bytes.count } ?? .max
      guard limit > 0 else { return }
      let (first, second) = indices(attempt.way)
      let result = try search(attempt, first, second, limit, &bytes, isCancelled)
      if !result.isTooLong, best.map({ bytes.count < $0.count }) ?? true { best = bytes }
      guard result.wasFull, depth == .all, !attempt.rule.keepsFullTable else { return }
      attempt.rule.keepsFullTable = true
    }
  }

  /// The approximate minimum number of pixels in the sample from which the compressed size of a frame is estimated.
  private static let sampleArea = 1 << 13

  /// Returns the ranges of the sampled pixels: eight groups of rows, spread from top to bottom. Together they have
  /// about a 32nd of all pixels, or about ``sampleArea`` pixels if that is more.
  private static func sample(_ size: PixelSize) -> [Range<Int>] {
    let groups = 8
    let height = max(1, max(sampleArea, size.area / 32) / (groups * size.width))
    guard groups * height < size.height else { return [0..<size.area] }
    return (0..<groups).map { group in
      let first = (size.height - height) * group / (groups - 1)
      return first * size.width..<(first + height) * size.width
    }
  }

  /// An attempt, with the index of its table and the estimated byte count of the encoded frame.
  private struct Candidate {
    var table: Int
    var attempt: Attempt
    var byteCount: Int
  }

  /// Returns the attempts that give the shortest results for a sample of the frame: one attempt, or up to four with
  /// ``Depth/all``.
  private func choices(
    of tables: [Table], _ rect: PixelRect, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> [Candidate] {
    let area = rect.size.area
    let sample = Self.sample(rect.size)
    let sampleArea = sample.reduce(0) { $0 + $1.count }
    // A candidate copies two indices of each sampled pixel into arrays that double as they grow.
    try PixelMemory.require(6 * sampleArea)
    func candidate(_ table: Int, _ attempt: Attempt) throws(AnimatedImageError) -> Candidate {
      var bytes: [UInt8] = []
      let (first, second) = indices(attempt.way)
      _ = try search(
        attempt, sample.flatMap { first[$0] }, sample.flatMap { second[$0] }, .max, &bytes,
        isCancelled)
      return Candidate(
        table: table, attempt: attempt,
        byteCount: attempt.head.count + bytes.count * area / sampleArea)
    }
    func nearest(_ candidates: [Candidate], _ count: Int, percent: Int) -> [Candidate] {
      let limit = (candidates.map(\.byteCount).min() ?? 0) * (100 + percent) / 100
      return Array(
        candidates.filter { $0.byteCount <= limit }.sorted { $0.byteCount < $1.byteCount }
          .prefix(count))
    }
    var plain: [Candidate] = []
    for (number, table) in tables.enumerated() {
      for attempt in try attempts(table, number: number, rect, isCancelled)
      where attempt.rule.lookahead == 0 { plain.append(try candidate(number, attempt)) }
    }
    if depth == .estimate { plain = nearest(plain, 1, percent: 0) }
    var found = plain
    for best in plain {
      try fill(tables[best.table], number: best.table, isCancelled)
      for lookahead in lookaheads(area).dropFirst() {
        var attempt = best.attempt
        attempt.rule.lookahead = lookahead
        found.append(try candidate(best.table, attempt))
      }
    }
    // Twelve attempts up to 15 % longer, and a far lookahead for all frames, take twice as long and gain 0.15 %.
    if depth == .all { return nearest(found, 4, percent: 8) }
    // Lookahead makes encoding take three times as long. Measured for 87 files: using it wherever it gives the shortest
    // result for the sample makes files 0.25 % smaller and takes 50 % more time. Using it only where it makes the
    // sample at least 1 % smaller makes files 0.1 % smaller and takes 10 % more time.
    found = nearest(found, 1, percent: 0)
    return found.allSatisfy { $0.byteCount < plain[0].byteCount * 99 / 100 } ? found : plain
  }

  /// A lookahead that is tried for a small frame only if the one before it gave the shortest result so far. Otherwise
  /// it hardly ever does better.
  private static let farLookahead = 8

  /// Returns the lookahead distances to try, the shortest first. No single distance gives the shortest result for all
  /// frames.
  private func lookaheads(_ area: Int) -> [Int] {
    switch depth {
    case .estimate: [0, 2]
    case .all: area <= 1 << 17 ? [0, 2, Self.farLookahead] : [0, 2]
    }
  }

  private func ways(hasChoice: Bool) -> [Way] {
    if !hasChoice { return [.color] }
    switch depth {
    case .estimate: return [.transparentOrColor, .colorOrTransparent]
    case .all: return [.transparentOrColor, .colorOrTransparent, .transparent, .color]
    }
  }

  /// Returns two indices for each pixel: the one to try first, and the alternative.
  private func indices(_ way: Way) -> ([UInt8], [UInt8]) {
    (
      way == .color || way == .colorOrTransparent ? drawn : kept,
      way == .color || way == .transparentOrColor ? drawn : kept
    )
  }

  /// Encodes pixels and appends the data to `bytes`. Returns whether the table of phrases became full, and whether the
  /// data is longer than `limit`.
  private func search(
    _ attempt: Attempt, _ first: [UInt8], _ second: [UInt8], _ limit: Int,
    _ bytes: inout [UInt8], _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> (wasFull: Bool, isTooLong: Bool) {
    try search.append(
      first.rawBytes, or: second.rawBytes, minimumCodeSize: attempt.codeSize, attempt.rule,
      limit: limit, to: &bytes, isCancelled: isCancelled)
  }

  /// Fills ``drawn`` and ``kept`` with indices into `table`, the one with this number, unless they are for it already.
  private func fill(
    _ table: Table, number: Int, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) {
    guard filled != number else { return }
    filled = number
    let transparent = table.transparent ?? 0
    let ids = colors.ids
    // The last entry of the map is used for pixels whose colour is not in ``FrameColors/words``.
    let map = table.indices.map { $0 ?? transparent } + [transparent]
    // The compiler optimises accesses to local variables better than accesses to properties.
    var (drawn, kept) = (self.drawn, self.kept)
    (self.drawn, self.kept) = ([], [])
    defer { (self.drawn, self.kept) = (drawn, kept) }
    if drawn.count != ids.count || kept.count != ids.count {
      // Free both arrays first, so that the old ones and the new ones do not take up memory at the same time.
      (drawn, kept) = ([], [])
      drawn = try [UInt8](asking: ids.count)
      try Self.check(isCancelled)
      kept = try [UInt8](asking: ids.count)
    }
    let none = UInt16(table.indices.count)
    let canStay = table.transparent != nil
    var first = drawn.mutableSpan
    var second = kept.mutableSpan
    for start in stride(from: 0, to: ids.count, by: PixelRect.pollArea) {
      try Self.check(isCancelled)
      for place in start..<min(start &+ PixelRect.pollArea, ids.count) {
        let id = ids[place]
        let index = map[Int(min(id & FrameColors.idMask, none))]
        let stays = canStay && id & FrameColors.isUnchanged != 0
        first[place] = index
        second[place] = stays ? transparent : index
      }
    }
  }
}
