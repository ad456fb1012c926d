/// What is known of one frame without decoding its pixels.
public struct FrameControl: Sendable, Hashable {
  // Kept small, in this order: the list of frames is what memory grows with, 56 bytes each instead of
  // 160 in two lists. Formats have 16 and 31 bits for the numbers of a rectangle; a place past 32 bits
  // would take a list of 240 GB.
  private let start: Int
  private var end: Int
  private let storedIndex: UInt32
  private let x: Int32
  private let y: Int32
  private let width: Int32
  private let height: Int32
  private let paletteCount: UInt16
  /// GIF: the palette index that leaves the canvas as it is; nil when there is none.
  package let transparentIndex: UInt8?

  /// Its place in the animation, from 0.
  public var index: Int { Int(storedIndex) }
  /// Where it lies on the canvas, as stored; it may reach past the canvas (GIF only) or be empty.
  public var rect: PixelRect {
    PixelRect(x: Int(x), y: Int(y), width: Int(width), height: Int(height))
  }
  /// How long the file asks for it to be shown.
  public let delay: FrameDelay
  /// What happens to ``rect`` before the next frame.
  public let disposal: DisposalMethod
  /// How it is put on the canvas.
  public let blend: BlendOperation
  /// Whether decoding can start here: neither this frame's composited picture nor a later one's needs
  /// an earlier frame.
  public let isIndependent: Bool
  /// Whether its rows are stored in interlaced order.
  public let isInterlaced: Bool
  /// Where its colours come from.
  public let palette: PaletteUse
  /// GIF: entries of the frame's own palette, 0 when it has none.
  package var localPaletteCount: Int { Int(paletteCount) }
  /// The bytes of the file from which its pixels are decoded.
  public var byteRange: Range<Int> { start..<end }

  package init(
    index: Int, rect: PixelRect, delay: FrameDelay, disposal: DisposalMethod,
    blend: BlendOperation, isIndependent: Bool, isInterlaced: Bool, palette: PaletteUse,
    byteRange: Range<Int>, localPaletteCount: Int = 0, transparentIndex: UInt8? = nil
  ) {
    storedIndex = UInt32(clamping: index)
    x = Int32(clamping: rect.x)
    y = Int32(clamping: rect.y)
    width = Int32(clamping: rect.width)
    height = Int32(clamping: rect.height)
    self.delay = delay
    self.disposal = disposal
    self.blend = blend
    self.isIndependent = isIndependent
    self.isInterlaced = isInterlaced
    self.palette = palette
    paletteCount = UInt16(clamping: localPaletteCount)
    self.transparentIndex = transparentIndex
    start = byteRange.lowerBound
    end = byteRange.upperBound
  }

  /// Says where the bytes of the frame end, once that is known.
  package mutating func end(at offset: Int) { end = offset }
}
