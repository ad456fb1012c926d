import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropeRemote

@Suite(.timeLimit(.minutes(10))) struct RemoteImageTests {
  static let recipes = FixtureTests.recipes
  static let readable = recipes.filter { $0.expectations.errorCode == nil }

  /// For tests that count reads: the budget of the process drops bytes when memory gets short, also that of other
  /// tests.
  private let budget = MemoryBudget(byteLimit: 256 << 20)

  /// Every other request costs more than any gap.
  private static let exact = RemoteOptions(readAheadByteCount: 0, gapByteLimit: 1)

  @Test(.computes, arguments: recipes)
  func `a fixture read by ranges has the structure and errors of the whole file`(
    recipe: Recipe
  ) async throws {
    let whole = Result { () throws(AnimatedImageError) in
      try AnimatedImage(bytes: recipe.bytes)
    }
    for options in [Self.exact, RemoteOptions()] {
      let ranges = CountedRanges(recipe.bytes)
      do throws(AnimatedImageError) {
        let image = try await RemoteImage(
          reading: ranges, remoteOptions: options, budget: budget)
        let whole = try whole.get()
        #expect(image.frames == whole.frames && image.canvasSize == whole.canvasSize)
        #expect(image.format == whole.format && image.playCount == whole.playCount)
        #expect(image.metadata == whole.metadata && image.damage == whole.damage)
        #expect(image.index == ImageIndex(of: whole))
      } catch {
        #expect(throws: error) { try whole.get() }
      }
      #expect(ranges.readByteCount <= recipe.bytes.count + 1)
    }
  }

  @Test(.computes, arguments: readable)
  func `frames read by ranges have the pixels of the whole file, in any order`(
    recipe: Recipe
  ) async throws {
    let whole = try AnimatedImage(bytes: recipe.bytes)
    let reader = FrameReader(whole)
    var expected: [Bitmap] = []
    while let frame = try reader.next() { expected.append(frame.bitmap) }
    var random = SplitMix64(seed: UInt64(recipe.bytes.count))
    let orders = [
      Array(expected.indices), expected.indices.reversed(),
      Array(expected.indices).shuffled(using: &random),
    ]
    for (order, cacheByteLimit) in zip(orders, [64 << 20, 0, 100]) {
      var options = Self.exact
      options.byteLimit = cacheByteLimit
      let ranges = CountedRanges(recipe.bytes)
      let image = try await RemoteImage(
        reading: ranges, index: ImageIndex(of: whole), remoteOptions: options)
      #expect(ranges.reads.isEmpty)
      for index in order.prefix(60) {
        #expect(try await image.bitmap(at: index) == expected[index], "frame \(index)")
      }
    }
  }

  /// Frames that need no other, each of about 1000 bytes.
  private static let independent = {
    let frame = GIFPieces.frame(dataBytes: 1000)
    return GIFPieces.header + Array(repeating: frame, count: 50).flatMap { $0 } + [0x3b]
  }()

  @Test func `with an index, a frame costs one request for its bytes alone`() async throws {
    let whole = try AnimatedImage(bytes: Self.independent)
    let data = ImageIndex(of: whole).bytes
    for index in [0, 17, 49] {
      let clock = ManualClock()
      let ranges = CountedRanges(Self.independent, clock: clock)
      let image = try await RemoteImage(
        reading: ranges, index: ImageIndex(bytes: data), remoteOptions: Self.exact, budget: budget)
      let task = Task { try await image.bitmap(at: index) }
      await clock.waitForSleepers(count: 1)
      clock.advance(by: .milliseconds(50))
      #expect(try await task.value == FrameReader(whole).frame(at: index).bitmap)
      #expect(ranges.reads == [whole.frames[index].byteRange])
      #expect(image.byteRanges(forFrame: index) == ranges.reads)
      #expect(clock.now.offset == .milliseconds(50))
      // Kept bytes cost nothing.
      _ = try await image.bitmap(at: index)
      #expect(image.statistics == ReadStatistics(readCount: 1, byteCount: ranges.readByteCount))
    }
  }

  @Test func `a frame costs the bytes of those it depends on, joined over small gaps`()
    async throws
  {
    let bytes = DeltaGIF.make(width: 64, height: 48, frameCount: 30, patch: 8)
    let whole = try AnimatedImage(bytes: bytes)
    let ranges = CountedRanges(bytes)
    let image = try await RemoteImage(
      reading: ranges, index: ImageIndex(of: whole), budget: budget)
    _ = try await image.bitmap(at: 20)
    let all = whole.frames[0].byteRange.lowerBound..<whole.frames[20].byteRange.upperBound
    #expect(ranges.reads == [all])
    // The next frame continues there.
    ranges.reset()
    _ = try await image.bitmap(at: 21)
    #expect(ranges.reads == [whole.frames[21].byteRange])
    #expect(Self.exact.gapByteLimit == 1)
    let exact = try await RemoteImage(
      reading: CountedRanges(bytes), index: ImageIndex(of: whole), remoteOptions: Self.exact)
    #expect(exact.byteRanges(forFrame: 20) == whole.frames[...20].map(\.byteRange))
  }

  /// An APNG whose frames have `size` bytes that are no zlib stream.
  private static func apng(frameCount: Int, size: Int) -> [UInt8] {
    var builder = APNGBuilder()
    builder.png.signature()
    builder.png.chunk("IHDR", PNGBuilder.header(width: 8, height: 8, layout: PNGLayout()))
    builder.animationControl(frames: UInt32(frameCount))
    for index in 0..<frameCount {
      builder.frameControl(APNGFrameControl(width: 8, height: 8))
      let data = Array(repeating: UInt8(index), count: size)
      if index == 0 { builder.png.chunk("IDAT", data) } else { builder.frameData(data) }
    }
    builder.png.chunk("IEND")
    return builder.bytes
  }

  @Test func `without an index, the pixels of an APNG are skipped`() async throws {
    let bytes = Self.apng(frameCount: 20, size: 200_000)
    let whole = try AnimatedImage(bytes: bytes)
    #expect(whole.frames.count == 20)
    let ranges = CountedRanges(bytes)
    let image = try await RemoteImage(
      reading: ranges, remoteOptions: RemoteOptions(gapByteLimit: 1 << 16), budget: budget)
    #expect(image.frames == whole.frames && image.damage == whole.damage)
    // One probe for each chunk of pixels.
    #expect(ranges.reads.count <= 22)
    #expect(ranges.readByteCount <= 22 * 4096)
    #expect(ranges.readByteCount < bytes.count / 40)
  }

  @Test func `without an index, a GIF is read once, in growing pieces`() async throws {
    let frame = GIFPieces.frame(dataBytes: 100_000)
    let bytes = GIFPieces.header + Array(repeating: frame, count: 80).flatMap { $0 } + [0x3b]
    let ranges = CountedRanges(bytes)
    let image = try await RemoteImage(reading: ranges, budget: budget)
    #expect(image.frames.count == 80)
    #expect(ranges.readByteCount == bytes.count)
    #expect(ranges.reads.count < 20)
    // All of it is kept.
    _ = try await image.bitmap(at: 79)
    #expect(ranges.readByteCount == bytes.count)
  }

  @Test func `a file of an impossible size is refused before anything is read`() async throws {
    struct Endless: ByteRangeReading {
      let byteCount = Int.max
      func read(_ range: Range<Int>) async throws -> [UInt8] { throw CancellationError() }
    }
    let error = await #expect(throws: AnimatedImageError.self) {
      _ = try await RemoteImage(reading: Endless())
    }
    #expect(error?.code == .parameter)
  }

  @Test func `a truncated last frame is fetched and judged as in a whole file`() async throws {
    let bytes = Array(Self.apng(frameCount: 5, size: 100_000).dropLast(50_000))
    let whole = try AnimatedImage(bytes: bytes)
    let image = try await RemoteImage(reading: CountedRanges(bytes))
    #expect(image.frames == whole.frames && image.damage == whole.damage)
    #expect(image.damage.contains { $0.kind == .cutFrame })
  }

  @Test func `an index of another file is refused at once, or at the first wrong frame`()
    async throws
  {
    let whole = try AnimatedImage(bytes: Self.independent)
    let shorter = await #expect(throws: AnimatedImageError.self) {
      _ = try await RemoteImage(
        reading: CountedRanges(Array(Self.independent.dropLast())), index: ImageIndex(of: whole))
    }
    #expect(shorter?.code == .invalidImageIndex)
    var other = Self.independent
    other[whole.frames[3].byteRange.lowerBound] = 0
    let image = try await RemoteImage(
      reading: CountedRanges(other), index: ImageIndex(of: whole), remoteOptions: Self.exact)
    _ = try await image.bitmap(at: 2)
    let wrong = await #expect(throws: AnimatedImageError.self) { try await image.bitmap(at: 3) }
    #expect(wrong?.code == .invalidImageIndex && wrong?.frameIndex == 3)
    #expect(wrong?.byteOffset == whole.frames[3].byteRange.lowerBound)
    _ = try await image.bitmap(at: 4)
  }

  @Test func `limits apply to an index as to a file`() async throws {
    let index = ImageIndex(of: try AnimatedImage(bytes: Self.independent))
    for limit in [
      \DecodingLimits.canvasPixels, \.frameCount, \.pixelsPerPlay, \.liveBytes,
    ] {
      var options = DecodingOptions()
      options.limits[keyPath: limit] = 3
      let ranges = CountedRanges(Self.independent)
      let error = await #expect(throws: AnimatedImageError.self) {
        _ = try await RemoteImage(reading: ranges, index: index, options: options)
      }
      #expect(error?.code == .limitExceeded)
      #expect(ranges.reads.isEmpty)
      await #expect(throws: AnimatedImageError.self) {
        _ = try await RemoteImage(reading: ranges, options: options)
      }
    }
  }

  @Test func `a read that fails names its range, and the next request tries again`() async throws {
    let whole = try AnimatedImage(bytes: Self.independent)
    let ranges = CountedRanges(Self.independent)
    let image = try await RemoteImage(
      reading: ranges, index: ImageIndex(of: whole), remoteOptions: Self.exact)
    let range = whole.frames[9].byteRange
    for fault in ReadFault.allCases {
      ranges.answer { try fault.answer($1) }
      let error = await #expect(throws: AnimatedImageError.self) { try await image.bitmap(at: 9) }
      #expect(error?.code == (fault == .quota ? .limitExceeded : .io))
      #expect(error?.byteOffset == range.lowerBound && error?.frameIndex == 9)
      #expect(error?.detail.contains(fault.detail(of: range.count)) == true)
      #expect(error?.detail.contains("\(range)") == true)
    }
    // The system's error of a reader stays known.
    ranges.answer { _, _ in
      throw AnimatedImageError(.io, "reset", systemError: .connectionReset)
    }
    let reset = await #expect(throws: AnimatedImageError.self) { try await image.bitmap(at: 9) }
    #expect(reset?.systemError == .connectionReset)
    ranges.answer(with: nil)
    #expect(try await image.bitmap(at: 9) == FrameReader(whole).frame(at: 9).bitmap)
    // So does opening.
    ranges.answer { _, _ in try ReadFault.outage.answer([]) }
    let error = await #expect(throws: AnimatedImageError.self) {
      _ = try await RemoteImage(reading: ranges)
    }
    #expect(error?.code == .io && error?.byteOffset == 0)
  }

  @Test func `cancelling cancels the read and leaves nothing behind`() async throws {
    let clock = ManualClock()
    let whole = try AnimatedImage(bytes: Self.independent)
    let ranges = CountedRanges(Self.independent, clock: clock)
    let image = try await RemoteImage(reading: ranges, index: ImageIndex(of: whole))
    let tasks = (0..<2).map { _ in Task { try await image.bitmap(at: 30) } }
    await clock.waitForSleepers(count: 1)
    await eventually { image.randomAccessFrames.waiterCount(for: 30) == 2 }
    tasks[0].cancel()
    let error = await #expect(throws: AnimatedImageError.self) { try await tasks[0].value }
    #expect(error?.code == .cancelled)
    // The other one still waits for the same frame.
    #expect(ranges.cancelledReads.isEmpty)
    tasks[1].cancel()
    _ = await tasks[1].result
    await eventually { ranges.cancelledReads.count == 1 }
    await eventually { image.fetcher.flightCount == 0 }
    #expect(clock.deadlines.isEmpty)
    let opening = Task { try await RemoteImage(reading: ranges) }
    await clock.waitForSleepers(count: 1)
    opening.cancel()
    let opened = await #expect(throws: AnimatedImageError.self) { _ = try await opening.value }
    #expect(opened?.code == .cancelled)
    await eventually { ranges.cancelledReads.count == 2 }
  }

  @Test func `equal requests share one read, others are read at the same time`() async throws {
    let clock = ManualClock()
    let whole = try AnimatedImage(bytes: Self.independent)
    let ranges = CountedRanges(Self.independent, clock: clock)
    let image = try await RemoteImage(
      reading: ranges, index: ImageIndex(of: whole), remoteOptions: Self.exact, budget: budget)
    try await withThrowingTaskGroup(of: Bitmap.self) { group in
      for index in [5, 5, 5, 20, 35, 49] {
        group.addTask { try await image.bitmap(at: index) }
      }
      await clock.waitForSleepers(count: 4)
      await eventually { clock.deadlines.count == 4 }
      clock.advance(by: .milliseconds(50))
      for try await bitmap in group { #expect(bitmap.size == whole.canvasSize) }
    }
    #expect(Set(ranges.reads) == Set([5, 20, 35, 49].map { whole.frames[$0].byteRange }))
    #expect(ranges.reads.count == 4 && clock.now.offset == .milliseconds(50))
  }

  @Test(.computes) func `a long way is fetched in stretches, with a small cache too`() async throws
  {
    // 24 MB, no frame of which can be decoded without those before it.
    let bytes = Self.dependent(frameCount: 120, dataBytes: 200_000)
    let whole = try AnimatedImage(bytes: bytes)
    #expect(whole.frames.dropFirst().allSatisfy { !$0.isIndependent })
    for cacheByteLimit in [0, 1 << 20, 64 << 20] {
      let ranges = CountedRanges(bytes)
      let image = try await RemoteImage(
        reading: ranges, index: ImageIndex(of: whole),
        remoteOptions: RemoteOptions(byteLimit: cacheByteLimit, readAheadByteCount: 0),
        budget: budget)
      #expect(try await image.bitmap(at: 119) == FrameReader(whole).frame(at: 119).bitmap)
      #expect(ranges.reads.allSatisfy { $0.count <= 5 << 20 })
      if cacheByteLimit == 64 << 20 { #expect(ranges.readByteCount < bytes.count) }
      // Bytes read ahead that the cache could not keep are read again.
      #expect(ranges.readByteCount <= 2 * bytes.count)
    }
  }

  @Test func `under a low limit of memory the stretches are shorter`() async throws {
    var options = DecodingOptions()
    options.limits.liveBytes = 1 << 20
    let bytes = Self.dependent(frameCount: 60, dataBytes: 50_000)
    let whole = try AnimatedImage(bytes: bytes, options: options)
    let ranges = CountedRanges(bytes)
    let image = try await RemoteImage(
      reading: ranges, index: ImageIndex(of: whole), options: options,
      remoteOptions: RemoteOptions(byteLimit: 0, readAheadByteCount: 0), budget: budget)
    #expect(try await image.bitmap(at: 59) == FrameReader(whole).frame(at: 59).bitmap)
    #expect(ranges.reads.allSatisfy { $0.count <= 1 << 20 })
    #expect(ranges.reads.count < 12)
  }

  /// Frames with a transparent colour, which need all frames before them.
  private static func dependent(frameCount: Int, dataBytes: Int) -> [UInt8] {
    var frame = GIFPieces.frame(dataBytes: dataBytes)
    let first = GIFPieces.frame()
    // The flags and the transparent index of the graphic control: disposal *keep*.
    frame[3] = 1 << 2 | 1
    frame[6] = 1
    return GIFPieces.header + first + Array(repeating: frame, count: frameCount - 1).flatMap { $0 }
      + [0x3b]
  }

  @Test func `playing reads ahead, shows every frame in time and loops without reading`()
    async throws
  {
    let whole = try AnimatedImage(bytes: Self.independent)
    let ranges = CountedRanges(Self.independent)
    let image = try await RemoteImage(
      reading: ranges, index: ImageIndex(of: whole), budget: budget)
    var options = PlaybackOptions.everyFrame
    options.playCount = .finite(2)
    let player = FrameScheduler(image, options: options, clock: ManualClock(.jumping))
    let reader = FrameReader(whole)
    var count = 0
    for try await frame in player.play() {
      if frame.index == 0 { reader.rewind() }
      #expect(frame.index == count % 50)
      #expect(frame.bitmap == (try reader.next())?.bitmap)
      count += 1
    }
    #expect(count == 100 && player.state == .finished)
    // Each byte once; a few requests, not one for each frame.
    #expect(ranges.readByteCount <= Self.independent.count)
    #expect(ranges.reads.count < 10)
  }

  @Test func `playback of a file that cannot be read fails with the reader's error`() async throws {
    let whole = try AnimatedImage(bytes: Self.independent)
    let ranges = CountedRanges(Self.independent)
    let limit = whole.frames[10].byteRange.lowerBound
    ranges.answer { range, right in
      range.upperBound > limit ? try ReadFault.outage.answer(right) : right
    }
    let image = try await RemoteImage(
      reading: ranges, index: ImageIndex(of: whole), remoteOptions: Self.exact)
    let player = FrameScheduler(image, options: .everyFrame, clock: ManualClock(.jumping))
    var count = 0
    let error = await #expect(throws: AnimatedImageError.self) {
      for try await _ in player.play() { count += 1 }
    }
    #expect(error?.code == .io && error?.byteOffset == limit)
    #expect(count == 10)
  }

  @Test func `stopping a playback cancels its reads and frees it`() async throws {
    let clock = ManualClock()
    let whole = try AnimatedImage(bytes: Self.independent)
    let ranges = CountedRanges(Self.independent, clock: clock)
    let image = try await RemoteImage(reading: ranges, index: ImageIndex(of: whole))
    let player = FrameScheduler(image, clock: ManualClock())
    let consumer = Task { for try await _ in player.play() {} }
    await clock.waitForSleepers(count: 1)
    player.stop()
    try await consumer.value
    await player.shared.waitUntilIdle()
    await eventually { image.fetcher.flightCount == 0 && clock.deadlines.isEmpty }
    await eventually { player.shared.live.count(.ticket) == 0 }
  }

  @Test func `a scaled frame is that of the whole file`() async throws {
    let bytes = try FixtureLibrary().file("Demo/spinner.png")
    let whole = try AnimatedImage(bytes: bytes)
    let image = try await RemoteImage(reading: CountedRanges(bytes))
    let rendering = Rendering(target: TargetSize(width: 16), format: .bgra8)
    let expected = try await whole.bitmap(at: 3, rendering: rendering)
    #expect(try await image.bitmap(at: 3, rendering: rendering) == expected)
    #expect(try await image.bitmap(at: .zero) == whole.bitmap(at: 0))
    let shared = SharedFrames(image, rendering: rendering)
    #expect(try await shared.frame(at: 3).bitmap == expected)
    await #expect(throws: AnimatedImageError.self) { try await image.bitmap(at: 999) }
    await #expect(throws: AnimatedImageError.self) { try await image.bitmap(at: -1) }
  }
}
