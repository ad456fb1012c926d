import Synchronization
import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropePlayback

@Suite(.timeLimit(.minutes(10)), .computes) struct StreamedImageTests {
  static let recipes = FixtureTests.recipes
  static let demos = recipes.filter { $0.name.hasPrefix("Demo/") }

  /// The lengths of the chunks that a file is split into.
  enum Split: Sendable, CaseIterable {
    case one, two, three, seven, sixtyFour, thousand, random

    func lengths(_ total: Int) -> [Int] {
      var random = SplitMix64(seed: UInt64(total))
      var lengths: [Int] = []
      var rest = total
      while rest > 0 {
        let length =
          switch self {
          case .one: 1
          case .two: 2
          case .three: 3
          case .seven: 7
          case .sixtyFour: 64
          case .thousand: 1000
          case .random: Int.random(in: 1...5000, using: &random)
          }
        lengths.append(min(length, rest))
        rest -= lengths[lengths.count - 1]
      }
      return lengths
    }

    func chunks(_ bytes: [UInt8]) -> [[UInt8]] {
      var start = 0
      return lengths(bytes.count).map { length in
        defer { start += length }
        return Array(bytes[start..<start + length])
      }
    }
  }

  private static func pixels(of image: AnimatedImage) throws -> [Bitmap] {
    let reader = FrameReader(image)
    return try image.frames.indices.map { try reader.frame(at: $0).bitmap }
  }

  /// All of `bytes`, received in chunks.
  static func receive(
    _ bytes: [UInt8], _ split: Split, options: DecodingOptions = .init(),
    storage: StreamStorage = .init()
  ) async -> StreamCore {
    let core = StreamCore(options: options, storage: storage)
    var ending: StreamEnding?
    do {
      for chunk in split.chunks(bytes) where try await core.receive(chunk) { break }
    } catch {
      ending = .failed(error)
    }
    core.settle(ending)
    return core
  }

  @Test(arguments: recipes)
  func `a fixture in chunks of any size gives the index and pixels of the whole file`(
    recipe: Recipe
  ) async throws {
    let whole = Result { () throws(AnimatedImageError) in
      try AnimatedImage(bytes: recipe.bytes)
    }
    // Those of larger files are compared below, received at random.
    let pixels =
      try recipe.bytes.count < 20_000 ? (try? whole.get()).map { try Self.pixels(of: $0) } : nil
    for split in Split.allCases where split != .one || recipe.bytes.count < 20_000 {
      let core = await Self.receive(recipe.bytes, split)
      switch whole {
      case .failure(let error):
        // A limit that only the sum of all frames exceeds leaves the frames before.
        if core.image == nil { #expect(core.ending?.error?.code == error.code, "\(split)") }
        #expect(core.ending?.error != nil)
      case .success(let whole):
        let image = try #require(core.image, "\(split)")
        #expect(image.frames == whole.frames, "\(split)")
        #expect(core.frames == whole.frames)
        #expect(image.format == whole.format && image.canvasSize == whole.canvasSize)
        #expect(image.playCount == whole.playCount && image.metadata == whole.metadata)
        #expect(image.staticImage == whole.staticImage)
        // Bytes after the end marker are not waited for.
        #expect(
          image.damage.filter { $0.kind != .trailingData }
            == whole.damage.filter { $0.kind != .trailingData }, "\(split)")
        // Reading ended before the end marker.
        let isCut = whole.damage.contains { damage in
          [.cutBlock, .missingTrailer, .gifStrayByte].contains(damage.kind)
            || damage.kind == .missingFrames && whole.format == .gif
        }
        #expect(core.ending == (isCut ? .truncated : .complete), "\(split)")
        if let pixels { #expect(try Self.pixels(of: image) == pixels, "\(split)") }
      }
    }
  }

  @Test(arguments: recipes.filter { $0.expectations.errorCode == nil })
  func `the frames of a stream have the pixels of the whole file`(recipe: Recipe) async throws {
    let image = try AnimatedImage(bytes: recipe.bytes)
    let whole = FrameReader(image)
    let stream = try await StreamedImage(Self.sequence(Split.random.chunks(recipe.bytes)))
    var count = 0
    for try await frame in stream.bitmaps() {
      let expected = try #require(try whole.next())
      #expect(frame.bitmap == expected.bitmap, "frame \(count)")
      #expect(frame.damage == expected.damage)
      count += 1
    }
    #expect(count == image.frames.count)
    // A second pass reads the settled image.
    count = 0
    whole.rewind()
    for try await frame in stream.bitmaps() {
      #expect(frame.bitmap == (try whole.next())?.bitmap)
      count += 1
    }
    #expect(count == image.frames.count)
  }

  @Test(arguments: demos)
  func `a frame is there before the first byte after its data`(recipe: Recipe) async throws {
    let image = try AnimatedImage(bytes: recipe.bytes)
    guard image.format != .png else { return }
    let core = StreamCore(options: .init(), storage: .init())
    let whole = FrameReader(image)
    let reader = RenderedReader(ArrivingImage(core, image.header))
    var start = 0
    for control in image.frames {
      // What follows an APNG frame decides whether its data goes on: the 38 bytes of a frame control, or the 12
      // of the end.
      let isLast = control.index == image.frames.count - 1
      let extra = image.format == .gif ? 0 : isLast ? 12 : 38
      let end = control.byteRange.upperBound + extra
      if end - 1 > start { _ = try await core.receive(Array(recipe.bytes[start..<end - 1])) }
      #expect(core.frameCount == control.index)
      _ = try await core.receive([recipe.bytes[end - 1]])
      start = end
      #expect(core.frameCount == control.index + 1)
      let frame = try reader.frame(at: control.index) { false }
      #expect(frame.bitmap == (try whole.next())?.bitmap)
    }
  }

  @Test func `the canvas is known at the first frame's position`() async throws {
    let recipe = try #require(Self.demos.first { $0.outputPath.hasSuffix(".gif") })
    let whole = try AnimatedImage(bytes: recipe.bytes)
    let first = try #require(whole.frames.first).byteRange.lowerBound
    let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
    producer.yield(Array(recipe.bytes[..<(first + 10)]))
    let stream = try await StreamedImage(chunks)
    #expect(stream.canvasSize == whole.canvasSize)
    #expect(stream.frames.isEmpty && stream.image == nil)
    producer.yield(Array(recipe.bytes[(first + 10)...]))
    #expect(await stream.waitForFrame(0))
    #expect(await stream.waitUntilEnded() == .complete)
    #expect(stream.frames == whole.frames)
  }

  @Test func `bytes past the memory limit are read back from the file`() async throws {
    let frame = GIFPieces.frame(dataBytes: 4000)
    let bytes = GIFPieces.header + Array(repeating: frame, count: 200).flatMap { $0 } + [0x3b]
    let core = await Self.receive(bytes, .random, storage: StreamStorage(memoryByteLimit: 1))
    #expect(core.ending == .complete)
    #expect(core.received.memoryLimit == 1 << 18)
    #expect(core.received.spilledByteCount == bytes.count - 1 << 18)
    let source = ReceivedSource(core.received)
    var random = SplitMix64(seed: 3)
    var buffer = ReadBuffer()
    for _ in 0..<200 {
      let start = Int.random(in: 0...bytes.count, using: &random)
      let range = start..<start + Int.random(in: 0...20_000, using: &random)
      let found = try source.withBytes(in: range, buffer: &buffer) { span in
        (0..<span.byteCount).map { span[$0] }
      }
      #expect(found == Array(bytes[range.clamped(to: 0..<bytes.count)]))
    }
  }

  @Test func `a stream past the byte limit keeps the frames before it`() async throws {
    let frame = GIFPieces.frame(dataBytes: 1000)
    let bytes = GIFPieces.header + Array(repeating: frame, count: 20).flatMap { $0 } + [0x3b]
    let stream = try await StreamedImage(
      Self.sequence(Split.sixtyFour.chunks(bytes)), storage: StreamStorage(byteLimit: 10_000))
    #expect(await stream.waitUntilEnded()?.error?.code == .limitExceeded)
    #expect(stream.frameCount == 9)
    #expect(stream.image?.frames.count == 9)
  }

  @Test func `a stream that ends early or throws keeps its good frames`() async throws {
    struct Outage: Error {}
    let frame = GIFPieces.frame(dataBytes: 100)
    let bytes = GIFPieces.header + frame + frame + frame.prefix(20)
    let cut = try await StreamedImage(Self.sequence([bytes]))
    #expect(await cut.waitUntilEnded() == .truncated)
    #expect(cut.frameCount == 2)

    let (chunks, producer) = AsyncThrowingStream.makeStream(of: [UInt8].self)
    producer.yield(bytes)
    producer.finish(throwing: Outage())
    let broken = try await StreamedImage(chunks)
    let ending = await broken.waitUntilEnded()
    #expect(ending?.error?.code == .io)
    #expect(ending?.error?.detail.contains("Outage") == true)
    #expect(broken.image?.frames.count == 2)
  }

  @Test func `a memory limit may be any number`() async {
    for (limit, expected) in [(Int.min, 0), (-1, 0), (0, 0), (1, 1 << 18)] {
      #expect(ReceivedBytes(memoryLimit: limit, byteLimit: .min).memoryLimit == expected)
    }
    #expect(ReceivedBytes(memoryLimit: .max, byteLimit: .max).memoryLimit > .max / 2)
    let bytes = GIFPieces.header + GIFPieces.frame() + [0x3b]
    let core = await Self.receive(
      bytes, .seven, storage: StreamStorage(memoryByteLimit: .max, byteLimit: .max))
    #expect(core.ending == .complete)
    #expect(core.received.spilledByteCount == 0)
  }

  @Test func `a file that cannot be made ends the stream and keeps its frames`() async throws {
    let frame = GIFPieces.frame(dataBytes: 4000)
    let start = GIFPieces.header + Array(repeating: frame, count: 60).flatMap { $0 }
    for memoryLimit in [0, 1] {
      let stream = StreamCore(
        options: .init(),
        storage: StreamStorage(memoryByteLimit: memoryLimit, directory: "/nonexistent"))
      var failure: AnimatedImageError?
      do {
        _ = try await stream.receive(start)
        _ = try await stream.receive(start)
      } catch {
        failure = error
      }
      #expect(failure?.code == .io)
      stream.settle(failure.map { .failed($0) })
      #expect(stream.ending?.error?.code == .io)
      #expect(stream.frameCount == (memoryLimit == 0 ? 0 : 60))
    }
  }

  @Test func `the frame that passes the limit of memory is not there`() async throws {
    let (small, large) = (GIFPieces.frame(), GIFPieces.frame(dataBytes: 30_000))
    let bytes = GIFPieces.header + small + small + large + small
    let whole = try AnimatedImage(bytes: bytes)
    let header = ImageHeader(format: .gif, canvasSize: whole.canvasSize)
    let needed = DecodeFootprint(whole.frames, header: header, options: .init()).byteCount
    for (limit, count) in [(needed, 4), (needed - 1, 2)] {
      var options = DecodingOptions()
      options.limits.liveBytes = limit
      let core = StreamCore(options: options, storage: .init())
      var failure: AnimatedImageError?
      do {
        _ = try await core.receive(Array(bytes[..<(GIFPieces.header.count + small.count)]))
        #expect(core.frameCount == 1)
        _ = try await core.receive(Array(bytes[(GIFPieces.header.count + small.count)...]))
      } catch {
        failure = error
      }
      #expect(core.frameCount == count)
      #expect(failure?.code == (count == 4 ? nil : .limitExceeded))
      core.settle(failure.map { .failed($0) })
      #expect(core.frameCount == count)
      #expect(core.image?.frames == Array(whole.frames[..<count]))
    }
  }

  @Test(arguments: [1, 64, .max])
  func `frames before a limit keep their bytes`(chunk: Int) async throws {
    let film = DeltaGIF.make(width: 24, height: 20, frameCount: 4, patch: 24)
    let sink = MemorySink()
    try await AnimatedImage(bytes: film).reencode(to: sink)
    for bytes in [film, sink.bytes] {
      let whole = try AnimatedImage(bytes: bytes)
      let reader = FrameReader(whole)
      let expected = try (0..<2).map { _ in try #require(try reader.next()).bitmap }
      for limit in [\DecodingLimits.frameCount, \.pixelsPerPlay] {
        var options = DecodingOptions()
        options.limits[keyPath: limit] = limit == \.frameCount ? 2 : 2 * 24 * 20
        let core = StreamCore(options: options, storage: .init())
        var failure: AnimatedImageError?
        do {
          for start in stride(from: 0, to: bytes.count, by: min(chunk, bytes.count)) {
            _ = try await core.receive(Array(bytes[start...].prefix(chunk)))
          }
        } catch { failure = error }
        #expect(failure?.code == .limitExceeded)
        core.settle(failure.map { .failed($0) })
        let image = try #require(core.image)
        #expect(image.frames == Array(whole.frames[..<2]))
        let kept = FrameReader(image)
        for bitmap in expected { #expect(try kept.next()?.bitmap == bitmap) }
      }
    }
  }

  @Test func `a byte that begins no block ends the stream as truncated`() async throws {
    let bytes = GIFPieces.header + GIFPieces.frame() + [0x77] + GIFPieces.frame() + [0x3b]
    let stream = try await StreamedImage(Self.sequence([bytes]))
    #expect(await stream.waitUntilEnded() == .truncated)
    #expect(stream.frameCount == 1)
  }

  @Test func `an empty canvas is refused as in a whole file`() async {
    var bytes = GIFPieces.header
    for place in 6..<10 { bytes[place] = 0 }
    // An image descriptor without pixels.
    bytes += [0x2c] + Array(repeating: 0, count: 9) + [2, 2, 0x4c, 1, 0]
    for rest in [[], [0x3b]] as [[UInt8]] {
      let whole = #expect(throws: AnimatedImageError.self) {
        _ = try AnimatedImage(bytes: bytes + rest)
      }
      let streamed = await #expect(throws: AnimatedImageError.self) {
        _ = try await StreamedImage(Self.sequence([bytes + rest]))
      }
      #expect(streamed == whole && streamed?.code == .malformed)
    }
  }

  @Test func `a frame that cannot be decoded ends the bitmaps, not the stream`() async throws {
    let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
    producer.yield(GIFPieces.header + GIFPieces.frame())
    var options = DecodingOptions()
    options.damage = .strict
    let stream = try await StreamedImage(chunks, options: options)
    // A frame of one code where 16 pixels belong.
    var cut = Array(GIFPieces.frame().prefix { $0 != 0x2c })
    cut += [0x2c, 0, 0, 0, 0, 4, 0, 4, 0, 0, 2, 2, 0x44, 1, 0]
    producer.yield(cut)
    #expect(await stream.waitForFrame(1))
    #expect(await !stream.waitForFrame(-1))
    var bitmaps = stream.bitmaps().makeAsyncIterator()
    #expect(try await bitmaps.next(isolation: #isolation)?.index == 0)
    await #expect(throws: AnimatedImageError.self) {
      _ = try await bitmaps.next(isolation: #isolation)
    }
    #expect(try await bitmaps.next(isolation: #isolation) == nil)
    #expect(stream.progress.ending == nil)
    producer.finish()
  }

  @Test func `a cancelled caller learns no ending`() async throws {
    let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
    producer.yield(GIFPieces.header + GIFPieces.frame())
    let stream = try await StreamedImage(chunks)
    let caller = Task { await stream.waitUntilEnded() }
    caller.cancel()
    #expect(await caller.value == nil)
    #expect(stream.progress.ending == nil)
    producer.yield([0x3b])
    #expect(await stream.waitUntilEnded() == .complete)
  }

  @Test func `a chunk larger than a slice is scanned to its end`() async throws {
    let frame = GIFPieces.frame(dataBytes: 4000)
    let bytes = GIFPieces.header + Array(repeating: frame, count: 200).flatMap { $0 } + [0x3b]
    let core = StreamCore(options: .init(), storage: .init())
    #expect(try await core.receive(bytes))
    // The first frames are announced before the last ones are scanned.
    #expect(core.versionedProgress.1 == 4)
    #expect(core.versionedProgress.0.byteCount == bytes.count)
    core.settle(nil)
    #expect(core.ending == .complete)
    #expect(core.frames == (try AnimatedImage(bytes: bytes)).frames)
  }

  @Test func `a stream without an image throws`() async {
    for (bytes, code) in [
      ([], AnimatedImageError.Code.truncated), (Array("not an image at all".utf8), .notAnImage),
      (Array("GIF89a".utf8), .truncated),
    ] {
      let error = await #expect(throws: AnimatedImageError.self) {
        _ = try await StreamedImage(Self.sequence([bytes]))
      }
      #expect(error?.code == code)
    }
  }

  @Test func `strict ends the stream at the first damage that loses something`() async throws {
    let frame = GIFPieces.frame(dataBytes: 100)
    let bytes = GIFPieces.header + frame + frame + frame.prefix(20)
    let stream = try await StreamedImage(
      Self.sequence([bytes]), options: DecodingOptions(damage: .strict))
    #expect(await stream.waitUntilEnded()?.error != nil)
    #expect(stream.frameCount == 2)
  }

  @Test func `releasing or cancelling the stream stops the producer`() async throws {
    let frame = GIFPieces.frame(dataBytes: 100)
    for cancels in [true, false] {
      let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
      let ended = AsyncStream.makeStream(of: Bool.self)
      producer.onTermination = { reason in
        ended.continuation.yield(reason == .cancelled)
      }
      producer.yield(GIFPieces.header + frame)
      var stream: StreamedImage? = try await StreamedImage(chunks)
      #expect(await stream?.waitForFrame(0) == true)
      let core = try Weak(#require(stream?.core))
      if cancels {
        stream?.cancel()
        #expect(await stream?.waitUntilEnded() == .cancelled)
        #expect(stream?.frameCount == 1)
      }
      stream = nil
      var terminations = ended.stream.makeAsyncIterator()
      #expect(await terminations.next() == true)
      await eventually { core.object == nil }
    }
  }

  @Test func `a producer that ignores cancelling does not hold up the ending`() async throws {
    let gate = TaskGate()
    let frame = GIFPieces.frame(dataBytes: 100)
    let chunks = ChunkList([GIFPieces.header + frame])
    let stream = try await StreamedImage(
      AsyncStream<[UInt8]>(unfolding: {
        if let chunk = chunks.next() { return chunk }
        await gate.wait()
        return nil
      }))
    #expect(await stream.waitForFrame(0))
    stream.cancel()
    #expect(await stream.waitUntilEnded() == .cancelled)
    #expect(stream.frameCount == 1)
    gate.open()
  }

  @Test func `the next chunk is awaited only when the last was scanned`() async throws {
    let frame = GIFPieces.frame(dataBytes: 100)
    let chunks = ChunkList([GIFPieces.header] + Array(repeating: frame, count: 50))
    let gate = TaskGate()
    let core = Mutex<StreamCore?>(nil)
    let worst = Mutex(0)
    let stream = try await StreamedImage(
      AsyncStream<[UInt8]>(unfolding: {
        if chunks.count == 2 { await gate.wait() }
        // The frames handed out so far, but for the one asked for now.
        let scanned = core.withLock { $0?.frameCount } ?? 0
        if chunks.count > 2 { worst.withLock { $0 = max($0, chunks.count - 1 - scanned) } }
        return chunks.next()
      }))
    core.withLock { $0 = stream.core }
    gate.open()
    #expect(await stream.waitUntilEnded() == .truncated)
    #expect(stream.frameCount == 50)
    #expect(worst.withLock { $0 } == 0)
  }

  @Test func `progress only grows and ends with the ending`() async throws {
    let recipe = try #require(Self.demos.first { $0.outputPath.hasSuffix(".png") })
    let stream = try await StreamedImage(Self.sequence(Split.seven.chunks(recipe.bytes)))
    var last: StreamProgress?
    for await progress in stream.updates {
      if let last {
        #expect(last.ending == nil)
        #expect(progress.byteCount >= last.byteCount && progress.frameCount >= last.frameCount)
      }
      last = progress
    }
    #expect(last?.ending == .complete)
    #expect(last?.byteCount == recipe.bytes.count)
    #expect(last?.announcedFrameCount == last?.frameCount)
  }

  @Test func `a thousand streams cancelled at any point leave nothing behind`() async throws {
    let frame = GIFPieces.frame(dataBytes: 100)
    var random = SplitMix64(seed: 5)
    var cores: [Weak<StreamCore>] = []
    for round in 0..<1000 {
      let chunks =
        [GIFPieces.header + frame]
        + Array(repeating: frame, count: Int.random(in: 0...5, using: &random))
      let stream = try await StreamedImage(Self.sequence(chunks))
      cores.append(Weak(stream.core))
      switch round % 4 {
      case 0: stream.cancel()
      case 1: _ = await stream.waitForFrame(1)
      case 2: _ = await stream.waitUntilEnded()
      default: break
      }
    }
    await eventually { cores.allSatisfy { $0.object == nil } }
  }

  /// Chunks in order, one at a time.
  static func sequence(_ chunks: [[UInt8]]) -> AsyncStream<[UInt8]> {
    let list = ChunkList(chunks)
    return AsyncStream(unfolding: { list.next() })
  }
}

/// Chunks that are handed out one by one.
final class ChunkList: Sendable {
  private let chunks: [[UInt8]]
  private let taken = Mutex(0)

  init(_ chunks: [[UInt8]]) { self.chunks = chunks }

  /// The number handed out.
  var count: Int { taken.withLock { $0 } }

  func next() -> [UInt8]? {
    taken.withLock { taken in
      guard taken < chunks.count else { return nil }
      taken += 1
      return chunks[taken - 1]
    }
  }
}

private struct Weak<Object: AnyObject> {
  weak var object: Object?
  init(_ object: Object) { self.object = object }
}

/// The parts of a GIF of 4 x 4 pixels.
enum GIFPieces {
  /// The header with a palette of two colours.
  static let header: [UInt8] =
    Array("GIF89a".utf8) + [4, 0, 4, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255]

  /// A frame of 100 ms with one colour, and as many bytes behind its pixels.
  static func frame(dataBytes: Int = 0, centiseconds: UInt16 = 10) -> [UInt8] {
    var builder = GIFBuilder()
    builder.graphicControl(GIFGraphicControl(delay: centiseconds))
    builder.frame(
      GIFFrame(
        rect: PixelRect(x: 0, y: 0, width: 4, height: 4), indices: Array(repeating: 0, count: 16)))
    var bytes = Array(builder.bytes.dropLast())
    var rest = dataBytes
    while rest > 0 {
      let count = min(rest, 255)
      bytes += [UInt8(count)] + Array(repeating: 0, count: count)
      rest -= count
    }
    return bytes + [0]
  }
}
