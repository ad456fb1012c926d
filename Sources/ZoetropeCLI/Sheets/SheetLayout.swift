import Zoetrope

/// The positions of frames on a sheet: a grid of cells in which every input starts a new row.
struct SheetLayout: Hashable, Sendable {
  /// The size of a cell, without the label below it.
  let cell: PixelSize
  let columns: Int
  /// The number of pixels between cells, and between cells and the edges of the sheet.
  let padding: Int
  /// The height of a label including the space above it, or 0 without labels.
  let labelHeight: Int
  /// The number of the row in which each input starts, followed by the total number of rows.
  private let firstRows: [Int]

  /// Lays out the frames of several inputs. Input `i` has `counts[i]` frames.
  ///
  /// - Parameter columns: The maximum number of columns. If it is nil, a sheet of one input is about square, and a
  ///   sheet of several inputs has as many columns as the longest input has frames.
  init(
    counts: [Int], cell: PixelSize, columns: Int? = nil, padding: Int = 0, labelHeight: Int = 0
  ) {
    let longest = max(counts.max() ?? 0, 1)
    let slotHeight = cell.height + labelHeight + padding
    if let columns {
      self.columns = min(columns, longest)
    } else if counts.count > 1 {
      self.columns = longest
    } else {
      let ratio = Double(slotHeight) / Double(max(cell.width + padding, 1))
      let side = (Double(longest) * ratio).squareRoot().rounded(.up)
      self.columns = min(max(Int(side), 1), longest)
    }
    (self.cell, self.padding, self.labelHeight) = (cell, padding, labelHeight)
    var rows = [0]
    for count in counts {
      rows.append(rows[rows.count - 1] + (count + self.columns - 1) / self.columns)
    }
    firstRows = rows
  }

  /// The size of the sheet. Each side is at most `Int.max`.
  var size: PixelSize {
    let rows = firstRows[firstRows.count - 1]
    return PixelSize(
      width: Self.side(columns, of: cell.width, padding),
      height: Self.side(rows, of: cell.height + labelHeight, padding))
  }

  private static func side(_ count: Int, of length: Int, _ padding: Int) -> Int {
    let (product, overflow) = count.multipliedReportingOverflow(by: length + padding)
    return overflow ? .max : product + padding
  }

  /// Returns the rectangle of frame `number` of an input, centred in its cell. `size` is the size of the input's
  /// frames.
  func rect(ofFrame number: Int, input: Int, size: PixelSize) -> PixelRect {
    let slot = slot(ofFrame: number, input: input)
    return PixelRect(
      x: slot.x + (cell.width - size.width) / 2, y: slot.y + (cell.height - size.height) / 2,
      width: size.width, height: size.height)
  }

  /// Returns the rectangle of the label of frame `number` of an input.
  func labelRect(ofFrame number: Int, input: Int) -> PixelRect {
    let slot = slot(ofFrame: number, input: input)
    return PixelRect(
      x: slot.x, y: slot.y + cell.height, width: cell.width, height: labelHeight)
  }

  private func slot(ofFrame number: Int, input: Int) -> (x: Int, y: Int) {
    let (row, column) = (firstRows[input] + number / columns, number % columns)
    return (
      padding + column * (cell.width + padding),
      padding + row * (cell.height + labelHeight + padding)
    )
  }
}
