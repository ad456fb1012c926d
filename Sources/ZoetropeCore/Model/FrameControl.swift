/// The properties of one frame that are known without decoding its pixels.
public struct FrameControl: Sendable, Hashable {
  // The order and the sizes of the fields matter, because the list of frames may be long. A frame takes 56 bytes; it
  // took 160 bytes when its properties were kept in two lists. Fields of 32 bits suffice: the file formats store the
  // position and the size of a rectangle in numbers of 16 or 31 bits, and a list of more than 2³² frames would take 240
  // GB.
  private let start: Int
  private var end: Int
  private let storedIndex: UInt32
  private let x: Int32
  private let y: Int32
  private let width: Int32
  private let height: Int32
  private let paletteCount: UInt16
  /// In a GIF frame, the palette index that leaves the canvas unchanged, or nil if there is no such index.
  package let transparentIndex: UInt8?

  /// The frame's position in the animation, counted from 0.
  public var index: Int { Int(storedIndex) }
  /// The frame's rectangle on the canvas, as the file stores it. The rectangle may reach past the canvas (in a GIF
  /// only) or be empty.
  public var rect: PixelRect {
    PixelRect(x: Int(x), y: Int(y), width: Int(width), height: Int(height))
  }
  /// The delay that the file stores, or 0 if it stores none, like a still PNG.
  public let delay: FrameDelay
  /// What happens to the pixels in ``rect`` before the next frame is drawn.
  public let disposal: DisposalMethod
  /// The operation that draws the frame onto the canvas.
  public let blend: BlendOperation
  /// Whether decoding can start at this frame, because neither this frame's composited picture nor any later one
  /// depends on an earlier frame.
  public let isIndependent: Bool
  /// Whether the rows are stored in interlaced order.
  public let isInterlaced: Bool
  /// The source of the frame's colours.
  package let palette: PaletteUse
  /// The number of entries in the local palette of a GIF frame, or 0 if the frame has no local palette.
  package var localPaletteCount: Int { Int(paletteCount) }
  /// The range of the file that contains the blocks or chunks with the frame's compressed pixels.
  public var byteRange: Range<Int> { start..<end }

  /// Creates the properties of a frame, for example to test code that displays them.
  ///
  /// By default, the frame is drawn over the canvas and kept, is not interlaced, and has no compressed bytes.
  package init(
    index: Int, rect: PixelRect, delay: FrameDelay, disposal: DisposalMethod = .keep,
    blend: BlendOperation = .over, isIndependent: Bool = false, isInterlaced: Bool = false,
    palette: PaletteUse = .none, byteRange: Range<Int> = 0..<0, localPaletteCount: Int = 0,
    transparentIndex: UInt8? = nil
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

  /// Sets the file offset at which the frame's compressed bytes end, once the offset is known.
  package mutating func end(at offset: Int) { end = offset }
}

/// What happens to a frame's rectangle before the next frame is drawn.
public enum DisposalMethod: UInt8, Sendable, Hashable {
  /// The frame stays on the canvas (GIF89a 23.c values 0, 1 and 5 to 7; APNG `NONE`).
  case keep
  /// The rectangle becomes transparent (GIF value 2, as browsers interpret it; APNG `BACKGROUND`).
  case background
  /// The rectangle reverts to its contents before the frame was drawn (GIF values 3 and 4; APNG `PREVIOUS`).
  case previous
}

/// How a frame is drawn onto the canvas.
public enum BlendOperation: UInt8, Sendable, Hashable {
  /// Every pixel of the frame, including its alpha, replaces the pixel of the canvas (APNG `SOURCE`).
  case source
  /// The frame is blended over the canvas (APNG `OVER`, and every GIF frame). In a GIF frame, the transparent index
  /// leaves the canvas unchanged.
  case over
}

/// The source of a frame's colours.
package enum PaletteUse: UInt8, Sendable, Hashable {
  /// The pixels contain colours; there is no palette.
  case none
  /// The palette of the whole file.
  case global
  /// The frame's local palette.
  case local
}
