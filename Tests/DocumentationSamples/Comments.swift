import Zoetrope
import ZoetropeTestSupport

// The samples of documentation comments, in the order of their types.
enum CommentSamples {
  struct HTTPRanges: ByteRangeReading {
    let url: String
    let byteCount: Int
    func read(_ range: Range<Int>) async throws -> [UInt8] { try await fetch(url, range) }
  }

  @Sendable static func fetch(_ url: String, _ range: Range<Int>) async throws -> [UInt8] { [] }
  @Sendable static func fetch(_ url: String) async throws -> [UInt8] { [] }

  static func chunks() async throws -> PixelSize {
    let image = try await StreamedImage(FileChunks(.standardInput))
    return image.canvasSize
  }

  static func streamed(_ chunks: AsyncStream<[UInt8]>) async throws {
    let image = try await StreamedImage(chunks)
    for try await frame in FrameScheduler(image).play() { show(frame.bitmap) }
    if let ending = await image.waitUntilEnded() { print(ending) }
  }

  static func partial(_ image: StreamedImage) async throws {
    for await _ in image.updates {
      if let partial = try await image.partialFrame() { show(partial.bitmap) }
    }
  }

  static func index(of remote: HTTPRanges) async throws -> RemoteImage {
    let data = ImageIndex(of: try AnimatedImage(contentsOf: "party.gif")).bytes
    let image = try await RemoteImage(reading: remote, index: ImageIndex(bytes: data))
    return image
  }

  static func remote(_ remote: HTTPRanges, _ index: ImageIndex) async throws -> Bitmap {
    let image = try await RemoteImage(reading: remote, index: index)
    let bitmap = try await image.bitmap(at: 500)
    for try await frame in FrameScheduler(image).play() { show(frame.bitmap) }
    return bitmap
  }

  static func loader(_ url: String, _ slot: LoadSlot) async {
    let phases = FrameLoader.shared.phases(for: url, in: slot) { _ in try await fetch(url) }
    for await phase in phases { show(phase) }
  }

  static func formats(_ image: AnimatedImage, _ directory: FilePath) throws -> ScheduledFrames {
    let list = FrameFormat("list", size: PixelSize(width: 96, height: 96), family: "party")
    let detail = FrameFormat("detail", size: PixelSize(width: 480, height: 360), family: "party")
    let store = try FrameStore(at: directory, formats: [list, detail])
    let frames = image.play(rendering: list.rendering, cache: MemoryFrameCache(backing: store))
    print(detail.rendering)
    return frames
  }

  static func scheduler(_ image: AnimatedImage) async throws {
    let scheduler = FrameScheduler(image)
    for try await frame in scheduler.play() { show(frame.bitmap) }
    print(scheduler.state)
  }

  @MainActor static func animator(_ image: AnimatedImage, _ target: TargetSize) {
    let animator = ImageAnimator(image, rendering: Rendering(target: target))
    animator.start()
  }

  static func writer(_ pictures: [Bitmap]) async throws {
    let writer = try AnimationWriter(to: FileSink("party.png"))
    for bitmap in pictures {
      try await writer.append(bitmap, delay: FrameDelay(numerator: 1, denominator: 30))
    }
    try await writer.finish()
  }

  static func clock() async throws {
    let clock = ManualClock()
    let task = Task { try await clock.sleep(until: clock.now.advanced(by: .seconds(1))) }
    await clock.waitForSleepers(count: 1)
    clock.advance(by: .seconds(1))
    try await task.value
  }

  static func builder() -> [UInt8] {
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: 1, height: 1, palette: GIFPalette([RGBA(red: 255, green: 0, blue: 0)]))
    gif.frame(GIFFrame(rect: PixelRect(x: 0, y: 0, width: 1, height: 1), indices: [0]))
    gif.trailer()
    return gif.bytes
  }
}
