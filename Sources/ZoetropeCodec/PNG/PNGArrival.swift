/// Decodes a frame of an APNG, or the picture of a PNG, while its bytes arrive.
struct PNGArrival: ArrivalDecoding {
  let pixels = FramePixels()
  private(set) var progress = ArrivalProgress()
  private let reader: LibpngArrival?
  private var isOver: Bool
  /// The bytes received so far of the current chunk's length and type.
  private var head: [UInt8] = []
  /// The type of the chunks that contain the frame's data, or nil before the first chunk.
  private var type: UInt32?
  /// The numbers of bytes of the current chunk still to come. `gap` counts bytes to skip before the image data, `data`
  /// counts bytes of image data, and `tail` counts bytes of the CRC.
  private var (gap, data, tail) = (0, 0, 0)

  init(
    _ control: FrameControl, _ header: ImageHeader, keeps16Bit: Bool
  ) throws(AnimatedImageError) {
    pixels.resetForPNG(control.rect.size)
    isOver = control.rect.isEmpty
    reader = isOver ? nil : try LibpngArrival(header, keeps16Bit: keeps16Bit, into: pixels)
  }

  mutating func feed(_ bytes: borrowing RawSpan) {
    var position = 0
    while position < bytes.byteCount, !isOver {
      let rest = bytes.byteCount - position
      if gap > 0 {
        let count = min(gap, rest)
        gap -= count
        position += count
      } else if data > 0 {
        let count = min(data, rest)
        decode(bytes.extracting(position..<position + count))
        data -= count
        position += count
      } else if tail > 0 {
        let count = min(tail, rest)
        tail -= count
        position += count
      } else {
        head.append(bytes[position])
        position += 1
        if head.count == 8 { beginChunk() }
      }
    }
  }

  /// Begins a chunk whose length and type were received. All data chunks of a frame have the type of its first chunk.
  private mutating func beginChunk() {
    let (length, name) = (Int(head.bigEndian32(at: 0)), head.bigEndian32(at: 4))
    head = []
    if type == nil { type = name }
    gap = name != type ? length : name == PNGChunkType.frameData.code ? min(length, 4) : 0
    data = length - gap
    tail = 4
  }

  private mutating func decode(_ bytes: borrowing RawSpan) {
    guard let reader else { return }
    (progress, isOver) = reader.feed(bytes)
    pixels.content.validPixels = progress.shownRows * pixels.content.width
  }
}
