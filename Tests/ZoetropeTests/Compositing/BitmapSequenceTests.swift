import Synchronization
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// What iterators of a sequence of bitmaps decode, and that copies of one may be used at once.
@Suite(.timeLimit(.minutes(10))) struct BitmapSequenceTests {
  /// Copies its iterator for each frame and stores the copy back, as an actor has to.
  @MainActor private final class Viewer {
    private var iterator: BitmapSequence.Iterator
    private(set) var bitmaps: [Int: Bitmap] = [:]

    init(_ image: AnimatedImage) { iterator = image.bitmaps().makeAsyncIterator() }

    /// Takes the next frame; false after the last one.
    func step() async throws -> Bool {
      var copy = iterator
      guard let frame = try await copy.next(isolation: #isolation) else { return false }
      iterator = copy
      bitmaps[frame.index] = frame.bitmap
      return true
    }
  }

  @Test func `two tasks of one actor that copy an iterator share its decoder in turns`()
    async throws
  {
    let bytes = DeltaGIF.make(width: 48, height: 48, frameCount: 8, patch: 9)
    // A frame's bytes are read while it is decoded: two reads at once are two threads in one decoder.
    let source = OverlapSource(bytes)
    let image = try AnimatedImage(source: source, options: DecodingOptions(parallelism: 1))
    let expected = try ThreadedReaderTests.sequential(bytes)
    for _ in 0..<5 {
      let viewer = await Viewer(image)
      let tasks = (0..<2).map { _ in
        Task { @MainActor in while try await viewer.step() {} }
      }
      for task in tasks { try await task.value }
      let bitmaps = await viewer.bitmaps
      #expect(bitmaps.count == expected.count)
      for (index, bitmap) in bitmaps { #expect(bitmap == expected[index]) }
    }
    #expect(source.mostAtOnce == 1)
  }

  @Test func `no frame after the range is decoded`() async throws {
    // Large enough that threads decode ahead.
    let bytes = DeltaGIF.make(width: 600, height: 600, frameCount: 12, patch: 300)
    for last in [0, 3] {
      let source = CountingSource(bytes)
      let image = try source.open(parallelism: 3)
      var iterator = image.bitmaps(0...last).makeAsyncIterator()
      for index in 0...last { #expect(try await iterator.next()?.index == index) }
      #expect(try await iterator.next() == nil)
      #expect(source.count == last + 1)
    }
  }
}

/// Bytes in memory that count how many threads read a frame at one time.
private final class OverlapSource: ByteSource {
  private let memory: MemorySource
  private let state = Synchronization.Mutex((busy: 0, most: 0))

  init(_ bytes: [UInt8]) { memory = MemorySource(bytes) }

  var mostAtOnce: Int { state.withLock { $0.most } }
  var byteCount: Int { memory.byteCount }
  var residentByteCount: Int { 0 }

  var currentStamp: FileStamp? { nil }
  var isUnchanged: Bool { true }

  func withBytes<Result>(
    in range: Range<Int>, buffer: inout ReadBuffer,
    _ body: (borrowing RawSpan) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result {
    state.withLock { state in
      state.busy += 1
      state.most = max(state.most, state.busy)
    }
    defer { state.withLock { $0.busy -= 1 } }
    return try memory.withBytes(in: range, buffer: &buffer, body)
  }
}
