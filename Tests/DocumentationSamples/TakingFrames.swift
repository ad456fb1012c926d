import Zoetrope

func samplesOfTakingFrames(of image: AnimatedImage) async throws -> UInt64 {
  var checksum: UInt64 = 0
  for try await frame in image.bitmaps() {
    print(frame.index, frame.bitmap.size, frame.dirtyRect)
  }
  try Task.checkCancellation()

  let reader = FrameReader(image)
  while let frame = try reader.next() {
    checksum &+= UInt64(frame.bitmap[0, 0].alpha)
  }

  let last = try await image.bitmap(at: image.frames.count - 1)
  let halfway = try await image.bitmap(at: .milliseconds(1500))

  let frame = try await image.frame(at: 3)
  if let damage = frame.damage { print(damage) }

  let grey = try last.converted(to: .gray8)
  let file = try PNGEncoder().encode(halfway)

  let panel = try last.converted(to: .rgb565)
  let pixels = panel.words(row: 0)  // a Span<UInt16>, in the machine's byte order
  let update = panel.bigEndianBytes(in: PixelRect(x: 0, y: 0, width: 64, height: 16))
  let paper = try last.ditheredBits()  // black and white, eight pixels to a byte
  checksum &+= UInt64(pixels[0]) &+ UInt64(update.count + paper.count)
  return checksum &+ UInt64(grey.bytesPerRow + file.count)
}
