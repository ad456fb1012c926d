import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

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

  @Test func `a source that no edit changes fits its own size`() throws {
    let library = FixtureLibrary()
    // Files whose frames would get graphic controls, and files that lack their ends or parts of their blocks.
    let bent = ["gif-trailer-missing", "gif-no-palette", "gif-gce-size-3"].map { "Bad/\($0).gif" }
    let whole = try FixtureFile.list("\(library.root)/GIF").sorted().map { "GIF/\($0)" }
    for name in bent + ["Bad/apng-iend-missing.png"] + whole {
      let bytes = try library.file(name)
      let image = try AnimatedImage(bytes: bytes)
      let budget = ByteBudget(byteLimit: bytes.count)
      let found = try image.fitted([], EditOptions(), to: budget, isCancelled: { false })
      #expect(found.bytes == bytes && !found.losesMetadata && found.plan.isCopy, "\(name)")
      // Edits that change nothing.
      let edits = [
        AnimationEdit.speed(1), .playCount(image.playCount), .frames(0..<image.frames.count),
      ]
      let same = try image.fitted(edits, EditOptions(), to: budget, isCancelled: { false })
      #expect(same.bytes == bytes, "\(name)")
      let lossy = try image.fitted(
        [], EditOptions(tolerance: 40), to: budget, isCancelled: { false })
      #expect(lossy.bytes.count <= bytes.count && lossy.settings.rate == nil, "\(name)")
      let optimized = try image.optimize(
        to: MemorySink(), options: .init(), byteLimit: bytes.count)
      #expect(optimized.isExact, "\(name)")
    }
  }

  @Test func `a source is not copied if an edit changes it, or with bytes that nobody reads`()
    throws
  {
    let image = try Self.image()
    let budget = ByteBudget(byteLimit: 100 * image.byteCount)
    let longer = try AnimatedImage(bytes: FixtureLibrary().file("Bad/gif-after-trailer.gif"))
    let cases: [(AnimatedImage, [AnimationEdit], EditOptions)] = [
      (image, [.speed(2)], EditOptions()), (image, [.playCount(.finite(9))], EditOptions()),
      (image, [.frames(1..<20)], EditOptions()), (image, [], EditOptions(colors: .limited(to: 4))),
      (image, [], EditOptions(format: .apng)), (longer, [], EditOptions()),
    ]
    for (image, edits, options) in cases {
      let found = try image.fitted(edits, options, to: budget, isCancelled: { false })
      let sink = MemorySink()
      _ = try EditPlan(image, edits, options).write(to: sink)
      #expect(found.bytes == sink.bytes, "\(edits), \(options)")
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

  @Test func `a copy that gives up chunks for the limit says so`() throws {
    var random = SplitMix64(seed: 1)
    let chunk = PNGChunk("prVt", (0..<5000).map { _ in UInt8.random(in: 0...255, using: &random) })
    var bytes = try ToleranceTests.write(
      (0..<20).map { ToleranceTests.picture($0) },
      AnimationWriterOptions(effort: .fast, identicalFrames: .keep))
    bytes.insert(contentsOf: chunk.bytes, at: 33)
    let image = try AnimatedImage(bytes: bytes)
    let bare = try image.optimize(
      to: MemorySink(), options: OptimizingOptions(stripsMetadata: true))
    let whole = try image.optimize(to: MemorySink(), options: OptimizingOptions())
    #expect(!whole.losesMetadata && whole.byteCount - bare.byteCount == chunk.bytes.count)
    for (limit, isMissing) in [(whole.byteCount, false), (bare.byteCount + 100, true)] {
      let found = try image.fitted(
        [], EditOptions(), to: ByteBudget(byteLimit: limit), isCancelled: { false })
      #expect(found.bytes.count <= limit && found.plan.rewriting == nil)
      #expect(found.losesMetadata == isMissing && found.bytes.contains(chunk.bytes) != isMissing)
      let sink = MemorySink()
      let optimized = try image.optimize(to: sink, options: OptimizingOptions(), byteLimit: limit)
      #expect(optimized.isExact && optimized.losesMetadata == isMissing)
    }
  }

  @Test(.computes, arguments: [AnimationFormat.gif, .apng])
  func `a file meets an upload preset, whatever the format of the source`(
    format: AnimationFormat
  ) async throws {
    let film = (0..<60).map { time in
      Pictures.make(32, 32) { x, _ in
        x == time % 32 ? .black : RGBA(red: 250, green: 240, blue: 20)
      }
    }
    let image = try AnimatedImage(
      bytes: try ToleranceTests.write(
        film, AnimationWriterOptions(format: format, identicalFrames: .keep)))
    let (small, large) = (MemorySink(), MemorySink())
    let written = try await image.write(for: .slackEmoji, to: small)
    let emoji = try AnimatedImage(bytes: small.bytes)
    #expect(emoji.format == .gif && emoji.frames.count == 50 && written.frameCount == 50)
    #expect(emoji.duration() == image.duration())
    #expect(written.byteCount == small.bytes.count)
    #expect(written.byteCount <= UploadPreset.slackEmoji.byteLimit)
    try await image.write([.frames(0..<2)], for: .signalSticker, to: large)
    let sticker = try AnimatedImage(bytes: large.bytes)
    #expect(sticker.format == .apng && sticker.frames.count == 2)
    #expect(sticker.canvasSize == PixelSize(width: 512, height: 512))
    // The colour type of RGBA.
    #expect(large.bytes[25] == 6)
    let wrongFormat = await #expect(throws: AnimatedImageError.self) {
      try await image.write(
        for: .slackEmoji, to: MemorySink(), options: EditOptions(format: .apng))
    }
    #expect(wrongFormat?.code == .parameter)
    let tooLarge = await #expect(throws: AnimatedImageError.self) {
      try await image.write(
        [.resize(TargetSize(width: 200))], for: .slackEmoji, to: MemorySink())
    }
    #expect(tooLarge?.limit?.kind == .outputSides)
  }

  @Test func `presets have names, sources and dates`() {
    for preset in UploadPreset.all {
      #expect(UploadPreset(named: preset.name) == preset)
      #expect(preset.source.hasPrefix("https://") && preset.date.hasPrefix("20"))
    }
    #expect(UploadPreset(named: "telegram") == nil)
  }

  @Test(.computes) func `pinned properties stay, and nothing is written if nothing fits`()
    async throws
  {
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
    #expect(error?.limit?.allowed == 40 && (error?.limit?.found ?? 0) > 40)
    #expect(sink.bytes.isEmpty)
    let other = await #expect(throws: AnimatedImageError.self) {
      try await image.write([], to: sink, options: EditOptions(budget: ByteBudget(byteLimit: 0)))
    }
    #expect(other?.code == .parameter)
  }

  @Test(.computes) func `the smallest file found is no larger than those of optimize`() throws {
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
      #expect((refused.limit?.found ?? .max) <= min(exact.byteCount, near.byteCount))
      let other = try #require(throws: AnimatedImageError.self) {
        try image.optimize(to: MemorySink(), options: .init(), byteLimit: limit)
      }
      #expect((other.limit?.found ?? .max) <= min(exact.byteCount, near.byteCount))
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

  @Test(.computes) func `pictures that fill a box stay cropped when they shrink`() throws {
    // Red to the left and right of a grainy middle, which is all that a square shows.
    var random: UInt64 = 1
    let film = (0..<6).map { _ in
      Pictures.make(160, 80) { x, _ in
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        if !(40..<120).contains(x) { return RGBA(red: 255, green: 0, blue: 0) }
        return RGBA(red: 0, green: UInt8(random >> 56), blue: UInt8(random >> 48 & 0xff))
      }
    }
    let image = try AnimatedImage(
      bytes: try ToleranceTests.write(
        film, AnimationWriterOptions(format: .gif, identicalFrames: .keep)))
    let edits = [AnimationEdit.resize(TargetSize(width: 80, height: 80), fit: .fill)]
    let found = try image.fitted(
      edits, EditOptions(), to: ByteBudget(byteLimit: 6000), isCancelled: { false })
    #expect(found.plan.canvasSize.width < 80)
    let picture = try FrameReader(AnimatedImage(bytes: found.bytes)).frame(at: 0).bitmap
    #expect(picture.width == picture.height)
    for x in 0..<picture.width { #expect(picture.row(0)[4 * x] < 128) }
  }

  @Test func `edits may exceed the limits for files that are opened`() throws {
    var options = DecodingOptions()
    options.limits.frameCount = 20
    let film = (0..<20).map { ToleranceTests.picture($0) }
    let bytes = try ToleranceTests.write(
      film, AnimationWriterOptions(format: .gif, identicalFrames: .keep))
    let image = try AnimatedImage(bytes: bytes, options: options)
    // So that copied frames are tried, which are then compressed once more.
    let budget = ByteBudget(byteLimit: image.byteCount * 18 / 10)
    let found = try image.fitted(
      [.backAndForth], EditOptions(), to: budget, isCancelled: { false })
    #expect(found.bytes.count <= budget.byteLimit && found.plan.frames.count == 38)
  }

  @Test func `repeated frames may take more bytes than the source`() throws {
    var attempts: Set<Int> = []
    let plan = try EditPlan(
      Self.image(), [.backAndForth, .resize(TargetSize(width: 47), filter: .nearest)],
      EditOptions())
    let written = try plan.write(to: MemorySink(), isCancelled: { false }) {
      attempts.insert($0.attempt)
    }
    #expect(attempts == [1])
    #expect(try written.byteCount > Self.image().byteCount)
  }

  @Test func `a small file that fewer colours do not keep small keeps its colours`() throws {
    // A few flat colours, whose edges get more when they are scaled.
    let path = FixtureLibrary().root + "/Demo/variable-delay.gif"
    let image = try AnimatedImage(contentsOf: path)
    let plan = try EditPlan(image, [.resize(TargetSize(width: 100))], EditOptions())
    let sink = MemorySink()
    let written = try plan.write(to: sink)
    #expect(written.byteCount > image.byteCount)
    #expect(written.reducedCount == 0 && written.colorLimit == nil)
    // The same file as with a number of colours that rules out fewer.
    let other = MemorySink()
    _ = try EditPlan(
      image, [.resize(TargetSize(width: 100))], EditOptions(colors: .limited(to: 256))
    ).write(to: other)
    #expect(sink.bytes == other.bytes)
  }

  @Test func `attempts to stay below the source's size are numbered`() throws {
    // Two colours, of which scaling makes many.
    let film = (0..<4).map { time in
      Pictures.make(64, 64) { x, y in
        (x * x + y * 3 + time) % 7 < 3 ? .black : RGBA(red: 255, green: 255, blue: 255)
      }
    }
    let image = try AnimatedImage(
      bytes: try ToleranceTests.write(film, AnimationWriterOptions(format: .gif)))
    let plan = try EditPlan(image, [.resize(TargetSize(width: 61))], EditOptions())
    var (last, most) = (WritingProgress(frameCount: 0, totalFrameCount: nil, byteCount: 0), 0)
    _ = try plan.write(to: MemorySink(), isCancelled: { false }) { made in
      #expect(made.attempt > last.attempt || made.frameCount >= last.frameCount)
      (last, most) = (made, max(most, made.attempt))
    }
    #expect(most > 1)
  }
}
