/// Writes the frames of a GIF losslessly. A frame consists of a graphic control, an image descriptor, a local colour
/// table if the global table lacks a colour, and compressed indices.
///
/// An encoder has one owner at a time. It takes about six bytes of memory per pixel, and keeps about one of these for
/// the next frame.
package final class GIFFrameEncoder {
  /// For each colour in the global table, its first index there.
  private let globalIndices: [UInt32: UInt8]
  private let globalCount: Int
  private let indexer = ColorIndexer()
  private let compressor = LZWCompressor()
  private var lines = PixelStorage(byteCount: 64)

  /// Creates an encoder.
  ///
  /// - Parameter globalTable: The colours of the file's global table, all opaque, as `RGBA.word`. The array is empty if
  ///   there is no global table.
  package init(globalTable: [UInt32]) {
    globalCount = globalTable.count
    globalIndices = Dictionary(
      zip(globalTable, (0...255).map { UInt8($0) }), uniquingKeysWith: { first, _ in first })
  }

  /// The rectangle, disposal and delay of a frame.
  package struct Placement: Sendable, Hashable {
    /// The rectangle that the frame draws. It lies inside the canvas, is not empty, and has sides below 65,536.
    package var rect: PixelRect
    /// The disposal that is applied before the next frame.
    package var disposal: DisposalMethod
    /// The delay in hundredths of a second.
    package var delay: UInt16

    package init(_ rect: PixelRect, disposal: DisposalMethod, delay: UInt16) {
      (self.rect, self.disposal, self.delay) = (rect, disposal, delay)
    }
  }

  /// Returns the number of colours needed to draw `rect` of `picture`: one for each colour of the pixels that differ
  /// from `canvas`, plus one if there are unchanged pixels. If this number exceeds 256, returns the number of colours
  /// needed to draw all pixels in `rect`, or nil if that number exceeds 256 too.
  ///
  /// - Parameter canvas: The canvas on which the frame is drawn, or nil if the canvas is transparent.
  /// - Throws: `outOfMemory`; `cancelled` once `isCancelled` returns true.
  package func colorCount(
    of picture: Bitmap, over canvas: Bitmap?, in rect: PixelRect, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> Int? {
    try colors(of: picture, over: canvas, in: rect, isCancelled)?.count
  }

  /// Appends a frame that turns `canvas` into `picture` inside the rectangle of `placement`.
  ///
  /// - Precondition: No pixel in the rectangle is transparent in `picture` but opaque on `canvas`.
  /// - Throws: `unwritable` if the frame needs more than 256 colours; `outOfMemory`; `cancelled`.
  package func append(
    _ picture: Bitmap, over canvas: Bitmap?, _ placement: Placement, to target: inout [UInt8],
    isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) {
    let rect = placement.rect
    guard let colors = try colors(of: picture, over: canvas, in: rect, isCancelled) else {
      throw Self.tooManyColors
    }
    var table = choose(colors)
    if placement.disposal == .background { addTransparent(to: &table, colors) }
    var greatest: UInt8 = 0
    for color in colors.indices { greatest = max(greatest, table.indices[color]) }
    let indices = try indices(in: rect.size, through: table.indices, isCancelled)
    target += Self.control(
      delay: placement.delay, disposal: placement.disposal, transparentIndex: table.transparent)
    target += Self.descriptor(rect, localTable: table.local)
    try compressor.append(
      indices.rawBytes, minimumCodeSize: LZWCompressor.minimumCodeSize(greatestIndex: greatest),
      to: &target,
      isCancelled: isCancelled)
  }

  /// The error for a frame that needs more than 256 colours.
  package static var tooManyColors: AnimatedImageError {
    AnimatedImageError(
      .unwritable, "a new frame would need more than the 256 colours that a GIF frame can have",
      format: .gif)
  }

  /// Returns a graphic control extension (GIF89a section 23).
  package static func control(
    delay: UInt16, disposal: DisposalMethod, transparentIndex: UInt8?
  ) -> [UInt8] {
    let method: UInt8 = disposal == .keep ? 1 : disposal == .background ? 2 : 3
    return [0x21, 0xf9, 4, method << 2 | (transparentIndex == nil ? 0 : 1)]
      + delay.littleEndianBytes + [transparentIndex ?? 0, 0]
  }

  /// Returns Netscape's loop block, which contains the number of plays after the first, or 0 if the animation repeats
  /// endlessly. For a single play, there is no loop block, and the array is empty.
  package static func loopBlock(_ playCount: PlayCount) -> [UInt8] {
    let repeats: UInt16
    switch playCount {
    case .once: return []
    case .indefinite: repeats = 0
    case .finite(let plays): repeats = UInt16(clamping: plays - 1)
    }
    return [0x21, 0xff, 11] + Array("NETSCAPE2.0".utf8) + [3, 1] + repeats.littleEndianBytes + [0]
  }

  /// Returns an extension: the introducer, `head`, `payload` split into sub-blocks, and the terminator.
  static func extensionBlock(_ head: [UInt8], _ payload: [UInt8]) -> [UInt8] {
    var bytes = [0x21] + head
    for start in stride(from: 0, to: payload.count, by: 255) {
      let part = payload[start..<min(start + 255, payload.count)]
      bytes += [UInt8(part.count)] + part
    }
    return bytes + [0]
  }

  /// Returns an image descriptor (GIF89a section 20) and the local colour table. If `colors` is empty, there is no
  /// local table.
  static func descriptor(_ rect: PixelRect, localTable colors: [UInt32]) -> [UInt8] {
    var bytes: [UInt8] = [0x2c]
    for number in [rect.x, rect.y, rect.width, rect.height] {
      bytes += UInt16(number).littleEndianBytes
    }
    guard !colors.isEmpty else { return bytes + [0] }
    let bits = max(1, Int.bitWidth - (colors.count - 1).leadingZeroBitCount)
    bytes.append(0x80 | UInt8(bits - 1))
    for color in colors { bytes += color.rgbBytes }
    return bytes + [UInt8](repeating: 0, count: 3 * (1 << bits - colors.count))
  }

  /// The colour table that a frame uses, and the mapping from the indices of ``ColorIndexer`` to those of the table.
  private struct TableChoice {
    /// For each index of ``ColorIndexer``, the index of the same colour in the global or local table.
    var indices: [UInt8]
    var transparent: UInt8?
    /// The colours of the local table, or an empty array if the frame uses the global table.
    var local: [UInt32] = []
  }

  /// Chooses the colour table of a frame. This is the global table if it contains every colour and, if the frame has
  /// unchanged pixels, also an unused entry for the transparent index. Otherwise it is a local table.
  private func choose(_ colors: [UInt32]) -> TableChoice {
    let place = colors.firstIndex(of: 0)
    var found: [UInt8] = []
    var isUsed = [Bool](repeating: false, count: 256)
    for color in colors where color != 0 {
      guard let index = globalIndices[color] else { break }
      found.append(index)
      isUsed[Int(index)] = true
    }
    if found.count == colors.count - (place == nil ? 0 : 1), globalCount > 0 {
      guard let place else { return TableChoice(indices: found) }
      if let free = (0..<globalCount).first(where: { !isUsed[$0] }) {
        found.insert(UInt8(free), at: place)
        return TableChoice(indices: found, transparent: UInt8(free))
      }
    }
    return localChoice(colors)
  }

  private func localChoice(_ colors: [UInt32]) -> TableChoice {
    let place = colors.firstIndex(of: 0)
    // The transparent entry comes last, so that the indices of the colours do not change.
    var choice = TableChoice(indices: [], local: colors.filter { $0 != 0 })
    var next = 0
    for color in colors {
      choice.indices.append(UInt8(color == 0 ? choice.local.count : next))
      if color != 0 { next += 1 }
    }
    if place != nil {
      choice.transparent = UInt8(choice.local.count)
      choice.local.append(RGBA.black.word)
    }
    return choice
  }

  /// Adds a transparent index if there is room for one. No pixel uses it, but Pillow and ffmpeg clear the rectangle of a
  /// frame without one to a colour.
  private func addTransparent(to table: inout TableChoice, _ colors: [UInt32]) {
    guard table.transparent == nil else { return }
    if table.local.isEmpty {
      let used = Set(table.indices)
      table.transparent = (0..<globalCount).lazy.map { UInt8($0) }.first { !used.contains($0) }
      guard table.transparent == nil, colors.count < 256 else { return }
      table = localChoice(colors)
    }
    if table.local.count < 256 {
      table.transparent = UInt8(table.local.count)
      table.local.append(RGBA.black.word)
    }
  }

  /// Returns the colours of ``difference(of:over:in:)``, where 0 represents unchanged pixels, and stores the pixels'
  /// indices in ``lines``. If there are too many colours, tries again with unchanged pixels drawn too: if all pixels of
  /// the rectangle have at most 256 colours, no transparent index is needed. Returns nil if both attempts fail.
  private func colors(
    of picture: Bitmap, over canvas: Bitmap?, in rect: PixelRect, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> [UInt32]? {
    let count = (rect.width + 1) * rect.height
    if lines.byteCount < count { lines = try PixelStorage(asking: count, zeroed: false) }
    for canvas in canvas == nil ? [nil] : [canvas, nil] {
      let difference = try Self.difference(of: picture, over: canvas, in: rect, isCancelled)
      let found = try indexer.index(
        difference, PixelRect(difference.size), into: lines, isCancelled: isCancelled)
      if let found { return found }
    }
    return nil
  }

  /// Returns the pixels of `picture` in `rect`. Pixels that are transparent, or equal to those of `canvas`, become 0.
  private static func difference(
    of picture: Bitmap, over canvas: Bitmap?, in rect: PixelRect, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> Bitmap {
    precondition(PixelRect(picture.size).contains(rect) && picture.format == .rgba8)
    precondition(canvas == nil || canvas?.size == picture.size && canvas?.format == .rgba8)
    var buffer = try PixelBuffer(asking: rect.size, zeroed: false)
    let stride = buffer.bytesPerRow
    let (shown, isTransparent) = (canvas ?? picture, canvas == nil)
    var bytes = buffer.mutableBytes
    for y in 0..<rect.height {
      try rect.poll(row: rect.y + y, isCancelled)
      let new = picture.row(rect.y + y, rect)
      let old = shown.row(rect.y + y, rect)
      for x in 0..<rect.width {
        let word = new.load(UInt32.self, at: 4 &* x)
        let below = isTransparent ? 0 : old.load(UInt32.self, at: 4 &* x)
        let isKept = word == below || word &>> 24 == 0
        bytes.storeBytes(
          of: isKept ? 0 : word, toByteOffset: y &* stride &+ 4 &* x, as: UInt32.self)
      }
    }
    return buffer.finish()
  }

  /// Returns the indices in ``lines``, each replaced by its entry in `table`, without the filter byte before each row.
  private func indices(
    in size: PixelSize, through table: [UInt8], _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> [UInt8] {
    let lines = lines
    let source = lines.bytes
    let line = size.width + 1
    var indices = try [UInt8](asking: size.area)
    var target = indices.mutableSpan
    for y in 0..<size.height {
      try PixelRect(size).poll(row: y, isCancelled)
      let row = source.extracting(y * line + 1..<(y + 1) * line)
      for x in 0..<size.width { target[y &* size.width &+ x] = table[Int(row[x])] }
    }
    return indices
  }
}

extension UInt16 {
  /// The two bytes of the number, least significant byte first, as GIF stores numbers.
  package var littleEndianBytes: [UInt8] {
    [UInt8(truncatingIfNeeded: self), UInt8(truncatingIfNeeded: self >> 8)]
  }
}

extension UInt32 {
  /// The red, green and blue bytes of a colour that is stored as `RGBA.word`.
  var rgbBytes: [UInt8] {
    let color = RGBA(word: self)
    return [color.red, color.green, color.blue]
  }
}
