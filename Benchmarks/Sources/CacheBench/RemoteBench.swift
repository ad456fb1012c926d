import Synchronization
import Zoetrope
import ZoetropeTestSupport

/// Reads frame N of files of about 100 MB from a source with 50 ms latency and 100 Mbit/s. Prints the bytes read and
/// the time, with and without an index, compared with a download of the whole file. `bench-cache remote` runs only
/// this.
enum RemoteBench {
  static func run() async throws {
    try await measure("gif", dependentGIF())
    try await measure("apng", independentAPNG())
  }

  private static func measure(_ name: String, _ bytes: [UInt8]) async throws {
    let whole = try AnimatedImage(bytes: bytes)
    let index = ImageIndex(of: whole)
    let frame = whole.frames.count / 2
    let expected = try FrameReader(whole).frame(at: frame).bitmap
    CacheBench.report("remote.\(name).file", Double(bytes.count) / 1e6, "MB")
    CacheBench.report("remote.\(name).frames", Double(whole.frames.count), "")
    CacheBench.report("remote.\(name).index", Double(index.bytes.count) / 1e3, "kB")
    let download = SlowRanges(bytes)
    try await report("\(name).download", download) {
      let all = try await download.read(0..<bytes.count)
      return try await AnimatedImage.open(bytes: all).bitmap(at: frame) == expected
    }
    let known = SlowRanges(bytes)
    let stored = index.bytes
    try await report("\(name).index", known) {
      let image = try await RemoteImage(reading: known, index: ImageIndex(bytes: stored))
      return try await image.bitmap(at: frame) == expected
    }
    let unknown = SlowRanges(bytes)
    try await report("\(name).scan", unknown) {
      let image = try await RemoteImage(reading: unknown)
      return try await image.bitmap(at: frame) == expected
    }
  }

  private static func report(
    _ name: String, _ ranges: SlowRanges, _ body: () async throws -> Bool
  ) async throws {
    let begin = ContinuousClock.now
    let isRight = try await body()
    precondition(isRight)
    CacheBench.report("remote.\(name).time", begin.duration(to: .now) / .milliseconds(1), "ms")
    let (reads, bytes) = ranges.counts
    CacheBench.report("remote.\(name).reads", Double(reads), "")
    CacheBench.report("remote.\(name).bytes", Double(bytes) / 1e6, "MB")
  }

  /// Returns a GIF with frames of noise and a transparent colour, so that each needs all frames before it.
  private static func dependentGIF() -> [UInt8] {
    let one = DeltaGIF.make(width: 320, height: 240, frameCount: 1)
    // Everything but the trailer, then the frame repeated.
    let start = 13 + 768 + 19
    let frame = one[start..<one.count - 1]
    var bytes = Array(one.dropLast())
    while bytes.count < 100_000_000 { bytes += frame }
    return bytes + [0x3b]
  }

  private static func independentAPNG() -> [UInt8] {
    var random = SplitMix64(seed: 1)
    var rows: [UInt8] = []
    for _ in 0..<240 {
      rows += [0] + (0..<960).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
    var stored = ZlibStream()
    stored.method = .stored(blockSize: 65_535)
    let data = stored.encode(rows)
    var builder = APNGBuilder()
    builder.png.signature()
    let layout = PNGLayout(.rgb, depth: 8)
    builder.png.chunk("IHDR", PNGBuilder.header(width: 320, height: 240, layout: layout))
    let count = 100_000_000 / data.count
    builder.animationControl(frames: UInt32(count))
    for index in 0..<count {
      builder.frameControl(APNGFrameControl(width: 320, height: 240))
      if index == 0 { builder.png.chunk("IDAT", data) } else { builder.frameData(data) }
    }
    builder.png.chunk("IEND")
    return builder.bytes
  }
}

/// Bytes in memory. Each read takes 50 ms, and its share of a 100 Mbit/s line.
private final class SlowRanges: ByteRangeReading {
  private let bytes: [UInt8]
  private let state = Mutex((reads: 0, bytes: 0, free: ContinuousClock.now))

  var byteCount: Int { bytes.count }
  var counts: (Int, Int) { state.withLock { ($0.reads, $0.bytes) } }

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func read(_ range: Range<Int>) async throws -> [UInt8] {
    let end = state.withLock { state in
      state.reads += 1
      state.bytes += range.count
      let start = max(state.free, ContinuousClock.now.advanced(by: .milliseconds(50)))
      state.free = start.advanced(by: .nanoseconds(80 * range.count))
      return state.free
    }
    try await ContinuousClock().sleep(until: end)
    return Array(bytes[range])
  }
}
