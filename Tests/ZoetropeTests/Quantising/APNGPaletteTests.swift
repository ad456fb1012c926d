import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeWriting

/// APNGs of fewer colours than their pictures have: one palette, with alpha.
@Suite(.timeLimit(.minutes(10)), .startsThreads) struct APNGPaletteTests {
  private static let delay = FrameDelay(centiseconds: 10)

  /// A soft disc of many colours and all degrees of alpha, on a clear background.
  private static func disc(_ phase: Int, side: Int = 48) -> Bitmap {
    Pictures.make(side, side) { x, y in
      let (dx, dy) = (2 * x - side, 2 * y - side)
      let edge = side * side - dx * dx - dy * dy
      return RGBA(
        red: UInt8((x * 5 + phase) & 255), green: UInt8(y * 5 & 255), blue: UInt8(40 + x + y),
        alpha: UInt8(min(max(edge * 255 / (side * side / 2), 0), 255)))
    }
  }

  /// An opaque picture of many colours that turns clear as `step` goes from 0 to `last`.
  private static func fade(_ step: Int, last: Int) -> Bitmap {
    Pictures.make(32, 32) { x, y in
      RGBA(
        red: UInt8(x * 8), green: UInt8(y * 8), blue: 90, alpha: UInt8(255 - step * 255 / last))
    }
  }

  private static func options(
    _ count: Int, _ dithering: Dithering = .automatic
  ) -> AnimationWriterOptions {
    AnimationWriterOptions(
      identicalFrames: .keep, colors: .limited(to: count), dithering: dithering)
  }

  private static func write(
    _ pictures: [Bitmap], _ options: AnimationWriterOptions, hasSurvey: Bool = true
  ) throws -> (bytes: [UInt8], written: WrittenAnimation) {
    try pictures.written(options, delay: delay, hasSurvey: hasSurvey)
  }

  /// The frames as our decoder and libpng see them, which have to agree; as words of RGBA.
  private static func frames(_ bytes: [UInt8]) throws -> [[UInt32]] {
    let found = try [PixelDecoder.fast, .reference].map { decoder in
      let image = try AnimatedImage(
        bytes: bytes, options: DecodingOptions(damage: .strict, decoder: decoder))
      let reader = FrameReader(image)
      return try image.frames.indices.map { words(try reader.frame(at: $0).bitmap) }
    }
    #expect(found[0] == found[1])
    return found[0]
  }

  /// The pixels; clear ones have no colour, as in some forms another one stands for them.
  private static func words(_ picture: Bitmap) -> [UInt32] {
    (0..<picture.height).flatMap { y in
      let row = picture.row(y)
      return (0..<picture.width).map {
        let word = row.load(UInt32.self, at: $0 * 4)
        return word >> 24 == 0 ? 0 : word
      }
    }
  }

  /// The palette of a file; nil if it has another form.
  private static func palette(_ bytes: [UInt8]) throws -> [UInt32]? {
    let header = try AnimatedImage(bytes: bytes).header
    return header.colorType == 3 ? header.palette : nil
  }

  /// The mean difference of samples on black and on white.
  private static func error(_ shown: [UInt32], _ wanted: [UInt32]) -> Double {
    func blended(_ word: UInt32, _ shift: UInt32, over ground: Double) -> Double {
      let alpha = Double(word >> 24) / 255
      return Double(word >> shift & 255) * alpha + ground * (1 - alpha)
    }
    var sum = 0.0
    for (one, other) in zip(shown, wanted) {
      for shift: UInt32 in [0, 8, 16] {
        for ground in [0.0, 255] {
          sum += abs(blended(one, shift, over: ground) - blended(other, shift, over: ground))
        }
      }
    }
    return sum / Double(6 * max(wanted.count, 1))
  }

  // MARK: Colours

  @Test(arguments: Dithering.all, [16, 256])
  func `a film of many colours and much alpha gets a palette that is close to it`(
    dithering: Dithering, count: Int
  ) throws {
    let film = (0..<3).map { Self.disc($0 * 9, side: 40) }
    let (bytes, written) = try Self.write(film, Self.options(count, dithering))
    let palette = try #require(try Self.palette(bytes))
    #expect(palette.count <= count && written.reducedCount == 3)
    #expect(written.partialAlphaShare == 0)
    for (shown, wanted) in zip(try Self.frames(bytes), film) {
      #expect(Set(shown).subtracting(palette).isEmpty)
      #expect(Self.error(shown, Self.words(wanted)) < (count == 16 ? 16 : 5))
    }
  }

  @Test(.computes, arguments: Dithering.all) func `a fade stays smooth`(dithering: Dithering) throws
  {
    let film = (0...20).map { Self.fade($0, last: 20) }
    let (bytes, _) = try Self.write(film, Self.options(128, dithering))
    let frames = try Self.frames(bytes)
    #expect(frames[0].allSatisfy { $0 >> 24 == 255 } && frames[20].allSatisfy { $0 == 0 })
    for (shown, wanted) in zip(frames, film) {
      #expect(Self.error(shown, Self.words(wanted)) < 16)
    }
    for step in 1...20 {
      let opacity = frames[step].reduce(0) { $0 + Int($1 >> 24) } / frames[step].count
      #expect(abs(opacity - (255 - step * 255 / 20)) < 16, "frame \(step)")
    }
  }

  @Test func `translucent entries come first, so that tRNS is short`() throws {
    let film = [Self.disc(0), Self.disc(50)]
    let palette = try #require(try Self.palette(try Self.write(film, Self.options(64)).bytes))
    let count = palette.prefix { $0 >> 24 != 255 }.count
    #expect(count < palette.count && palette.dropFirst(count).allSatisfy { $0 >> 24 == 255 })
    let chunks = PNGChunkList(try Self.write(film, Self.options(64)).bytes).chunks
    #expect(chunks.first { $0.type == "tRNS" }?.data.count == count)
    #expect(palette.first == 0)
  }

  @Test(arguments: Dithering.all, [2, 24])
  func `opaque pixels stay opaque, and clear ones clear`(
    dithering: Dithering, count: Int
  ) throws {
    let film = (0..<3).map { Self.disc($0 * 30, side: 32) }
    for (shown, wanted) in zip(
      try Self.frames(try Self.write(film, Self.options(count, dithering)).bytes), film)
    {
      for (one, other) in zip(shown, Self.words(wanted)) {
        if other >> 24 == 255 { #expect(one >> 24 == 255) }
        if other >> 24 == 0 { #expect(one == 0) }
      }
    }
  }

  @Test(arguments: [(20, 20), (20, 64), (255, 256), (256, 256)])
  func `colours that fit are kept`(count: Int, limit: Int) throws {
    let film = (0..<3).map { step in
      Pictures.make(20, 20) { x, y in
        let number = (y * 20 + x + step) % (count == limit && limit < 256 ? count - 1 : count)
        // Black, clear in part: no colour may stand for another.
        return RGBA(
          red: UInt8(number), green: number == 0 ? 0 : 7, blue: 0,
          alpha: number % 5 == 1 ? 130 : 255)
      }
    }
    let (bytes, written) = try Self.write(film, Self.options(limit, .ordered))
    #expect(written.reducedCount == 0)
    #expect(try Self.frames(bytes) == film.map(Self.words))
    let unsurveyed = try Self.write(film, Self.options(limit), hasSurvey: false).bytes
    if count < 256 { #expect(try Self.frames(unsurveyed) == film.map(Self.words)) }
  }

  @Test func `black stays black where opaque colours fit`() throws {
    let film = (0..<2).map { step in
      Pictures.make(8, 8) { x, y in x == step ? .black : RGBA(red: 9, green: UInt8(y), blue: 80) }
    }
    #expect(
      try Self.frames(try Self.write(film, Self.options(16)).bytes) == film.map(Self.words))
  }

  @Test(arguments: Dithering.all, [false, true]) func `pixels that do not change never flicker`(
    dithering: Dithering, hasSurvey: Bool
  ) throws {
    let ground = Self.disc(0)
    let film = (0..<9).map { step in
      Pictures.make(48, 48) { x, y in
        if (step * 4..<step * 4 + 9).contains(x) { return RGBA(red: 200, green: 10, blue: 30) }
        return RGBA(word: ground.row(y).load(UInt32.self, at: x * 4))
      }
    }
    let bytes = try Self.write(film, Self.options(24, dithering), hasSurvey: hasSurvey).bytes
    let (shown, wanted) = (try Self.frames(bytes), film.map(Self.words))
    for index in 1..<film.count {
      let still = wanted[index].indices.filter { wanted[index][$0] == wanted[index - 1][$0] }
      #expect(still.allSatisfy { shown[index][$0] == shown[index - 1][$0] })
    }
  }

  @Test func `bytes do not depend on the number of threads`() throws {
    let film = (0..<9).map { Self.disc($0 / 2 * 20, side: 24) }
    let files = try [1, 2, 8].map { threads in
      var options = Self.options(48)
      options.parallelism = threads
      return try Self.write(film, options).bytes
    }
    #expect(files[0] == files[1] && files[0] == files[2])
  }

  // MARK: Forms

  @Test func `16 bits are rounded, and a static image gets the same palette`() throws {
    let deep = Pictures.makeDeep(24, 24) { x, y in
      [UInt16(x * 2700), UInt16(y * 2700), 0x1234, UInt16(65535 - x * y * 100)]
    }
    var options = Self.options(32)
    options.poster = deep
    let bytes = try Self.write([deep, Self.disc(3, side: 24)], options).bytes
    let palette = try #require(try Self.palette(bytes))
    let image = try AnimatedImage(bytes: bytes)
    #expect(palette.count <= 32 && image.frames.count == 2)
    let poster = try image.renderStaticBitmap()
    #expect(Self.words(poster) == (try Self.frames(bytes))[0])
  }

  @Test func `an image is written in a palette for all of its frames`() async throws {
    let film = (0..<3).map { Self.disc($0 * 60, side: 32) }
    var whole = AnimationWriterOptions()
    whole.identicalFrames = .keep
    let image = try AnimatedImage(bytes: try Self.write(film, whole, hasSurvey: false).bytes)
    let sink = MemorySink()
    try await image.reencode(to: sink, options: Self.options(64))
    #expect(sink.bytes == (try Self.write(film, Self.options(64)).bytes))
    let edited = MemorySink()
    try await image.write([], to: edited, options: EditOptions(colors: .limited(to: 64)))
    #expect(try Self.frames(edited.bytes) == (try Self.frames(sink.bytes)))
    let plan = try EditPlan(image, [], EditOptions(colors: .limited(to: 64)))
    #expect(plan.reducesColors && plan.partialAlphaShare == 0)
  }

  // MARK: Budgets

  @Test(.computes, arguments: [2, 3]) func `an APNG fits a budget by fewer colours`(part: Int)
    async throws
  {
    let film = (0..<6).map { step in
      var random = UInt64(step)
      return Pictures.make(64, 64) { x, y in
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let grain = Int(random >> 61)
        return RGBA(
          red: UInt8(x * 3 + grain), green: UInt8(y * 3 + grain), blue: UInt8(99 + grain),
          alpha: UInt8(min(x * 16, 255)))
      }
    }
    var whole = AnimationWriterOptions()
    whole.identicalFrames = .keep
    let image = try AnimatedImage(bytes: try Self.write(film, whole, hasSurvey: false).bytes)
    var budget = ByteBudget(byteLimit: image.byteCount / part)
    (budget.keepsSize, budget.keepsFrameRate) = (true, true)
    let found = try image.fitted([], EditOptions(), to: budget, isCancelled: { false })
    #expect(found.bytes.count <= budget.byteLimit && found.encodeCount <= 6)
    #expect(found.settings.colors != nil && found.plan.reducesColors)
    #expect(found.settings.rate == nil && found.settings.percent == 100)
    #expect(try Self.frames(found.bytes).count == 6)
    // Colours that were requested exactly are not given up.
    #expect(throws: AnimatedImageError.self) {
      budget.byteLimit = image.byteCount / 30
      _ = try image.fitted(
        [], EditOptions(colors: .exact), to: budget, isCancelled: { false })
    }
  }

  // MARK: Anything

  @Test(.computes, arguments: 0..<80 as Range<UInt64>)
  func `both decoders show every film as the reducer drew it`(seed: UInt64) throws {
    let film = RandomFilm(seed: seed)
    for count in [2, 7, 256] {
      var options = Self.options(count, Dithering.all[Int(seed) % Dithering.all.count])
      options.parallelism = film.options.parallelism
      options.effort = film.options.effort
      options.poster = film.options.poster
      let pictures = film.frames.map(\.bitmap)
      let model = try Self.model(pictures, options)
      let bytes = try Self.write(pictures, options).bytes
      #expect(try Self.frames(bytes) == model.frames.map(Self.words))
      if let poster = model.poster {
        let image = try AnimatedImage(bytes: bytes)
        #expect(try Self.words(image.renderStaticBitmap()) == Self.words(poster))
      }
    }
  }

  /// What a writer with a survey has to show of `pictures` and the poster.
  private static func model(
    _ pictures: [Bitmap], _ options: AnimationWriterOptions
  ) throws -> (frames: [Bitmap], poster: Bitmap?) {
    let reduction = try #require(options.reduction)
    var survey = ColorSurvey(for: options)
    for picture in pictures { try survey.add(picture) }
    if let poster = options.poster { try survey.add(poster) }
    var preparation = PicturePreparation(
      size: pictures[0].size, format: .rgba8, keepsHiddenColors: false)
    func prepared(_ picture: Bitmap) throws -> Bitmap {
      var count = 0
      let flat = try picture.flattened(
        reduction.transparency, in: PixelRect(picture.size), partialCount: &count)
      return try preparation.prepare(flat, changed: nil)
    }
    guard !survey.fits(reduction) else {
      return (try pictures.map(prepared), try options.poster.map(prepared))
    }
    var reducer = ColorReducer(reduction, survey: survey)
    _ = try reducer.table(for: pictures[0])
    let poster = try options.poster.map { try reducer.still(prepared($0)) }
    let frames = try pictures.map {
      try reducer.reduce(prepared($0), changed: nil, lastRect: nil).picture
    }
    return (frames, poster)
  }
}
