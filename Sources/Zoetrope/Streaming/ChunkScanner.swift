/// Scans a GIF or PNG that arrives in chunks; the first byte tells which.
///
/// Always mutated in place: a copy would share the list of frames and force the next append to copy it.
struct ChunkScanner: Sendable {
  private let limits: DecodingLimits
  private var gif: GIFScanner?
  private var png: PNGScanner?

  init(limits: DecodingLimits) { self.limits = limits }

  /// What is known so far.
  var image: ScannedImage { gif?.image ?? png?.image ?? ScannedImage() }

  var frames: [FrameControl] { gif?.image.frames ?? png?.image.frames ?? [] }

  var frameCount: Int { gif?.image.frames.count ?? png?.image.frames.count ?? 0 }

  var header: ImageHeader? { gif?.image.header ?? png?.image.header }

  var playCount: PlayCount { gif?.image.playCount ?? png?.image.playCount ?? .once }

  /// See ``Scanning/arrivingFrame``.
  var arrivingFrame: FrameControl? { gif?.arrivingFrame ?? png?.arrivingFrame }

  var announcedFrames: Int? { gif?.announcedFrames ?? png?.announcedFrames }

  /// Damage from entry `start` of the list on.
  func damage(from start: Int) -> ArraySlice<Damage> {
    (gif?.image.damage ?? png?.image.damage ?? []).dropFirst(start)
  }

  /// See ``Scanning/isComplete``.
  var isComplete: Bool { gif?.isComplete ?? png?.isComplete ?? false }

  /// See ``Scanning/hasEndMarker``.
  var hasEndMarker: Bool { gif?.hasEndMarker ?? png?.hasEndMarker ?? false }

  /// See ``Scanning/keepFrames(_:)``.
  mutating func keepFrames(_ count: Int) {
    gif?.keepFrames(count)
    png?.keepFrames(count)
  }

  /// See ``Scanning/isCanvasKnown``.
  var isCanvasKnown: Bool { gif?.isCanvasKnown ?? png?.isCanvasKnown ?? false }

  /// See ``Scanning/skippableByteCount``.
  var skippableByteCount: Int { gif?.skippableByteCount ?? png?.skippableByteCount ?? 0 }

  /// See ``Scanning/skip(_:)``.
  mutating func skip(_ count: Int) {
    gif?.skip(count)
    png?.skip(count)
  }

  /// See ``Scanning/passOver(_:)``.
  mutating func passOver(_ count: Int) -> Bool {
    gif?.passOver(count) ?? png?.passOver(count) ?? false
  }

  mutating func feed(_ bytes: borrowing RawSpan) throws(AnimatedImageError) {
    guard bytes.byteCount > 0 else { return }
    if gif == nil, png == nil {
      if bytes[0] == PNGScanner.signature[0] {
        png = PNGScanner(limits: limits)
      } else {
        gif = GIFScanner(limits: limits)
      }
    }
    try gif?.feed(bytes)
    try png?.feed(bytes)
  }

  mutating func finish() throws(AnimatedImageError) {
    guard gif != nil || png != nil else {
      throw AnimatedImageError(.truncated, "the stream is empty", byteOffset: 0)
    }
    try gif?.finish()
    try png?.finish()
  }
}
