public import Zoetrope

/// Turns pictures into the one write that each of them costs.
///
/// Puts the marks of synchronized output round what changes, and keeps the pen between writes.
public struct FrameWriter: Sendable {
  /// Draws the pictures; replace it to draw in another way or place.
  public var encoder: any FrameEncoding
  /// Whether the marks of mode 2026 are written.
  public var isSynchronized: Bool
  /// What is known of the cursor and colours.
  public var pen = PenState.unknown

  /// A writer that draws with `encoder`.
  public init(encoder: any FrameEncoding, isSynchronized: Bool) {
    self.encoder = encoder
    self.isSynchronized = isSynchronized
  }

  /// Fills `output` with all bytes that show `bitmap`: empty when nothing changes.
  ///
  /// `status` may append more, such as a status line, inside the same marks; it gets the pen.
  public mutating func frame(
    _ bitmap: Bitmap, changed: PixelRect? = nil, into output: inout [UInt8],
    status: (inout PenState, inout [UInt8]) -> Void = { _, _ in }
  ) {
    output.removeAll(keepingCapacity: true)
    if isSynchronized { output.append(ascii: "\u{1B}[?2026h") }
    let start = output.count
    encoder.encode(bitmap, changed: changed, pen: &pen, into: &output)
    status(&pen, &output)
    if output.count == start {
      output.removeAll(keepingCapacity: true)
    } else if isSynchronized {
      output.append(ascii: "\u{1B}[?2026l")
    }
  }

  /// Forgets everything: the next frame is sent whole.
  ///
  /// For a resize, a resume, or when something else wrote to the terminal.
  public mutating func invalidate() {
    pen = .unknown
    encoder.invalidate()
  }
}

/// Keeps the bytes of a loop's frames, so that later plays cost no encoding.
///
/// A delta is right only after the very state it was made from. Each entry therefore names the
/// state before it and keeps a snapshot of the writer after it, less its picture, which is also
/// where encoding goes on when the next frame is not at hand. With a hold threshold the second play may differ from
/// the first one; states that turn out the same are joined, so the entries soon close into a ring.
public struct DeltaCache: Sendable {
  /// A state of the terminal that a delta leads to.
  public struct State: Sendable, Hashable {
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

  /// Bytes that may be kept, snapshots included.
  public let byteLimit: Int
  /// Bytes that are kept.
  public private(set) var byteCount = 0
  /// Frames that were found.
  public private(set) var hitCount = 0
  private var entries: [Key: Entry] = [:]
  private var current: State?

  /// A cache of at most `byteLimit` bytes; once it is full nothing more is kept.
  public init(byteLimit: Int = 16 << 20) { self.byteLimit = byteLimit }

  /// The bytes that show frame `index` after what `writer` shows, when they are kept.
  ///
  /// `bitmap` is that frame. On success `writer` is what it would be after encoding.
  public mutating func bytes(
    forFrame index: Int, showing bitmap: Bitmap, writer: inout FrameWriter
  ) -> [UInt8]? {
    guard let entry = entries[Key(before: current, frame: index)] else { return nil }
    hitCount += 1
    writer = entry.writer
    writer.encoder.resume(showing: bitmap)
    current = entry.state
    return entry.bytes
  }

  /// Keeps what was just encoded for frame `index`; `writer` is as it was left.
  public mutating func insert(_ bytes: [UInt8], forFrame index: Int, writer: FrameWriter) {
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

  /// Says that the terminal no longer shows what was written last; entries are kept.
  public mutating func leave() { current = nil }

  /// Forgets all entries, as after a resize.
  public mutating func removeAll() {
    entries.removeAll()
    byteCount = 0
    current = nil
  }
}
