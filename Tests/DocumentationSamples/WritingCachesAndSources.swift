import Foundation
import Synchronization
import Zoetrope

final class PosterCache: FrameCaching {
  private let posters = Mutex<[FrameKey: CachedFrame]>([:])

  func frame(for key: FrameKey) -> CachedFrame? {
    posters.withLock { $0[key] }
  }

  func storeIfPossible(_ frame: CachedFrame, for key: FrameKey) {
    guard key.index == 0 else { return }
    posters.withLock { $0[key] = frame }
  }

  func remove(_ content: ContentIdentity) {
    posters.withLock { $0 = $0.filter { $0.key.animation.content != content } }
  }

  func removeAll() {
    posters.withLock { $0.removeAll() }
  }
}

actor ArchiveEntry: ByteRangeReading {
  let archive: FileHandle
  let start: Int
  let byteCount: Int

  init(in archive: FileHandle, at start: Int, byteCount: Int) {
    (self.archive, self.start, self.byteCount) = (archive, start, byteCount)
  }

  func read(_ range: Range<Int>) async throws -> [UInt8] {
    try archive.seek(toOffset: UInt64(start + range.lowerBound))
    return try [UInt8](archive.read(upToCount: range.count) ?? Data())
  }
}

func sampleOfFeeding(_ packets: AsyncStream<[UInt8]>) async throws {
  let (chunks, feed) = AsyncThrowingStream.makeStream(of: [UInt8].self)
  Task {
    for await packet in packets { feed.yield(packet) }
    feed.finish()  // or feed.finish(throwing: error): the frames so far are kept
  }
  let streamed = try await StreamedImage(chunks)
  for try await frame in streamed.bitmaps() {
    print(frame.index)
  }
}
