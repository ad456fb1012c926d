import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

/// Whole, arriving and remote images have the same features.
@Suite(.timeLimit(.minutes(10)), .computes) struct AnimationSourceTests {
  private static let film = DeltaGIF.make(width: 64, height: 48, frameCount: 120, patch: 9)
  private let whole: AnimatedImage
  private let expected: [Bitmap]
  private let half = Rendering(target: TargetSize(width: 32, height: 24), filter: .box)

  init() throws {
    whole = try AnimatedImage(bytes: Self.film)
    let reader = FrameReader(whole)
    var expected: [Bitmap] = []
    while let frame = try reader.next() { expected.append(frame.bitmap) }
    self.expected = expected
  }

  /// The film as it comes from a file, from a stream that has ended, and by ranges.
  private func sources() async throws -> [any AnimationSource] {
    let bytes = Self.film
    let stream = try await StreamedImage(AsyncStream(chunks: [bytes]))
    #expect(await stream.waitUntilEnded() == .complete)
    return [whole, stream, try await RemoteImage(reading: CountedRanges(bytes))]
  }

  @Test func `frames are found in any order and by time`() async throws {
    for source in try await sources() {
      for index in [100, 3, 99, 101, 0] {
        #expect(try await source.bitmap(at: index) == expected[index])
      }
      let time = whole.startTimes()[7]
      #expect(try await source.bitmap(at: time) == expected[7])
      let error = await #expect(throws: AnimatedImageError.self) {
        try await source.bitmap(at: 120)
      }
      #expect(error?.code == .parameter)
    }
  }

  @Test func `what is known of the file is known of each`() async throws {
    for source in try await sources() {
      #expect(source.format == whole.format && source.canvasSize == whole.canvasSize)
      #expect(source.frames == whole.frames && source.playCount == whole.playCount)
    }
  }

  @Test func `times are those of the whole file`() async throws {
    let policies = [DelayPolicy.browser, .exact, .minimum(.milliseconds(70))]
    for source in try await sources() {
      for policy in policies {
        let starts = source.startTimes(policy: policy)
        #expect(starts == whole.startTimes(policy: policy) && starts.count == 121)
        #expect(source.duration(policy: policy) == starts[120])
        for (index, start) in starts.dropLast().enumerated() {
          #expect(source.frameIndex(at: start, policy: policy) == index)
        }
      }
      // The film plays for ever.
      #expect(source.frameIndex(at: source.duration() * 3 + source.startTimes()[7]) == 7)
      #expect(source.frameIndex(at: .seconds(-1)) == 0)
    }
  }

  @Test func `the times of a stream are those of the frames that have arrived`() async throws {
    let (chunks, continuation) = AsyncStream.makeStream(of: [UInt8].self)
    // After the descriptor of the first frame, where the canvas is known.
    let start = whole.frames[0].byteRange.lowerBound + 20
    continuation.yield(Array(Self.film[..<start]))
    let stream = try await StreamedImage(chunks)
    #expect(stream.duration() == .zero && stream.startTimes() == [.zero])
    #expect(stream.frameIndex(at: .seconds(3)) == 0)
    let middle = whole.frames[60].byteRange.lowerBound
    continuation.yield(Array(Self.film[start..<middle]))
    #expect(await stream.waitForFrame(59))
    let starts = whole.startTimes()
    #expect(stream.startTimes() == Array(starts[...60]))
    #expect(stream.duration() == starts[60])
    #expect(stream.frameIndex(at: starts[30]) == 30)
    // What comes next is not known, so the second play has not begun.
    #expect(stream.frameIndex(at: starts[60]) == 59 && stream.frameIndex(at: starts[90]) == 59)
    continuation.yield(Array(Self.film[middle...]))
    continuation.finish()
    #expect(await stream.waitUntilEnded() == .complete)
    #expect(stream.frameIndex(at: starts[90]) == 90)
    #expect(stream.frameIndex(at: starts[120]) == 0)
  }

  @Test func `a frame comes with its damage, decoded or cached`() async throws {
    var bytes = Self.film
    // Cuts the pixels of the last frame, whose rest stays as it was.
    let last = try #require(whole.frames.last).byteRange
    bytes.removeSubrange(last.upperBound - 40..<bytes.count)
    let image = try AnimatedImage(bytes: bytes, options: DecodingOptions(damage: .partialRows))
    let cache = MemoryFrameCache(budget: MemoryBudget(byteLimit: 64 << 20))
    #expect(image.frames.count == 120)
    for _ in 0..<2 {
      let frame = try await image.frame(at: 119, rendering: half, cache: cache)
      #expect(frame.index == 119 && frame.bitmap.width == 32)
      #expect(frame.damage?.frameIndex == 119)
      let intact = try await image.frame(at: 118, cache: cache)
      #expect(intact.damage == nil && intact.bitmap == expected[118])
    }
    #expect(cache.statistics.hits == 2)
    for source in try await sources() {
      #expect(try await source.frame(at: 7).bitmap == expected[7])
    }
  }

  @Test func `a picture is encoded as PNG in a task`() async throws {
    let file = try await PNGEncoder.encode(expected[7], effort: .fast)
    #expect(try AnimatedImage(bytes: file).frames.count == 1)
    #expect(try await AnimatedImage.open(bytes: file).bitmap(at: 0) == expected[7])
    let bitmap = try expected[0].scaled(to: TargetSize(width: 9, height: 9))
    let gate = TaskGate()
    let task = Task {
      await gate.wait()
      return try await PNGEncoder.encode(bitmap)
    }
    task.cancel()
    gate.open()
    let error = await #expect(throws: AnimatedImageError.self) { try await task.value }
    #expect(error?.code == .cancelled)
  }

  @Test func `frames come in order, in ranges and scaled`() async throws {
    for source in try await sources() {
      var next = 0
      for try await frame in source.bitmaps(rendering: half) {
        let scaled = try expected[next].scaled(to: TargetSize(width: 32, height: 24), filter: .box)
        #expect(frame.index == next && frame.bitmap == scaled)
        next += 1
      }
      #expect(next == 120)
      next = 40
      for try await frame in source.bitmaps(40..<50) {
        #expect(frame.index == next && frame.bitmap == expected[next])
        next += 1
      }
      #expect(next == 50)
      for try await _ in source.bitmaps(200...) { Issue.record("there is no such frame") }
    }
  }

  @Test func `each plays, with a log and a rendering`() async throws {
    for source in try await sources() {
      var next = 0
      let options = PlaybackOptions(playCount: .once, latePolicy: .stretch, buffering: .lossless)
      for try await frame in source.play(
        rendering: half, options: options, clock: ManualClock(.jumping))
      {
        #expect(frame.index == next && frame.bitmap.width == 32)
        next += 1
      }
      #expect(next == 120)
    }
  }

  @Test func `a stream that is complete is cached like its file`() async throws {
    let cache = MemoryFrameCache(budget: MemoryBudget(byteLimit: 64 << 20))
    let all = try await sources()
    for try await _ in all[1].bitmaps(cache: cache) {}
    #expect(cache.statistics.count == 120)
    let insertions = cache.statistics.insertions
    for try await frame in whole.bitmaps(cache: cache) {
      #expect(frame.bitmap == expected[frame.index])
    }
    #expect(cache.statistics.insertions == insertions && cache.statistics.hits >= 120)
    // The bytes of a remote file as a whole are unknown.
    for try await _ in all[2].bitmaps(0..<3, cache: cache) {}
    #expect(cache.statistics.insertions == insertions)
  }

  /// A reader whose checkpoints depend neither on how long frames take nor on what other tests hold.
  private func reader(of stream: StreamedImage) -> RenderedReader {
    let origin = stream.origin.base
    let budget = MemoryBudget(byteLimit: 64 << 20)
    return RenderedReader(
      origin, store: CheckpointStore(for: origin, budget: budget, isMeasuring: false))
  }

  @Test func `jumps among the frames that have arrived decode few of them`() async throws {
    let (chunks, continuation) = AsyncStream.makeStream(of: [UInt8].self)
    continuation.yield(Array(Self.film.dropLast()))
    let stream = try await StreamedImage(chunks)
    #expect(await stream.waitForFrame(119))
    let reader = reader(of: stream)
    for index in [119, 0, 119] {
      #expect(try reader.frame(at: index).bitmap == expected[index])
    }
    let before = reader.decodedCount
    var random = SplitMix64(seed: 5)
    for _ in 0..<100 {
      let index = Int.random(in: 0..<120, using: &random)
      #expect(try reader.frame(at: index).bitmap == expected[index])
    }
    // From the start of the file they would be 6,000, from where the last one was 4,000.
    #expect(reader.decodedCount - before < 2000)
    #expect(stream.progress.ending == nil)
    continuation.yield([0x3b])
    #expect(await stream.waitUntilEnded() == .complete)
    #expect(try reader.frame(at: 5).bitmap == expected[5])
  }

  @Test func `what arrives at once, or after a first frame was shown, is read in any order`()
    async throws
  {
    for known in [0, 10, 119] {
      let (chunks, continuation) = AsyncStream.makeStream(of: [UInt8].self)
      let cut = known == 0 ? 0 : whole.frames[known].byteRange.lowerBound
      continuation.yield(Array(Self.film[..<max(cut, whole.frames[0].byteRange.lowerBound + 12)]))
      let stream = try await StreamedImage(chunks)
      let reader = reader(of: stream)
      if known > 0 {
        #expect(await stream.waitForFrame(known - 1))
        #expect(try reader.frame(at: known / 2).bitmap == expected[known / 2])
      }
      continuation.yield(Array(Self.film[max(cut, whole.frames[0].byteRange.lowerBound + 12)...]))
      continuation.finish()
      #expect(await stream.waitUntilEnded() == .complete)
      for index in [2, 50, 49, 48, 100, 99, 119, 118, 60, 61, 0] {
        #expect(try reader.frame(at: index).bitmap == expected[index], "\(known), \(index)")
      }
      let before = reader.decodedCount
      for step in 0..<50 { _ = try reader.frame(at: step * 37 % 120) }
      #expect(reader.decodedCount - before < 1500)
    }
  }

  @Test func `a range of a stream ends with its last frame`() async throws {
    let (chunks, continuation) = AsyncStream.makeStream(of: [UInt8].self)
    continuation.yield(Array(Self.film[..<whole.frames[3].byteRange.lowerBound]))
    let stream = try await StreamedImage(chunks)
    var count = 0
    for try await _ in stream.bitmaps(0..<3) { count += 1 }
    #expect(count == 3 && stream.progress.ending == nil)
  }

  @Test func `a range without a frame does not wait for a stream`() async throws {
    let (chunks, continuation) = AsyncStream.makeStream(of: [UInt8].self)
    continuation.yield(Array(Self.film[..<whole.frames[3].byteRange.lowerBound]))
    let stream = try await StreamedImage(chunks)
    func count(_ range: some RangeExpression<Int> & Sendable) async throws -> Int {
      var count = 0
      for try await _ in stream.bitmaps(range) { count += 1 }
      return count
    }
    #expect(try await count(7..<7) == 0)
    #expect(try await count(-3..<0) == 0)
    #expect(try await count(-3...(-1)) == 0)
    #expect(try await count(..<0) == 0)
    #expect(try await count(...(-1)) == 0)
    #expect(try await count(Int.min...0) == 1)
    #expect(stream.progress.ending == nil)
  }

  @Test func `a negative time waits for the first frame`() async throws {
    let (chunks, continuation) = AsyncStream.makeStream(of: [UInt8].self)
    let start = whole.frames[0].byteRange.lowerBound + 20
    continuation.yield(Array(Self.film[..<start]))
    let stream = try await StreamedImage(chunks)
    // A request that does not wait finds no frame, even if it is cancelled.
    let cancelled = Task { try await stream.bitmap(at: .seconds(-1)) }
    cancelled.cancel()
    let error = await #expect(throws: AnimatedImageError.self) { try await cancelled.value }
    #expect(error?.code == .cancelled)
    async let first = stream.bitmap(at: .seconds(-1))
    continuation.yield(Array(Self.film[start...]))
    continuation.finish()
    #expect(try await first == expected[0])
  }

  @Test func `a frame that arrives later is waited for, by index and by time`() async throws {
    let (chunks, continuation) = AsyncStream.makeStream(of: [UInt8].self)
    let middle = whole.frames[60].byteRange.lowerBound
    continuation.yield(Array(Self.film[..<middle]))
    let stream = try await StreamedImage(chunks)
    let time = whole.startTimes()[100]
    async let late = stream.bitmap(at: 90)
    async let later = stream.bitmap(at: time)
    #expect(try await stream.bitmap(at: 10) == expected[10])
    continuation.yield(Array(Self.film[middle...]))
    continuation.finish()
    #expect(try await late == expected[90])
    #expect(try await later == expected[100])
    let cancelled = Task { try await stream.bitmap(at: 200) }
    let error = await #expect(throws: AnimatedImageError.self) { try await cancelled.value }
    #expect(error?.code == .parameter)
  }
}

extension AsyncStream<[UInt8]> {
  fileprivate init(chunks: [[UInt8]]) {
    self.init { continuation in
      for chunk in chunks { continuation.yield(chunk) }
      continuation.finish()
    }
  }
}
