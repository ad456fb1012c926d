import Zoetrope

struct HTTPRanges: ByteRangeReading {
  let byteCount: Int
  let get: @Sendable (_ header: String) async throws -> [UInt8]

  func read(_ range: Range<Int>) async throws -> [UInt8] {
    try await get("Range: bytes=\(range.lowerBound)-\(range.upperBound - 1)")
  }
}

func samplesOfRemoteFiles(ranges: HTTPRanges) async throws -> [Bitmap] {
  let image = try await RemoteImage(reading: ranges)
  let middle = try await image.bitmap(at: image.frames.count / 2)
  let player = FrameScheduler(image)
  for try await frame in player.play() {
    show(frame.bitmap, at: frame.presentationTime)
  }
  print(image.statistics.readCount, image.statistics.byteCount)

  let data = ImageIndex(of: try AnimatedImage(contentsOf: "party.gif")).bytes

  let index = try ImageIndex(bytes: data)
  let remote = try await RemoteImage(reading: ranges, index: index)
  let frame = try await remote.bitmap(at: 500)  // one request, for the bytes of frame 500
  return [middle, frame]
}
