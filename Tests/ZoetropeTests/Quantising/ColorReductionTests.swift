import Synchronization
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeWriting

@Suite(.timeLimit(.minutes(10)), .startsThreads) struct ColorReductionTests {
  private static let delay = FrameDelay(centiseconds: 10)

  /// A smooth picture of far more than 256 colours.
  private static func gradient(_ phase: Int = 0, side: Int = 48) -> Bitmap {
    Pictures.make(side, side) { x, y in
      RGBA(
        red: UInt8((x * 5 + phase) & 255), green: UInt8(y * 5 & 255),
        blue: UInt8((x * 3 + y * 2) & 255))
    }
  }

  /// `picture` with a flat square at `place`.
  private static func square(
    _ picture: Bitmap, at place: Int, color: RGBA = RGBA(red: 200, green: 10, blue: 30)
  ) -> Bitmap {
    Pictures.make(picture.width, picture.height) { x, y in
      if (place..<place + 8).contains(x), (place..<place + 8).contains(y) { return color }
      return RGBA(word: picture.row(y).load(UInt32.self, at: x * 4))
    }
  }

  private static func write(
    _ pictures: [Bitmap], _ change: (inout AnimationWriterOptions) -> Void = { _ in },
    hasSurvey: Bool = false
  ) throws -> (bytes: [UInt8], written: WrittenAnimation) {
    var options = AnimationWriterOptions(format: .gif, identicalFrames: .keep)
    change(&options)
    return try pictures.written(options, delay: delay, hasSurvey: hasSurvey)
  }

  private static func pictures(_ bytes: [UInt8]) throws -> [Bitmap] {
    let image = try AnimatedImage(bytes: bytes)
    #expect(image.damage.isEmpty)
    let reader = FrameReader(image)
    return try image.frames.indices.map { try reader.frame(at: $0).bitmap }
  }

  private static func words(_ picture: Bitmap) -> [UInt32] {
    (0..<picture.height).flatMap { y in
      let row = picture.row(y)
      return (0..<picture.width).map { row.load(UInt32.self, at: $0 * 4) }
    }
  }

  /// The mean difference of samples.
  private static func error(_ one: Bitmap, _ other: Bitmap) -> Double {
    var sum = 0
    for y in 0..<one.height {
      let (first, second) = (one.row(y), other.row(y))
      for place in 0..<one.width * 4 { sum += abs(Int(first[place]) - Int(second[place])) }
    }
    return Double(sum) / Double(one.width * one.height * 3)
  }

  // MARK: Colours

  @Test(.computes, arguments: Dithering.all, [false, true])
  func `a film of many colours becomes a GIF that is close to it`(
    dithering: Dithering, hasSurvey: Bool
  ) throws {
    let film = (0..<4).map { Self.gradient($0 * 3) }
    let (bytes, written) = try Self.write(
      film, { $0.dithering = dithering }, hasSurvey: hasSurvey)
    #expect(written.reducedCount == 4)
    for (shown, wanted) in zip(try Self.pictures(bytes), film) {
      #expect(Self.error(shown, wanted) < 9)
    }
  }

  @Test(.computes) func `a film whose colours drift is as close with a survey as without one`()
    throws
  {
    // Together, the pictures have far more colours than each of them.
    let film = (0..<12).map { step in
      Pictures.make(80, 60) { x, y in
        RGBA(
          red: UInt8((x * 4 + 8 * step) & 255), green: UInt8((y * 4 + 5 * step) & 255),
          blue: UInt8((x + y) * 4 / 3 & 255))
      }
    }
    let errors = try [false, true].map { hasSurvey in
      let (bytes, _) = try Self.write(film, { $0.dithering = .none }, hasSurvey: hasSurvey)
      return zip(try Self.pictures(bytes), film).reduce(0) { $0 + Self.error($1.0, $1.1) }
    }
    #expect(errors[1] < errors[0] * 4 / 3, "\(errors)")
  }

  @Test(arguments: [200, 255, 256]) func `colours that fit are kept`(count: Int) throws {
    let film = (0..<3).map { step in
      Pictures.make(20, 20) { x, y in
        RGBA(red: UInt8((y * 20 + x) % count), green: UInt8(step), blue: 7)
      }
    }
    for hasSurvey in [false, true] {
      let (bytes, written) = try Self.write(film, hasSurvey: hasSurvey)
      #expect(written.reducedCount == 0)
      #expect(try Self.pictures(bytes).map(Self.words) == film.map(Self.words))
    }
  }

  @Test func `parts of 256 colours of an opaque film are kept`() throws {
    var pixels = [UInt32](repeating: RGBA.black.word, count: 64 * 64)
    let film = (0..<4).map { step in
      for place in 0..<(step == 0 ? 0 : 256) {
        let (x, y) = (place % 16 + 12 * step, place / 16 + 9)
        pixels[y * 64 + x] =
          RGBA(red: UInt8(place), green: UInt8(step * 50), blue: 9).word
      }
      let now = pixels
      return Pictures.make(64, 64) { x, y in RGBA(word: now[y * 64 + x]) }
    }
    let (bytes, written) = try Self.write(film, hasSurvey: true)
    #expect(written.reducedCount == 0 && written.colorLimit == nil)
    #expect(try Self.pictures(bytes).map(Self.words) == film.map(Self.words))
  }

  @Test(arguments: [255, 256], [EncodingEffort.fast, .balanced, .small])
  func `an opaque film of as many colours as a table has is kept, with one table`(
    count: Int, effort: EncodingEffort
  ) throws {
    // All colours in the first picture, then a few changes, then all colours at once beside pixels that stay.
    let film = (0..<5).map { step in
      Pictures.make(24, 20) { x, y in
        let isChanged = step < 4 ? (4..<7).contains(x) && y == step : x < 17
        let number = y * 24 + x + (isChanged ? step : 0)
        return RGBA(red: UInt8(number % count), green: 5, blue: 7)
      }
    }
    for colors in [ColorPolicy.automatic, .limited(to: 256), .exact] {
      let (bytes, written) = try Self.write(
        film,
        {
          $0.colors = colors
          $0.effort = effort
        }, hasSurvey: true)
      #expect(written.reducedCount == 0)
      #expect(try Self.pictures(bytes).map(Self.words) == film.map(Self.words))
      // The tables of pictures of few colours may be smaller than that of the file.
      let frames = try AnimatedImage(bytes: bytes).frames
      #expect(frames.allSatisfy { $0.localPaletteCount < 256 })
    }
  }

  @Test(arguments: [16, 255]) func `as many colours as a table has are too many for a lower limit`(
    limit: Int
  ) throws {
    let picture = Pictures.make(16, 16) { (x: Int, y: Int) -> RGBA in
      let number = y * 16 + x
      return RGBA(red: UInt8(number), green: UInt8(255 - number), blue: 7)
    }
    let (bytes, written) = try Self.write(
      [picture, picture], { $0.colors = .limited(to: limit) }, hasSurvey: true)
    #expect(written.reducedCount > 0 && written.colorLimit == limit)
    #expect(Set(try Self.pictures(bytes).flatMap(Self.words)).count < limit)
  }

  @Test func `a frame counts once, however often its colours are reduced`() throws {
    let film = (0..<4).map { (step: Int) -> Bitmap in
      let (first, blue) = (12 * step, UInt8(step * 40))
      return Pictures.make(48, 48) { (x: Int, y: Int) -> RGBA in
        guard y >= first, y < first + 30 else { return .clear }
        return RGBA(red: UInt8(x * 5), green: UInt8(y * 5), blue: blue)
      }
    }
    for hasSurvey in [false, true] {
      #expect(try Self.write(film, hasSurvey: hasSurvey).written.reducedCount == 4)
    }
  }

  @Test func `exact colours reject pictures that do not fit`() throws {
    for picture in [
      Self.gradient(),
      Pictures.make(2, 2) { x, _ in RGBA(red: 9, green: 9, blue: 9, alpha: x == 0 ? 255 : 99) },
    ] {
      let error = #expect(throws: AnimatedImageError.self) {
        try Self.write([picture], { $0.colors = .exact })
      }
      #expect(error?.code == .unwritable)
    }
  }

  @Test(arguments: [2, 3, 16, 100, 256]) func `palettes have as many entries as allowed`(
    limit: Int
  ) throws {
    let film = (0..<3).map { Self.gradient($0) }
    let (bytes, _) = try Self.write(film, { $0.colors = .limited(to: limit) }, hasSurvey: true)
    let colors = Set(try Self.pictures(bytes).flatMap(Self.words))
    #expect(colors.count < limit)
  }

  @Test func `few colours in all frames need no other palette`() throws {
    let film = (0..<6).map { Self.square(Pictures.make(48, 48) { _, _ in .black }, at: $0) }
    let (bytes, written) = try Self.write(
      film, { $0.colors = .limited(to: 16) }, hasSurvey: true)
    #expect(written.reducedCount == 0)
    #expect(try Self.pictures(bytes).map(Self.words) == film.map(Self.words))
  }

  @Test(arguments: [false, true]) func `flat colours stay exact`(hasSurvey: Bool) throws {
    let film = [Self.square(Self.gradient(), at: 3), Self.square(Self.gradient(), at: 9)]
    let (bytes, _) = try Self.write(
      film, { $0.colors = .limited(to: 64) }, hasSurvey: hasSurvey)
    for (shown, wanted) in zip(try Self.pictures(bytes), film) {
      let flat = RGBA(red: 200, green: 10, blue: 30).word
      for (one, other) in zip(Self.words(shown), Self.words(wanted)) where other == flat {
        #expect(one == flat)
      }
    }
  }

  @Test(arguments: Dithering.all, [ColorPolicy.automatic, .limited(to: 32)])
  func `pixels that do not change never flicker`(
    dithering: Dithering, colors: ColorPolicy
  ) throws {
    let film = (0..<12).map { Self.square(Self.gradient(), at: $0 * 3) }
    let (bytes, _) = try Self.write(
      film,
      {
        $0.dithering = dithering
        $0.colors = colors
      })
    let shown = try Self.pictures(bytes).map(Self.words)
    let wanted = film.map(Self.words)
    for index in 1..<film.count {
      for place in wanted[index].indices
      where wanted[index][place] == wanted[index - 1][place] {
        #expect(shown[index][place] == shown[index - 1][place])
      }
    }
  }

  @Test(arguments: [false, true]) func `palettes follow scenes`(hasSurvey: Bool) throws {
    func scene(_ isRed: Bool, _ step: Int) -> Bitmap {
      Pictures.make(80, 80) { x, y in
        let level = UInt8((x * 3 + step) & 255)
        return isRed
          ? RGBA(red: level, green: UInt8(y), blue: 0) : RGBA(red: 0, green: UInt8(y), blue: level)
      }
    }
    let film = (0..<3).map { scene(true, $0) } + (0..<3).map { scene(false, $0) }
    let (bytes, written) = try Self.write(film, hasSurvey: hasSurvey)
    #expect(written.reducedCount == 6)
    for (shown, wanted) in zip(try Self.pictures(bytes), film) {
      #expect(Self.error(shown, wanted) < 6)
    }
  }

  @Test func `the palette of the first picture is not computed twice`() throws {
    func pollCount(of picture: Bitmap) throws -> Int {
      let polls = Mutex(0)
      // With one colour, the error of any gradient is great.
      var reducer = ColorReducer(ColorReduction(colors: .limited(to: 2))) {
        polls.withLock { $0 += 1 }
        return false
      }
      _ = try reducer.table(for: Self.gradient())
      let before = polls.withLock { $0 }
      _ = try reducer.reduce(picture, changed: nil, lastRect: nil)
      return polls.withLock { $0 } - before
    }
    // Drawing a picture polls for each of its 48 rows, and so does computing its palette.
    #expect(try pollCount(of: Self.gradient()) < 2 * 48)
    #expect(try pollCount(of: Self.gradient(99)) >= 3 * 48)
  }

  @Test func `an unchanged frame costs a few bytes`() throws {
    let one = try Self.write([Self.gradient()]).bytes.count
    let two = try Self.write([Self.gradient(), Self.gradient()]).bytes.count
    #expect(two - one < 40)
  }

  @Test(arguments: [ColorPolicy.automatic, .limited(to: 48)])
  func `bytes do not depend on the number of threads`(colors: ColorPolicy) throws {
    let film = (0..<8).map { Self.square(Self.gradient($0 / 3), at: $0) }
    let files = try [1, 2, 7].map { threads in
      try Self.write(
        film,
        {
          $0.parallelism = threads
          $0.colors = colors
        }
      ).bytes
    }
    #expect(files[0] == files[1] && files[0] == files[2])
  }

  // MARK: Alpha

  @Test func `partly transparent pixels become opaque or transparent`() throws {
    let picture = Pictures.make(4, 1) { x, _ in
      RGBA(red: 100, green: 50, blue: 20, alpha: [0, 127, 128, 255][x])
    }
    let (bytes, written) = try Self.write([picture])
    let opaque = RGBA(red: 100, green: 50, blue: 20).word
    #expect(try Self.words(Self.pictures(bytes)[0]) == [0, 0, opaque, opaque])
    #expect(written.partialAlphaShare == 0.5)
    let strict = try Self.write([picture], { $0.transparency = .threshold(255) }).bytes
    #expect(try Self.words(Self.pictures(strict)[0]) == [0, 0, 0, opaque])
    let white = RGBA(red: 255, green: 255, blue: 255)
    let matte = try Self.write([picture], { $0.transparency = .matte(white) }).bytes
    let blended = try Self.pictures(matte)[0]
    #expect(
      Self.words(blended) == [
        0, RGBA(red: 178, green: 153, blue: 138).word,
        RGBA(red: 177, green: 152, blue: 137).word, opaque,
      ])
  }

  @Test func `an object that vanishes over several palettes is drawn without a failure`() throws {
    let clear = Pictures.make(48, 48) { _, _ in .clear }
    func part(_ picture: Bitmap, _ columns: Range<Int>) -> Bitmap {
      Pictures.make(48, 48) { x, y in
        columns.contains(x) ? RGBA(word: picture.row(y).load(UInt32.self, at: x * 4)) : .clear
      }
    }
    let film = [
      part(Self.gradient(), 0..<48), part(Self.gradient(90), 0..<40),
      part(Self.gradient(90), 3..<30), clear, part(Self.gradient(17), 5..<9),
    ]
    for colors in [ColorPolicy.automatic, .limited(to: 20)] {
      let (bytes, _) = try Self.write(film, { $0.colors = colors })
      for (shown, wanted) in zip(try Self.pictures(bytes), film) {
        #expect(Self.words(shown).map { $0 >> 24 } == Self.words(wanted).map { $0 >> 24 })
      }
    }
  }

  @Test func `colours of 16 bits are rounded`() throws {
    let samples: [[UInt16]] = [[0x1234, 0xffff, 0x00ff, 0xffff], [0x8080, 0, 0x7f7e, 0xffff]]
    let picture = Pictures.makeDeep(2, 1) { x, _ in samples[x] }
    let file = try Self.write([picture]).bytes
    #expect(
      try Self.words(Self.pictures(file)[0]) == [
        RGBA(red: 0x12, green: 255, blue: 1).word, RGBA(red: 0x80, green: 0, blue: 0x7f).word,
      ])
  }

  // MARK: Anything

  @Test(.computes, arguments: 0..<150 as Range<UInt64>)
  func `every film becomes a GIF, exactly if its colours fit`(seed: UInt64) throws {
    let film = RandomFilm(seed: seed)
    for colors in [ColorPolicy.automatic, .limited(to: 5)] {
      var options = film.options
      (options.format, options.poster, options.survey) = (.gif, nil, nil)
      options.colors = colors
      let sink = MemorySink()
      let writer = try AnimationWriter(to: sink, options: options)
      do throws(AnimatedImageError) {
        for frame in film.frames { try writer.append(frame) }
        try writer.finish()
      } catch {
        // Films of frames of several sizes or depths.
        #expect(error.code == .parameter)
        continue
      }
      #expect(try !Self.pictures(sink.bytes).isEmpty)
    }
  }
}
