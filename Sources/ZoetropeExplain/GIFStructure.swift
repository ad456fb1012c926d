import ZoetropeFrames

/// Stored properties of a GIF that ``AnimatedImage`` does not expose: disposal methods as numbers, the background
/// colour and extensions.
struct GIFStructure: Hashable, Sendable {
  struct Frame: Hashable, Sendable {
    var rect = PixelRect.empty
    /// The stored disposal method, from 0 to 7, or 0 if there is no graphic control extension.
    var disposal: UInt8 = 0
    var transparentIndex: UInt8?
    /// Whether a graphic control extension precedes the frame.
    var hasControl = false
    var hasPalette = false
    var hasOwnPalette = false
    /// The first colour of the frame's palette. Opaque black if there is no palette.
    var firstColor: UInt32 = 0
    /// The colour at the background index of the frame's palette, or 0 if there is no such colour.
    var backgroundColor: UInt32 = 0
    /// The colour at the transparent index of the frame's palette, or 0 if there is no such colour.
    var transparentColor: UInt32 = 0
    /// Whether decoders disagree about the frame's code size.
    var isUnusual = false
  }

  /// The stored size of the logical screen. The canvas may be larger.
  var screen = PixelSize(width: 0, height: 0)
  /// The colour at the background index of the global palette, or 0 if there is no such colour.
  var backgroundColor: UInt32 = 0
  /// Like ``backgroundColor``, but the last colour of the palette if the index lies past the end, and opaque black if
  /// there is no global palette.
  var nearestBackgroundColor = RGBA.black.word
  /// Whether each colour of the global palette is the grey whose level equals the index of the colour.
  var isGreyRamp = false
  var frames: [Frame] = []
  /// Whether a NETSCAPE2.0 block precedes the first frame.
  var hasNetscapeLoop = false
  /// The loop count in the last NETSCAPE2.0 block before the first frame, or nil if there is none.
  var netscapeLoopCount: Int?
  /// The index of the frame that follows the first extension without blocks, or nil if there is no such extension.
  var emptyExtension: Int?
}

extension GIFStructure {
  /// Reads the blocks of `image` up to its last frame. Decodes no pixels.
  init(_ image: AnimatedImage) throws(AnimatedImageError) {
    var cursor = ByteCursor(image)
    guard let header = try cursor.next(13) else { return }
    screen = PixelSize(
      width: Int(header[6]) | Int(header[7]) << 8, height: Int(header[8]) | Int(header[9]) << 8)
    let background = Int(header[11])
    var palette: [UInt32] = []
    if header[10] & 0x80 != 0 {
      palette = try Self.palette(&cursor, bits: header[10])
      backgroundColor = palette.indices.contains(background) ? palette[background] : 0
      nearestBackgroundColor = palette.isEmpty ? 0 : palette[min(background, palette.count - 1)]
      isGreyRamp = palette.indices.allSatisfy { palette[$0] & 0xff_ffff == 0x1_0101 * UInt32($0) }
    }
    var frame = Frame()
    while frames.count < image.frames.count, let byte = try cursor.next() {
      switch byte {
      case 0x21: guard try readExtension(&cursor, &frame) else { return }
      case 0x2c:
        guard let place = try cursor.next(9) else { return }
        func number(_ index: Int) -> Int { Int(place[index]) | Int(place[index + 1]) << 8 }
        frame.rect = PixelRect(x: number(0), y: number(2), width: number(4), height: number(6))
        frame.hasOwnPalette = place[8] & 0x80 != 0
        let colors =
          frame.hasOwnPalette ? try Self.palette(&cursor, bits: place[8]) : palette
        func color(_ index: Int) -> UInt32 { colors.indices.contains(index) ? colors[index] : 0 }
        frame.hasPalette = !colors.isEmpty
        frame.firstColor = colors.first ?? 0xff00_0000
        frame.backgroundColor = color(background)
        frame.transparentColor = frame.transparentIndex.map { color(Int($0)) } ?? 0
        guard let codeSize = try cursor.next() else { return }
        frame.isUnusual = !(2...8).contains(codeSize)
        frames.append(frame)
        frame = Frame()
        guard try Self.skipBlocks(&cursor) else { return }
      default: return
      }
    }
  }

  private static func palette(
    _ cursor: inout ByteCursor, bits: UInt8
  ) throws(AnimatedImageError) -> [UInt32] {
    var colors: [UInt32] = []
    for _ in 0..<2 << (bits & 7) {
      guard let color = try cursor.next(3) else { break }
      colors.append(RGBA(red: color[0], green: color[1], blue: color[2]).word)
    }
    return colors
  }

  /// Reads the rest of an extension whose introducer has been read. Returns false at the end of the file.
  private mutating func readExtension(
    _ cursor: inout ByteCursor, _ frame: inout Frame
  ) throws(AnimatedImageError) -> Bool {
    guard let label = try cursor.next(), let count = try cursor.next() else { return false }
    if count == 0 {
      if emptyExtension == nil { emptyExtension = frames.count }
      return true
    }
    guard let block = try cursor.next(Int(count)) else { return false }
    if label == 0xf9, block.count >= 4 {
      frame.hasControl = true
      frame.disposal = block[0] >> 2 & 7
      frame.transparentIndex = block[0] & 1 != 0 ? block[3] : nil
    } else if label == 0xff, frames.isEmpty, block.starts(with: Array("NETSCAPE2.0".utf8)) {
      hasNetscapeLoop = true
      guard let size = try cursor.next() else { return false }
      if size == 0 { return true }
      guard let number = try cursor.next(Int(size)) else { return false }
      if number.count >= 3 { netscapeLoopCount = Int(number[1]) | Int(number[2]) << 8 }
    }
    return try Self.skipBlocks(&cursor)
  }

  /// Skips sub-blocks and their terminator. Returns false at the end of the file.
  private static func skipBlocks(_ cursor: inout ByteCursor) throws(AnimatedImageError) -> Bool {
    while let count = try cursor.next() {
      if count == 0 { return true }
      cursor.offset += Int(count)
    }
    return false
  }
}
