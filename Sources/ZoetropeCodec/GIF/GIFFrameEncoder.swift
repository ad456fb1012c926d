/// Writes frames of a GIF without loss: a graphic control, a descriptor, a colour table of its own if the global one
/// lacks a colour, and compressed indices.
///
/// One owner at a time. Keeps its working memory, some six bytes per pixel, for the next frame.
///
/// Unsafe code: ``difference(of:over:in:)`` checks that the rectangle lies in both pictures, of four bytes per pixel,
/// and reads and writes `width` pixels of each of its rows.
package final class GIFFrameEncoder {
  /// The first index of each colour of the global table.
  private let globalIndices: [UInt32: UInt8]
  private let globalCount: Int
  private let indexer = ColorIndexer()
  private let compressor = LZWCompressor()
  private var lines = PixelStorage(byteCount: 64)

  /// - Parameter globalTable: The file's colours, opaque, as `RGBA.word`; empty without a global table.
  package init(globalTable: [UInt32]) {
    globalCount = globalTable.count
    globalIndices = Dictionary(
      zip(globalTable, (0...255).map { UInt8($0) }), uniquingKeysWith: { first, _ in first })
  }

  /// Where a frame is drawn, and how it is disposed of.
  package struct Placement: Sendable, Hashable {
    /// Inside the canvas, not empty, with sides below 65,536.
    package var rect: PixelRect
    /// Its disposal before the next frame.
    package var disposal: DisposalMethod
    /// Hundredths of a second.
    package var delay: UInt16

    package init(_ rect: PixelRect, disposal: DisposalMethod, delay: UInt16) {
      (self.rect, self.disposal, self.delay) = (rect, disposal, delay)
    }
  }

  /// The number of colours in `rect` of `picture` where it differs from `canvas`, plus one for unchanged pixels; if
  /// that is more than 256, the number of all colours in `rect`. Nil if there are more than 256 of them, too.
  ///
  /// - Parameter canvas: The canvas that the frame is drawn on; nil if it is transparent.
  package func colorCount(
    of picture: Bitmap, over canvas: Bitmap?, in rect: PixelRect
  ) throws(AnimatedImageError) -> Int? {
    try colors(of: picture, over: canvas, in: rect)?.count
  }

  /// Appends the frame that turns `canvas` into `picture` inside the rectangle of `placement`.
  ///
  /// - Precondition: No pixel there is transparent in `picture` and opaque on `canvas`.
  /// - Throws: `unwritable` if it takes more than 256 colours, `outOfMemory`, `cancelled`.
  package func append(
    _ picture: Bitmap, over canvas: Bitmap?, _ placement: Placement, to target: inout [UInt8],
    isCancelled: () -> Bool = { false }
  ) throws(AnimatedImageError) {
    let rect = placement.rect
    guard let colors = try colors(of: picture, over: canvas, in: rect) else {
      throw Self.tooManyColors
    }
    let table = choose(colors)
    let (width, height, lines) = (rect.width, rect.height, lines)
    // Each row has a byte before it, which is removed; writing stays behind reading.
    var greatest: UInt8 = 0
    for color in colors.indices { greatest = max(greatest, table.indices[color]) }
    unsafe Self.remap(lines, table.indices, width: width, height: height)
    target += Self.control(
      delay: placement.delay, disposal: placement.disposal, transparentIndex: table.transparent)
    target.append(0x2c)
    for number in [rect.x, rect.y, width, height] {
      target += UInt16(number).littleEndianBytes
    }
    if table.local.isEmpty {
      target.append(0)
    } else {
      let bits = Self.tableBits(table.local.count)
      target.append(0x80 | UInt8(bits - 1))
      for color in table.local { target += color.rgbBytes }
      target += [UInt8](repeating: 0, count: 3 * (1 << bits - table.local.count))
    }
    try compressor.append(
      lines.bytes.extracting(first: width * height),
      minimumCodeSize: LZWCompressor.minimumCodeSize(greatestIndex: greatest), to: &target,
      isCancelled: isCancelled)
  }

  /// The error for a frame with too many colours.
  package static var tooManyColors: AnimatedImageError {
    AnimatedImageError(
      .unwritable, "a new frame would need more than the 256 colours that a GIF frame can have",
      format: .gif)
  }

  /// A graphic control extension (GIF89a section 23).
  package static func control(
    delay: UInt16, disposal: DisposalMethod, transparentIndex: UInt8?
  ) -> [UInt8] {
    let method: UInt8 = disposal == .keep ? 1 : disposal == .background ? 2 : 3
    return [0x21, 0xf9, 4, method << 2 | (transparentIndex == nil ? 0 : 1)]
      + delay.littleEndianBytes + [transparentIndex ?? 0, 0]
  }

  /// The loop count that Netscape introduced: plays after the first, 0 for endless ones.
  package static func loopBlock(_ count: UInt16) -> [UInt8] {
    [0x21, 0xff, 11] + Array("NETSCAPE2.0".utf8) + [3, 1] + count.littleEndianBytes + [0]
  }

  /// An extension that begins with `head`, and has `payload` in sub-blocks.
  static func extensionBlock(_ head: [UInt8], _ payload: [UInt8]) -> [UInt8] {
    var bytes = [0x21] + head
    for start in stride(from: 0, to: payload.count, by: 255) {
      let part = payload[start..<min(start + 255, payload.count)]
      bytes += [UInt8(part.count)] + part
    }
    return bytes + [0]
  }

  /// Bits of the indices of a table with `count` colours.
  private static func tableBits(_ count: Int) -> Int {
    max(1, Int.bitWidth - (count - 1).leadingZeroBitCount)
  }

  /// The tables that the indices of ``ColorIndexer`` refer to.
  private struct TableChoice {
    /// The index in the file's table of each colour found.
    var indices: [UInt8]
    var transparent: UInt8?
    /// The frame's own table; empty if it uses the global one.
    var local: [UInt32] = []
  }

  /// The global table, if it has every colour and, where one is needed, room for a transparent index; otherwise a
  /// local table.
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
    // The transparent entry comes last, so that no colour's index moves past it.
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

  /// The colours of ``difference(of:over:in:)``, whose indices are then in ``lines``; 0 represents unchanged pixels.
  /// If those are too many, unchanged pixels are drawn too: 256 colours may include theirs.
  private func colors(
    of picture: Bitmap, over canvas: Bitmap?, in rect: PixelRect
  ) throws(AnimatedImageError) -> [UInt32]? {
    let count = (rect.width + 1) * rect.height
    if lines.byteCount < count { lines = try PixelStorage(asking: count, zeroed: false) }
    for canvas in canvas == nil ? [nil] : [canvas, nil] {
      let difference = try Self.difference(of: picture, over: canvas, in: rect)
      let found = indexer.index(difference, PixelRect(difference.size), into: lines)
      if let found { return found }
    }
    return nil
  }

  /// The pixels of `picture` in `rect`, 0 where they are transparent or those of `canvas`.
  private static func difference(
    of picture: Bitmap, over canvas: Bitmap?, in rect: PixelRect
  ) throws(AnimatedImageError) -> Bitmap {
    precondition(PixelRect(picture.size).contains(rect) && picture.format == .rgba8)
    precondition(canvas == nil || canvas?.size == picture.size && canvas?.format == .rgba8)
    let buffer = try PixelBuffer(asking: rect.size, zeroed: false)
    for y in 0..<rect.height {
      let offset = (rect.y + y) * picture.bytesPerRow + 4 * rect.x
      let new = unsafe UnsafeRawPointer(picture.storage.baseAddress) + offset
      let target = unsafe buffer.baseAddress + y * buffer.bytesPerRow
      let old = unsafe canvas.map { canvas in
        unsafe UnsafeRawPointer(canvas.storage.baseAddress) + (rect.y + y) * canvas.bytesPerRow
          + 4 * rect.x
      }
      for x in 0..<rect.width {
        let word = unsafe new.load(fromByteOffset: 4 &* x, as: UInt32.self)
        let below = unsafe old?.load(fromByteOffset: 4 &* x, as: UInt32.self) ?? 0
        let isKept = word == below || word &>> 24 == 0
        unsafe target.storeBytes(of: isKept ? 0 : word, toByteOffset: 4 &* x, as: UInt32.self)
      }
    }
    return buffer.finish()
  }

  /// Maps the indices of rows with a byte before each, and joins the rows.
  @unsafe
  private static func remap(
    _ lines: PixelStorage, _ indices: [UInt8], width: Int, height: Int
  ) {
    precondition(lines.byteCount >= (width + 1) * height)
    let table = indices + [UInt8](repeating: 0, count: 256 - indices.count)
    let base = unsafe lines.baseAddress.assumingMemoryBound(to: UInt8.self)
    unsafe table.withUnsafeBufferPointer { table in
      for y in 0..<height {
        let source = unsafe base + y * (width + 1) + 1
        let row = unsafe base + y * width
        for x in 0..<width { unsafe row[x] = table[Int(source[x])] }
      }
    }
  }
}

extension UInt16 {
  /// The two bytes, least significant first, as GIF stores numbers.
  package var littleEndianBytes: [UInt8] {
    [UInt8(truncatingIfNeeded: self), UInt8(truncatingIfNeeded: self >> 8)]
  }
}

extension UInt32 {
  /// Red, green and blue of a colour's word.
  var rgbBytes: [UInt8] {
    let color = RGBA(word: self)
    return [color.red, color.green, color.blue]
  }
}
