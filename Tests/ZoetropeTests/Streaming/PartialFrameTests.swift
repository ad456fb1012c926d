import Dispatch
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropePlayback

@Suite(.timeLimit(.minutes(10)), .computes) struct PartialFrameTests {
  private static let recipes = StreamedImageTests.recipes.filter {
    $0.expectations.errorCode == nil && $0.bytes.count < 60_000
  }

  /// Feeds `bytes` in pieces and calls `look` after each, with the number received.
  private static func feed(
    _ bytes: [UInt8], pieces: Int, options: DecodingOptions = .init(),
    _ look: (StreamCore, PartialReader, Int) throws -> Void
  ) async throws {
    let core = StreamCore(options: options, storage: .init())
    let reader = PartialReader(core)
    var random = SplitMix64(seed: UInt64(bytes.count))
    var start = 0
    while start < bytes.count {
      let end = min(
        start + Int.random(in: 1...max(2 * bytes.count / pieces, 1), using: &random), bytes.count)
      if try await core.receive(Array(bytes[start..<end])) { break }
      start = end
      try look(core, reader, start)
    }
  }

  @Test(arguments: recipes)
  func `a partial frame shows the rows that a file cut there shows`(recipe: Recipe) async throws {
    // The formats differ in how rows are expanded, not in where they are cut.
    for (keeps16Bit, pieces) in [(false, 24), (true, 8)] {
      let options = DecodingOptions(damage: .partialRows, keeps16Bit: keeps16Bit)
      try await Self.feed(recipe.bytes, pieces: pieces, options: options) { core, reader, count in
        guard let partial = try reader.next(isCancelled: { false }) else { return }
        #expect(partial.index == core.frameCount)
        #expect(partial.bitmap.size == core.header?.canvasSize)
        #expect(partial.shownRows >= 1 && partial.shownRows <= partial.rect.height)
        #expect(partial.completeRows <= partial.shownRows)
        guard partial.passCount == 1 else { return }
        // A file that ends here keeps the rows of the frame in which it ends.
        let cut = try AnimatedImage(bytes: Array(recipe.bytes[..<count]), options: options)
        #expect(cut.frames.count == partial.index + 1, "\(count) bytes")
        guard partial.index < cut.frames.count else { return }
        let whole = try FrameReader(cut).frame(at: partial.index).bitmap
        #expect(partial.bitmap == whole, "\(count) bytes, frame \(partial.index)")
      }
    }
  }

  @Test(arguments: recipes)
  func `a partial frame that is complete is the frame`(recipe: Recipe) async throws {
    let whole = FrameReader(try AnimatedImage(bytes: recipe.bytes))
    var rows: [Int: Int] = [:]
    try await Self.feed(recipe.bytes, pieces: 100) { core, reader, count in
      guard let partial = try reader.next(isCancelled: { false }) else { return }
      #expect(partial.completeRows >= rows[partial.index, default: 0])
      rows[partial.index] = partial.completeRows
      #expect(partial.isComplete == (partial.completePasses == partial.passCount))
      guard partial.isComplete, partial.index < whole.image.frames.count else { return }
      let frame = try whole.frame(at: partial.index)
      // Damage after the pixels of a frame costs none of them.
      if frame.damage == nil { #expect(partial.bitmap == frame.bitmap) }
    }
  }

  /// The interlaced fixtures, of both formats, several frames each or one.
  private static let interlaced = recipes.filter { recipe in
    (try? AnimatedImage(bytes: recipe.bytes))?.frames.contains { $0.isInterlaced } == true
  }

  @Test func `there are interlaced fixtures of both formats`() {
    let formats = Set(Self.interlaced.compactMap { try? AnimatedImage(bytes: $0.bytes).format })
    #expect(formats.contains(.gif) && !formats.isDisjoint(with: [.apng, .png]))
  }

  @Test func `an interlaced frame is refined pass by pass`() async throws {
    var checked: [AnimationFormat: Int] = [:]
    for recipe in Self.interlaced {
      let image = try AnimatedImage(bytes: recipe.bytes)
      let whole = FrameReader(image)
      try await Self.feed(recipe.bytes, pieces: 40) { core, reader, count in
        guard let partial = try reader.next(isCancelled: { false }), partial.passCount > 1,
          partial.index < image.frames.count
        else { return }
        let frame = try whole.frame(at: partial.index)
        let control = image.frames[partial.index]
        // Blocks of frames that mix with what is below are not those of the finished picture.
        guard frame.damage == nil, control.transparentIndex == nil,
          PixelRect(image.canvasSize).contains(control.rect),
          Self.isOpaque(frame.bitmap, in: control.rect)
        else { return }
        let rect = control.rect
        let origins = [partial.completePasses, partial.completePasses + 1]
        var wrong: [String] = []
        for y in 0..<rect.height {
          for x in 0..<rect.width {
            let found = partial.bitmap[rect.x + x, rect.y + y]
            if y >= partial.shownRows {
              if partial.index == 0, found != .clear { wrong.append("(\(x), \(y))") }
              continue
            }
            // The pass in arrival may have refined this block already.
            let isRight = origins.contains { passes in
              let from = Self.origin(x, y, passes: passes, of: partial.passCount)
              return found == frame.bitmap[rect.x + from.x, rect.y + from.y]
            }
            if !isRight { wrong.append("(\(x), \(y))") }
          }
        }
        #expect(wrong.isEmpty, "\(recipe.name) at \(count) bytes")
        checked[image.format, default: 0] += partial.shownRows * rect.width
      }
    }
    #expect(checked[.gif, default: 0] > 1000)
    #expect(checked[.apng, default: 0] + checked[.png, default: 0] > 1000)
  }

  private static func isOpaque(_ bitmap: Bitmap, in rect: PixelRect) -> Bool {
    (rect.y..<rect.maxY).allSatisfy { y in
      (rect.x..<rect.maxX).allSatisfy { x in bitmap[x, y].alpha == 255 }
    }
  }

  /// The pixel that (`x`, `y`) shows after the first passes of 4 or 7.
  private static func origin(
    _ x: Int, _ y: Int, passes: Int, of total: Int
  ) -> (x: Int, y: Int) {
    let count = min(passes, total)
    if total == 4 { return (x, y & ~([8, 8, 4, 2, 1][count] - 1)) }
    // After each pass of Adam7 the pixels lie on a grid of this many columns and rows.
    let grid = [(8, 8), (8, 8), (4, 8), (4, 4), (2, 4), (2, 2), (1, 2), (1, 1)][count]
    return (x & ~(grid.0 - 1), y & ~(grid.1 - 1))
  }

  @Test func `every byte of a frame is decoded once, however often it is asked for`() throws {
    let recipe = try #require(
      Self.recipes.first { recipe in
        recipe.name.hasPrefix("Demo/") && recipe.outputPath.hasSuffix(".gif")
      })
    let image = try AnimatedImage(bytes: recipe.bytes)
    let control = image.frames[0]
    let frame = try ArrivingFrame(control, header: image.header, options: .init())
    let bytes = Array(recipe.bytes[control.byteRange])
    for place in bytes.indices {
      frame.feed(bytes.rawBytes.extracting(place..<place + 1))
      #expect(frame.byteCount == place + 1)
    }
    #expect(frame.progress.completeRows == control.rect.height)
    var whole = FrameDecoder(header: image.header, options: .init())
    let pixels = FramePixels()
    try whole.decode(control, from: MemorySource(recipe.bytes), into: pixels)
    #expect(frame.pixels.content.validPixels == pixels.content.validPixels)
  }

  @Test func `a partial frame is scaled as asked, and gone at the end`() async throws {
    let recipe = try #require(
      Self.recipes.first { recipe in
        recipe.name.hasPrefix("Demo/") && recipe.outputPath.hasSuffix(".gif")
      })
    let first = try #require(try AnimatedImage(bytes: recipe.bytes).frames.first).byteRange
    let half = first.lowerBound + first.count * 3 / 4
    let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
    producer.yield(Array(recipe.bytes[..<half]))
    let stream = try await StreamedImage(chunks)
    // The chunk may be scanned in two steps: until all of it is, fewer rows may be there.
    for await progress in stream.updates where progress.byteCount == half { break }
    let partial = try #require(try await stream.partialFrame())
    #expect(partial.index == 0 && !partial.isComplete)
    let rendering = Rendering(target: TargetSize(width: 8, height: 8), fit: .stretch)
    let small = try #require(try await stream.partialFrame(rendering: rendering))
    #expect(small.bitmap.size == PixelSize(width: 8, height: 8))
    #expect(small.completeRows == partial.completeRows)

    let cancelled = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await stream.partialFrame()
    }
    cancelled.cancel()
    let error = await #expect(throws: AnimatedImageError.self) { _ = try await cancelled.value }
    #expect(error?.code == .cancelled)

    producer.yield(Array(recipe.bytes[half...]))
    #expect(await stream.waitUntilEnded() == .complete)
    #expect(try await stream.partialFrame() == nil)
  }

  // One of the threads is held up by the first call.
  @Test(.enabled(if: DecodeThreads.processorCount > 1))
  func `calls that wait for a reader hold up no thread, and can be cancelled`() async throws {
    let lent = Lent(5)
    let (begun, end) = (TaskGate(), DispatchSemaphore(value: 0))
    // However this test ends, the first call does.
    defer { end.signal() }
    let first = Task {
      try await lent.value { (reader: Int, _: CancelFlag) throws(AnimatedImageError) -> Int in
        begun.open()
        end.wait()
        return reader
      }
    }
    await begun.wait()
    let others = (0..<2 * DecodeThreads.processorCount + 2).map { number in
      Task {
        try await lent.value { (_: Int, _: CancelFlag) throws(AnimatedImageError) -> Int in number }
      }
    }
    await eventually { lent.waitingCount == others.count }
    let free = try await DecodeThreads.shared.value { (_) throws(AnimatedImageError) in 7 }
    #expect(free == 7)
    others[0].cancel()
    let error = await #expect(throws: AnimatedImageError.self) { _ = try await others[0].value }
    #expect(error?.code == .cancelled)
    end.signal()
    #expect(try await first.value == 5)
    for (number, other) in others.enumerated().dropFirst() {
      #expect(try await other.value == number)
    }
  }

  @Test func `a frame past the limit of memory is refused before it is drawn`() async throws {
    let bytes = GIFPieces.header + GIFPieces.frame() + GIFPieces.frame(dataBytes: 30_000)
    var options = DecodingOptions()
    options.limits.liveBytes = 10_000
    let core = StreamCore(options: options, storage: .init())
    _ = try await core.receive(Array(bytes.dropLast(10)))
    let reader = PartialReader(core)
    let error = #expect(throws: AnimatedImageError.self) {
      _ = try reader.next(isCancelled: { false })
    }
    #expect(error?.code == .limitExceeded)
  }

  @Test func `the static image of an APNG is not an arriving frame, that of a PNG is`() async throws
  {
    var (hiddenCount, plainCount) = (0, 0)
    for recipe in Self.recipes where recipe.outputPath.hasSuffix(".png") {
      let image = try AnimatedImage(bytes: recipe.bytes)
      let isPlain = image.format == .png && image.damage.isEmpty
      guard let picture = image.staticImage ?? (isPlain ? image.frames.first : nil) else {
        continue
      }
      let core = StreamCore(options: .init(), storage: .init())
      _ = try await core.receive(Array(recipe.bytes[..<picture.byteRange.upperBound]))
      let partial = try PartialReader(core).next(isCancelled: { false })
      if image.staticImage != nil {
        #expect(partial == nil, "\(recipe.name)")
        hiddenCount += 1
      } else {
        let frame = try FrameReader(image).frame(at: 0)
        guard frame.damage == nil else { continue }
        #expect(partial?.isComplete == true && partial?.bitmap == frame.bitmap, "\(recipe.name)")
        plainCount += 1
      }
    }
    #expect(hiddenCount > 0 && plainCount > 0)
  }

  @Test func `progress counts decoded frames and knows the total at the end`() async throws {
    let recipe = try #require(
      Self.recipes.first { recipe in
        recipe.name.hasPrefix("Demo/") && recipe.outputPath.hasSuffix(".gif")
      })
    let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
    producer.yield(recipe.bytes.dropLast())
    let stream = try await StreamedImage(chunks)
    let count = try AnimatedImage(bytes: recipe.bytes).frames.count
    #expect(await stream.waitForFrame(count - 1))
    #expect(stream.progress.decodedFrameCount == 0 && stream.progress.ending == nil)
    var updates = stream.updates.makeAsyncIterator()
    _ = await updates.next(isolation: #isolation)
    var bitmaps = stream.bitmaps().makeAsyncIterator()
    for index in 0..<count {
      _ = try await bitmaps.next(isolation: #isolation)
      #expect(stream.progress.decodedFrameCount == index + 1)
      // Each decoded frame is news.
      #expect(await updates.next(isolation: #isolation)?.decodedFrameCount == index + 1)
    }
    // A second look decodes nothing further.
    var again = stream.bitmaps().makeAsyncIterator()
    _ = try await again.next(isolation: #isolation)
    #expect(stream.progress.decodedFrameCount == count)
    producer.yield([0x3b])
    #expect(await stream.waitUntilEnded() == .complete)
    #expect(stream.progress.ending != nil && stream.progress.frameCount == count)
  }
}
