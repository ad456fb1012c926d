public import Zoetrope

/// An image descriptor with its data, valid or malformed.
public struct GIFFrame: Sendable, Hashable {
  /// The stored rectangle; each field is truncated to 16 bits.
  public var rect: PixelRect
  /// The palette indices in the order of the picture, top row first.
  public var indices: [UInt8]
  /// The frame's own palette.
  public var palette: GIFPalette?
  /// Whether the rows are stored in the interlaced order.
  public var isInterlaced = false
  /// How the code stream is written.
  public var lzw = LZWOptions()
  /// The largest data sub-block, 1 to 255.
  public var blockSize = 255
  /// Bytes of the code stream to keep; nil for all.
  public var dataLimit: Int?
  /// Whether there is any data after the code size; if not, a terminator follows directly.
  public var hasData = true
  /// Whether the block terminator is written.
  public var isTerminated = true
  /// Whole sub-blocks after the code stream, before the terminator.
  public var extraBlocks: [[UInt8]] = []

  /// A frame with correct data.
  public init(rect: PixelRect, indices: [UInt8], palette: GIFPalette? = nil) {
    self.rect = rect
    self.indices = indices
    self.palette = palette
  }

  /// The descriptor and everything up to the terminator.
  var bytes: [UInt8] {
    var bytes: [UInt8] = [0x2c]
    for value in [rect.x, rect.y, rect.width, rect.height] {
      let word = UInt16(truncatingIfNeeded: value)
      bytes += [UInt8(word & 255), UInt8(word >> 8)]
    }
    var flags: UInt8 = isInterlaced ? 0x40 : 0
    if let palette { flags |= 0x80 | (palette.isSorted ? 0x20 : 0) | palette.sizeField }
    bytes.append(flags)
    if let palette { bytes += palette.bytes }
    return bytes + data
  }

  private var data: [UInt8] {
    let stored = isInterlaced ? interlacedIndices : indices
    var options = lzw
    let size = lzw.minimumCodeSize ?? LZWEncoder.minimumCodeSize(for: stored)
    options.minimumCodeSize = size
    var bytes = [lzw.declaredCodeSize ?? UInt8(truncatingIfNeeded: size)]
    if hasData {
      let stream = LZWEncoder.encode(stored, options: options)
      bytes += GIFBuilder.subBlocks(
        Array(stream.prefix(dataLimit ?? stream.count)), blockSize: blockSize)
      for block in extraBlocks { bytes += GIFBuilder.subBlocks(block) }
    }
    return bytes + (isTerminated ? [0] : [])
  }

  /// The rows in the order 0, 8, 16 …; 4, 12 …; 2, 6 …; 1, 3 … (GIF89a, appendix E).
  private var interlacedIndices: [UInt8] {
    guard rect.width > 0, indices.count >= rect.width * rect.height else { return indices }
    var result: [UInt8] = []
    for (first, step) in [(0, 8), (4, 8), (2, 4), (1, 2)] {
      for row in stride(from: first, to: rect.height, by: step) {
        result += indices[row * rect.width..<(row + 1) * rect.width]
      }
    }
    return result
  }
}
