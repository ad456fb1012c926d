import Foundation
import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropeRemote

/// Numbers that come from outside, such as from a request, end no process.
@Suite(.timeLimit(.minutes(10))) struct HostileArgumentTests {
  private static let numbers = [Int.min, -1, 0, 1, 3, 4, 1 << 32, .max - 1, .max]
  private let bytes = DeltaGIF.make(width: 12, height: 8, frameCount: 4, patch: 4)

  private func indices(
    _ range: some RangeExpression<Int> & Sendable, of image: AnimatedImage
  ) async throws -> [Int] {
    var indices: [Int] = []
    for try await frame in image.bitmaps(range) { indices.append(frame.index) }
    return indices
  }

  @Test func `any range of frames is clamped`() async throws {
    let image = try AnimatedImage(bytes: bytes)
    for low in Self.numbers {
      let from = (0..<4).filter { $0 >= low }
      #expect(try await indices(low..., of: image) == from)
      #expect(try await indices(..<low, of: image) == (0..<4).filter { $0 < low })
      #expect(try await indices(...low, of: image) == (0..<4).filter { $0 <= low })
      for high in Self.numbers where high >= low {
        #expect(try await indices(low..<high, of: image) == from.filter { $0 < high })
        #expect(try await indices(low...high, of: image) == from.filter { $0 <= high })
      }
    }
  }

  @Test func `any index and time gives a frame or an error`() async throws {
    let image = try AnimatedImage(bytes: bytes)
    let cache = MemoryFrameCache(byteLimit: .max, budget: MemoryBudget(byteLimit: .max))
    let remote = try await RemoteImage(
      reading: CountedRanges(bytes),
      remoteOptions: RemoteOptions(byteLimit: .max, readAheadByteCount: .max, gapByteLimit: .max))
    let shared = SharedFrames(image, keeping: .max)
    let scheduler = FrameScheduler(sharing: shared, clock: ManualClock(.jumping))
    for number in Self.numbers {
      let exists = (0..<4).contains(number)
      #expect(((try? await image.bitmap(at: number, cache: cache)) != nil) == exists)
      #expect(((try? await remote.bitmap(at: number)) != nil) == exists)
      #expect(((try? await shared.frame(at: number)) != nil) == exists)
      #expect(((try? FrameReader(image).frame(at: number)) != nil) == exists)
      #expect(remote.byteRanges(forFrame: number).isEmpty == !exists)
      #expect(((try? scheduler.seek(toFrame: number)) != nil) == exists)
      for time in [Duration.seconds(number), .nanoseconds(number)] {
        #expect((0..<4).contains(image.frameIndex(at: time, policy: .exact)))
        scheduler.seek(to: time)
        _ = try await image.bitmap(at: time, policy: .minimum(time, replacement: time))
      }
    }
    scheduler.stop()
  }

  @Test func `any option is clamped or refused`() async throws {
    for number in Self.numbers {
      let budget = MemoryBudget(byteLimit: number)
      for pressure in MemoryPressure.allLevels {
        budget.pressure = pressure
        #expect(!budget.lacksRoom(since: true) && !budget.lacksRoom(since: false))
      }
      let remoteOptions = RemoteOptions(
        byteLimit: number, readAheadByteCount: number, gapByteLimit: number)
      let remote = try await RemoteImage(
        reading: CountedRanges(bytes), remoteOptions: remoteOptions, budget: budget)
      for index in [0, 1, 2, 3, 0, 3] { _ = try await remote.bitmap(at: index) }
      let storage = StreamStorage(memoryByteLimit: number, byteLimit: .max)
      let chunks = AsyncStream<[UInt8]> { producer in
        producer.yield(bytes)
        producer.finish()
      }
      let stream = try await StreamedImage(chunks, storage: storage, budget: budget)
      #expect(await stream.waitUntilEnded() == .complete && stream.frameCount == 4)
      #expect(await stream.waitForFrame(number) == (0..<4).contains(number))
      let loader = FrameLoader(
        cache: MemoryFrameCache(byteLimit: number, budget: budget), budget: budget,
        maxConcurrentLoads: number)
      _ = try await loader.bitmap(for: 1) { _ in bytes }
      var options = DecodingOptions(parallelism: number)
      options.limits.metadataCount = number
      options.limits.metadataBytes = number
      options.limits.metadataTotalBytes = number
      _ = try FrameReader(AnimatedImage(bytes: bytes, options: options)).frame(at: 3)
      options.limits.canvasPixels = number
      options.limits.frameCount = number
      options.limits.liveBytes = number
      options.limits.pixelsPerPlay = number
      if let image = try? AnimatedImage(bytes: bytes, options: options) {
        _ = try? FrameReader(image).frame(at: 0)
      }
      let image = try AnimatedImage(bytes: bytes, options: DecodingOptions(limits: .strict))
      for other in Self.numbers {
        let target = TargetSize(width: number, height: other)
        let rendering = Rendering(target: target, fit: .fill)
        let bitmap = try? await image.bitmap(at: 0, rendering: rendering)
        #expect((bitmap != nil) == (max(number, other) < 100), "\(target)")
      }
    }
  }

  @Test func `any size of a bitmap is drawn, scaled and converted, or refused`() throws {
    let bitmap = try Bitmap(size: PixelSize(width: 4, height: 3)) { _, _ in }
    for number in Self.numbers where number != 1 << 32 {
      for size in [PixelSize(width: number, height: 3), PixelSize(width: 3, height: number)] {
        let isSmall = (0...4).contains(number)
        #expect(((try? Bitmap(size: size) { _, _ in }) != nil) == isSmall, "\(size)")
        #expect(((try? FrameScaler(from: bitmap.size, to: size)) != nil) == isSmall, "\(size)")
        #expect(((try? FrameScaler(from: size, to: bitmap.size)) != nil) == isSmall, "\(size)")
        let scaled = try? bitmap.scaled(to: TargetSize(size), fit: .stretch)
        #expect((scaled != nil) == (number <= 4), "\(size)")
      }
    }
    let error = #expect(throws: AnimatedImageError.self) {
      try FrameScaler(
        from: bitmap.size, to: PixelSize(width: FrameScaler.longestSide + 1, height: 1))
    }
    #expect(error?.limit?.kind == .scaledSide)
  }

  @Test func `a bitmap takes exactly the bytes of its pixels`() throws {
    let bytes = (0..<16).map { UInt8($0) }
    let bitmap = try Bitmap(size: PixelSize(width: 2, height: 2), bytes: bytes)
    #expect(bitmap[1, 0] == RGBA(red: 4, green: 5, blue: 6, alpha: 7))
    #expect(bitmap[0, 1] == RGBA(red: 8, green: 9, blue: 10, alpha: 11))
    let luma = try Bitmap(
      size: PixelSize(width: 1, height: 16), format: .gray8, bytes: bytes)
    #expect(try luma.converted(to: .rgba8)[0, 9].green == 9)
    #expect(try Bitmap(size: PixelSize(width: 0, height: 3), bytes: []).width == 0)
    let sides: [(Int, Int)] = [(2, 1), (3, 2), (-2, -2), (0, 4), (.max, 1), (4, .max)]
    for (width, height) in sides {
      let error = #expect(throws: AnimatedImageError.self) {
        try Bitmap(size: PixelSize(width: width, height: height), bytes: bytes)
      }
      #expect(error?.code == .parameter, "\(width) x \(height)")
    }
  }

  @Test func `a scaler refuses bitmaps of another size or format`() throws {
    let size = PixelSize(width: 4, height: 3)
    let scaler = try FrameScaler(from: size, to: PixelSize(width: 2, height: 2))
    let bitmap = try Bitmap(size: size) { _, _ in }
    let small = try scaler.scale(bitmap)
    let grey = try small.converted(to: .gray8)
    for (picture, previous) in [(small, small), (bitmap, bitmap), (bitmap, grey)] {
      let error = #expect(throws: AnimatedImageError.self) {
        try scaler.rescale(picture, previous: previous, changed: PixelRect(size))
      }
      #expect(error?.code == .parameter)
    }
    #expect(throws: AnimatedImageError.self) { try scaler.scale(small) }
  }

  @Test func `a path may be a string or a file path everywhere`() async throws {
    let scratch = try ScratchDirectory()
    let directory = scratch.path
    let path = directory.appending("a.gif")
    let text = path.string
    try Data(bytes).write(to: URL(filePath: text))
    let image = try AnimatedImage(contentsOf: text)
    #expect(try AnimatedImage(contentsOf: path).frames == image.frames)
    #expect(try await AnimatedImage.open(text).frames == image.frames)
    #expect(try ContentIdentity(contentsOf: text) == ContentIdentity(contentsOf: path))
    let store = try FrameStore(at: directory.appending("store").string)
    #expect(store.directory == directory.appending("store"))
    #expect(try AnimatedImage(contentsOf: text, knownTo: store).frames == image.frames)
    #expect(try await AnimatedImage.open(text, knownTo: store).frames == image.frames)
    let sink = FileSink(directory.appending("b.gif").string)
    try await image.write([], to: sink)
    #expect(try AnimatedImage(contentsOf: sink.path).frames.count == 4)
    var indices: [Int] = []
    let state = await animateImage(at: text, clock: ManualClock(.jumping)) { index, _, stop in
      indices.append(index)
      stop = true
    }
    #expect(state == .stopped && indices == [0])

    #expect(StreamStorage(directory: text) == StreamStorage(directory: path))
    // A loader takes both for the same name.
    let loader = FrameLoader()
    let first = try await loader.bitmap(forFileAt: text)
    #expect(try await loader.image(forFileAt: text).frames == image.frames)
    #expect(try await loader.image(forFileAt: path).bitmap(at: 0) == first)
    loader.prefetch(forFileAt: text)
    await loader.forget(fileAt: text)
    for await phase in loader.phases(forFileAt: text) {
      if case .failed(let error) = phase { Issue.record(error) }
      if case .poster(let bitmap) = phase { #expect(bitmap == first) }
    }
  }

  @Test func `a path that names nothing gives the same error in both forms`() async throws {
    let path = "/no/such/file.gif"
    let wanted = try #require(throws: AnimatedImageError.self) {
      try AnimatedImage(contentsOf: FilePath(path))
    }
    #expect(wanted.code == .io)
    #expect(throws: wanted) { try AnimatedImage(contentsOf: path) }
    await #expect(throws: wanted) { try await AnimatedImage.open(path) }
  }

  @Test func `rectangles and rows of any size have a size`() {
    for x in Self.numbers {
      for width in Self.numbers {
        let rect = PixelRect(x: x, y: width, width: width, height: x)
        for other in [PixelRect(x: 0, y: 0, width: 9, height: 9), rect] {
          #expect(rect.union(other).x <= max(rect.x, other.x))
          #expect(rect.intersection(other).width >= 0)
          _ = rect.contains(other)
        }
      }
      for format in PixelFormat.all {
        #expect(format.bytesPerRow(width: x) >= 64 && format.bytesPerRow(width: x) % 64 == 0)
      }
    }
  }
}
