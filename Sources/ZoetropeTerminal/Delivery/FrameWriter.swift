public import ZoetropeFrames

/// Converts each picture to the bytes of a single write.
///
/// The writer wraps the bytes in the sequences for synchronized output, and keeps track of the terminal's cursor and
/// colours between writes.
public struct FrameWriter: Sendable {
  /// The encoder. Replace it to draw in another way or in another place.
  package var encoder: any FrameEncoding
  /// Whether each write is wrapped in synchronized output (mode 2026).
  package var isSynchronized: Bool
  /// What is known about the terminal's cursor and colours.
  package var pen = PenState.unknown

  /// Creates a writer for pictures that are drawn in the same place.
  ///
  /// - Parameters:
  ///   - pictureSize: The size of the pictures to draw.
  ///   - layout: The place of the pictures on the screen.
  ///   - screen: The size of the terminal's screen.
  ///   - capabilities: The capabilities of the terminal.
  ///   - mode: The way in which pictures are drawn. Default: nil, which selects the best mode that the terminal
  ///     supports.
  ///   - options: The encoding options. Default: `EncodingOptions()`.
  public init(
    of pictureSize: PixelSize, in layout: FrameLayout, on screen: ScreenSize,
    capabilities: TerminalCapabilities, mode: DrawingMode? = nil,
    options: EncodingOptions = EncodingOptions()
  ) {
    let mode = mode?.confirmed(by: capabilities) ?? DrawingMode(best: capabilities)
    self.init(
      encoder: mode.encoder(
        layout: layout, screen: screen, pictureSize: pictureSize, capabilities: capabilities,
        options: options),
      isSynchronized: capabilities.hasSynchronizedOutput)
  }

  /// The size in pixels at which pictures are shown. Pictures of this size need not be scaled.
  public var pixelSize: PixelSize { encoder.pixelSize }

  /// Creates a writer that draws with `encoder`.
  package init(encoder: any FrameEncoding, isSynchronized: Bool) {
    self.encoder = encoder
    self.isSynchronized = isSynchronized
  }

  /// Replaces the contents of `output` with the bytes that draw `bitmap`. If nothing changes on the screen, `output` is
  /// empty.
  ///
  /// - Parameters:
  ///   - bitmap: The picture. A bitmap in a format other than `PixelFormat.rgba8` is first converted to
  ///     `PixelFormat.rgba8`.
  ///   - changed: The rectangle in which the picture may differ from the previous one, or nil if unknown.
  ///   - output: The array that receives the bytes. Its capacity is reused.
  /// - Throws: `outOfMemory` if the converted picture cannot be allocated.
  public mutating func draw(
    _ bitmap: Bitmap, changed: PixelRect? = nil, into output: inout [UInt8]
  ) throws(AnimatedImageError) {
    frame(try bitmap.converted(to: .rgba8), changed: changed, into: &output)
  }

  /// Replaces the contents of `output` like ``draw(_:changed:into:)``, but can be interrupted.
  ///
  /// - Parameters:
  ///   - bitmap: The picture, in `PixelFormat.rgba8`.
  ///   - changed: The rectangle in which the picture may differ from the previous one, or nil if unknown.
  ///   - output: The array that receives the bytes. Its capacity is reused.
  ///   - isWanted: A closure that is called repeatedly while a large picture is encoded, and returns false to interrupt
  ///     the encoding. Default: a closure that returns true.
  /// - Returns: False if `isWanted` returned false. In this case, `output` is empty, and the next frame is sent whole.
  @discardableResult
  package mutating func frame(
    _ bitmap: Bitmap, changed: PixelRect? = nil, into output: inout [UInt8],
    while isWanted: () -> Bool = { true }
  ) -> Bool {
    output.removeAll(keepingCapacity: true)
    if isSynchronized { output.append(ascii: "\u{1B}[?2026h") }
    let start = output.count
    guard encoder.encode(bitmap, changed: changed, pen: &pen, into: &output, while: isWanted) else {
      output.removeAll(keepingCapacity: true)
      return false
    }
    if output.count == start {
      output.removeAll(keepingCapacity: true)
    } else if isSynchronized {
      output.append(ascii: "\u{1B}[?2026l")
    }
    return true
  }

  /// Discards what is known about the screen, so that the next frame is sent whole.
  ///
  /// Call this method after a resize, after the program was resumed, or if another program has written to the terminal.
  public mutating func invalidate() {
    pen = .unknown
    encoder.invalidate()
  }
}
