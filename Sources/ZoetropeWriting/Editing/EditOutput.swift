/// Passes bytes to a sink in large pieces. Many of the bytes are copied from the source.
struct EditOutput {
  private let source: any ByteSource
  private let sink: any AnimationSink
  private let isCancelled: @Sendable () -> Bool
  /// The buffer for reading from the source. It also keeps the bytes around a small read, which the next read may need.
  private var buffer = ReadBuffer()
  private var pending: [UInt8] = []
  private(set) var byteCount = 0

  /// The number of bytes passed to the sink at a time. It is large enough to amortize the calls, and small enough for a
  /// second-level cache.
  private static let pieceSize = 1 << 18

  init(
    _ source: any ByteSource, _ sink: any AnimationSink,
    isCancelled: @escaping @Sendable () -> Bool
  ) {
    (self.source, self.sink, self.isCancelled) = (source, sink, isCancelled)
    pending.reserveCapacity(2 * Self.pieceSize)
  }

  mutating func append(_ bytes: [UInt8]) throws(AnimatedImageError) {
    try pending.makeRoom(adding: bytes.count)
    pending += bytes
    if pending.count >= Self.pieceSize { try flush() }
  }

  /// Appends the bytes of the source in `range`. Calls `note` with each piece of them before that piece is appended.
  mutating func copy(
    _ range: Range<Int>, note: (borrowing RawSpan) -> Void = { _ in }
  ) throws(AnimatedImageError) {
    for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.pieceSize) {
      let piece = start..<min(start + Self.pieceSize, range.upperBound)
      // Move the array out of `self`, because the closure appends to it while `self` is in use.
      var pending: [UInt8] = []
      swap(&pending, &self.pending)
      let count = try source.withBytes(in: piece, buffer: &buffer) {
        (bytes) throws(AnimatedImageError) in
        note(bytes)
        pending.append(copying: bytes)
        return bytes.byteCount
      }
      swap(&pending, &self.pending)
      guard count == piece.count else {
        throw AnimatedImageError(
          .io, "the file became shorter while it was being copied", byteOffset: start + count)
      }
      if self.pending.count >= Self.pieceSize { try flush() }
    }
  }

  /// Returns the bytes of a small range of the source.
  mutating func bytes(_ range: Range<Int>) throws(AnimatedImageError) -> [UInt8] {
    try source.copy(range, &buffer)
  }

  /// Returns the chunks of a PNG in `range`; see ``PNGStructureMap``.
  mutating func chunks(in range: Range<Int>) throws(AnimatedImageError) -> [PNGStructureMap.Chunk] {
    var found: [PNGStructureMap.Chunk] = []
    try PNGStructureMap.forEachChunk(in: range, source, &buffer) { chunk in
      found.append(chunk)
      return true
    }
    return found
  }

  mutating func flush() throws(AnimatedImageError) {
    if isCancelled() { throw AnimatedImageError(.cancelled, "stopped while writing") }
    guard !pending.isEmpty else { return }
    byteCount += pending.count
    try sink.makeRoom(for: pending.count)
    try sink.write(pending)
    pending.removeAll(keepingCapacity: true)
  }
}

extension ByteSource {
  /// Returns a copy of the bytes in `range`.
  func copy(
    _ range: Range<Int>, _ buffer: inout ReadBuffer
  ) throws(AnimatedImageError) -> [UInt8] {
    try withBytes(in: range, buffer: &buffer) { (bytes) throws(AnimatedImageError) in
      guard bytes.byteCount == range.count else {
        throw AnimatedImageError(
          .io, "the file became shorter while it was being copied", byteOffset: range.lowerBound)
      }
      var copy: [UInt8] = []
      try copy.makeRoom(adding: bytes.byteCount)
      copy.append(copying: bytes)
      return copy
    }
  }
}
