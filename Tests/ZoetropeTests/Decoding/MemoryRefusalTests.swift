import Synchronization
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// What happens when the system has no memory, or no threads, to give: an error with a name, or the
/// work done in another way, and nothing that ends the process or waits for ever.
@Suite(.timeLimit(.minutes(10))) struct MemoryRefusalTests {
  /// A pebibyte: more than any address space here.
  private static let tooMuch = 1 << 50

  @Test(.needsSystemMemory) func `more memory than exists is refused by name`() {
    var codes: [AnimatedImageError.Code] = []
    func attempt(_ body: () throws(AnimatedImageError) -> Void) {
      do { try body() } catch { codes.append(error.code) }
    }
    attempt { () throws(AnimatedImageError) in try PixelMemory.require(Self.tooMuch) }
    attempt { () throws(AnimatedImageError) in
      try FramePixels().reserve(byteCount: Self.tooMuch)
    }
    attempt { () throws(AnimatedImageError) in
      _ = try Canvas(size: PixelSize(width: 1 << 24, height: 1 << 24), format: .rgba8)
    }
    attempt { () throws(AnimatedImageError) in
      _ = try Compositor(size: PixelSize(width: 1 << 24, height: 1 << 24), format: .rgba16)
    }
    #expect(codes == Array(repeating: .outOfMemory, count: 4))
  }

  @Test(.needsSystemMemory) func `blocks to join and pictures to convert are refused by name too`()
  {
    var codes: [AnimatedImageError.Code] = []
    func attempt(_ body: () throws(AnimatedImageError) -> Void) {
      do { try body() } catch { codes.append(error.code) }
    }
    // None of them is looked at before there is memory for the result.
    let size = PixelSize(width: 1 << 24, height: 1 << 24)
    let vast = Bitmap(
      size: size, format: .rgba8, bytesPerRow: size.width * 4,
      storage: PixelStorage(byteCount: 64))
    attempt { () throws(AnimatedImageError) in
      var payload: [UInt8] = []
      let byte = PixelStorage(byteCount: 64)
      let source = unsafe UnsafeRawBufferPointer(start: byte.baseAddress, count: Self.tooMuch)
      unsafe try LZWDecoder.join(source, in: &payload) { _, _ in }
    }
    attempt { () throws(AnimatedImageError) in
      var scratch: [UInt8] = []
      try scratch.makeRoom(for: Self.tooMuch, taking: Self.tooMuch)
    }
    attempt { () throws(AnimatedImageError) in _ = try PixelBuffer(asking: size) }
    attempt { () throws(AnimatedImageError) in _ = try vast.converted(to: .bgra8) }
    attempt { () throws(AnimatedImageError) in
      _ = try Bitmap(
        size: size, format: .bgra8, bytesPerRow: size.width * 4,
        storage: PixelStorage(byteCount: 64)
      ).straightRGBA()
    }
    #expect(codes == Array(repeating: .outOfMemory, count: 5))
  }

  @Test(.needsSystemMemory) func `frames to encode and files in memory are refused by name too`() {
    var codes: [AnimatedImageError.Code] = []
    func attempt(_ body: () throws(AnimatedImageError) -> Void) {
      do { try body() } catch { codes.append(error.code) }
    }
    // No pixel is read before there is memory for what becomes of the pixels.
    let size = PixelSize(width: 1 << 24, height: 1 << 24)
    let vast = Bitmap(
      size: size, format: .rgba8, bytesPerRow: size.width * 4,
      storage: PixelStorage(byteCount: 64))
    let work = FrameWork(picture: vast, base: nil, rect: PixelRect(size))
    attempt { () throws(AnimatedImageError) in
      var colors = FrameColors()
      _ = try colors.required(by: work) { false }
    }
    attempt { () throws(AnimatedImageError) in
      _ = try GIFFrameSearch(globalTable: [], depth: .estimate).code(work) { false }
    }
    attempt { () throws(AnimatedImageError) in
      _ = try RowFilter(form: PNGForm(colorType: .rgb, bitDepth: 8), width: Self.tooMuch)
    }
    attempt { () throws(AnimatedImageError) in try MemorySink().reserve(Self.tooMuch) }
    attempt { () throws(AnimatedImageError) in
      var bytes: [UInt8] = [1]
      try bytes.makeRoom(adding: Self.tooMuch)
    }
    attempt { () throws(AnimatedImageError) in _ = try [UInt8](asking: Self.tooMuch) }
    attempt { () throws(AnimatedImageError) in
      try PixelMemory.allocating(Self.tooMuch) { Issue.record("there is no memory") }
    }
    #expect(codes == Array(repeating: .outOfMemory, count: 7))
  }

  @Test func `an array that makes room keeps its bytes and at least doubles`() throws {
    var bytes: [UInt8] = [7, 8]
    try bytes.makeRoom(adding: 1 << 20)
    let capacity = bytes.capacity
    #expect(capacity >= 1 << 20 + 2 && bytes == [7, 8])
    try bytes.makeRoom(adding: 1 << 20)
    #expect(bytes.capacity == capacity)
    try bytes.makeRoom(adding: capacity - 1)
    #expect(bytes.capacity >= 2 * capacity && bytes == [7, 8])
    let zeros = try [UInt8](asking: 1 << 20)
    #expect(zeros.count == 1 << 20 && zeros.allSatisfy { $0 == 0 })
  }

  @Test func `small memory is not asked for twice`() throws {
    try PixelMemory.require(1000)
    try PixelMemory.require(1 << 21)
    let storage = try PixelStorage(asking: 1 << 18)
    #expect(storage.bytes.byteCount == 1 << 18)
  }

  @Test func `a frame that was refused is refused again, not waited for`() throws {
    // Large enough that threads decode ahead.
    let rect = PixelRect(x: 0, y: 0, width: 600, height: 600)
    var gif = GIFBuilder()
    gif.signature()
    let palette = GIFPalette([.black, RGBA(red: 255, green: 255, blue: 255)])
    gif.screen(width: rect.width, height: rect.height, palette: palette)
    for index in 0..<4 {
      var frame = GIFFrame(
        rect: rect, indices: [UInt8](repeating: UInt8(index % 2), count: 360_000))
      if index == 1 { frame.lzw.fault = .endCode(afterPixels: 1000) }
      gif.frame(frame)
    }
    gif.trailer()
    for threads in [1, 2] {
      let image = try AnimatedImage(
        bytes: gif.bytes, options: DecodingOptions(damage: .strict, parallelism: threads))
      let reader = FrameReader(image)
      #expect(try reader.next()?.index == 0)
      for _ in 0..<3 {
        #expect(throws: AnimatedImageError.self) { try reader.next() }
        #expect(reader.nextIndex == 1)
      }
      #expect(try reader.frame(at: 0).index == 0)
    }
  }

  @Test func `without any thread, work is done on the cooperative pool`() async {
    let attempts = Atomic<Int>(0)
    let threads = DecodeThreads(count: 2) { _ in
      attempts.add(1, ordering: .relaxed)
      return false
    }
    let optional = Atomic<Bool>(false)
    threads.run(isOptional: true) { optional.store(true, ordering: .relaxed) }
    #expect(await threads.result { 42 } == 42)
    #expect(await threads.result { 43 } == 43)
    let (wasDone, count) = (optional.load(ordering: .relaxed), attempts.load(ordering: .relaxed))
    #expect(!wasDone)
    #expect(count == 3)
  }

  @Test func `whoever must not wait for a thread learns whether there is one`() async {
    let attempts = Atomic<Int>(0)
    let threads = DecodeThreads(count: 2) { body in
      attempts.add(1, ordering: .relaxed).oldValue > 0 && startThread(running: body)
    }
    let found = [threads.ensureThread(), threads.ensureThread(), threads.ensureThread()]
    let count = attempts.load(ordering: .relaxed)
    #expect(found == [false, true, true] && count == 2)
    #expect(await threads.result { 44 } == 44)
  }

  @Test func `work that no thread takes never runs under a lock of who asks for it`() async {
    let threads = DecodeThreads(count: 2) { _ in false }
    let lock = Mutex(0)
    let done = Tally()
    lock.withLock { _ in
      for _ in 0..<100 {
        threads.run {
          lock.withLock { $0 += 1 }
          // Work that asks for work, as lanes do.
          threads.run { done.add() }
        }
      }
    }
    await done.reach(100)
    #expect(lock.withLock { $0 } == 100)
  }

  @Test func `when some threads cannot be started, the others do all work`() async {
    let attempts = Atomic<Int>(0)
    let threads = DecodeThreads(count: 3) { body in
      let number = attempts.add(1, ordering: .relaxed).oldValue
      return number % 2 == 1 && startThread(running: body)
    }
    let done = Tally()
    for _ in 0..<1000 { threads.run { done.add() } }
    await done.reach(1000)
  }
}

extension Trait where Self == ConditionTrait {
  /// For tests in which the system refuses memory. They cannot make the address sanitizer's own allocator refuse it.
  fileprivate static var needsSystemMemory: Self {
    #if SANITIZE_ADDRESS
      .disabled("the address sanitizer's allocator has all blocks")
    #else
      .enabled { true }
    #endif
  }
}
