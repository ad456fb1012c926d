import Zoetrope

func samplesOfStreaming(
  range: Range<Int>, fetch: (Range<Int>) async throws -> [UInt8]
) async throws -> [UInt8]? {
  let streamed = try await StreamedImage(FileChunks(.standardInput))
  let player = FrameScheduler(streamed)
  for try await frame in player.frames() {
    show(frame.bitmap, at: frame.presentationTime)
  }
  if let ending = await streamed.ending() { print(ending, player.statistics.stalls) }

  for try await frame in streamed.bitmaps() {
    print(frame.index, frame.dirtyRect, streamed.progress.byteCount)
  }

  for await _ in streamed.updates {
    if let partial = try await streamed.partialFrame() {
      print(partial.index, partial.completeRows, partial.rect.height)
    }
  }

  if let ending = await streamed.ending(), ending != .complete {
    print("only \(streamed.frameCount) frames: \(ending)")
  }

  let phases = FrameLoader.shared.phases(for: "stdin") { FileChunks(.standardInput) }
  for await phase in phases {
    if case .poster(let bitmap) = phase { show(bitmap, at: .zero) }
  }

  let cache = ByteRangeCache(byteLimit: 8 << 20)
  for gap in cache.missing(in: range) {
    cache.set(try await fetch(gap), at: gap.lowerBound)
  }
  let bytes = cache.data(for: range)
  return bytes
}
