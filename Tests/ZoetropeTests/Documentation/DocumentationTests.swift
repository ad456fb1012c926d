import Foundation
import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import DocumentationSamples
@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// The samples of the README and of the documentation, compiled and run.
@Suite(.timeLimit(.minutes(10))) struct DocumentationTests {
  @Test func `the sample of the README plays every frame in order`() async throws {
    let image = try AnimatedImage(bytes: FixtureLibrary().file("Demo/variable-delay.gif"))
    var options = PlaybackOptions.everyFrame
    options.playCount = .once
    var indices: [Int] = []
    // As in the README, nothing but the loop holds the stream.
    for try await frame in image.play(options: options, clock: ManualClock(.jumping)) {
      indices.append(frame.index)
    }
    #expect(indices == Array(image.frames.indices))
  }

  @Test func `a stream that is dropped ends the playing that only it held`() async throws {
    let image = try AnimatedImage(bytes: FixtureLibrary().file("Demo/variable-delay.gif"))
    let clock = ManualClock()
    weak var scheduler: FrameScheduler?
    do {
      let made = FrameScheduler(image, clock: clock)
      scheduler = made
      var frames = made.play().stream.makeAsyncIterator()
      #expect(await frames.next()?.index == 0)
      #expect(made.state == .playing)
    }
    // A wake-up may hold it for a moment.
    await eventually { scheduler == nil }
    #expect(scheduler == nil)
  }

  @Test func `frames come from an asynchronous sequence without a clock`() async throws {
    let image = try AnimatedImage(bytes: FixtureLibrary().file("Demo/variable-delay.gif"))
    var indices: [Int] = []
    for try await frame in image.bitmaps() { indices.append(frame.index) }
    #expect(indices == Array(image.frames.indices))
  }

  @Test func `a frame is found by its time`() async throws {
    let image = try AnimatedImage(bytes: FixtureLibrary().file("Demo/variable-delay.gif"))
    let first = image.frames[0].delay.duration
    #expect(image.frameIndex(at: .zero) == 0)
    #expect(image.frameIndex(at: first) == 1)
    #expect(image.frameIndex(at: .seconds(3600)) == image.frames.count - 1)
    let bitmap = try await image.bitmap(at: first)
    #expect(try await image.bitmap(at: 1) == bitmap)
  }

  @Test func `start times are where frames are found, and end with the duration`() throws {
    let image = try AnimatedImage(bytes: FixtureLibrary().file("GIF/delays.gif"))
    for policy in [DelayPolicy.browser, .exact] {
      let times = image.startTimes(policy: policy)
      #expect(times.count == image.frames.count + 1)
      #expect(times.first == .zero)
      #expect(times.last == image.duration(policy: policy))
      for index in image.frames.indices where times[index] < times[index + 1] {
        #expect(image.frameIndex(at: times[index], policy: policy) == index)
      }
    }
    #expect(image.duration() == .milliseconds(656_720))
    #expect(image.duration(policy: .exact) == .milliseconds(656_430))
  }

  @Test func `the sample of testing time sees the frame that is due, without waiting`() async throws
  {
    let image = try AnimatedImage(bytes: FixtureLibrary().file("Demo/variable-delay.gif"))
    let (first, second) = try await sampleOfTestingTime(image)
    #expect(first?.index == 0)
    #expect(second?.index == image.frameIndex(at: .seconds(1)))
  }

  @Test func `the sample of a consumer in a task ends when the frame it waits for was shown`()
    async throws
  {
    let image = try AnimatedImage(bytes: FixtureLibrary().file("Demo/variable-delay.gif"))
    let clock = ManualClock()
    let scheduler = FrameScheduler(image, clock: clock)
    await sampleOfTestingAConsumer(scheduler, clock)
    #expect(await scheduler.waitUntilEnded() == .cancelled)
    // Frame 0, and 3 after 100 ms: those between them are shorter, and were skipped.
    #expect(scheduler.statistics.presented == 2)
  }

  @Test func `the sample of a handler has the time of every frame`() async throws {
    let bytes = try FixtureLibrary().file("Demo/variable-delay.gif")
    let times = try AnimatedImage(bytes: bytes).startTimes(policy: .imageIO).dropLast()
    #expect(await sampleOfTestingAHandler(bytes, ManualClock()) == Array(times))
  }

  @Test func `the sample of two players shows a frame of one of them`() async throws {
    let image = try AnimatedImage(bytes: FixtureLibrary().file("Demo/variable-delay.gif"))
    let (only, right) = try await sampleOfTwoPlayers(image, ManualClock())
    #expect(only?.index == 1)
    #expect(only?.presentationTime == image.startTimes()[1])
    #expect(right.statistics.presented == 1)
  }

  @Test func `the sample of a stall shows the next frame when it arrives`() async throws {
    let delay = GIFGraphicControl(delay: 10)
    let pixel = GIFFrame(rect: PixelRect(x: 0, y: 0, width: 1, height: 1), indices: [0])
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: 1, height: 1, palette: GIFPalette([.black]))
    gif.graphicControl(delay)
    gif.frame(pixel)
    let cut = gif.bytes.count
    gif.graphicControl(delay)
    gif.frame(pixel)
    gif.trailer()
    let (late, statistics) = try await sampleOfAStall(
      Array(gif.bytes[..<cut]), Array(gif.bytes[cut...]), ManualClock())
    #expect(late?.index == 1)
    #expect(late?.presentationTime == .seconds(5))
    #expect(statistics.stalls == 1)
    #expect(statistics.stallTime == .milliseconds(4900))
  }

  @Test func `the sample of a cache keeps posters`() async throws {
    let image = try AnimatedImage(bytes: FixtureLibrary().file("Demo/variable-delay.gif"))
    let cache = PosterCache()
    let first = try await image.bitmap(at: 0, cache: cache)
    _ = try await image.bitmap(at: 1, cache: cache)
    let rendition = Rendition(Rendering(), of: image.canvasSize)
    let key = AnimationKey(content: try await image.contentIdentity(), rendition: rendition)
    #expect(cache.bitmap(for: key[0]) == first)
    #expect(cache.bitmap(for: key[1]) == nil)
    cache.remove(key.content)
    #expect(cache.bitmap(for: key[0]) == nil)
  }

  @Test func `the sample of a byte source is read like a file`() async throws {
    let path = "\(FixtureLibrary().root)/Demo/variable-delay.gif"
    let handle = try #require(FileHandle(forReadingAtPath: path))
    let image = try AnimatedImage(contentsOf: FilePath(path))
    let entry = ArchiveEntry(in: handle, at: 0, byteCount: image.byteCount)
    let remote = try await RemoteImage(reading: entry)
    #expect(try await remote.bitmap(at: 5) == image.bitmap(at: 5))
  }

  @Test func `the sample of a jumping clock has the time of every frame`() async throws {
    let image = try AnimatedImage(bytes: FixtureLibrary().file("Demo/variable-delay.gif"))
    var times: [Duration] = []
    var time = Duration.zero
    for frame in image.frames {
      times.append(time)
      time += DelayPolicy.browser.shownDuration(of: frame.delay)
    }
    #expect(try await sampleOfPlayingAtOnce(image) == times)
  }
}
