internal import ZoetropeFrames

/// The light of the cells that a picture changes, for encoders that draw with characters.
///
/// The previous picture is kept, so that cells are sampled only in rows and columns that differ from it.
struct CellSource: Sendable {
  /// The sampler, which contains the samples of the last row of cells that was sampled.
  private(set) var sampler = CellSampler.empty
  private let cells: PixelSize
  private let crop: PixelRect?
  private let bandCuts: [Int]
  private let halves: Int
  private let hasColumns: Bool
  private let options: EncodingOptions
  private var source = PixelRect.empty
  private var previous: Bitmap?
  private var difference: PixelDifference?

  /// Creates a source for the cells of `area`, which are divided as ``CellSampler`` documents.
  init(
    area: CellRect, crop: PixelRect?, bandCuts: [Int], halves: Int, hasColumns: Bool,
    options: EncodingOptions
  ) {
    cells = PixelSize(width: area.columns, height: area.rows)
    self.crop = crop
    self.bandCuts = bandCuts
    self.halves = halves
    self.hasColumns = hasColumns
    self.options = options
  }

  /// Forgets the previous picture, so that all cells of the next picture are sampled.
  mutating func forgetPicture() { previous = nil }

  /// Makes `bitmap` the previous picture.
  mutating func resume(after bitmap: Bitmap) { previous = bitmap }

  /// Returns a copy that retains neither the previous picture nor working memory.
  func withoutPicture() -> CellSource {
    var copy = self
    copy.previous = nil
    copy.difference = nil
    copy.sampler = .empty
    return copy
  }

  /// Starts the next picture. `changed` is the rectangle in which the picture may differ from the previous one, or nil
  /// if unknown.
  mutating func begin(_ bitmap: Bitmap, changed: PixelRect?) {
    let all = PixelRect(bitmap.size)
    let part = crop.map { $0.intersection(all) } ?? all
    let wanted = part.isEmpty ? all : part
    if previous?.size != bitmap.size || wanted != source { previous = nil }
    if wanted != source || sampler.isEmpty {
      source = wanted
      sampler = CellSampler(
        source: wanted, columns: cells.width, rows: cells.height, bandCuts: bandCuts,
        halves: halves, hasColumns: hasColumns, backdrop: options.backdrop)
    }
    difference = previous.map { PixelDifference(from: $0, to: bitmap, within: changed ?? all) }
    previous = bitmap
  }

  /// Samples the cells of row `row` that may differ from the previous picture, and returns the range of their columns.
  mutating func sample(row: Int, of bitmap: Bitmap) -> Range<Int> {
    var range = 0..<cells.width
    if let difference {
      range = sampler.cellColumns(
        ofSourceColumns: difference.columns(inRows: sampler.sourceRows(ofCellRow: row)))
    }
    sampler.sample(row: row, columns: range, of: bitmap)
    return range
  }
}

/// Averages the pixels of a picture over parts of character cells.
///
/// Each cell is divided into bands at ``bandCuts``, and each band is divided into equal parts, whose number is
/// ``halves``. With `hasColumns`, each cell is also divided into eight columns over its full height. From these parts,
/// the sums for all block glyphs can be computed. The sample of a part is a vector of four numbers. The first three are
/// the red, green and blue light that the part contributes to the cell: in an entirely white cell, each of them adds up
/// to 1 over the parts of all bands. Over a bare backdrop, only opaque pixels contribute light, and the fourth number
/// is the fraction of the cell that the opaque pixels of the part cover.
///
/// The order of summation does not depend on which cells are sampled, so sampling a single cell gives bit-identical
/// results to sampling a whole picture.
struct CellSampler: Sendable {
  /// The heights at which cells are divided into bands, in 24ths of the height of a cell.
  let bandCuts: [Int]
  /// The number of parts, side by side, in each band.
  let halves: Int
  let hasColumns: Bool
  private let source: PixelRect
  private let cells: PixelSize
  private let tables = LightTables.shared
  private let backdrop: Backdrop
  private let parts: [Span1D]
  private let columnParts: [Span1D]

