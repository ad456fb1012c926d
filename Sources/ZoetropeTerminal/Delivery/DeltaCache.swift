package import ZoetropeFrames

/// A cache of encoded frames. With it, later plays of a loop need no encoding.
///
/// The bytes of a frame are a delta, which is valid only in the state of the terminal for which it was made, so an
/// entry is found by the index of its frame and the state before the delta. An entry also contains a snapshot of the
/// writer after the delta, without its picture. If the next frame is not cached, encoding continues from this snapshot.
/// If the hold threshold is above 0, the states of the second play may differ from those of the first, and the frames
/// are then encoded again. After some plays, the states of a loop repeat, and the frames are found in the cache.
package struct DeltaCache: Sendable {
  /// The state of the terminal after a delta was written.
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

  /// The maximum number of bytes to keep, including the snapshots.
  package let byteLimit: Int
  /// The number of bytes kept now.
  package private(set) var byteCount = 0
  private var entries: [Key: Entry] = [:]
  private var current: State?

  /// Creates a cache of at most `byteLimit` bytes. Once the cache is full, no more entries are added.
  package init(byteLimit: Int = 16 << 20) { self.byteLimit = byteLimit }

  /// Returns the bytes that show frame `index` after the previous frame, or nil if these bytes are not cached.
  ///
  /// If they are cached, `writer` becomes the writer as it was after encoding `bitmap`, which is the picture of the
  /// frame.
  package mutating func bytes(
    forFrame index: Int, showing bitmap: Bitmap, writer: inout FrameWriter
  ) -> [UInt8]? {
    guard let entry = entries[Key(before: current, frame: index)] else { return nil }
    writer = entry.writer
    writer.encoder.resume(showing: bitmap)
    current = entry.state
    return entry.bytes
  }

  /// Adds the encoded bytes of frame `index`. `writer` is the writer after encoding the frame.
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

  /// Records that the terminal no longer shows the last frame. The entries are kept.
  package mutating func leave() { current = nil }

  /// Removes all entries, for example after a resize.
  package mutating func removeAll() {
    entries.removeAll()
    byteCount = 0
    current = nil
  }
}
