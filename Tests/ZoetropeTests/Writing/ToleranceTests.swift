import Synchronization
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeWriting

/// Similar colours for fewer bytes.
@Suite(.timeLimit(.minutes(10)), .startsThreads) struct ToleranceTests {
  private static let delay = FrameDelay(centiseconds: 5)

  /// A grainy picture with a bright bar that moves.
  static func picture(_ time: Int, colors: Int = 40, isClear: Bool = false) -> Bitmap {
    var random = UInt64(time * 7919 + 13)
    return Pictures.make(48, 32) { x, y in
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      if isClear, (x + y + time) % 16 < 4 { return .clear }
      if (time * 3..<time * 3 + 6).contains(x) { return RGBA(red: 250, green: 240, blue: 20) }
      let grey = (x * 2 + y + Int(random >> 60) % 6) % colors * (255 / colors)
      return RGBA(red: UInt8(grey), green: UInt8(grey), blue: UInt8(grey / 2 + 40))
    }
  }

  static func write(
    _ pictures: [Bitmap], _ options: AnimationWriterOptions
  ) throws -> [UInt8] {
    let sink = MemorySink()
    let writer = try AnimationWriter(to: sink, options: options)
    for picture in pictures { try writer.append(picture, delay: delay) }
    try writer.finish()
    return sink.bytes
  }

  private static func pictures(_ bytes: [UInt8]) throws -> [Bitmap] {
    let image = try AnimatedImage(bytes: bytes)
    #expect(image.damage.isEmpty)
    let reader = FrameReader(image)
    return try image.frames.indices.map { try reader.frame(at: $0).bitmap }
  }

  /// The greatest distance of pixels of two pictures, as ``PerceivedColor`` squares it; nil if alpha differs.
  private static func distance(_ one: Bitmap, _ other: Bitmap) -> Int32? {
    var greatest: Int32 = 0
    for y in 0..<one.height {
      let (row, otherRow) = (one.row(y), other.row(y))
      for x in 0..<one.width {
        let words = (row.load(UInt32.self, at: x * 4), otherRow.load(UInt32.self, at: x * 4))
        if words.0 >> 24 != words.1 >> 24 { return nil }
        if words.0 >> 24 == 0 { continue }
        greatest = max(
          greatest, PerceivedColor(word: words.0).squareDistance(to: PerceivedColor(word: words.1)))
      }
    }
    return greatest
  }

  @Test(arguments: [
    ("slack-emoji", FrameDelay(centiseconds: 65_535), 100, 50),
    ("line-sticker", FrameDelay(numerator: 1, denominator: 65_535), 60, 20),
  ])
  func `a preset limits the number of frames, however long or short they are`(
    name: String, delay: FrameDelay, count: Int, most: Int
  ) throws {
    let preset = try #require(UploadPreset.all.first { $0.name == name })
    let sink = MemorySink()
    let writer = try AnimationWriter(
      to: sink,
      options: AnimationWriterOptions(
        format: preset.formats[0], shortDelays: .keep, frameCount: count))
    for time in 0..<count { try writer.append(Self.picture(time % 3), delay: delay) }
    try writer.finish()
    let image = try AnimatedImage(bytes: sink.bytes)
    var (edits, options) = ([AnimationEdit](), EditOptions(delayPolicy: .exact))
    #expect(try preset.apply(to: &edits, &options, of: image) == count - most)
    var timeline = EditTimeline(
      image.frames, canvas: image.canvasSize, playCount: image.playCount, policy: .exact)
    let (ticks, timescale) = (timeline.ticks, timeline.timescale)
    for edit in edits { try timeline.apply(edit) }
    #expect(timeline.showings.count == most)
    #expect(timeline.ticks * timescale == ticks * timeline.timescale)
  }

  /// Two pictures: the second has 256 distant colours, two pixels of each, and differs everywhere from the first, in
  /// one pixel only a little.
  private static func crowded() -> [Bitmap] {
    func color(_ index: Int) -> RGBA {
      RGBA(
        red: UInt8(index / 32 * 36), green: UInt8(index / 4 % 8 * 36), blue: UInt8(index % 4 * 85))
    }
    let after = Pictures.make(32, 16) { x, y in color((y * 32 + x) / 2) }
    let before = Pictures.make(32, 16) { x, y in
      if x + y == 0 { return RGBA(red: 1, green: 0, blue: 0) }
      return color((y * 32 + x) / 2 < 128 ? 255 : 0)
    }
    return [before, after]
  }

  @Test(arguments: [EncodingEffort.fast, .balanced, .small])
  func `a frame of 256 colours is written with a tolerance as it is without one`(
    effort: EncodingEffort
  ) async throws {
    for colors in [ColorPolicy.automatic, .exact] {
      let film = Self.crowded() + [Self.crowded()[0]]
      let lossless = try Self.write(
        film, AnimationWriterOptions(format: .gif, effort: effort, colors: colors))
      let bytes = try Self.write(
        film, AnimationWriterOptions(format: .gif, effort: effort, colors: colors, tolerance: 8))
      for (truth, picture) in zip(film, try Self.pictures(bytes)) {
        let distance = try #require(Self.distance(truth, picture))
        #expect(distance <= PerceivedColor.greatestSquare(8))
      }
      let image = try AnimatedImage(bytes: lossless)
      for edits in [[], [AnimationEdit.reverse], [.crop(PixelRect(image.canvasSize))]] {
        let sink = MemorySink()
        try await image.write(
          edits, to: sink, options: EditOptions(colors: colors, tolerance: 8, effort: effort))
        #expect(try Self.pictures(sink.bytes).count == 3)
      }
      let sink = MemorySink()
      try await image.optimize(to: sink, options: OptimizingOptions(effort: effort, tolerance: 8))
      #expect(sink.bytes.count <= lossless.count)
    }
  }

  @Test func `an unchanged pixel has one of 256 colours of a frame`() throws {
    let (before, after) = (Self.crowded()[0], Self.crowded()[1])
    // Its first pixel is that of the second picture.
    let first = Pictures.make(32, 16) { x, y in
      let picture = x + y == 0 ? after : before
      let row = picture.row(y)
      return RGBA(word: row.load(UInt32.self, at: x * 4))
    }
    let film = [first, after]
    for effort in [EncodingEffort.fast, .balanced] {
      let bytes = try Self.write(
        film, AnimationWriterOptions(format: .gif, effort: effort, colors: .exact))
      #expect(try Self.pictures(bytes) == film)
    }
  }

  @Test(.computes, arguments: [AnimationFormat.gif, .apng])
  func `a result lists what a budget cost, and keeps metadata that fits`(
    format: AnimationFormat
  ) async throws {
    var options = AnimationWriterOptions(format: format, identicalFrames: .keep)
    let text = String(repeating: "where it is from ", count: 12)
    options.metadata = AnimationMetadata()
    options.metadata?.texts = [.init(key: "Comment", value: text)]
    let image = try AnimatedImage(
      bytes: try Self.write((0..<40).map { Self.picture($0 % 14) }, options))
    let whole = image.byteCount
    var kept = 0
    for limit in [whole, whole * 3 / 4, whole / 2, whole / 4, whole / 8] {
      let sink = MemorySink()
      let written = try await image.write(
        [], to: sink, options: EditOptions(budget: ByteBudget(byteLimit: limit)))
      let file = try AnimatedImage(bytes: sink.bytes)
      #expect(sink.bytes.count <= limit && written.byteCount == sink.bytes.count)
      // The whole file fits.
      guard limit < whole else {
        #expect(written.concessions == nil && file.metadata.texts.count == 1)
        kept += 1
        continue
      }
      let given = try #require(written.concessions)
      #expect(given.losesMetadata == (file.metadata.texts.isEmpty))
      #expect(given.canvasSize == file.canvasSize)
      #expect((given.percent == 100) == (file.canvasSize == image.canvasSize))
      #expect((given.framesPerSecond != nil) == (file.frames.count < 40))
      if !given.losesMetadata { kept += 1 }
      // There would have been room for a file that is so much shorter.
      #expect(!given.losesMetadata || sink.bytes.count + 2 * text.utf8.count > limit)
    }
    #expect(kept > 1)
    // Neither what was requested nor what changed nothing is a concession.
    let asked = EditOptions(
      colors: .limited(to: 8), tolerance: 40, budget: ByteBudget(byteLimit: whole * 2))
    let cheap = try await image.write([], to: MemorySink(), options: asked)
    #expect(cheap.concessions?.colors == nil)
    let copied = try await image.write(
      [], to: MemorySink(), options: EditOptions(budget: ByteBudget(byteLimit: whole * 2)))
    #expect(copied.concessions == nil)
    // Nor are the palettes that scaling always makes.
    let scaled = try await image.write(
      [.resize(TargetSize(width: 20))], to: MemorySink(),
      options: EditOptions(budget: ByteBudget(byteLimit: whole * 2)))
    #expect(scaled.concessions == nil)
    // So does a file that keeps its size and frames, once it cannot be shorter with its metadata.
    let (least, sink) = (MemorySink(), MemorySink())
    #expect(
      try !image.optimize(to: least, options: OptimizingOptions(), byteLimit: whole).losesMetadata)
    let optimized = try image.optimize(
      to: sink, options: OptimizingOptions(), byteLimit: least.bytes.count - 60)
    #expect(sink.bytes.count <= least.bytes.count - 60 && optimized.losesMetadata)
    #expect(try AnimatedImage(bytes: sink.bytes).metadata.texts.isEmpty)
    #expect(try await image.write([], to: MemorySink()).concessions == nil)
  }

  @Test func `attempts to meet a budget are numbered in order, and the last is the file`()
    async throws
  {
    let image = try AnimatedImage(
      bytes: try Self.write(
        (0..<40).map { Self.picture($0 % 14) }, AnimationWriterOptions(format: .gif)))
    for share in [2, 1, 0.5, 0.2] {
      let attempts = Mutex<[Int]>([])
      let budget = ByteBudget(byteLimit: Int(Double(image.byteCount) * share))
      _ = try await image.write([], to: MemorySink(), options: EditOptions(budget: budget)) {
        made in
        attempts.withLock { $0.append(made.attempt) }
      }
      let numbers = attempts.withLock { $0 }
      #expect(!numbers.isEmpty && numbers == numbers.sorted(), "\(share)")
    }
  }

  @Test(arguments: [1, 20])
  func `a plan with a tolerance keeps the file that it has encoded`(tolerance: Int) async throws {
    let image = try AnimatedImage(
      bytes: try Self.write(
        (0..<6).map { Self.picture($0) }, AnimationWriterOptions(format: .gif)))
    let options = EditOptions(format: .apng, tolerance: tolerance)
    let attempts = Mutex<[Int]>([])
    let whole = MemorySink()
    let written = try await image.write([.reverse], to: whole, options: options) { made in
      attempts.withLock { $0.append(made.attempt) }
    }
    #expect(written.byteCount == whole.bytes.count && written.frameCount == 6)
    let numbers = attempts.withLock { $0 }
    #expect(numbers == numbers.sorted() && Set(numbers) == [1, 2])
    // With a budget, the numbers go on.
    attempts.withLock { $0 = [] }
    var bounded = options
    bounded.budget = ByteBudget(byteLimit: whole.bytes.count / 2)
    let small = MemorySink()
    _ = try await image.write([.reverse], to: small, options: bounded) { made in
      attempts.withLock { $0.append(made.attempt) }
    }
    #expect(small.bytes.count <= whole.bytes.count / 2)
    let more = attempts.withLock { $0 }
    #expect(more == more.sorted() && more.starts(with: [1]) && (more.last ?? 0) > 2)
    let plan = try await image.plan([.reverse], options: options)
    #expect(plan.rewriting?.findings.kept.isEmpty == true)
    for _ in 0..<2 {
      let sink = MemorySink()
      #expect(try await plan.write(to: sink) == written)
      #expect(sink.bytes == whole.bytes)
    }
    // The file is the shorter one.
    for tolerance in [0, tolerance] {
      let plan = try EditPlan(
        image, [.reverse], EditOptions(format: .apng, tolerance: tolerance),
        comparesLossless: false)
      #expect(try await plan.write(to: MemorySink()).byteCount >= written.byteCount)
    }
  }

  @Test func `a partly transparent pixel below the same colour is refused without a trap`() {
    let black = RGBA(red: 0, green: 0, blue: 0)
    let white = RGBA(red: 255, green: 255, blue: 255)
    func picture(_ ground: RGBA, alpha: UInt8) -> Bitmap {
      Pictures.make(3, 1) { x, _ in
        x == 1 ? RGBA(red: 10, green: 10, blue: 10, alpha: alpha) : ground
      }
    }
    let error = #expect(throws: AnimatedImageError.self) {
      try Self.write(
        [picture(black, alpha: 254), picture(white, alpha: 255)],
        AnimationWriterOptions(format: .gif, colors: .exact, tolerance: 20))
    }
    #expect(error?.code == .unwritable)
  }

  @Test(arguments: [AnimationFormat.gif, .apng], [false, true])
  func `no pixel of any frame is further off than the tolerance`(
    format: AnimationFormat, isClear: Bool
  ) throws {
    let film = (0..<12).map { Self.picture($0, isClear: isClear) }
    var sizes: [Int] = []
    for tolerance in [0, 1, 8, 30, 80, 200] {
      let bytes = try Self.write(
        film, AnimationWriterOptions(format: format, identicalFrames: .keep, tolerance: tolerance))
      sizes.append(bytes.count)
      let shown = try Self.pictures(bytes)
      try #require(shown.count == film.count)
      for (index, (truth, picture)) in zip(film, shown).enumerated() {
        let distance = try #require(Self.distance(truth, picture), "\(tolerance), frame \(index)")
        #expect(
          distance <= PerceivedColor.greatestSquare(tolerance), "\(tolerance), frame \(index)")
      }
    }
    #expect(sizes[4] < sizes[0], "\(format), \(sizes)")
  }

  @Test func `the bytes do not depend on the number of threads`() throws {
    let film = (0..<8).map { Self.picture($0) }
    let files = try [1, 2, 5].map {
      try Self.write(film, AnimationWriterOptions(format: .gif, tolerance: 40, parallelism: $0))
    }
    #expect(files[0] == files[1] && files[0] == files[2])
  }

  @Test func `a fade stays within the tolerance although each step is small`() throws {
    let film = (0..<60).map { step in
      Pictures.make(8, 8) { _, _ in RGBA(red: UInt8(step * 4), green: UInt8(step * 4), blue: 90) }
    }
    let bytes = try Self.write(
      film, AnimationWriterOptions(format: .gif, identicalFrames: .keep, tolerance: 64))
    for (truth, picture) in zip(film, try Self.pictures(bytes)) {
      let distance = try #require(Self.distance(truth, picture))
      #expect(distance <= PerceivedColor.greatestSquare(64))
    }
  }

  @Test func `a still picture of 256 colours takes fewer bytes with a tolerance`() throws {
    var random: UInt64 = 5
    let picture = Pictures.make(128, 128) { x, y in
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let grey = (x + y + Int(random >> 61)) & 0xff
      return RGBA(red: UInt8(grey), green: UInt8(grey), blue: UInt8(grey))
    }
    let sizes = try [0, 8, 24, 80].map {
      try Self.write([picture], AnimationWriterOptions(format: .gif, tolerance: $0)).count
    }
    #expect(sizes == sizes.sorted(by: >) && Set(sizes).count == 4, "\(sizes)")
  }

  /// A gradient at rest, with a few pixels that change in every picture.
  @Test(arguments: [40, 120])
  func `an area at rest is not drawn again, although its colours differ from the original`(
    tolerance: Int
  ) throws {
    let film = (0..<6).map { time in
      Pictures.make(96, 64) { x, y in
        if (x + 5 * y) % 97 == time { return RGBA(red: 250, green: 10, blue: 10) }
        return RGBA(red: UInt8((x + y) & ~15), green: UInt8(x * 2 & ~31), blue: UInt8(y * 3 & ~31))
      }
    }
    let shown = try Self.pictures(
      try Self.write(film, AnimationWriterOptions(format: .gif, tolerance: tolerance)))
    try #require(shown.count == film.count)
    for y in 0..<64 {
      for x in 0..<96 where (x + 5 * y) % 97 >= 6 {
        let words = Set(shown.map { $0.row(y).load(UInt32.self, at: x * 4) })
        #expect(words.count == 1, "pixel \(x), \(y)")
      }
    }
  }

  @Test func `a tolerance outside its range is refused`() throws {
    for tolerance in [-1, 201, .max, .min] {
      #expect(throws: AnimatedImageError.self) {
        try Self.write([Self.picture(0)], AnimationWriterOptions(tolerance: tolerance))
      }
      let image = try AnimatedImage(bytes: try Self.write([Self.picture(0)], .init()))
      #expect(throws: AnimatedImageError.self) {
        try image.optimize(to: MemorySink(), options: OptimizingOptions(tolerance: tolerance))
      }
    }
  }

  @Test func `with a tolerance, optimised files are at most as large as without`() throws {
    for format in [AnimationFormat.gif, .apng] {
      let film = (0..<6).map { Self.picture($0) }
      let image = try AnimatedImage(
        bytes: try Self.write(film, AnimationWriterOptions(format: format, identicalFrames: .keep)))
      func size(_ tolerance: Int) throws -> OptimizedAnimation {
        try image.optimize(to: MemorySink(), options: OptimizingOptions(tolerance: tolerance))
      }
      let exact = try size(0)
      #expect(exact.isExact)
      for tolerance in [2, 40] { #expect(try size(tolerance).byteCount <= exact.byteCount) }
      #expect(try size(100).byteCount < exact.byteCount && !size(100).isExact)
    }
  }

  @Test(arguments: [AnimationFormat.gif, .apng])
  func `a file in which a tolerance changes no pixel is exact`(format: AnimationFormat) throws {
    // There are three colours, none like another.
    let film = (0..<4).map { Self.picture($0, colors: 2) }
    var options = AnimationWriterOptions(format: format)
    options.metadata = AnimationMetadata()
    options.metadata?.texts = [.init(key: "Comment", value: "this is left out")]
    let image = try AnimatedImage(bytes: try Self.write(film, options))
    func optimized(_ tolerance: Int) throws -> OptimizedAnimation {
      let options = OptimizingOptions(tolerance: tolerance, stripsMetadata: true)
      return try image.optimize(to: MemorySink(), options: options)
    }
    let (exact, similar) = (try optimized(0), try optimized(8))
    #expect(!exact.isCopy && exact.isExact)
    #expect(similar == exact)
  }

  @Test func `a hint that reaches beyond the canvas is clipped`() throws {
    for format in [AnimationFormat.gif, .apng] {
      for tolerance in [0, 40] {
        let sink = MemorySink()
        let writer = try AnimationWriter(
          to: sink, options: AnimationWriterOptions(format: format, tolerance: tolerance))
        for time in 0..<3 {
          try writer.append(
            Self.picture(time, isClear: true), delay: Self.delay,
            changed: PixelRect(x: -9, y: -9, width: 999, height: 999))
        }
        #expect(try writer.finish().frameCount == 3)
        #expect(try Self.pictures(sink.bytes).count == 3)
      }
    }
  }
}
