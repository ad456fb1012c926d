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

/// Frames of streams, and the progress that streams report.
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
