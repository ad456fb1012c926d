import Synchronization
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeWriting

/// Colours, depth and transparency of written files.
extension AnimationWriterTests {
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

  @Test(.computes) func `reducing colours ends soon after it is cancelled`() throws {
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
}
