internal import Zoetrope

/// The light of the cells that a picture changes, for encoders that draw with characters.
///
/// Keeps the picture before, so that only rows and columns of cells are sampled that differ from it.
struct CellSource: Sendable {
  /// The cells of the last row that was sampled.
  private(set) var sampler = CellSampler.empty
  private let cells: PixelSize
  private let crop: PixelRect?
  private let bandCuts: [Int]
  private let halves: Int
  private let hasColumns: Bool
  private let options: EncodingOptions
  private var source = PixelRect.empty
  private var previous: Bitmap?
  private var difference: FrameDifference?

  /// A source of `area`'s cells, each cut as ``CellSampler`` cuts them.
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

  /// Forgets the picture before: the next one is sampled whole.
  mutating func forgetPicture() { previous = nil }

  /// Says that `bitmap` was the picture before.
  mutating func resume(after bitmap: Bitmap) { previous = bitmap }

  /// A copy without the picture before, and without room to work in.
  func withoutPicture() -> CellSource {
    var copy = self
    copy.previous = nil
    copy.difference = nil
    copy.sampler = .empty
    return copy
  }

  /// Takes the next picture; `changed` is where it may differ from the one before.
  mutating func begin(_ bitmap: Bitmap, changed: PixelRect?) {
    let all = PixelRect(bitmap.size)
    let part = crop.map { $0.intersection(all) } ?? all
    let wanted = part.isEmpty ? all : part
    if previous?.size != bitmap.size || wanted != source { previous = nil }
    if wanted != source || sampler.isEmpty {
      source = wanted
      sampler = CellSampler(
        source: wanted, columns: cells.width, rows: cells.height, bandCuts: bandCuts,
        halves: halves, hasColumns: hasColumns, model: options.light, backdrop: options.backdrop)
    }
    difference = previous.map { FrameDifference(from: $0, to: bitmap, within: changed ?? all) }
    previous = bitmap
  }

  /// Samples the cells of a row that may differ from the picture before, and says which these are.
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
