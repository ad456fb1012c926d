package import ZoetropeFrames

/// Draws pictures as sixels. The encoder sends only the pixels that change, with exact colours if these pixels have no
/// more colours than the terminal has registers.
///
/// The colours of sixels are whole percentages, so "exact" means to the nearest percent. If there are more colours, the
/// pixels get the colours of a fixed palette and a dither pattern that is fixed to the pixels, so that static parts do
/// not flicker. Over ``Backdrop/terminal``, transparent pixels are not drawn.
package struct SixelEncoder: FrameEncoding {
  package let area: CellRect
  package let pixelSize: PixelSize
  let passthrough: Passthrough
  let options: EncodingOptions
  private let cell: PixelSize
  /// The number of pixel rows to which the encoder may draw.
  private let room: Int
  /// The colour of each pixel on the screen, which is ``unknownPixel`` if it is unknown, and ``barePixel`` where the
  /// terminal's background shows. The array is empty if its contents have to be computed from the previous picture.
  private var shown: [UInt32]
  private var registers: SixelRegisters
  private var history: PictureHistory
  /// Whether pictures are scaled by ``EncodingOptions/filter`` before they are drawn.
  private let isFiltered: Bool
  private var band: SixelBand

  private static let unknownPixel: UInt32 = .max
  private static let barePixel: UInt32 = .max - 1
  /// The maximum area, in pixels, of a region that is encoded in several ways, the shortest of which is sent.
  private static let triedArea = 16384
  /// The maximum width and height of a picture. Its size depends only on its cells, not on the size of the file,
  /// because terminals do not enlarge sixels.
  static let longestSide = 4096
  /// The maximum number of pixels of a picture, which is that of a large screen.
  static let largestArea = 3840 * 2160

  /// Creates an encoder for an image of `imageSize` pixels at the top left of `area`.
  ///
  /// Pictures of another size are scaled to this size with ``EncodingOptions/filter``. Without a filter, the nearest
  /// pixel is used, which keeps the colours of the picture. If necessary, the height is reduced so that no sixel
  /// extends below the area or into the last row of the screen, because the terminal would then scroll.
  ///
  /// - Parameters:
  ///   - area: The cells to draw to.
  ///   - screen: The size of the terminal's screen.
  ///   - imageSize: The size of the image in the terminal's pixels.
  ///   - crop: The part of each picture to show, or nil for the whole picture.
  ///   - registerCount: The number of colours that the terminal supports. Default: 256.
  ///   - keepsRegisters: Whether the terminal keeps colour definitions from one image to the next. Default: false.
  ///   - passthrough: The way in which sequences pass through a multiplexer.
  ///   - options: The encoding options.
  package init(
    area: CellRect, screen: ScreenSize, imageSize: PixelSize, crop: PixelRect? = nil,
    registerCount: Int = 256, keepsRegisters: Bool = false, passthrough: Passthrough = .none,
    options: EncodingOptions = EncodingOptions()
  ) {
    self.area = area
    self.passthrough = passthrough
    self.options = options
    registers = SixelRegisters(count: min(max(registerCount, 2), 256), isKept: keepsRegisters)
    cell = screen.cell
    room = Self.rowCount(of: area, on: screen) * screen.cell.height
    let limit = Self.longestSide
    let width = min(max(imageSize.width, 1), max(area.columns * screen.cell.width, 1), limit)
    var height = min(max(imageSize.height, 1), max(room, 1), limit)
    // If the last band were only partly used and extended past the area, use only whole bands.
    if (height + 5) / 6 * 6 > room { height = max(room / 6 * 6, 1) }
    pixelSize = PixelSize(width: width, height: height)
    // The nearest filter is applied when colours are read.
    let isFiltered = options.filter.map { $0 != .nearest } ?? false
    history =
      isFiltered
      ? PictureHistory(crop: crop, shownSize: pixelSize, filter: options.filter)
      : PictureHistory(crop: crop)
    self.isFiltered = isFiltered
    shown = []
    band = SixelBand(width: width)
    shown = unknownPixels
  }

  /// Returns the number of rows of `area`, not counting the last row of the screen, because a sixel image in that row
  /// would make the terminal scroll. The result is at least 1.
  static func rowCount(of area: CellRect, on screen: ScreenSize) -> Int {
    max(min(area.rows, screen.rows - 1 - area.row), 1)
  }

  private var unknownPixels: [UInt32] {
    Array(repeating: Self.unknownPixel, count: pixelSize.area)
  }

  package mutating func invalidate() {
    history.forget()
    shown = unknownPixels
    registers.forgetDefinitions()
  }

  package var stateHash: Int {
    var hasher = Hasher()
    hasher.combine(history.contentHash)
    registers.hash(into: &hasher)
    return hasher.finalize()
  }

  package func withoutPicture() -> Self {
    var copy = self
    copy.history.forget()
    copy.shown = []
    copy.band = SixelBand(width: pixelSize.width)
    return copy
  }

  package mutating func resume(showing bitmap: Bitmap) { history.resume(showing: bitmap) }

  package var stateByteCount: Int { 4096 }

  package mutating func encode(
    _ bitmap: Bitmap, changed: PixelRect?, pen: inout PenState, into output: inout [UInt8]
  ) {
    _ = encode(bitmap, changed: changed, pen: &pen, into: &output) { true }
  }

  /// Appends bytes like ``encode(_:changed:pen:into:)``, but can be interrupted: `isWanted` is called before each row
  /// is read and before each band is drawn.
  ///
  /// - Returns: False if `isWanted` returned false. In this case, nothing was appended, and the next picture is sent
  ///   whole.
  package mutating func encode(
    _ bitmap: Bitmap, changed: PixelRect?, pen: inout PenState, into output: inout [UInt8],
    while isWanted: () -> Bool
  ) -> Bool {
    let (start, before) = (output.count, pen)
    do throws(CancellationError) {
      try draw(bitmap, changed: changed, pen: &pen, into: &output) { () throws(CancellationError) in
        if !isWanted() { throw CancellationError() }
      }
      return true
    } catch {
      output.removeSubrange(start...)
      pen = before
      history.forget()
      shown = []
      registers.forgetDefinitions()
      return false
    }
  }

  private mutating func draw(
    _ bitmap: Bitmap, changed: PixelRect?, pen: inout PenState, into output: inout [UInt8],
    _ check: () throws(CancellationError) -> Void
  ) throws(CancellationError) {
    // After filtering, the pixels on the screen cannot be derived from the unscaled picture.
    let previous = isFiltered ? nil : history.last
    guard !area.isEmpty, let picture = history.next(bitmap, changed: changed) else { return }
    let (bitmap, part) = (picture.bitmap, picture.part)
    var rows = picture.difference
    if shown.isEmpty {
      // Pictures are always shown whole, so the screen shows the previous picture.
      var colors = unknownPixels
      if let previous {
        for y in 0..<pixelSize.height {
          readColors(ofRow: y, of: previous, part) { x, color in
            colors[y * pixelSize.width + x] = color
          }
        }
      }
      shown = colors
    }
    if try eraseBarePixels(of: bitmap, part, rows, pen: &pen, into: &output, check) { rows = nil }
    var ranges = Array(repeating: 0..<0, count: pixelSize.height)
    var wanted = shown
    var colors = ColorTable(limit: registers.count)
    var uses = ColorUses(count: registers.count)
    var fits = true
    for y in 0..<pixelSize.height {
      let sourceY = self.sourceY(of: y, in: part)
      if let rows, rows.rows[sourceY].isEmpty { continue }
      try check()
      var low = Int.max
      var high = 0
      readColors(ofRow: y, of: bitmap, part) { x, color in
        let at = y * pixelSize.width + x
        if color != shown[at] {
          wanted[at] = color
          low = min(low, x)
          high = x + 1
          if fits, color != Self.barePixel {
            if let index = colors.index(of: color) {
              uses.add(index, x: x, y: y)
            } else {
              fits = false
            }
          }
        }
      }
      if low < high { ranges[y] = low..<high }
    }
    let difference = PixelDifference(rows: ranges)
    if difference.bounds.isEmpty { return }
    if fits { registers.claim(for: colors.colors, counts: uses.counts) }
    for region in ChangedRegions.cover(difference, worth: 2000, limit: 6) {
      try draw(region, wanted: wanted, exact: fits, pen: &pen, into: &output, check)
    }
    shown = wanted
  }

  private func sourceY(of y: Int, in part: PixelRect) -> Int {
    part.y + (y * 2 + 1) * part.height / (pixelSize.height * 2)
  }

  /// Calls `body` with each column of row `y` of the image, from left to right, and the colour that the pixel should
  /// have.
  @inline(__always)
  private func readColors(
    ofRow y: Int, of bitmap: Bitmap, _ part: PixelRect, _ body: (Int, UInt32) -> Void
  ) {
    let sourceY = self.sourceY(of: y, in: part)
    let pixels = bitmap.pixels(row: sourceY)
    let leavesBare = options.backdrop.isBare
    for x in 0..<pixelSize.width {
      let sourceX = part.x + (x * 2 + 1) * part.width / (pixelSize.width * 2)
      if leavesBare {
        let pixel = pixels[sourceX]
        let opaque = TerminalColor(red: pixel.red, green: pixel.green, blue: pixel.blue)
        body(x, Backdrop.isBare(alpha: pixel.alpha) ? Self.barePixel : opaque.word)
        continue
      }
      body(
        x,
        PixelBlock.flattened(pixels[sourceX], x: sourceX, y: sourceY, over: options.backdrop).word)
    }
  }

  /// Erases the cells in which pixels have to become transparent. Returns false if there are no such cells. If the
  /// result is true, the other pixels of these cells must be drawn again.
  private mutating func eraseBarePixels(
    of bitmap: Bitmap, _ part: PixelRect, _ rows: PixelDifference?, pen: inout PenState,
    into output: inout [UInt8], _ check: () throws(CancellationError) -> Void
  ) throws(CancellationError) -> Bool {
    guard options.backdrop.isBare else { return false }
    var ranges = Array(repeating: 0..<0, count: pixelSize.height)
    for y in 0..<pixelSize.height {
      if let rows, rows.rows[sourceY(of: y, in: part)].isEmpty { continue }
      try check()
      var low = Int.max
      var high = 0
      readColors(ofRow: y, of: bitmap, part) { x, color in
        if color == Self.barePixel, shown[y * pixelSize.width + x] != Self.barePixel {
          low = min(low, x)
          high = x + 1
        }
      }
      if low < high { ranges[y] = low..<high }
    }
    let bounds = PixelDifference(rows: ranges).bounds
    if bounds.isEmpty { return false }
    let columns = bounds.x / cell.width..<Self.roundedUp(bounds.maxX, to: cell.width) / cell.width
    let lines = bounds.y / cell.height..<Self.roundedUp(bounds.maxY, to: cell.height) / cell.height
    var sequence: [UInt8] = []
    // Inside a multiplexer, these bytes go to the outer terminal, as the sixels do.
    var outer = passthrough == .none ? pen : .unknown
    outer.setColors(foreground: nil, background: .default, into: &sequence)
    for line in lines {
      outer.move(toColumn: area.column + columns.lowerBound, row: area.row + line, into: &sequence)
      sequence.append(ascii: "\u{1B}[")
      sequence.append(decimal: columns.count)
      sequence.append(ascii: "X")
    }
    passthrough.append(sequence, to: &output)
    if passthrough == .none { pen = outer }
    let right = min(columns.upperBound * cell.width, pixelSize.width)
    let bottom = min(lines.upperBound * cell.height, pixelSize.height)
    for y in lines.lowerBound * cell.height..<bottom {
      for x in columns.lowerBound * cell.width..<right {
        shown[y * pixelSize.width + x] = Self.barePixel
      }
    }
    return true
  }

  private static func roundedUp(_ value: Int, to step: Int) -> Int {
    (value + step - 1) / step * step
  }

  /// Draws the differences in `region` with as few bytes as possible.
  private mutating func draw(
    _ region: PixelRect, wanted: [UInt32], exact: Bool, pen: inout PenState,
    into output: inout [UInt8], _ check: () throws(CancellationError) -> Void
  ) throws(CancellationError) {
    let cellColumn = region.x / cell.width
    // Bands of six rows start at a row of cells. Starting further up may split the picture in better places, and saves
    // about 3 %, but is tried only for small regions. If the last band would otherwise extend below the area and scroll
    // the screen, starting further up is necessary.
    let isSmall = region.size.area <= Self.triedArea
    var cellRow = 0
    var best = Bands()
    for row in rowsToBeginAt(for: region).prefix(isSmall && cell.height % 6 != 0 ? 3 : 1) {
      let found = try bands(
        of: region, fromRow: row, wanted: wanted, exact: exact, trying: isSmall, check)
      if best.bytes.isEmpty || found.bytes.count < best.bytes.count {
        (best, cellRow) = (found, row)
      }
    }
    if best.bytes.isEmpty { return }
    var sequence: [UInt8] = []
    if passthrough == .none {
      pen.move(toColumn: area.column + cellColumn, row: area.row + cellRow, into: &output)
    } else {
      var outer = PenState.unknown
      outer.move(toColumn: area.column + cellColumn, row: area.row + cellRow, into: &sequence)
    }
    // P2 = 1 means that pixels that are not drawn stay as they are.
    sequence.append(ascii: "\u{1B}P7;1q")
    // The size is given in whole cells, because foot 1.13 merges a new image into an old one cell by cell, and leaves
    // black or stale pixels in cells that the new image covers only partly.
    sequence.append(ascii: "\"1;1;")
    sequence.append(
      decimal: Self.roundedUp(region.maxX - cellColumn * cell.width, to: cell.width))
    sequence.append(59)
    sequence.append(decimal: Self.roundedUp(best.count * 6, to: cell.height))
    registers.appendDefinitions(of: best.used, exact: exact, to: &sequence)
    sequence += best.bytes
    sequence.append(ascii: "\u{1B}\\")
    passthrough.append(sequence, to: &output)
    // Terminals differ in where they leave the cursor.
    pen.forgetPosition()
  }

  /// Returns the rows of cells at which whole bands can start so that they cover `region` and do not extend below the
  /// area. The nearest row comes first.
  private func rowsToBeginAt(for region: PixelRect) -> [Int] {
    let rows = stride(from: region.y / cell.height, through: 0, by: -1).filter { row in
      let top = row * cell.height
      return top + Self.roundedUp(region.maxY - top, to: 6) <= room
    }
    // Bands that start at the top always fit, because of how the height was chosen.
    return rows.isEmpty ? [0] : rows
  }

  /// The encoded bands from a row of cells on, and the registers that they use.
  private struct Bands {
    var bytes: [UInt8] = []
    var count = 0
    var used = Array(repeating: false, count: 256)
  }

  private mutating func bands(
    of region: PixelRect, fromRow cellRow: Int, wanted: [UInt32], exact: Bool, trying: Bool,
    _ check: () throws(CancellationError) -> Void
  ) throws(CancellationError) -> Bands {
    let left = region.x / cell.width * cell.width
    let top = cellRow * cell.height
    var bands = Bands()
    var pending = 0
    var register = -1
    for y in stride(from: top, to: region.maxY, by: 6) {
      try check()
      let lines = max(y, region.y)..<max(min(y + 6, region.maxY), max(y, region.y))
      fillBand(from: y, lines: lines, region, left: left, wanted, exact, &bands.used)
      if !band.isEmpty {
        for _ in 0..<pending { bands.bytes.append(45) }
        pending = 0
        bands.count = (y - top) / 6 + 1
        band.append(to: &bands.bytes, register: &register, trying: trying)
      }
      pending += 1
    }
    return bands
  }

  private mutating func fillBand(
    from y: Int, lines: Range<Int>, _ region: PixelRect, left: Int, _ wanted: [UInt32],
    _ exact: Bool, _ used: inout [Bool]
  ) {
    band.begin()
    for line in lines {
      let start = line * pixelSize.width
      for x in region.x..<region.maxX where wanted[start + x] != shown[start + x] {
        let color = wanted[start + x]
        let register =
          exact
          ? registers.register(of: color)
          : registers.palette.index(of: color, x: x, y: line)
        band.set(register: register, x: x - left, line: line - y)
        used[register] = true
      }
    }
    // Only exact colours may be drawn again. Dithered colours are drawn only where they change.
    guard exact, !band.isEmpty else { return }
    for line in lines {
      let start = line * pixelSize.width
      for x in region.x..<region.maxX where wanted[start + x] == shown[start + x] {
        if let register = registers.registerIfAny(of: wanted[start + x]) {
          band.allow(register: register, x: x - left, line: line - y)
        }
      }
    }
  }
}
