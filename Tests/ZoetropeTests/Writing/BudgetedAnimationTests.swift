import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeWriting

/// Files that fit a number of bytes.
@Suite(.timeLimit(.minutes(10)), .startsThreads) struct BudgetedAnimationTests {
  private static func image(_ count: Int = 20) throws -> AnimatedImage {
    let film = (0..<count).map { ToleranceTests.picture($0) }
    return try AnimatedImage(
      bytes: try ToleranceTests.write(
        film, AnimationWriterOptions(format: .gif, identicalFrames: .keep)))
  }

  @Test func `files fit their budget, and use most of it`() throws {
    let image = try Self.image()
    for share in [100, 80, 45, 20] {
      let limit = image.byteCount * share / 100
      let found = try image.fitted(
        [], EditOptions(), to: ByteBudget(byteLimit: limit), isCancelled: { false })
      #expect(found.bytes.count <= limit && found.encodeCount <= 6)
      #expect(found.bytes.count * 10 >= limit * 7, "\(found.bytes.count) of \(limit)")
      let written = try AnimatedImage(bytes: found.bytes)
      #expect(written.damage.isEmpty && written.canvasSize == found.plan.canvasSize)
      func time(_ image: AnimatedImage) -> Duration {
        image.frames.reduce(.zero) { $0 + $1.delay.duration }
      }
      #expect(time(written) == time(image))
    }
  }

  @Test func `optimize leaves large metadata out before anything visible`() throws {
    let image = try Self.image()
    // A comment that is larger than the pictures.
    let film = (0..<20).map { ToleranceTests.picture($0) }
    let file = try ToleranceTests.write(
      film, AnimationWriterOptions(format: .gif, identicalFrames: .keep))
    var bytes = file.dropLast() + [0x21, 0xfe]
    for _ in 0..<(3 * image.byteCount / 256) {
      bytes += [255] + [UInt8](repeating: 0x61, count: 255)
    }
    bytes += [0, 0x3b]
    let long = try AnimatedImage(bytes: Array(bytes))
    let bare = MemorySink()
    let stripped = try image.optimize(to: bare, options: OptimizingOptions())
    let limit = stripped.byteCount + 400
    let sink = MemorySink()
    let found = try long.optimize(to: sink, options: OptimizingOptions(), byteLimit: limit)
    #expect(found.byteCount <= limit && found.isExact && found.losesMetadata)
    #expect(found.colors == nil && found.tolerance == 0)
    #expect(try AnimatedImage(bytes: sink.bytes).metadata == AnimationMetadata())
  }

  @Test func `pinned properties stay, and nothing is written if nothing fits`() async throws {
    let image = try Self.image()
    let budget = ByteBudget(byteLimit: image.byteCount / 4, keepsSize: true, keepsFrameRate: true)
    do {
      let found = try image.fitted([], EditOptions(), to: budget, isCancelled: { false })
      #expect(found.plan.canvasSize == image.canvasSize && found.settings.rate == nil)
    } catch {
      #expect(error.limit?.kind == .outputBytes)
    }
    let sink = MemorySink()
    let error = await #expect(throws: AnimatedImageError.self) {
      try await image.write([], to: sink, options: EditOptions(budget: ByteBudget(byteLimit: 40)))
    }
    #expect(error?.code == .limitExceeded && error?.limit?.kind == .outputBytes)
    #expect(error?.limit?.allowed == 40 && (error?.limit?.asked ?? 0) > 40)
    #expect(sink.bytes.isEmpty)
    let other = await #expect(throws: AnimatedImageError.self) {
      try await image.write([], to: sink, options: EditOptions(budget: ByteBudget(byteLimit: 0)))
    }
    #expect(other?.code == .parameter)
  }

  @Test func `the smallest file found is no larger than those of optimize`() throws {
    let image = try Self.image()
    let (exact, near) = (
      try image.optimize(to: MemorySink(), options: .init()),
      try image.optimize(to: MemorySink(), options: OptimizingOptions(tolerance: 200))
    )
    for limit in [40, near.byteCount / 2] {
      let budget = ByteBudget(byteLimit: limit, keepsSize: true, keepsFrameRate: true)
      let refused = try #require(throws: AnimatedImageError.self) {
        try image.fitted([], EditOptions(), to: budget, isCancelled: { false })
      }
      #expect((refused.limit?.asked ?? .max) <= min(exact.byteCount, near.byteCount))
      let other = try #require(throws: AnimatedImageError.self) {
        try image.optimize(to: MemorySink(), options: .init(), byteLimit: limit)
      }
      #expect((other.limit?.asked ?? .max) <= min(exact.byteCount, near.byteCount))
    }
    // What can be reached is reached.
    let sink = MemorySink()
    _ = try image.optimize(to: sink, options: .init(), byteLimit: near.byteCount * 51 / 50)
    #expect(sink.bytes.count <= near.byteCount * 51 / 50)
  }

  @Test func `a badly compressed file is optimized before anything is given up`() throws {
    // The same frame, stored whole thirty times.
    let bytes = try ToleranceTests.write(
      [ToleranceTests.picture(0)], AnimationWriterOptions(format: .gif))
    let range = try AnimatedImage(bytes: bytes).frames[0].byteRange
    let image = try AnimatedImage(
      bytes: Array(bytes[..<range.upperBound])
        + (1..<30).flatMap { _ in bytes[range] } + bytes[range.upperBound...])
    #expect(image.frames.count == 30)
    let exact = try image.optimize(to: MemorySink(), options: .init())
    let limit = exact.byteCount * 51 / 50
    let found = try image.fitted(
      [], EditOptions(), to: ByteBudget(byteLimit: limit), isCancelled: { false })
    #expect(found.bytes.count <= limit && found.settings == BudgetSearch.Settings())
  }

  @Test func `a budget without bounds changes nothing`() async throws {
    let image = try Self.image()
    let options = EditOptions(colors: .limited(to: 64), budget: ByteBudget(byteLimit: .max))
    let (free, bound) = (MemorySink(), MemorySink())
    try await image.write([], to: free, options: EditOptions(colors: .limited(to: 64)))
    try await image.write([], to: bound, options: options)
    #expect(!free.bytes.isEmpty && bound.bytes == free.bytes)
  }

  @Test func `a search that is cancelled writes nothing`() async throws {
    let image = try Self.image()
    let sink = MemorySink()
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try await image.write(
        [], to: sink, options: EditOptions(budget: ByteBudget(byteLimit: image.byteCount / 3)))
    }
    let error = await #expect(throws: AnimatedImageError.self) { try await task.value }
    #expect(error?.code == .cancelled && sink.bytes.isEmpty)
  }
}
