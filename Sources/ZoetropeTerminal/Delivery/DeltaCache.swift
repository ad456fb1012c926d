package import ZoetropeFrames

/// A cache of encoded frames, so that later plays of a loop need no encoding.
///
/// A delta is valid only after the state it was made from, so each entry is keyed by the state before it. An entry also
/// holds a snapshot of the writer after the delta (without its picture), from which encoding continues if the next
/// frame is not cached. With a hold threshold the second play may differ from the first. Equal states share an entry,
/// so the entries soon form a ring.
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

  /// Returns the bytes that show frame `index` after the frame before, or nil when they are not cached.
  ///
  /// On success `writer` is in the state after encoding `bitmap`, the picture of the frame.
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
