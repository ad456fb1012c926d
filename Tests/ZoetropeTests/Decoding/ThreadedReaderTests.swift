import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// Frames decoded on several threads, which images of the fixtures' size are otherwise too small for.
@Suite(.timeLimit(.minutes(10))) struct ThreadedReaderTests {
  static let options = DecodingOptions(parallelism: 3)

  /// A reader that decodes on threads, however small the image.
  static func reader(_ image: AnimatedImage) -> FrameReader { FrameReader(image, sharingAbove: 0) }

  static func sequential(_ bytes: [UInt8]) throws -> [Bitmap] {
    let reader = FrameReader(
      try AnimatedImage(bytes: bytes, options: DecodingOptions(parallelism: 1)))
    var bitmaps: [Bitmap] = []
    while let frame = try reader.next() { bitmaps.append(frame.bitmap) }
    return bitmaps
  }

  @Test(arguments: FixtureTests.recipes.filter { $0.expectations.errorCode == nil })
  func `threads give the frames that one thread gives, forwards and backwards`(
    recipe: Recipe
  ) throws {
    let expected = try Self.sequential(recipe.bytes)
    let reader = Self.reader(try AnimatedImage(bytes: recipe.bytes, options: Self.options))
    for bitmap in expected { #expect(try reader.next()?.bitmap == bitmap) }
    #expect(try reader.next() == nil)
    for index in expected.indices.reversed() {
      #expect(try reader.frame(at: index).bitmap == expected[index])
    }
  }

  @Test(arguments: FixtureTests.recipes.filter { $0.expectations.strictThrows == true })
  func `a refused frame is refused again, and does not hang`(recipe: Recipe) throws {
    let options = DecodingOptions(damage: .strict, parallelism: 3)
    guard let image = try? AnimatedImage(bytes: recipe.bytes, options: options) else { return }
    let reader = Self.reader(image)
    var errors: [AnimatedImageError] = []
    var index = 0
    while errors.count < 2 {
      do throws(AnimatedImageError) {
        guard try reader.next() != nil else { break }
        #expect(errors.isEmpty)
        index += 1
      } catch {
        errors.append(error)
        #expect(reader.nextIndex == index)
      }
    }
    #expect(errors.count != 1)
    if errors.count == 2 { #expect(errors[0] == errors[1]) }
  }

  @Test(arguments: 0..<12) func `a read that fails once costs one error and no frame`(
    failing: Int
  ) throws {
    let bytes = DeltaGIF.make(width: 64, height: 64, frameCount: 12)
    let expected = try Self.sequential(bytes)
    let source = CountingSource(bytes) { (number) throws(AnimatedImageError) in
      if number == failing + 1 { throw AnimatedImageError(.io, "this read fails") }
    }
    let reader = Self.reader(try source.open(parallelism: 3))
    var errors = 0
    for _ in 0..<2 {
      var index = 0
      while index < expected.count {
        do throws(AnimatedImageError) {
          #expect(try reader.next()?.bitmap == expected[index])
          index += 1
        } catch {
          #expect(error.code == .io)
          errors += 1
          try #require(errors < 10)
        }
      }
      reader.rewind()
    }
    // A frame decoded ahead may be thrown away by the rewind, its error with it.
    #expect(errors <= 1)
  }

  @Test func `frames past a limit are not begun before they are requested`() throws {
    let bytes = DeltaGIF.make(width: 64, height: 64, frameCount: 12)
    let expected = try Self.sequential(bytes)
    let source = CountingSource(bytes)
    let reader = Self.reader(try source.open(parallelism: 3))
    reader.limitDecodingAhead(to: 4)
    for index in 0...4 { #expect(try reader.next()?.bitmap == expected[index]) }
    #expect(source.count == 5)
    #expect(try reader.next()?.bitmap == expected[5])
    #expect(source.count == 6)
    reader.limitDecodingAhead(to: nil)
    for index in 6..<12 { #expect(try reader.next()?.bitmap == expected[index]) }
    #expect(source.count == 12)
  }

  @Test func `readers together stay within the memory of the process, and give it back`() throws {
    let bytes = DeltaGIF.make(width: 64, height: 64, frameCount: 30, patch: 64)
    let expected = try Self.sequential(bytes)
    let image = try AnimatedImage(bytes: bytes, options: Self.options)
    let frame = DecodeWindow(image.frames, header: image.header, options: image.options)
      .largestByteCount
    let memory = DecodeMemory(byteLimit: 4 * frame)
    do {
      let readers = (0..<12).map { _ in FrameReader(image, sharingAbove: 0, memory: memory) }
      for index in expected.indices {
        for reader in readers { #expect(try reader.next()?.bitmap == expected[index]) }
        // What was begun before the limit was reached, and one frame that each reader was asked for.
        #expect(memory.usedBytes <= (4 + readers.count + 3) * frame)
      }
      for reader in readers { _ = try reader.frame(at: 3) }
    }
    #expect(memory.usedBytes == 0)
  }

  @Test func `a frame that took more memory than expected is charged for all of it`() throws {
    let image = try AnimatedImage(
      bytes: DeltaGIF.make(width: 64, height: 64, frameCount: 4), options: Self.options)
    let window = DecodeWindow(image.frames, header: image.header, options: image.options)
    let memory = DecodeMemory(byteLimit: 1 << 30)
    var queue = DecodeAhead.Queue(image.frames, window: window, memory: memory)
    func claim(_ index: Int) throws -> DecodeAhead.Queue.Claim {
      guard case .decode(let claim) = queue.step(for: index) else {
        throw AnimatedImageError(.parameter, "frame \(index) is not claimed")
      }
      return claim
    }
    let first = try claim(0)
    let expected = queue.heldBytes
    try first.pixels.reserve(byteCount: expected + 100_000)
    _ = queue.finish(first, .success(()))
    #expect(queue.heldBytes == first.pixels.storage.byteCount)
    #expect(queue.heldBytes >= expected + 100_000)
    // The consumer takes the frame and gives it back.
    guard case .ready(let pixels) = queue.step(for: 0) else {
      Issue.record("the frame is not ready")
      return
    }
    queue.takeBack(pixels)
    #expect(queue.heldBytes == 0)
  }

  @Test func `a thread that claims several small frames at once stays within that memory`() throws {
    let bytes = DeltaGIF.make(width: 64, height: 64, frameCount: 30, patch: 64)
    let image = try AnimatedImage(bytes: bytes, options: Self.options)
    let window = DecodeWindow(image.frames, header: image.header, options: image.options)
    let memory = DecodeMemory(byteLimit: 4 * window.largestByteCount)
    var queue = DecodeAhead.Queue(image.frames, window: window, memory: memory)
    guard case .decode(let claims) = queue.helperStep(pixels: .max, mayWait: false) else {
      Issue.record("the window is empty")
      return
    }
    #expect(claims.count == 4)
    #expect(memory.usedBytes == 4 * window.largestByteCount)
    #expect(queue.chargedBytes == queue.byteCount)
  }

  @Test func `a reader that was asked for single frames keeps no memory for more`() throws {
    let bytes = DeltaGIF.make(width: 100, height: 100, frameCount: 30, patch: 100)
    let image = try AnimatedImage(bytes: bytes, options: Self.options)
    let memory = DecodeMemory(byteLimit: 1 << 30)
    let reader = FrameReader(image, sharingAbove: 0, memory: memory)
    for index in [7, 20, 3] {
      reader.limitDecodingAhead(to: index)
      #expect(try reader.frame(at: index).index == index)
      #expect(memory.usedBytes == 0)
    }
  }

  @Test func `a request for any number of threads starts only as many as are useful`() throws {
    let bytes = DeltaGIF.make(width: 64, height: 64, frameCount: 4)
    let image = try AnimatedImage(bytes: bytes, options: DecodingOptions(parallelism: .max))
    let reader = Self.reader(image)
    for bitmap in try Self.sequential(bytes) { #expect(try reader.next()?.bitmap == bitmap) }
  }

  @Test func `frames are decoded on a machine that starts no thread`() async {
    let threads = DecodeThreads(count: 2) { _ in false }
    #expect(await threads.result { 7 } == 7)
    #expect(await threads.result { 8 } == 8)
  }
}
