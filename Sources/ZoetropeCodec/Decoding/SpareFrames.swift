/// Memory of frames that were drawn, for those to come.
///
/// Each side of `DecodeAhead` gets back what it filled itself: that lies in its core's cache, where
/// memory that the other core has written has to be fetched and taken away from there, line by line.
/// A frame took up to half as long again when both sides used each other's; that this is why is not
/// shown by a counter.
struct SpareFrames {
  private var consumer: [FramePixels] = []
  private var helper: [FramePixels] = []
  /// Bytes that all of them hold.
  private(set) var byteCount = 0

  /// Memory for a frame of `needed` bytes; nil when that should be new, as there is `room` for it.
  func next(for side: DecodeSide, needed: Int, room: Int) -> FramePixels? {
    let (own, other) = side == .consumer ? (consumer, helper) : (helper, consumer)
    return own.last ?? (needed <= room ? nil : other.last)
  }

  /// Takes what ``next(for:needed:room:)`` gave.
  mutating func remove(_ pixels: FramePixels) {
    let removed = pixels.side == .consumer ? consumer.popLast() : helper.popLast()
    byteCount -= removed?.storage.byteCount ?? 0
  }

  mutating func append(_ pixels: FramePixels) {
    byteCount += pixels.storage.byteCount
    if pixels.side == .consumer { consumer.append(pixels) } else { helper.append(pixels) }
  }
}
