import Zoetrope

func samplesOfCompositing(_ image: AnimatedImage) async throws {
  for try await frame in image.bitmaps() {
    let control = image.frames[frame.index]
    print(control.rect, control.disposal, control.blend, frame.dirtyRect)
  }

  let reader = FrameReader(image)
  while let frame = try reader.next() {
    upload(frame.bitmap, in: frame.dirtyRect)
  }

  let frames = StoredFrameReader(image)
  if let stored = try frames.frame(at: 3) {
    print(stored.bitmap.size == image.frames[3].rect.size)
  }
}
