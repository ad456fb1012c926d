import Zoetrope
import ZoetropeTestSupport

/// Compares receiving a GIF of 10 MB in chunks with opening it whole. `bench-cache stream` runs only this.
enum StreamBench {
  static func run() async throws {
    let bytes = DeltaGIF.make(width: 640, height: 480, frameCount: 5600)
    CacheBench.report("stream.file", Double(bytes.count) / 1e6, "MB")
    let whole = try await time { _ = try await read(AnimatedImage(bytes: bytes)) }
    CacheBench.report("stream.whole", whole / 1e6, "ms")
    for size in [1, 64, 1000, 1 << 16] {
      let chunked = try await time {
        let image = try await StreamedImage(Chunks(bytes: bytes, size: size))
        var count = 0
        for try await _ in image.bitmaps() { count += 1 }
        precondition(count == 5600)
      }
      CacheBench.report("stream.chunks.\(size)", chunked / 1e6, "ms")
      CacheBench.report("stream.chunks.\(size).ratio", chunked / whole, "")
    }
  }

  private static func read(_ image: AnimatedImage) async throws -> Int {
    var count = 0
    for try await _ in image.bitmaps() { count += 1 }
    return count
  }

  private static func time(_ body: () async throws -> Void) async rethrows -> Double {
    let begin = ContinuousClock.now
    try await body()
    return begin.duration(to: .now) / .nanoseconds(1)
  }

  /// An array in chunks.
  private struct Chunks: AsyncSequence, Sendable {
    let bytes: [UInt8]
    let size: Int

    struct Iterator: AsyncIteratorProtocol {
      let chunks: Chunks
      var start = 0

      mutating func next() async -> [UInt8]? {
        guard start < chunks.bytes.count else { return nil }
        let end = Swift.min(start + chunks.size, chunks.bytes.count)
        defer { start = end }
        return Array(chunks.bytes[start..<end])
      }
    }

    func makeAsyncIterator() -> Iterator { Iterator(chunks: self) }
  }
}
