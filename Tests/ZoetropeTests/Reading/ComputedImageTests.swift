import Synchronization
import Testing
import Zoetrope
import ZoetropeCodec
import ZoetropeCore
import ZoetropeFrames
import ZoetropeTestSupport

/// An image without a file, as an `ImageOrigin`: a bar that grows by one pixel with each frame.
private struct GrowingBar: ImageOrigin, AnimationSource {
  static let count = 40
  let format = AnimationFormat(rawValue: "bar")
  let canvasSize = PixelSize(width: 48, height: 8)
  let options = DecodingOptions()
  let playCount = PlayCount.finite(2)
  /// With its own budget: that of the process may drop what is drawn when memory gets short.
  var state = ReadingState(budget: MemoryBudget(byteLimit: 1 << 20))
  private let counter = Counter()

  /// The frames drawn so far.
  var drawn: Int { counter.count.withLock { $0 } }

  var origin: FrameOrigin { FrameOrigin(self) }

  var frames: [FrameControl] {
    (0..<Self.count).map { index in
      FrameControl(
        index: index, rect: PixelRect(x: index, y: 0, width: 1, height: 8),
        delay: FrameDelay(centiseconds: 10), disposal: .keep, blend: .source,
        isIndependent: index == 0, isInterlaced: false, palette: .global, byteRange: 0..<0)
    }
  }

  func makeReader(for role: ReaderRole) -> any FrameReading { BarReader(self) }

  func identity(in cache: any FrameCaching, isCancelled: () -> Bool) -> ContentIdentity? {
    ContentIdentity(of: [1, 2, 3])
  }

  /// The picture of frame `index`; transparent for -1.
  func picture(_ index: Int) -> Bitmap {
    var buffer = PixelBuffer(size: canvasSize)
    let stride = buffer.mutableBytes.byteCount / canvasSize.height
    var bytes = buffer.mutableBytes
    for y in 0..<canvasSize.height {
      for x in 0..<canvasSize.width {
        for (channel, value) in [255, UInt8(x), 0, 255].enumerated() {
          bytes.storeBytes(
            of: x <= index ? value : 0, toByteOffset: y * stride + 4 * x + channel, as: UInt8.self)
        }
      }
    }
    return buffer.finish()
  }

  func half(_ index: Int) throws -> Bitmap {
    try picture(index).scaled(to: TargetSize(width: 24, height: 4), filter: .box)
  }

  fileprivate func draw(_ index: Int) -> Bitmap {
    counter.count.withLock { $0 += 1 }
    return picture(index)
  }

  private final class Counter: Sendable {
    let count = Mutex(0)
  }
}

/// Draws the bar. Frames are drawn one on the other, so that what a jump draws can be counted.
private final class BarReader: FrameReading {
  private let bar: GrowingBar
  private(set) var nextIndex = 0
  private var below: Bitmap?
  var frameCount: Int { GrowingBar.count }

  init(_ bar: GrowingBar) { self.bar = bar }

  func next(isCancelled: () -> Bool) throws(AnimatedImageError) -> CompositedFrame? {
    guard nextIndex < frameCount else { return nil }
    #expect(nextIndex == 0 || below == bar.picture(nextIndex - 1))
    let bitmap = bar.draw(nextIndex)
    below = bitmap
    defer { nextIndex += 1 }
    return CompositedFrame(index: nextIndex, bitmap: bitmap, dirtyRect: bar.frames[nextIndex].rect)
  }

  func canvas() throws(AnimatedImageError) -> Bitmap { below ?? bar.picture(-1) }

  func restart(at index: Int, on canvas: Bitmap?) throws(AnimatedImageError) {
    (nextIndex, below) = (index, canvas)
  }
}

@Suite(.timeLimit(.minutes(10))) struct ComputedImageTests {
  private let bar = GrowingBar()
  private let half = Rendering(target: TargetSize(width: 24, height: 4), filter: .box)

  @Test func `it plays as often as it says, each frame at its time`() async throws {
    let clock = ManualClock(.jumping)
    var shown: [Int] = []
    for try await frame in bar.play(options: .everyFrame, clock: clock) {
      #expect(frame.bitmap == bar.picture(frame.index))
      #expect(frame.presentationTime == .milliseconds(100 * shown.count))
      shown.append(frame.index)
    }
    #expect(shown == Array(0..<GrowingBar.count) + Array(0..<GrowingBar.count))
  }

  @Test func `its frames come in order, scaled too, and in any range`() async throws {
    var next = 5
    for try await frame in bar.bitmaps(5...9) {
      #expect(frame.index == next && frame.bitmap == bar.picture(next))
      next += 1
    }
    #expect(next == 10)
    for try await frame in bar.bitmaps(rendering: half) {
      #expect(try frame.bitmap == bar.half(frame.index))
    }
  }

  @Test func `its frames are found in any order and by time, without drawing all before`()
    async throws
  {
    for index in [30, 2, 29, 31, 0] {
      #expect(try await bar.bitmap(at: index) == bar.picture(index))
    }
    #expect(try await bar.bitmap(at: .milliseconds(1250)) == bar.picture(12))
    let before = bar.drawn
    #expect(try await bar.bitmap(at: 13) == bar.picture(13))
    #expect(bar.drawn == before + 1)
    let error = await #expect(throws: AnimatedImageError.self) { try await bar.bitmap(at: 40) }
    #expect(error?.code == .parameter)
  }

  @Test func `a scheduler seeks in it`() async throws {
    let scheduler = FrameScheduler(bar, options: .everyFrame, clock: ManualClock(.jumping))
    var iterator = scheduler.play().makeAsyncIterator()
    #expect(try await iterator.next()?.index == 0)
    try scheduler.seek(toFrame: 20)
    var frame = try await iterator.next()
    while let shown = frame, shown.seekCount == 0 { frame = try await iterator.next() }
    #expect(frame?.index == 20 && frame?.bitmap == bar.picture(20))
    scheduler.stop()
    #expect(scheduler.state == .stopped)
  }

  @Test func `a cache keeps its frames under its identity`() async throws {
    let cache = MemoryFrameCache(budget: MemoryBudget(byteLimit: 1 << 20))
    for try await _ in bar.bitmaps(rendering: half, cache: cache) {}
    let drawn = bar.drawn
    #expect(drawn == GrowingBar.count && cache.statistics.count == GrowingBar.count)
    for try await frame in bar.bitmaps(rendering: half, cache: cache) {
      #expect(try frame.bitmap == bar.half(frame.index))
    }
    #expect(try await bar.bitmap(at: 17, rendering: half, cache: cache).size.width == 24)
    #expect(bar.drawn == drawn)
  }
}
