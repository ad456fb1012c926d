import Testing
import Zoetrope
import ZoetropeTestSupport

/// Compares the dirty rectangles of scaled playback with the pixels that really changed.
@Suite(.timeLimit(.minutes(10))) struct ScaledDirtyRectTests {
  static let renderings: [Rendering] = [
    Rendering(target: TargetSize(width: 27, height: 20)),
    Rendering(target: TargetSize(width: 21), filter: .nearest),
    Rendering(target: TargetSize(width: 31, height: 15), fit: .fill, filter: .lanczos3),
    Rendering(target: TargetSize(width: 13, height: 33), fit: .stretch, filter: .box),
    Rendering(target: TargetSize(width: 87, height: 87), fit: .integer, filter: .bicubic),
    Rendering(target: TargetSize(width: 60), linearLight: true, format: .rgb565),
    Rendering(),
  ]

  @Test(arguments: renderings, [PlaybackDirection.forward, .backward])
  func `nothing changes outside the dirty rectangle in two plays`(
    rendering: Rendering, direction: PlaybackDirection
  ) async throws {
    var smallCount = 0
    for image in try Self.images() {
      let options = PlaybackOptions(
        playCount: .finite(2), direction: direction, latePolicy: .stretch, buffering: .lossless)
      let shared = Self.shared(image, rendering)
      let scheduler = FrameScheduler(
        sharing: shared, options: options, clock: ManualClock(.jumping))
      var watch = ChangeWatch(shared)
      for await frame in scheduler.play().stream { watch.see(frame) }
      #expect(watch.count == 2 * image.frames.count)
      smallCount += watch.smallCount
    }
    // A rectangle that is always the whole picture would prove nothing.
    #expect(smallCount > 0)
  }

  @Test(arguments: renderings)
  func `nothing changes outside the dirty rectangle after seeks and skipped frames`(
    rendering: Rendering
  ) async throws {
    for image in try Self.images() {
      let clock = ManualClock()
      let shared = Self.shared(image, rendering)
      let scheduler = FrameScheduler(
        sharing: shared,
        options: PlaybackOptions(playCount: .indefinite, fixedDelay: .milliseconds(10)),
        clock: clock)
      var frames = scheduler.play().stream.makeAsyncIterator()
      var watch = ChangeWatch(shared)
      var generator = SplitMix64(seed: 5)
      for step in 0..<36 {
        guard let frame = await frames.next() else { break }
        watch.see(frame)
        await clock.waitForSleepers(count: 1)
        switch step % 6 {
        case 2:
          try scheduler.seek(toFrame: Int.random(in: 0..<image.frames.count, using: &generator))
        case 4: scheduler.direction = scheduler.direction == .forward ? .backward : .forward
        case 5: clock.advance(by: .milliseconds(35))
        default: clock.advance(by: .milliseconds(10))
        }
      }
      #expect(watch.count == 36)
    }
  }

  @Test func `the frames of a loader have their dirty rectangles in pixels of the pictures`()
    async throws
  {
    let budget = MemoryBudget(byteLimit: 8 << 20)
    let loader = FrameLoader(
      cache: MemoryFrameCache(budget: budget), budget: budget,
      playback: PlaybackOptions(
        playCount: .once, fixedDelay: .zero, latePolicy: .stretch, buffering: .lossless))
    let bytes = DeltaGIF.make(width: 120, height: 90, frameCount: 20, patch: 12)
    let rendering = Rendering(target: TargetSize(width: 40))
    for await phase in loader.phases(for: 1, rendering: rendering, data: { _ in bytes }) {
      guard case .playing(let scheduler) = phase else { continue }
      #expect(scheduler.shared.frameSize == PixelSize(width: 40, height: 30))
      // Small enough to be decoded on the thread that keeps time, as without a loader.
      #expect(scheduler.shared.burst == 1)
      var watch = ChangeWatch(scheduler.shared)
      for await frame in scheduler.play().stream { watch.see(frame) }
      #expect(watch.count == 20 && watch.smallCount == 19)
    }
  }

  private static func images() throws -> [AnimatedImage] {
    let files = try [
      DeltaGIF.make(width: 40, height: 29, frameCount: 12, patch: 6),
      FixtureLibrary().file("APNG/dispose-previous-twice.png"),
    ]
    return try files.map { try AnimatedImage(bytes: $0) }
  }

  private static func shared(_ image: AnimatedImage, _ rendering: Rendering) -> SharedFrames {
    let budget = MemoryBudget(byteLimit: 8 << 20)
    let shared = SharedFrames(
      image, rendering: rendering, cache: MemoryFrameCache(budget: budget), budget: budget)
    #expect(shared.frameSize == Rendition(rendering, of: image.canvasSize).size)
    return shared
  }

  @Test func `renditions are equal if and only if their pixels are`() {
    let canvas = PixelSize(width: 100, height: 75)
    func rendition(_ target: TargetSize, _ fit: ScalingFit) -> Rendition {
      Rendition(Rendering(target: target, fit: fit), of: canvas)
    }
    // Both are 50x38, but only the second crops.
    let whole = rendition(TargetSize(width: 50), .fill)
    let cropped = rendition(TargetSize(width: 50, height: 38), .fill)
    #expect(whole.size == cropped.size && whole != cropped)
    #expect(whole == rendition(TargetSize(width: 50, height: 38), .stretch))
    #expect(whole == rendition(TargetSize(width: 50), .fit))
    // NaN counts as 1, and equals itself here.
    let odd = rendition(TargetSize(width: 50, height: 50, pixelAspect: .nan), .fill)
    #expect(odd == rendition(TargetSize(width: 50, height: 50), .fill))
    #expect(odd == odd)
  }
}

/// Sees the frames of one stream and expects each to differ from the one before in its dirty rectangle
/// only.
private struct ChangeWatch {
  private let size: PixelSize
  private var last: Bitmap?
  private(set) var count = 0
  /// Frames whose dirty rectangle is not the whole picture.
  private(set) var smallCount = 0

  init(_ shared: SharedFrames) { size = shared.frameSize }

  mutating func see(_ frame: ScheduledFrame) {
    count += 1
    #expect(frame.bitmap.size == size)
    #expect(PixelRect(size).contains(frame.dirtyRect))
    if frame.dirtyRect != PixelRect(size) { smallCount += 1 }
    if let last {
      #expect(
        Self.changes(last, frame.bitmap, outside: frame.dirtyRect) == 0, "frame \(frame.index)")
    } else {
      #expect(frame.dirtyRect == PixelRect(size))
    }
    last = frame.bitmap
  }

  private static func changes(_ one: Bitmap, _ other: Bitmap, outside rect: PixelRect) -> Int {
    let bytes = one.format.bytesPerPixel
    var count = 0
    for y in 0..<one.height {
      let isInside = (rect.y..<rect.maxY).contains(y)
      let (left, right) = (one.row(y), other.row(y))
      for byte in 0..<one.width * bytes
      where unsafe left.unsafeLoad(fromByteOffset: byte, as: UInt8.self)
        != right.unsafeLoad(fromByteOffset: byte, as: UInt8.self)
      {
        if !(isInside && (rect.x..<rect.maxX).contains(byte / bytes)) { count += 1 }
      }
    }
    return count
  }
}
