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
  ///   - mode: How they are drawn. Default: nil, the best way that the terminal has.
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

  /// Replaces `output` with the bytes that show `bitmap`; it is empty when nothing changes.
  ///
  /// - Parameters:
  ///   - bitmap: The picture, in `PixelFormat.rgba8`.
  ///   - changed: Where it may differ from the picture before; nil when unknown.
  ///   - output: Where the bytes go; its capacity is reused.
  public mutating func frame(
    _ bitmap: Bitmap, changed: PixelRect? = nil, into output: inout [UInt8]
  ) {
    frame(bitmap, changed: changed, into: &output, status: { _, _ in })
  }

  /// Like ``frame(_:changed:into:)``, with more to write, and given up on request.
  ///
  /// - Parameters:
  ///   - bitmap: The picture, in `PixelFormat.rgba8`.
  ///   - changed: Where it may differ from the picture before; nil when unknown.
  ///   - output: Where the bytes go; its capacity is reused.
  ///   - status: Appends more to the same write, such as a status line.
  ///   - isWanted: Called periodically while a large picture is encoded; returns false to give up. Default:
  ///     always true.
  /// - Returns: False once `isWanted` has returned false; then `output` is empty, and the next frame is sent
  ///   whole.
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

/// A cache of encoded frames, so that later plays of a loop need no encoding.
///
/// A delta is valid only after the state it was made from. Each entry is therefore keyed by the state before
/// it. It keeps a snapshot of the writer after it (without its picture), from which encoding continues if the
/// next frame is not cached. With a hold threshold the second play may differ from the first; equal states
/// share an entry, so the entries soon form a ring.
package struct DeltaCache: Sendable {
  /// The state of the terminal after a delta.
  package struct State: Sendable, Hashable {
    fileprivate let hash: Int
    fileprivate let pen: PenState
    fileprivate let frame: Int
  }

  private struct Key: Sendable, Hashable {
    let before: State?
    let frame: Int
  }

  private struct Entry: Sendable {
    let bytes: [UInt8]
    let writer: FrameWriter
    let state: State
  }

  /// The number of bytes that may be kept, snapshots included.
  package let byteLimit: Int
  /// The number of bytes that are kept.
  package private(set) var byteCount = 0
  /// How often a frame was found.
  package private(set) var hitCount = 0
  private var entries: [Key: Entry] = [:]
  private var current: State?

  /// Creates a cache of at most `byteLimit` bytes; once it is full, nothing more is added.
  package init(byteLimit: Int = 16 << 20) { self.byteLimit = byteLimit }

  /// Returns the bytes that show frame `index` after the frame before, or nil when they are not
  /// cached.
  ///
  /// On success `writer` is in the state after encoding `bitmap`, which is the frame.
  package mutating func bytes(
    forFrame index: Int, showing bitmap: Bitmap, writer: inout FrameWriter
  ) -> [UInt8]? {
    guard let entry = entries[Key(before: current, frame: index)] else { return nil }
    hitCount += 1
    writer = entry.writer
    writer.encoder.resume(showing: bitmap)
    current = entry.state
    return entry.bytes
  }

  /// Adds the encoded bytes of frame `index`; `writer` is the writer after that.
  package mutating func insert(_ bytes: [UInt8], forFrame index: Int, writer: FrameWriter) {
    let state = State(hash: writer.encoder.stateHash, pen: writer.pen, frame: index)
    let key = Key(before: current, frame: index)
    current = state
    let cost = bytes.count + writer.encoder.stateByteCount + 256
    guard entries[key] == nil, byteCount + cost <= byteLimit else { return }
    var kept = writer
    kept.encoder = writer.encoder.withoutPicture()
    entries[key] = Entry(bytes: bytes, writer: kept, state: state)
    byteCount += cost
  }

  /// Notes that the terminal no longer shows the last frame; entries are kept.
  package mutating func leave() { current = nil }

  /// Removes all entries, for instance after a resize.
  package mutating func removeAll() {
    entries.removeAll()
    byteCount = 0
    current = nil
  }
}
