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

  let grey = try last.converted(to: .grey8)
  let file = try PNGEncoder().encode(halfway)
  return checksum &+ UInt64(grey.bytesPerRow + file.count)
}
