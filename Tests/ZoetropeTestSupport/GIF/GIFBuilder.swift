/// Writes a GIF block by block, valid or malformed.
///
/// Nothing is checked and nothing is added: ``bytes`` has only what was requested.
///
/// ```swift
/// var gif = GIFBuilder()
/// gif.signature()
/// gif.screen(width: 1, height: 1, palette: GIFPalette([RGBA(red: 255, green: 0, blue: 0)]))
/// gif.frame(GIFFrame(rect: PixelRect(x: 0, y: 0, width: 1, height: 1), indices: [0]))
/// gif.trailer()
/// ```
public struct GIFBuilder: Sendable {
  /// The file so far.
  public private(set) var bytes: [UInt8] = []

  /// An empty file.
  public init() {}

  /// Appends the signature and version. Default: `GIF89a`.
  public mutating func signature(_ text: String = "GIF89a") { bytes += Array(text.utf8) }

  /// Appends the logical screen descriptor, and the global palette when there is one.
  public mutating func screen(
    width: Int, height: Int, palette: GIFPalette? = nil, background: UInt8 = 0, aspect: UInt8 = 0
  ) {
    word(width)
    word(height)
    var flags: UInt8 = 0x70
    if let palette { flags |= 0x80 | (palette.isSorted ? 8 : 0) | palette.sizeField }
    bytes += [flags, background, aspect]
    if let palette { bytes += palette.bytes }
  }

  /// Appends a graphic control extension.
  public mutating func graphicControl(_ control: GIFGraphicControl) { bytes += control.bytes }

  /// Appends an image descriptor with its palette and data.
  public mutating func frame(_ frame: GIFFrame) { bytes += frame.bytes }

  /// Appends the trailer, `;`.
  public mutating func trailer() { bytes.append(0x3b) }

  /// Appends these bytes as they are.
  public mutating func raw(_ more: some Sequence<UInt8>) { bytes += more }

  /// Keeps the first `count` bytes; a negative count drops that many from the end.
  public mutating func truncate(to count: Int) {
    bytes.removeLast(
      bytes.count - min(max(count < 0 ? bytes.count + count : count, 0), bytes.count))
  }

  mutating func word(_ value: Int) {
    let word = UInt16(truncatingIfNeeded: value)
    bytes += [UInt8(word & 255), UInt8(word >> 8)]
  }

  /// Data as sub-blocks of at most `blockSize` bytes, without a terminator.
  public static func subBlocks(_ data: [UInt8], blockSize: Int = 255) -> [UInt8] {
    let size = min(max(blockSize, 1), 255)
    var result: [UInt8] = []
    for start in stride(from: 0, to: data.count, by: size) {
      let block = data[start..<min(start + size, data.count)]
      result.append(UInt8(block.count))
      result += block
    }
    return result
  }
}
