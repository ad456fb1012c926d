import Synchronization
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeWriting

@Suite(.timeLimit(.minutes(10)), .startsThreads) struct AnimationWriterTests {
  private static let red = picture(RGBA(red: 255, green: 0, blue: 0))
  private static let green = picture(RGBA(red: 0, green: 255, blue: 0))

  private static func picture(_ color: RGBA) -> Bitmap { Pictures.make(8, 6) { _, _ in color } }

  private static func delay(_ milliseconds: UInt32) -> FrameDelay {
    FrameDelay(numerator: milliseconds, denominator: 1000)
  }

  /// The file of `frames` with delays in milliseconds.
  private static func write(
    _ frames: [(Bitmap, UInt32)], _ options: AnimationWriterOptions = .init()
  ) throws -> (bytes: [UInt8], written: WrittenAnimation) {
    let sink = MemorySink()
    let writer = try AnimationWriter(to: sink, options: options)
    for (bitmap, milliseconds) in frames {
      try writer.append(bitmap, delay: delay(milliseconds))
    }
    let written = try writer.finish()
    return (sink.bytes, written)
  }

  // MARK: Structure

  @Test func `chunks stand in the order of the specification, with one sequence counter`() throws {
    var options = AnimationWriterOptions()
    var survey = ColorSurvey()
    let blue = Self.picture(RGBA(red: 0, green: 0, blue: 255))
    for picture in [Self.red, Self.green, blue] { try survey.add(picture) }
    options.survey = survey
    let film = [(Self.red, 100), (Self.green, 50), (blue, 20)] as [(Bitmap, UInt32)]
    let chunks = PNGChunkList(try Self.write(film, options).bytes).chunks
    #expect(
      chunks.map(\.type) == [
        "IHDR", "acTL", "PLTE", "tRNS", "fcTL", "IDAT", "fcTL", "fdAT", "fcTL", "fdAT", "IEND",
      ])
    let numbers = chunks.filter { ["fcTL", "fdAT"].contains($0.type) }.map { $0.data.prefix(4) }
    #expect(numbers == (0..<5).map { [0, 0, 0, $0] })
    #expect(chunks[1].data == [0, 0, 0, 3, 0, 0, 0, 0])
  }

  @Test func `a survey of an image asks before each frame whether to stop`() throws {
    let image = try AnimatedImage(bytes: DeltaGIF.make(width: 8, height: 8, frameCount: 9))
    var asked = 0
    let error = #expect(throws: AnimatedImageError.self) {
      try ColorSurvey(of: image) {
        asked += 1
        return asked > 3
      }
    }
    #expect(error?.code == .cancelled && asked == 4)
  }

  @Test(
    arguments: [
      (PlayCount.once, 1), (.finite(2), 2), (.finite(65_536), 65_536), (.indefinite, 0),
    ] as [(PlayCount, UInt32)])
  func `the number of plays is stored as it is`(plays: PlayCount, stored: UInt32) throws {
    let file = try Self.write([(Self.red, 100)], AnimationWriterOptions(playCount: plays)).bytes
    let image = try AnimatedImage(bytes: file)
    #expect(image.playCount == plays && image.storedLoopCount == stored)
  }

  @Test(arguments: [0, -1, 1 << 31]) func `plays that do not fit are refused`(count: Int) {
    let error = #expect(throws: AnimatedImageError.self) {
      try Self.write([(Self.red, 100)], AnimationWriterOptions(playCount: .finite(count)))
    }
    #expect(error?.code == .unwritable)
  }

  @Test func `a static image that is not a frame is hidden from players`() throws {
    let options = AnimationWriterOptions(poster: Self.green)
    let image = try AnimatedImage(bytes: try Self.write([(Self.red, 100)], options).bytes)
    #expect(image.frames.count == 1 && image.staticImage != nil)
    #expect(try image.renderStaticBitmap() == Self.green)
    #expect(try FrameReader(image).frame(at: 0).bitmap == Self.red)
    // A GIF has no place for it.
    let sink = MemorySink()
    _ = try image.reencode(to: sink, options: AnimationWriterOptions(format: .gif))
    let copy = try AnimatedImage(bytes: sink.bytes)
    #expect(copy.frames.count == 1 && copy.staticImage == nil)
    #expect(try FrameReader(copy).frame(at: 0).bitmap == Self.red)
  }

  @Test func `metadata is written as PNGEncoder writes it`() throws {
    var metadata = AnimationMetadata()
    metadata.gamma = 45_455
    metadata.texts = [AnimationMetadata.Text(key: "Title", value: "Über")]
    metadata.xmp = "<x/>"
    let file = try Self.write([(Self.red, 100)], AnimationWriterOptions(metadata: metadata)).bytes
    let found = try AnimatedImage(bytes: file).metadata
    #expect(found == metadata)
  }

  @Test func `a GIF keeps comments, XMP and the profile of another`() async throws {
    let image = try AnimatedImage(bytes: FixtureLibrary().file("GIF/metadata.gif"))
    let metadata = image.metadata
    #expect(metadata.xmp != nil && metadata.iccProfile != nil && !metadata.texts.isEmpty)
    let sink = MemorySink()
    let edit = AnimationEdit.resize(TargetSize(width: 1, height: 1), fit: .stretch)
    try await image.write([edit], to: sink)
    let found = try AnimatedImage(bytes: sink.bytes, options: DecodingOptions(damage: .strict))
    #expect(found.metadata.xmp == metadata.xmp)
    #expect(found.metadata.iccProfile == metadata.iccProfile)
    #expect(found.metadata.texts == metadata.texts)
  }

  @Test func `an XMP packet that would end its block is left out of a GIF`() throws {
    var metadata = AnimationMetadata()
    // Read as sub-blocks: one byte, the end of the block, and the end of the file.
    metadata.xmp = "\u{1}A\0;"
    let options = AnimationWriterOptions(format: .gif, metadata: metadata)
    let file = try Self.write([(Self.red, 100), (Self.green, 100)], options).bytes
    let image = try AnimatedImage(bytes: file, options: DecodingOptions(damage: .strict))
    #expect(image.frames.count == 2)
    #expect(image.metadata.xmp == nil)
  }

  @Test func `a still PNG cannot be written as an animation, and the error says so`() {
    let sink = CountingSink()
    let error = #expect(throws: AnimatedImageError.self) {
      try AnimationWriter(to: sink, options: AnimationWriterOptions(format: .png))
    }
    #expect(error?.code == .unwritable && error?.format == .png)
    #expect(error?.detail.contains("PNG") == true)
    // Whoever waits for the end of the file learns that none will come.
    #expect(sink.abandonments.load(ordering: .relaxed) == 1)
  }

  /// A sink that only counts how often it is abandoned.
  private final class CountingSink: AnimationSink {
    let abandonments = Atomic(0)

    func write(_ bytes: [UInt8]) {}
    func finish() {}
    func abandon() { abandonments.add(1, ordering: .relaxed) }
  }

  // MARK: Time

  @Test func `frames that are equal are merged and their time is kept`() throws {
    let (a, b) = (Self.red, Self.green)
    let films: [([(Bitmap, UInt32)], [UInt32])] = [
      ([(a, 100), (a, 50), (b, 70)], [150, 70]), ([(a, 100), (b, 50), (a, 70)], [100, 50, 70]),
      ([(a, 100), (a, 50), (a, 70)], [220]), ([(a, 100), (b, 50), (b, 70)], [100, 120]),
    ]
    for (frames, delays) in films {
      let (bytes, written) = try Self.write(frames)
      let image = try AnimatedImage(bytes: bytes)
      #expect(image.format == .apng)
      #expect(image.frames.map { $0.delay.duration } == delays.map { .milliseconds(Int($0)) })
      #expect(written.mergedCount == frames.count - delays.count)
      #expect(written.frameCount == delays.count && written.byteCount == bytes.count)
    }
  }

  @Test func `equal frames are kept on request`() throws {
    let frames = [(Self.red, 100), (Self.red, 50), (Self.red, 70)] as [(Bitmap, UInt32)]
    let file = try Self.write(frames, AnimationWriterOptions(identicalFrames: .keep)).bytes
    let image = try AnimatedImage(bytes: file)
    #expect(image.frames.map { $0.delay.milliseconds } == [100, 50, 70])
    #expect(image.frames[1].rect.size.area == 1)
  }

  @Test func `delays that browsers replace are not merged into others`() throws {
    let frames = [(Self.red, 100), (Self.red, 5), (Self.red, 70)] as [(Bitmap, UInt32)]
    let image = try AnimatedImage(bytes: try Self.write(frames).bytes)
    #expect(image.duration() == .milliseconds(270))
    #expect(image.duration(policy: .exact) == .milliseconds(175))
  }

  @Test(arguments: [AnimationWriterOptions.Timing.browser, .exact])
  func `a delay of a hundred years is too long for a GIF`(
    timing: AnimationWriterOptions.Timing
  ) throws {
    let sink = MemorySink()
    let writer = try AnimationWriter(
      to: sink, options: AnimationWriterOptions(format: .gif, timing: timing))
    let error = #expect(throws: AnimatedImageError.self) {
      try writer.append(Self.red, delay: FrameDelay(numerator: 3_200_000_000, denominator: 1))
      try writer.append(Self.green, delay: Self.delay(50))
      try writer.finish()
    }
    #expect(error?.code == .limitExceeded && error?.limit?.kind == .editedFrames)
  }

  @Test func `a delay of days takes several frames, whatever becomes of them`() throws {
    let day = FrameDelay(numerator: 86_400, denominator: 1)
    let sprite = Pictures.make(8, 6) { x, y in x < 3 && y < 3 ? .black : .clear }
    let moved = Pictures.make(8, 6) { x, y in x > 4 && y > 2 ? .black : .clear }
    for effort in [EncodingEffort.fast, .balanced, .small] {
      let sink = MemorySink()
      let writer = try AnimationWriter(to: sink, options: AnimationWriterOptions(effort: effort))
      for picture in [Self.red, sprite, moved, sprite] { try writer.append(picture, delay: day) }
      try writer.finish()
      let image = try AnimatedImage(bytes: sink.bytes)
      #expect(image.frames.count == 8)
      #expect(image.duration(policy: .exact) == .seconds(4 * 86_400))
      let reader = FrameReader(image)
      for index in 0..<8 {
        let expected = [Self.red, sprite, moved, sprite][index / 2]
        #expect(try reader.frame(at: index).bitmap == expected, "\(effort), \(index)")
      }
    }
  }

  // MARK: Colours

  private static func header(_ file: [UInt8]) -> (depth: UInt8, type: UInt8) {
    let data = PNGChunkList(file).chunks[0].data
    return (data[8], data[9])
  }

  /// Colour type and depth with a survey of these pictures.
  private static func form(_ pictures: [Bitmap]) throws -> [UInt8] {
    var survey = ColorSurvey()
    for picture in pictures { try survey.add(picture) }
    let file = try write(
      pictures.map { ($0, 100) }, AnimationWriterOptions(identicalFrames: .keep, survey: survey)
    ).bytes
    let reader = FrameReader(
      try AnimatedImage(
        bytes: file, options: DecodingOptions(keeps16Bit: pictures[0].format == .rgba16)))
    for (index, picture) in pictures.enumerated() {
      let found = try reader.frame(at: index).bitmap
      // A colour that stands for transparent has no meaning.
      var preparation = PicturePreparation(
        size: picture.size, format: picture.format, keepsHiddenColors: false)
      let shown = try preparation.prepare(found, changed: nil)
      #expect(try shown == preparation.prepare(picture, changed: nil))
    }
    let (depth, type) = header(file)
    return [type, depth]
  }

  @Test func `the file takes the smallest form that holds the colours of all frames`() throws {
    func many(_ count: Int, clear: Bool = false, grey: Bool = false) -> Bitmap {
      Pictures.make(40, 40) { x, y in
        if clear, x == 0, y == 0 { return .clear }
        let value = (y * 40 + x) % count
        return grey
          ? RGBA(red: UInt8(value & 255), green: UInt8(value & 255), blue: UInt8(value & 255))
          : RGBA(red: UInt8(value & 255), green: UInt8(value >> 8), blue: 77)
      }
    }
    #expect(try Self.form([Self.red, Self.green]) == [3, 8])
    #expect(try Self.form([many(4)]) == [3, 8])
    #expect(try Self.form([many(255)]) == [3, 8])
    #expect(try Self.form([many(256)]) == [3, 8])
    #expect(try Self.form([many(257)]) == [2, 8])
    #expect(try Self.form([many(255, clear: true)]) == [3, 8])
    #expect(try Self.form([many(256, clear: true)]) == [2, 8])
    // 300 colours in the file, 200 in a frame.
    #expect(
      try Self.form([
        many(200),
        Pictures.make(40, 40) { x, _ in
          RGBA(red: UInt8(x), green: 200, blue: 3)
        }, many(190),
        Pictures.make(40, 40) { x, y in RGBA(red: UInt8(x), green: UInt8(y), blue: 4) },
      ]) == [2, 8])
    #expect(try Self.form([many(100, grey: true)]) == [0, 8])
    #expect(try Self.form([many(256, grey: true)]) == [0, 8])
    #expect(try Self.form([Pictures.photograph(40, 40, alpha: true)]) == [6, 8])
  }

  @Test func `sixteen bits are kept unless eight hold them`() throws {
    let deep = Pictures.makeDeep(20, 20) { x, y in [UInt16(x * 999), UInt16(y * 99), 7, 65_535] }
    let clear = Pictures.makeDeep(20, 20) { x, y in
      x == y ? [0, 0, 0, 0] : [UInt16(x * 999), UInt16(y * 99), 7, 65_535]
    }
    let grey = Pictures.makeDeep(20, 20) { x, y in
      [UInt16(x * 999 + y), UInt16(x * 999 + y), UInt16(x * 999 + y), 65_535]
    }
    let narrow = Pictures.makeDeep(20, 20) { x, y in [UInt16(x * 257), UInt16(y * 257), 0, 65_535] }
    #expect(try Self.form([deep]) == [2, 16])
    #expect(try Self.form([deep, clear]) == [2, 16])
    #expect(try Self.form([grey]) == [0, 16])
    #expect(try Self.form([narrow]) == [2, 8])
  }

  @Test func `a red scene and then a green one keep their colours`() throws {
    func scene(_ channel: Int) -> Bitmap {
      Pictures.make(32, 32) { x, y in
        let value = UInt8((x * 8 + y * 3) & 255)
        return channel == 0
          ? RGBA(red: value, green: 0, blue: 0) : RGBA(red: 0, green: value, blue: 0)
      }
    }
    #expect(try Self.form([scene(0), scene(0), scene(1), scene(1)]) == [2, 8])
  }

  @Test func `colours that the survey did not see are refused`() throws {
    var survey = ColorSurvey()
    try survey.add(Self.red)
    for other in [Self.green, Pictures.photograph(8, 6, alpha: true)] {
      let error = #expect(throws: AnimatedImageError.self) {
        try Self.write([(Self.red, 100), (other, 100)], AnimationWriterOptions(survey: survey))
      }
      #expect(error?.code == .parameter)
    }
  }

  @Test(arguments: [false, true])
  func `a transparent colour is refused as an opaque one, and partial alpha with it`(
    isDeep: Bool
  ) throws {
    func film(_ pixel: RGBA) -> Bitmap {
      isDeep
        ? Pictures.makeDeep(40, 40) { x, y in
          x + y == 0
            ? [pixel.red, pixel.green, pixel.blue, pixel.alpha].map { UInt16($0) * 257 }
            : [UInt16(x * 999 + 7), UInt16(y * 99 + 1), 0x807, 65_535]
        }
        : Pictures.make(40, 40) { x, y in
          x + y == 0 ? pixel : RGBA(red: UInt8(x), green: UInt8(y), blue: 4)
        }
    }
    var survey = ColorSurvey()
    let seen = film(RGBA(red: 9, green: 9, blue: 9))
    try survey.add(seen)
    let options = AnimationWriterOptions(survey: survey)
    // The lowest colour that the survey did not see becomes the transparent one.
    for pixel in [RGBA(red: 0, green: 0, blue: 0), RGBA(red: 1, green: 1, blue: 1, alpha: 254)] {
      let error = #expect(throws: AnimatedImageError.self) {
        try Self.write([(seen, 100), (film(pixel), 100)], options)
      }
      #expect(error?.code == .parameter, "\(pixel)")
    }
    let file = try Self.write([(seen, 100), (film(.clear), 100)], options).bytes
    let reader = try FrameReader(AnimatedImage(bytes: file))
    let found = try reader.frame(at: 1).bitmap
    #expect(found[0, 0] == .clear && found[1, 0].alpha == 255)
  }

  @Test func `colours of transparent pixels are dropped unless they are asked for`() throws {
    let hidden = Pictures.make(8, 6) { x, _ in
      RGBA(red: 1, green: 2, blue: 3, alpha: x < 4 ? 0 : 255)
    }
    for keeps in [false, true] {
      let file = try Self.write([(hidden, 100)], AnimationWriterOptions(keepsHiddenColors: keeps))
        .bytes
      let found = try FrameReader(AnimatedImage(bytes: file)).frame(at: 0).bitmap
      #expect(found[0, 0] == (keeps ? RGBA(red: 1, green: 2, blue: 3, alpha: 0) : .clear))
      #expect(found[5, 0] == hidden[5, 0])
    }
  }

  @Test func `dropped colours of 16 bits do not stand in the way of 8 bits`() throws {
    let samples: [UInt16] = [0x1234, 0x5678, 0x9abc, 0, 0x0101, 0x4242, 0xffff, 0xffff]
    let deep = Bitmap.drawn(size: PixelSize(width: 2, height: 1), format: .rgba16) { _, row in
      for (place, sample) in samples.enumerated() {
        row.storeBytes(of: sample, toByteOffset: place * 2, as: UInt16.self)
      }
    }
    #expect(try Self.form([deep]).last == 8)
    // The first frame limits the file to 8 bits.
    let shallow = Pictures.make(2, 1) { _, _ in .black }
    for format in [AnimationFormat.apng, .gif] {
      let file = try Self.write(
        [(shallow, 100), (deep, 100)], AnimationWriterOptions(format: format)
      ).bytes
      let found = try FrameReader(AnimatedImage(bytes: file)).frame(at: 1).bitmap
      #expect(found[0, 0] == .clear)
      #expect(found[1, 0] == RGBA(red: 1, green: 0x42, blue: 255, alpha: 255))
    }
    #expect {
      try Self.write(
        [(shallow, 100), (deep, 100)], AnimationWriterOptions(keepsHiddenColors: true))
    } throws: { ($0 as? AnimatedImageError)?.code == .parameter }
  }

  // MARK: Transparency

  /// Pillow and ffmpeg clear the rectangle of a frame that has no transparent index to a colour.
  @Test(arguments: [EncodingEffort.fast, .balanced, .small], [2, 3, 60, 255])
  func `frames of a GIF that are cleared have a transparent index`(
    effort: EncodingEffort, colors: Int
  ) throws {
    let opaque = Pictures.make(16, 16) { x, y in
      RGBA(red: UInt8((y * 16 + x) % colors), green: 9, blue: 7)
    }
    let holes = Pictures.make(16, 16) { x, y in y < 8 ? opaque[x, y] : .clear }
    for survey in [false, true] {
      var options = AnimationWriterOptions(format: .gif, effort: effort)
      if survey {
        var colors = ColorSurvey()
        for picture in [opaque, holes] { try colors.add(picture) }
        options.survey = colors
      }
      let file = try Self.write([(opaque, 100), (holes, 100), (opaque, 100)], options).bytes
      let image = try AnimatedImage(bytes: file)
      let cleared = image.frames.filter { $0.disposal == .background }
      #expect(!cleared.isEmpty)
      for frame in cleared { #expect(frame.transparentIndex != nil, "\(frame.index)") }
      let reader = FrameReader(image)
      #expect(try reader.frame(at: 0).bitmap == opaque)
      #expect(try reader.frame(at: 1).bitmap == holes)
      let smaller = MemorySink()
      _ = try image.optimize(to: smaller, options: OptimizingOptions(effort: effort))
      for frame in try AnimatedImage(bytes: smaller.bytes).frames
      where frame.disposal == .background {
        #expect(frame.transparentIndex != nil, "\(frame.index)")
      }
    }
  }

  @Test(arguments: [EncodingEffort.fast, .balanced, .small])
  func `pictures of 256 colours whose parts appear and vanish can be written`(
    effort: EncodingEffort
  ) throws {
    func picture(_ rows: Range<Int>) -> Bitmap {
      Pictures.make(32, 32) { x, y in
        let number = (y * 32 + x) % 256
        return rows.contains(y)
          ? RGBA(red: UInt8(number), green: UInt8(255 - number), blue: UInt8(number * 7 % 256))
          : .clear
      }
    }
    let (top, whole, bottom) = (picture(0..<8), picture(0..<32), picture(16..<32))
    func write(_ pictures: [Bitmap]) throws -> [Bitmap] {
      let file = try Self.write(
        pictures.map { ($0, 100) }, AnimationWriterOptions(format: .gif, effort: effort)
      ).bytes
      let reader = try FrameReader(AnimatedImage(bytes: file))
      return try pictures.indices.map { try reader.frame(at: $0).bitmap }
    }
    // On the left side, a stripe that vanishes last; on the right, colours of which half give way to more.
    func mixed(_ rows: Range<Int>, _ count: Int, hasStripe: Bool) -> Bitmap {
      Pictures.make(32, 32) { x, y in
        if x < 4 { return hasStripe ? RGBA(red: 255, green: 255, blue: 255) : .clear }
        let number = (y * 32 + x) % count
        return rows.contains(y) ? RGBA(red: UInt8(number), green: 1, blue: 2) : .clear
      }
    }
    _ = try write([
      mixed(0..<32, 200, hasStripe: true), mixed(16..<32, 256, hasStripe: true),
      mixed(16..<32, 256, hasStripe: false),
    ])
    let reduced = try write([top, whole, bottom])
    for (found, wanted) in zip(reduced, [top, whole, bottom]) {
      for y in 0..<32 { #expect((found[3, y].alpha == 0) == (wanted[3, y].alpha == 0)) }
    }
  }

  @Test func `reducing colours ends soon after it is cancelled`() throws {
    var random = SplitMix64(seed: 3)
    let noise = Pictures.make(600, 400) { _, _ in
      RGBA(word: UInt32(truncatingIfNeeded: random.next()) | 0xff00_0000)
    }
    let polls = Mutex(0)
    let writer = try AnimationWriter(
      to: MemorySink(), options: AnimationWriterOptions(format: .gif, parallelism: 1),
      isCancelled: {
        polls.withLock {
          $0 += 1; return $0 > 500
        }
      })
    let error = #expect(throws: AnimatedImageError.self) {
      try writer.append(WritableFrame(bitmap: noise, delay: Self.delay(100)))
      // The writer waits for the next frame before it draws one.
      _ = try writer.finish()
    }
    #expect(error?.code == .cancelled)
    // Finding the palette polls for each of the 400 rows, and so does drawing, which was not ended.
    #expect(polls.withLock { $0 } < 800)
  }

  @Test func `movement on a transparent background leaves neither trails nor holes`() throws {
    let size = 24
    func frame(_ step: Int) -> Bitmap {
      Pictures.make(size, size) { x, y in
        let inside = (step * 3..<step * 3 + 6).contains(x) && (4..<10).contains(y)
        return inside
          ? RGBA(red: 200, green: UInt8(x * 9), blue: UInt8(y * 9), alpha: x % 2 == 0 ? 255 : 90)
          : .clear
      }
    }
    let clear = Self.picture(.clear)
    let films = [
      (0..<6).map(frame), [frame(0), Pictures.make(size, size) { _, _ in .clear }, frame(0)],
      [Self.red, clear, Self.red],
      [Pictures.photograph(9, 9, alpha: true), Pictures.photograph(9, 9)],
    ]
    for film in films {
      for effort in [EncodingEffort.fast, .balanced, .small] {
        let file = try Self.write(film.map { ($0, 100) }, AnimationWriterOptions(effort: effort))
          .bytes
        for decoder in [PixelDecoder.fast, .reference] {
          let reader = FrameReader(
            try AnimatedImage(bytes: file, options: DecodingOptions(decoder: decoder)))
          for (index, picture) in film.enumerated() {
            let found = try reader.frame(at: index).bitmap
            for y in 0..<picture.height {
              for x in 0..<picture.width {
                let wanted = picture[x, y].alpha == 0 ? .clear : picture[x, y]
                if found[x, y] != wanted {
                  Issue.record("\(effort) \(decoder) \(index): \(x), \(y)")
                }
              }
            }
          }
        }
      }
    }
  }

  @Test func `a frame in which 8x8 pixels change takes few bytes`() throws {
    let still = Pictures.photograph(200, 200)
    let film = (0..<20).map { step in
      Pictures.make(200, 200) { x, y in
        (step * 8..<step * 8 + 8).contains(x) && y < 8 ? RGBA.black : still[x, y]
      }
    }
    let one = try Self.write([(film[0], 100)]).bytes.count
    let all = try Self.write(film.map { ($0, 100) }).bytes.count
    #expect((all - one) / 19 < 400)
  }

  // MARK: Arguments

  @Test
  func `frames of another size and premultiplied ones are refused, and so is everything after`()
    throws
  {
    let writer = try AnimationWriter(to: MemorySink())
    try writer.append(Self.red, delay: Self.delay(10))
    for _ in 0..<2 {
      let error = #expect(throws: AnimatedImageError.self) {
        try writer.append(Pictures.make(3, 3) { _, _ in .black }, delay: Self.delay(10))
      }
      #expect(error?.code == .parameter)
    }
    #expect(throws: AnimatedImageError.self) { try writer.finish() }
    let other = try AnimationWriter(to: MemorySink())
    let error = #expect(throws: AnimatedImageError.self) {
      try other.append(Self.red.converted(to: .rgba8Premultiplied), delay: Self.delay(10))
    }
    #expect(error?.code == .parameter)
  }

  @Test(arguments: [1, 2, 4]) func `the number of frames must be as promised`(promised: Int) throws
  {
    let writer = try AnimationWriter(
      to: MemorySink(), options: AnimationWriterOptions(frameCount: promised))
    let error = #expect(throws: AnimatedImageError.self) {
      for picture in [Self.red, Self.green, Self.red] {
        try writer.append(picture, delay: Self.delay(10))
      }
      try writer.finish()
    }
    #expect(error?.code == .parameter)
  }

  @Test func `a file needs a frame, and a complete one takes no more`() throws {
    let empty = try AnimationWriter(to: MemorySink())
    #expect(throws: AnimatedImageError.self) { try empty.finish() }
    let writer = try AnimationWriter(to: MemorySink())
    try writer.append(Self.red, delay: Self.delay(10))
    try writer.finish()
    #expect(throws: AnimatedImageError.self) { try writer.append(Self.red, delay: Self.delay(10)) }
    #expect(throws: AnimatedImageError.self) { try writer.finish() }
  }

  @Test func `the dirty rectangle counts only after the frame before it`() throws {
    // Frame 1 is left out: the rectangle of frame 2 says too little.
    let frames = [Self.red, Self.green, Self.green].enumerated().map { index, bitmap in
      CompositedFrame(index: index, bitmap: bitmap, dirtyRect: index == 2 ? .empty : nil)
    }
    let sink = MemorySink()
    let writer = try AnimationWriter(to: sink)
    try writer.append(frames[0], delay: Self.delay(50))
    try writer.append(frames[2], delay: Self.delay(50))
    try writer.finish()
    #expect(try FrameReader(AnimatedImage(bytes: sink.bytes)).frame(at: 1).bitmap == Self.green)
  }
}
