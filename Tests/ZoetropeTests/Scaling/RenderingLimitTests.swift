import Testing
import Zoetrope
import ZoetropeTestSupport

/// External sizes are refused at every entry point, before memory is allocated for them.
@Suite(.timeLimit(.minutes(10))) struct RenderingLimitTests {
  private let image: AnimatedImage

  init() throws {
    image = try AnimatedImage(bytes: DeltaGIF.make(width: 16, height: 16, frameCount: 3, patch: 4))
  }

  static let targets = [
    TargetSize(width: .max, height: .max), TargetSize(width: 1, height: .max),
    TargetSize(width: .max, height: 1), TargetSize(width: 40_000, height: 40_000),
    TargetSize(width: 1_048_577, height: 2), TargetSize(width: 40_000),
  ]

  @Test(arguments: targets, [ScalingFit.fill, .stretch])
  func `a single frame is refused`(_ target: TargetSize, _ fit: ScalingFit) async {
    for filter in ScalingFilter.allCases {
      let rendering = Rendering(target: target, fit: fit, filter: filter)
      let error = await #expect(throws: AnimatedImageError.self) {
        try await image.bitmap(at: 0, rendering: rendering)
      }
      #expect(error?.code == .limitExceeded)
    }
  }

  @Test(arguments: [nil, MemoryFrameCache(budget: MemoryBudget(byteLimit: 1 << 20))])
  func `every other entry point refuses, too`(_ cache: MemoryFrameCache?) async {
    let rendering = Rendering(target: TargetSize(width: .max, height: .max), format: .rgba16)
    let cached = await #expect(throws: AnimatedImageError.self) {
      try await image.bitmap(at: .zero, rendering: rendering, cache: cache)
    }
    #expect(cached?.code == .limitExceeded)
    let sequence = await #expect(throws: AnimatedImageError.self) {
      for try await _ in image.bitmaps(rendering: rendering) {}
    }
    #expect(sequence?.code == .limitExceeded)
    let shared = SharedFrames(image, rendering: rendering, cache: cache)
    let viewer = await #expect(throws: AnimatedImageError.self) { try await shared.frame(at: 1) }
    #expect(viewer?.code == .limitExceeded)
    let player = await #expect(throws: AnimatedImageError.self) {
      for try await _ in image.play(rendering: rendering, clock: ManualClock(.jumping)) {}
    }
    #expect(player?.code == .limitExceeded)
  }

  @Test func `nothing is decoded for a frame that is refused`() async throws {
    let source = CountingSource(DeltaGIF.make(width: 16, height: 16, frameCount: 9, patch: 4))
    let counted = try source.open()
    let rendering = Rendering(target: TargetSize(width: 1, height: .max), fit: .stretch)
    await #expect(throws: AnimatedImageError.self) {
      try await counted.bitmap(at: 8, rendering: rendering)
    }
    await #expect(throws: AnimatedImageError.self) {
      for try await _ in counted.bitmaps(rendering: rendering) {}
    }
    let shared = SharedFrames(counted, rendering: rendering)
    await #expect(throws: AnimatedImageError.self) { try await shared.frame(at: 8) }
    #expect(source.count == 0)
  }

  @Test func `the limits of the image decide`() async throws {
    var options = DecodingOptions()
    options.limits.canvasPixels = 1000
    let limited = try AnimatedImage(
      bytes: DeltaGIF.make(width: 16, height: 16, frameCount: 1, patch: 4), options: options)
    let small = Rendering(target: TargetSize(width: 31, height: 31))
    #expect(try await limited.bitmap(at: 0, rendering: small).width == 31)
    let error = await #expect(throws: AnimatedImageError.self) {
      try await limited.bitmap(at: 0, rendering: Rendering(target: TargetSize(width: 32)))
    }
    #expect(error?.code == .limitExceeded)
    #expect(
      error?.detail == "scaled frames would be 32x32, but canvasPixels allows only 1000 pixels")
    #expect(error?.limit == LimitExcess(.scaledPixels, found: 1024, allowed: 1000))
  }
}