  /// The samples of one row of cells. The sample of each part is at index `(band * cells + cell) * halves + half`.
  private(set) var bands: [SIMD4<Float>]
  /// The samples of the columns of the cells. The sample of each column is at index `cell * 8 + column`.
  private(set) var columns: [SIMD4<Float>]
  private var light: [SIMD4<Float>]
  private var sum: [SIMD4<Float>]
  private var columnSum: [SIMD4<Float>]

  /// The pixels that a part covers along one axis. The pixels at both ends may be covered only partly and have their
  /// own weights; the pixels between them are covered whole.
  private struct Span1D: Sendable {
    let first: Int
    let last: Int
    let firstWeight: Float
    let lastWeight: Float
    let wholeWeight: Float

    init(from start: Double, to end: Double, limit: Int, scale: Double) {
      let low = min(Int(start.rounded(.down)), limit - 1)
      let high = min(max(Int(end.rounded(.up)) - 1, low), limit - 1)
      first = low
      last = high
      wholeWeight = Float(scale)
      if low == high {
        firstWeight = Float((end - start) * scale)
        lastWeight = 0
      } else {
        firstWeight = Float((Double(low + 1) - start) * scale)
        lastWeight = Float((end - Double(high)) * scale)
      }
    }
  }

  /// A sampler that has no cells.
  static let empty = CellSampler(
    source: .empty, columns: 0, rows: 0, bandCuts: [0], halves: 0, hasColumns: false,
    backdrop: .black)

  var isEmpty: Bool { source.isEmpty }

  init(
    source: PixelRect, columns cellColumns: Int, rows: Int, bandCuts: [Int], halves: Int,
    hasColumns: Bool, backdrop: Backdrop
  ) {
    self.source = source
    self.bandCuts = bandCuts
    self.halves = halves
    self.hasColumns = hasColumns
    self.backdrop = backdrop
    cells = PixelSize(width: cellColumns, height: rows)
    let width = Double(source.width) / Double(cellColumns)
    func cuts(_ count: Int) -> [Span1D] {
      (0..<cellColumns * count).map { index in
        Span1D(
          from: Double(index) * width / Double(count),
          to: Double(index + 1) * width / Double(count), limit: source.width, scale: 1 / width)
      }
    }
    parts = cuts(halves)
    columnParts = hasColumns ? cuts(8) : []
    bands = Array(repeating: .zero, count: (bandCuts.count - 1) * cellColumns * halves)
    columns = Array(repeating: .zero, count: hasColumns ? cellColumns * 8 : 0)
    light = Array(repeating: .zero, count: source.width)
    sum = light
    columnSum = hasColumns ? light : []
  }

  /// Returns the rows of the picture that cell row `row` covers at least partly.
  func sourceRows(ofCellRow row: Int) -> Range<Int> {
    let height = Double(source.height) / Double(cells.height)
    let first = Int((Double(row) * height).rounded(.down))
    let last = Int((Double(row + 1) * height).rounded(.up))
    return source.y + first..<source.y + min(max(last, first + 1), source.height)
  }

  /// Returns the columns of cells that contain any part of pixel columns `range` of the picture, clipped to the
  /// existing cells.
  func cellColumns(ofSourceColumns range: Range<Int>) -> Range<Int> {
    let low = max(range.lowerBound - source.x, 0)
    let high = min(range.upperBound - source.x, source.width)
    guard low < high else { return 0..<0 }
    let width = Double(source.width) / Double(cells.width)
    let first = Int((Double(low) / width).rounded(.down))
    let last = Int((Double(high) / width).rounded(.up))
    // One more column on each side is included, because the ends of the parts are rounded.
    return max(first - 1, 0)..<min(last + 1, cells.width)
  }

