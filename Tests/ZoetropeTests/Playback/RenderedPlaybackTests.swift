import Testing
import Zoetrope
import ZoetropeTestSupport

/// A rendering at every entry point, without a cache and without reading the file for its identity.
@Suite(.timeLimit(.minutes(10))) struct RenderedPlaybackTests {
  private let rendering = Rendering(target: TargetSize(width: 20, height: 12), fit: .fill)
  private let image: AnimatedImage
  private let expected: [Bitmap]

  init() throws {
    image = try AnimatedImage(
      bytes: DeltaGIF.make(width: 60, height: 44, frameCount: 9, patch: 9))
    var renderer = FrameRenderer(rendering, of: image.canvasSize, options: image.options)
    let reader = FrameReader(image)
    expected = try image.frames.indices.map { try renderer.render(reader.frame(at: $0)).bitmap }
    #expect(expected[0].size == PixelSize(width: 20, height: 12))
  }

  @Test func `single pictures come scaled`() async throws {
    for index in [5, 0, 8, 2] {
      #expect(try await image.bitmap(at: index, rendering: rendering) == expected[index])
    }
    #expect(try await image.bitmap(at: .zero, rendering: rendering) == expected[0])
    #expect(image.state.identity == nil)
  }

  @Test func `a sequence of pictures comes scaled, with dirty rectangles of its own size`()
    async throws
  {
    var shown = expected[0]
    for try await frame in image.bitmaps(rendering: rendering) {
      #expect(frame.bitmap == expected[frame.index])
      #expect(PixelRect(shown.size).contains(frame.dirtyRect))
      shown = frame.bitmap
    }
    #expect(shown == expected[8])
  }

  @Test func `playing comes scaled, with and without a scheduler of one's own`() async throws {
    var options = PlaybackOptions.everyFrame
    options.playCount = .once
    let clock = ManualClock(.jumping)
    var count = 0
    for try await frame in image.play(rendering: rendering, options: options, clock: clock) {
      #expect(frame.bitmap == expected[frame.index])
      count += 1
    }
    let scheduler = FrameScheduler(image, rendering: rendering, options: options, clock: clock)
    for await frame in scheduler.play().stream {
      #expect(frame.bitmap == expected[frame.index])
      count += 1
    }
    #expect(count == 18 && image.state.identity == nil)
  }

  @Test func `a cache keeps pictures of one rendering apart from those of another`() async throws {
    let cache = MemoryFrameCache(budget: MemoryBudget(byteLimit: 1 << 20))
    let whole = try await image.bitmap(at: 3, cache: cache)
    #expect(try await image.bitmap(at: 3, rendering: rendering, cache: cache) == expected[3])
    #expect(try await image.bitmap(at: 3, cache: cache).storage === whole.storage)
    #expect(cache.statistics.count == 2)
  }

  @Test func `images open without blocking, and cancelled calls throw no other error`() async throws
  {
    let bytes = DeltaGIF.make(width: 8, height: 8, frameCount: 3, patch: 2)
    let opened = try await AnimatedImage.open(bytes: bytes)
    #expect(opened.frames.count == 3)
    #expect(try await opened.contentIdentity() == ContentIdentity(of: bytes))
    let error = await #expect(throws: AnimatedImageError.self) {
      try await AnimatedImage.open("/nowhere/at-all.gif")
    }
    #expect(error?.code == .io)
    let image = image
    let cancelled = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      var codes: [AnimatedImageError.Code] = []
      do throws(AnimatedImageError) { _ = try await AnimatedImage.open(bytes: bytes) } catch {
        codes.append(error.code)
      }
      do throws(AnimatedImageError) { _ = try await image.bitmap(at: 0) } catch {
        codes.append(error.code)
      }
      do throws(AnimatedImageError) { _ = try await image.contentIdentity() } catch {
        codes.append(error.code)
      }
      return codes
    }
    #expect(await cancelled.value == [.cancelled, .cancelled, .cancelled])
  }

  @Test func `frames can be made for tests of code that shows them`() {
    let bitmap = expected[0]
    let frame = ScheduledFrame(index: 4, bitmap: bitmap, delay: FrameDelay(centiseconds: 7))
    #expect(frame.duration == .milliseconds(70) && frame.dirtyRect == PixelRect(bitmap.size))
    #expect(CompositedFrame(index: 1, bitmap: bitmap).dirtyRect == PixelRect(bitmap.size))
    let control = FrameControl(
      index: 2, rect: PixelRect(bitmap.size), delay: FrameDelay(centiseconds: 7))
    #expect(control.disposal == .keep && control.index == 2)
  }
}
