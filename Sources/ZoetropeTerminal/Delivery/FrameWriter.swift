public import ZoetropeFrames

/// Turns each picture into the bytes of a single write.
///
/// Wraps them in synchronized output, and keeps the state of the pen between writes.
public struct FrameWriter: Sendable {
  /// The encoder; replace it to draw in another way or place.
  package var encoder: any FrameEncoding
  /// Whether each write is wrapped in synchronized output (mode 2026).
  package var isSynchronized: Bool
  /// What is known about the cursor and colours.
  package var pen = PenState.unknown

  /// Creates a writer of pictures in one place.
  ///
  /// - Parameters:
  ///   - pictureSize: The size of the pictures to come.
  ///   - layout: Where they go.
  ///   - screen: The terminal's screen.
  ///   - capabilities: What the terminal can do.
  ///   - mode: How they are drawn. Default: nil, the best mode that the terminal supports.
  ///   - options: How they are encoded.
  public init(
    of pictureSize: PixelSize, in layout: FrameLayout, on screen: ScreenSize,
    capabilities: TerminalCapabilities, mode: DrawingMode? = nil,
    options: EncodingOptions = EncodingOptions()
  ) {
    let mode = mode ?? DrawingMode(best: capabilities)
    self.init(
      encoder: mode.encoder(
        layout: layout, screen: screen, pictureSize: pictureSize, capabilities: capabilities,
        options: options),
      isSynchronized: capabilities.hasSynchronizedOutput)
  }

  /// The size in pixels at which pictures are shown; pictures of this size need no scaling.
  public var pixelSize: PixelSize { encoder.pixelSize }

  /// Creates a writer that draws with `encoder`.
  package init(encoder: any FrameEncoding, isSynchronized: Bool) {
    self.encoder = encoder
    self.isSynchronized = isSynchronized
  }

  /// Replaces `output` with the bytes that draw `bitmap`; it is empty when nothing changes.
  ///
  /// - Parameters:
  ///   - bitmap: The picture. Other formats than `PixelFormat.rgba8` are converted to that first.
  ///   - changed: Where it may differ from the picture before; nil when unknown.
  ///   - output: Where the bytes go; its capacity is reused.
  /// - Throws: `outOfMemory` if the converted picture cannot be allocated.
  public mutating func draw(
    _ bitmap: Bitmap, changed: PixelRect? = nil, into output: inout [UInt8]
  ) throws(AnimatedImageError) {
    frame(try bitmap.converted(to: .rgba8), changed: changed, into: &output)
  }

  /// Like ``draw(_:changed:into:)``, but can append more to the same write, and can be given up.
  ///
  /// - Parameters:
  ///   - bitmap: The picture, in `PixelFormat.rgba8`.
  ///   - changed: Where it may differ from the picture before; nil when unknown.
  ///   - output: Where the bytes go; its capacity is reused.
  ///   - status: Appends more to the same write, such as a status line.
  ///   - isWanted: Called periodically while a large picture is encoded; returns false to give up. Default: always
  ///     true.
  /// - Returns: False once `isWanted` has returned false; then `output` is empty, and the next frame is sent whole.
  @discardableResult
  package mutating func frame(
    _ bitmap: Bitmap, changed: PixelRect? = nil, into output: inout [UInt8],
    status: (inout PenState, inout [UInt8]) -> Void = { _, _ in },
    while isWanted: () -> Bool = { true }
  ) -> Bool {
    output.removeAll(keepingCapacity: true)
    if isSynchronized { output.append(ascii: "\u{1B}[?2026h") }
    let start = output.count
    guard encoder.encode(bitmap, changed: changed, pen: &pen, into: &output, while: isWanted) else {
      output.removeAll(keepingCapacity: true)
      return false
    }
    status(&pen, &output)
    if output.count == start {
      output.removeAll(keepingCapacity: true)
    } else if isSynchronized {
      output.append(ascii: "\u{1B}[?2026l")
    }
    return true
  }

  /// Discards the known screen contents, so that the next frame is sent whole.
  ///
  /// Call it after a resize, after a resume, or when something else wrote to the terminal.
  public mutating func invalidate() {
    pen = .unknown
    encoder.invalidate()
  }
}
