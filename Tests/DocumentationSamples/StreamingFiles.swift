import Zoetrope

func samplesOfStreaming() async throws {
  let streamed = try await StreamedImage(FileChunks(.standardInput))
  let player = FrameScheduler(streamed)
  for try await frame in player.play() {
    show(frame.bitmap, at: frame.presentationTime)
  }
  if let ending = await streamed.waitUntilEnded() { print(ending, player.statistics.stalls) }

  for try await frame in streamed.bitmaps() {
    print(frame.index, frame.dirtyRect, streamed.progress.byteCount)
  }

  for await _ in streamed.updates {
    if let partial = try await streamed.partialFrame() {
      print(partial.index, partial.completeRows, partial.rect.height)
    }
  }

  if let ending = await streamed.waitUntilEnded(), ending != .complete {
    print("only \(streamed.frameCount) frames: \(ending)")
  }

  let phases = FrameLoader.shared.phases(for: "stdin") { FileChunks(.standardInput) }
  for await phase in phases {
    if case .poster(let bitmap) = phase { show(bitmap, at: .zero) }
  }
}