  /// Samples the cells in columns `range` of cell row `row`.
  mutating func sample(row: Int, columns range: Range<Int>, of bitmap: Bitmap) {
    guard !range.isEmpty else { return }
    let left = parts[range.lowerBound * halves].first
    let right = parts[range.upperBound * halves - 1].last
    let height = Double(source.height) / Double(cells.height)
    if hasColumns { for x in left...right { columnSum[x] = .zero } }
    var loadedRow = -1
    for band in 0..<bandCuts.count - 1 {
      let start = (Double(row) + Double(bandCuts[band]) / 24) * height
      let end = (Double(row) + Double(bandCuts[band + 1]) / 24) * height
      let lines = Span1D(from: start, to: end, limit: source.height, scale: 1 / height)
      for x in left...right { sum[x] = .zero }
      for y in lines.first...lines.last {
        let weight =
          y == lines.first
          ? lines.firstWeight : y == lines.last ? lines.lastWeight : lines.wholeWeight
        if y != loadedRow {
          load(row: y, from: left, through: right, of: bitmap)
          loadedRow = y
        }
        add(weight: weight, from: left, through: right)
      }
      if hasColumns { for x in left...right { columnSum[x] += sum[x] } }
      Self.reduce(
        sum, parts, at: range.lowerBound * halves..<range.upperBound * halves, into: &bands,
        from: band * cells.width * halves)
    }
    if hasColumns {
      let indices = range.lowerBound * 8..<range.upperBound * 8
      Self.reduce(columnSum, columnParts, at: indices, into: &columns)
    }
  }

  private mutating func add(weight: Float, from left: Int, through right: Int) {
    let lightValues = light
    let light = lightValues.span
    var sum = self.sum.mutableSpan
    for x in left...right { sum[x] += light[x] * weight }
  }

  /// Adds up the light in the parts at `indices`, and stores each sum in `target`, `base` elements further on.
  private static func reduce(
    _ light: [SIMD4<Float>], _ parts: [Span1D], at indices: Range<Int>,
    into target: inout [SIMD4<Float>], from base: Int = 0
  ) {
    let light = light.span
    let parts = parts.span
    var sums = target.mutableSpan
    for index in indices { sums[base + index] = total(light, parts[index]) }
  }

  @inline(__always)
  private static func total(_ sum: Span<SIMD4<Float>>, _ part: Span1D) -> SIMD4<Float> {
    var total = sum[part.first] * part.firstWeight
    if part.last > part.first {
      if part.last > part.first + 1 {
        var whole = sum[part.first + 1]
        for x in part.first + 2..<max(part.last, part.first + 2) { whole += sum[x] }
        total += whole * part.wholeWeight
      }
      total += sum[part.last] * part.lastWeight
    }
    return total
  }

  /// Converts the pixels of one row to light, blended with the backdrop.
  private mutating func load(row y: Int, from left: Int, through right: Int, of bitmap: Bitmap) {
    let pixels = bitmap.pixels(row: source.y + y)
    let (tables, source, backdrop) = (self.tables, self.source, self.backdrop)
    let isBare = backdrop.isBare
    let red = tables.red.span
    let green = tables.green.span
    let blue = tables.blue.span
    var light = self.light.mutableSpan
    for x in left...right {
      let pixel = pixels[source.x + x]
      var value = red[Int(pixel.red)] + green[Int(pixel.green)] + blue[Int(pixel.blue)]
      if isBare {
        if Backdrop.isBare(alpha: pixel.alpha) { value = .zero } else { value.w = 1 }
      } else if pixel.alpha != 255 {
        let behind = backdrop.color(x: source.x + x, y: source.y + y)
        let under =
          red[Int(behind.red)] + green[Int(behind.green)] + blue[Int(behind.blue)]
        value = under + (value - under) * (Float(pixel.alpha) / 255)
      }
      light[x] = value
    }
  }
}
