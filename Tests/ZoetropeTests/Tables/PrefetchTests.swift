import Foundation
import Synchronization
import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropeStore

/// Prefetches that are cancelled or fail while they run, not before.
@Suite(.timeLimit(.minutes(10))) struct PrefetchTests {
  private let scratch: ScratchDirectory
  private let image: AnimatedImage

  init() throws {
    scratch = try ScratchDirectory()
    image = try AnimatedImage(bytes: FixtureLibrary().file("Demo/variable-delay.gif"))
  }

  private var directory: FilePath { scratch.path.appending("store") }
  private var count: Int { image.frames.count }

  /// A drawing that stops at one frame until it is told to go on, on the thread that draws.
  private final class Stop: Sendable {
    /// Closed when drawing has reached the frame.
    let reached = ResultHandover<Void>()
    private let resumes = ThreadSignal()
    private let drawn = Mutex(0)
    private let place: Int

    init(at place: Int) { self.place = place }

    /// Frames drawn, whether or not they were stored.
    var drawnCount: Int { drawn.withLock { $0 } }

    func resume() { resumes.post() }

    var drawing: FrameDrawing {
      FrameDrawing("stop", version: 1) { [self] y, _, _ in
        guard y == 0 else { return }
        let number = drawn.withLock { drawn in
          drawn += 1
          return drawn - 1
        }
        guard number == place else { return }
        reached.close(with: ())
        resumes.wait()
      }
    }
  }

  private func rendering(_ drawing: FrameDrawing? = nil) -> Rendering {
    FrameFormat("a", size: PixelSize(width: 20, height: 20), drawing: drawing).rendering
  }

  @Test func `a prefetch of more than the limit tells how many frames are there`() async throws {
    let store = try FrameStore(at: directory, byteLimit: 100_000)
    let format = FrameFormat("a", size: PixelSize(width: 96, height: 96))
    let error = await #expect(throws: AnimatedImageError.self) {
      try await store.prefetch(of: image, renderings: [format.rendering])
    }
    #expect(error?.code == .storeFull)
    let kept = try store.verify().intact
    #expect((1..<count).contains(kept))
    #expect(error?.detail.contains("only \(kept) of \(count) frames") == true)
  }

  @Test func `a prefetch that is cancelled within a frame stores that one and ends`() async throws {
    let store = try FrameStore(at: directory)
    let stop = Stop(at: 1)
    let rendering = rendering(stop.drawing)
    let task = Task { [image] in try await store.prefetch(of: image, renderings: [rendering]) }
    await stop.reached.valueUnlessCancelled()
    task.cancel()
    stop.resume()
    let error = await #expect(throws: AnimatedImageError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    #expect(stop.drawnCount == 2)
    #expect(store.statistics.insertions == 2)
    #expect(try await store.prefetch(of: image, renderings: [rendering]) == count - 2)
    #expect(stop.drawnCount == count)
  }

  @Test func `a prefetch that waits for one that is cancelled draws only the rest`() async throws {
    let store = try FrameStore(at: directory)
    let stop = Stop(at: 1)
    let rendering = rendering(stop.drawing)
    let first = Task { [image] in try await store.prefetch(of: image, renderings: [rendering]) }
    await stop.reached.valueUnlessCancelled()
    let second = Task { [image] in try await store.prefetch(of: image, renderings: [rendering]) }
    await eventually { store.passes.waitingCount == 1 }
    first.cancel()
    stop.resume()
    await #expect(throws: AnimatedImageError.self) { try await first.value }
    #expect(try await second.value == count - 2)
    #expect(stop.drawnCount == count)
    #expect(store.statistics.insertions == count)
    #expect(store.passes.waitingCount == 0)
  }

  @Test func `a waiting prefetch that is cancelled does not hold up the next one`() async throws {
    let store = try FrameStore(at: directory)
    let stop = Stop(at: 0)
    let rendering = rendering(stop.drawing)
    let start = { @Sendable [image] in
      Task { try await store.prefetch(of: image, renderings: [rendering]) }
    }
    let first = start()
    await stop.reached.valueUnlessCancelled()
    let (second, third) = (start(), start())
    await eventually { store.passes.waitingCount == 2 }
    second.cancel()
    await #expect(throws: AnimatedImageError.self) { try await second.value }
    stop.resume()
    #expect(try await first.value + third.value == count)
    #expect(stop.drawnCount == count)
  }

  @Test func `a format without room does not keep the others from being filled`() async throws {
    let formats = ["a", "b"].map { name in
      FrameFormat(
        name, size: PixelSize(width: 20, height: 20), family: "f", maximumCount: 16)
    }
    let store = try FrameStore(at: directory, formats: formats)
    func rendition(_ format: FrameFormat) -> Rendition {
      Rendition(format.rendering, of: image.canvasSize, options: image.options)
    }
    // Every frame of the first table is in use, so that none can be replaced.
    let size = rendition(formats[0]).size
    let others = AnimationKey(
      content: ContentIdentity(high: 1, low: 2), rendition: rendition(formats[0]))
    var leases: [Bitmap] = []
    for index in 0..<16 {
      try store.store(CachedFrame(makePixels(size, seed: index)), for: others[index])
      leases.append(try #require(store.bitmap(for: others[index])))
    }
    let error = await #expect(throws: AnimatedImageError.self) {
      try await store.prefetch([0], of: image, family: "f")
    }
    #expect(error?.code == .storeBusy)
    let content = try store.identity(of: image)
    let keys = formats.map { AnimationKey(content: content, rendition: rendition($0))[0] }
    #expect(!store.contains(keys[0]))
    #expect(store.contains(keys[1]))
    #expect(leases.count == 16)
    leases = []
    #expect(try await store.prefetch([0], of: image, family: "f") == 1)
    #expect(store.contains(keys[0]))
  }

  @Test func `a file that changes while it is prefetched ends the prefetch`() async throws {
    let path = scratch.path.appending("film.gif")
    let bytes = try FixtureLibrary().file("Demo/variable-delay.gif")
    try Data(bytes).write(to: URL(filePath: path.string))
    let image = try AnimatedImage(contentsOf: path)
    let store = try FrameStore(at: directory)
    let drawing = FrameDrawing("change", version: 1) { y, _, _ in
      guard y == 0, let file = try? FileDescriptor.open(path, .writeOnly, options: .append) else {
        return
      }
      _ = try? file.closeAfter { try file.writeAll([0]) }
    }
    let error = await #expect(throws: AnimatedImageError.self) {
      try await store.prefetch(of: image, renderings: [rendering(drawing)])
    }
    #expect(error?.code == .io)
    // The first frame was decoded before the change.
    #expect(store.statistics.insertions == 1)
  }
}
