/// The properties of one frame that are known without decoding its pixels.
public struct FrameControl: Sendable, Hashable {
  // Field order and sizes matter, because memory grows with the list of frames: 56 bytes per frame
  // instead of 160 in two lists. The formats store rectangles in 16 or 31 bits; an index past 32
  // bits would take a list of 240 GB.
  private let start: Int
  private var end: Int
  private let storedIndex: UInt32
  private let x: Int32
  private let y: Int32
  private let width: Int32
  private let height: Int32
  private let paletteCount: UInt16
  /// GIF: the palette index that leaves the canvas unchanged, or nil if there is none.
  package let transparentIndex: UInt8?

  /// The frame's position in the animation, from 0.
  public var index: Int { Int(storedIndex) }
  /// The frame's rectangle on the canvas, as stored. It may reach past the canvas (GIF only) or be
  /// empty.
  public var rect: PixelRect {
    PixelRect(x: Int(x), y: Int(y), width: Int(width), height: Int(height))
  }
  /// The stored delay.
  public let delay: FrameDelay
  /// The disposal of ``rect`` before the next frame.
  public let disposal: DisposalMethod
  /// The operation that draws the frame onto the canvas.
  public let blend: BlendOperation
  /// Whether decoding can start here: neither this frame's composited picture nor any later one
  /// depends on an earlier frame.
  public let isIndependent: Bool
  /// Whether the rows are stored in interlaced order.
  package let isInterlaced: Bool
  /// The source of the frame's colours.
  package let palette: PaletteUse
  /// GIF: entries in the frame's local palette, 0 if it has none.
  package var localPaletteCount: Int { Int(paletteCount) }
  /// The range of the file that contains the frame's compressed pixels.
  package var byteRange: Range<Int> { start..<end }

  /// Creates the properties of a frame, for example to test code that displays them.
  ///
  /// By default the frame is drawn over the canvas and kept, is not interlaced and has no bytes.
  package init(
    index: Int, rect: PixelRect, delay: FrameDelay, disposal: DisposalMethod = .keep,
    blend: BlendOperation = .over, isIndependent: Bool = false, isInterlaced: Bool = false,
    palette: PaletteUse = .none, byteRange: Range<Int> = 0..<0
  ) {
    self.init(
      index: index, rect: rect, delay: delay, disposal: disposal, blend: blend,
      isIndependent: isIndependent, isInterlaced: isInterlaced, palette: palette,
      byteRange: byteRange, localPaletteCount: 0, transparentIndex: nil)
  }

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

  /// Sets where the frame's bytes end, once that is known.
  package mutating func end(at offset: Int) { end = offset }
}

/// What happens to a frame's rectangle before the next frame is drawn.
public enum DisposalMethod: UInt8, Sendable, Hashable {
  /// The picture stays (GIF89a 23.c values 0, 1 and 5 to 7; APNG `NONE`).
  case keep
  /// The rectangle becomes transparent (GIF 2, as browsers read it; APNG `BACKGROUND`).
  case background
  /// The rectangle reverts to its contents before the frame (GIF 3 and 4; APNG `PREVIOUS`).
  case previous
}

/// How a frame is drawn onto the canvas.
public enum BlendOperation: UInt8, Sendable, Hashable {
  /// Every pixel of the frame, alpha included, replaces the canvas (APNG `SOURCE`).
  case source
  /// The frame is blended over the canvas (APNG `OVER`; GIF, whose transparent index leaves the
  /// canvas unchanged).
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
