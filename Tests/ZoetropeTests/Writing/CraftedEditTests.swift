import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeTestSupport
@testable import ZoetropeWriting

/// Edits of files that are unusual, but that browsers show.
@Suite(.timeLimit(.minutes(10)), .computes) struct CraftedEditTests {
  private func control(blend: UInt8 = 0) -> APNGFrameControl {
    var control = APNGFrameControl(width: 2, height: 2)
    control.blend = blend
    return control
  }

  /// Returns a compressed stream of two rows with the filter *none*.
  private static func rows(_ first: [UInt8], _ second: [UInt8]) throws -> [UInt8] {
    try #require(ZlibCompressor(level: 6)?.compress([0] + first + [0] + second))
  }

  private func expectExact(_ bytes: [UInt8], _ edits: [AnimationEdit]) throws {
    var comparison = try EditComparison(bytes)
    let outcome = comparison.run(edits)
    #expect(outcome.refusal == nil && outcome.problem == nil, "\(edits)")
  }

  @Test(arguments: [0, 2, 3, 4, 30])
  func `an fdAT among the image data of a still picture is not copied`(_ count: Int) throws {
    var png = PNGBuilder()
    png.signature()
    png.chunk(
      "IHDR", PNGBuilder.header(width: 2, height: 2, layout: PNGLayout(.rgb)))
    let data = try Self.rows([255, 0, 0, 1, 2, 3], [4, 5, 6, 0, 255, 0])
    png.chunk("IDAT", Array(data.prefix(7)))
    png.chunk("fdAT", [UInt8](repeating: 7, count: count))
    png.chunk("IDAT", Array(data.dropFirst(7)))
    png.chunk("IEND")
    try expectExact(png.bytes, [])
  }

  /// A palette APNG in which the second frame blends a new colour, and the last frame has an index past the palette.
  ///
  /// - Parameter poster: The indices of the static image, which is not a frame.
  private func film(poster: [UInt8]? = nil, last: UInt8) throws -> [UInt8] {
    let colors = [
      RGBA(red: 255, green: 0, blue: 0), RGBA(red: 0, green: 0, blue: 255, alpha: 128),
      RGBA(red: 9, green: 9, blue: 9),
    ]
    var file = APNGBuilder()
    file.png.signature()
    file.png.chunk(
      "IHDR",
      PNGBuilder.header(width: 2, height: 2, layout: PNGLayout(.palette)))
    file.animationControl(frames: 3)
    file.png.chunk("PLTE", PNGBuilder.palette(colors))
    file.png.chunk("tRNS", PNGBuilder.transparency(colors))
    func data(_ index: UInt8) throws -> [UInt8] { try Self.rows([index, index], [index, index]) }
    if let poster {
      file.png.chunk("IDAT", try Self.rows(Array(poster.prefix(2)), Array(poster.suffix(2))))
    }
    for (place, index) in [0, 1, last].enumerated() {
      file.frameControl(control(blend: place == 1 ? 1 : 0))
      if place == 0, poster == nil {
        file.png.chunk("IDAT", try data(index))
      } else {
        file.frameData(try data(index))
      }
    }
    file.png.chunk("IEND")
    return file.bytes
  }

  @Test(arguments: [UInt8(2), 3, 200])
  func `a longer palette changes no copied frame`(_ last: UInt8) throws {
    try expectExact(try film(last: last), [.frames(1..<3)])
  }

  @Test(arguments: [[UInt8(0), 1, 2, 0], [0, 3, 0, 0], [255, 0, 0, 0]])
  func `a static image with indices past the palette is kept`(_ poster: [UInt8]) throws {
    for last in [UInt8(2), 3] {
      try expectExact(try film(poster: poster, last: last), [.frames(1..<3)])
    }
  }

  @Test func `damage after the frames that settle the survey is reported`() throws {
    var file = APNGBuilder()
    file.png.signature()
    file.png.chunk(
      "IHDR", PNGBuilder.header(width: 2, height: 2, layout: PNGLayout(.rgba)))
    file.animationControl(frames: 2)
    let data = try Self.rows([1, 2, 3, 77, 4, 5, 6, 99], [7, 8, 9, 10, 11, 12, 13, 14])
    file.frameControl(control())
    file.png.chunk("IDAT", data)
    file.frameControl(control())
    file.frameData(Array(data.prefix(data.count / 2)))
    file.png.chunk("IEND")
    let image = try AnimatedImage(bytes: file.bytes)
    let plan = try EditPlan(
      image, [.resize(TargetSize(width: 1, height: 1), fit: .stretch)], EditOptions())
    #expect(plan.damage.contains { !$0.kind.isTolerated })
  }

  @Test(arguments: [EncodingEffort.fast, .balanced])
  func `pictures without alpha are written to a GIF`(_ effort: EncodingEffort) throws {
    let size = PixelSize(width: 40, height: 30)
    let sink = MemorySink()
    var options = AnimationWriterOptions(format: .gif, effort: effort)
    options.tolerance = effort == .fast ? 0 : 20
    let writer = try AnimationWriter(to: sink, options: options)
    for (number, format) in [PixelFormat.rgbx8, .rgba8, .rgbx8].enumerated() {
      let picture = Bitmap.drawn(size: size, format: format) { y, bytes in
        for x in 0..<size.width {
          let level = UInt8(truncatingIfNeeded: number > 0 ? x * 6 + y * 8 + number : 5)
          for (place, byte) in [level, UInt8(y), UInt8(number), 255].enumerated() {
            bytes.storeBytes(of: byte, toByteOffset: 4 * x + place, as: UInt8.self)
          }
        }
      }
      try writer.append(picture, delay: FrameDelay(centiseconds: 5))
    }
    try writer.finish()
    #expect(try AnimatedImage(bytes: sink.bytes).frames.count == 3)
  }

  @Test func `a frame of another animation is drawn whole`() throws {
    func film(_ colors: [RGBA]) throws -> [CompositedFrame] {
      let sink = MemorySink()
      let writer = try AnimationWriter(to: sink, options: .init())
      for (number, color) in colors.enumerated() {
        let picture = Bitmap.drawn(size: PixelSize(width: 20, height: 20)) { y, bytes in
          for x in 0..<20 {
            let word = (x, y) == (number, 0) ? RGBA(red: 0, green: 0, blue: 0).word : color.word
            bytes.storeBytes(of: word, toByteOffset: 4 * x, as: UInt32.self)
          }
        }
        try writer.append(picture, delay: FrameDelay(centiseconds: 5))
      }
      try writer.finish()
      let reader = FrameReader(try AnimatedImage(bytes: sink.bytes))
      return try colors.indices.map { _ in try #require(try reader.next()) }
    }
    let red = RGBA(red: 255, green: 0, blue: 0)
    let white = RGBA(red: 255, green: 255, blue: 255)
    let (first, second) = (try film([red, red]), try film([white, white, white, white]))
    let sink = MemorySink()
    let writer = try AnimationWriter(to: sink, options: .init())
    for frame in first + second.suffix(2) {
      try writer.append(frame, delay: FrameDelay(centiseconds: 5))
    }
    try writer.finish()
    let reader = FrameReader(try AnimatedImage(bytes: sink.bytes))
    #expect(try reader.frame(at: 2).bitmap == second[2].bitmap)
    #expect(try reader.frame(at: 3).bitmap == second[3].bitmap)
  }

  @Test func `a frame without data shows nothing of the frame decoded before it`() throws {
    var file = APNGBuilder()
    file.png.signature()
    file.png.chunk(
      "IHDR", PNGBuilder.header(width: 2, height: 2, layout: PNGLayout(.rgb)))
    file.animationControl(frames: 2)
    let data = try Self.rows([255, 0, 0, 1, 2, 3], [4, 5, 6, 0, 255, 0])
    file.frameControl(control())
    file.png.chunk("IDAT", Array(data.prefix(7)))
    file.png.chunk("IDAT", Array(data.dropFirst(7)))
    file.frameControl(control())
    file.frameData([])
    file.png.chunk("IEND")
    for decoder in [PixelDecoder.fast, .reference] {
      let image = try AnimatedImage(bytes: file.bytes, options: .init(decoder: decoder))
      let reader = FrameReader(image)
      #expect(try reader.frame(at: 0).damage == nil)
      #expect(try reader.frame(at: 1).damage != nil)
    }
  }

  /// An APNG of two frames in `layout` with a static image that is not a frame.
  ///
  /// - Parameter chunk: A chunk before the pixels.
  private func withPoster(
    _ layout: PNGLayout, _ chunk: (name: String, data: [UInt8])? = nil, poster: [UInt8],
    _ frames: [(APNGFrameControl, [UInt8])]
  ) -> [UInt8] {
    var file = APNGBuilder()
    file.png.signature()
    file.png.chunk("IHDR", PNGBuilder.header(width: 2, height: 2, layout: layout))
    file.animationControl(frames: UInt32(frames.count))
    if let chunk { file.png.chunk(chunk.name, chunk.data) }
    file.png.chunk("IDAT", poster)
    for (control, data) in frames {
      file.frameControl(control)
      file.frameData(data)
    }
    file.png.chunk("IEND")
    return file.bytes
  }

  @Test func `an APNG whose static image is damaged is copied, and the damage is reported`() throws
  {
    let data = try Self.rows([1, 2, 3, 77, 4, 5, 6, 99], [7, 8, 9, 10, 11, 12, 13, 14])
    let bytes = withPoster(
      PNGLayout(.rgba), poster: Array(data.prefix(data.count / 2)),
      [(control(), data), (control(), data)])
    let sink = MemorySink()
    let result = try AnimatedImage(bytes: bytes).optimize(to: sink, options: OptimizingOptions())
    #expect(result.isCopy && sink.bytes == bytes)
    #expect(result.damage.contains { !$0.kind.isTolerated })
    // Edits that compress it again tell its damage, too.
    let image = try AnimatedImage(bytes: bytes)
    for edit in [
      AnimationEdit.crop(PixelRect(x: 0, y: 0, width: 1, height: 1)),
      .resize(TargetSize(width: 1, height: 1), fit: .stretch),
    ] {
      let plan = try EditPlan(image, [edit], EditOptions())
      #expect(plan.damage.contains { !$0.kind.isTolerated }, "\(edit)")
    }
  }

  /// The chunk of a colour profile for grey.
  private static func greyProfile() throws -> (name: String, data: [UInt8]) {
    var profile = [UInt8](repeating: 0, count: 132)
    profile.replaceSubrange(16..<20, with: Array("GRAY".utf8))
    profile[3] = 132
    let packed = try #require(ZlibCompressor(level: 6)?.compress(profile))
    return ("iCCP", Array("grey".utf8) + [0, 0] + packed)
  }

  @Test func `a profile for grey is kept, because pictures stay grey`() throws {
    let data = try Self.rows([1, 77, 4, 99], [7, 10, 11, 14])
    let bytes = withPoster(
      PNGLayout(.grayAlpha), try Self.greyProfile(), poster: data,
      [(control(), data), (control(), try Self.rows([9, 7, 4, 99], [7, 10, 11, 14]))])
    let sink = MemorySink()
    let image = try AnimatedImage(bytes: bytes)
    #expect(image.metadata.iccProfile != nil)
    _ = try image.reencode(to: sink, options: nil)
    let written = try AnimatedImage(bytes: sink.bytes)
    #expect(written.header.colorType == 4)
    #expect(written.metadata.iccProfile == image.metadata.iccProfile)
  }

  @Test func `a profile for grey does not get into a file in colour`() throws {
    let dot = try #require(ZlibCompressor(level: 6)?.compress([0, 50]))
    let bytes = withPoster(
      PNGLayout(.gray), try Self.greyProfile(), poster: try Self.rows([1, 2], [3, 4]),
      [
        (APNGFrameControl(width: 1, height: 1), dot),
        (APNGFrameControl(width: 1, height: 1, x: 1, y: 1), dot),
      ])
    try expectExact(bytes, [.frames(1..<2)])
    let sink = MemorySink()
    let image = try AnimatedImage(bytes: bytes)
    _ = try EditPlan(image, [.frames(1..<2)], EditOptions()).write(to: sink)
    let written = try AnimatedImage(bytes: sink.bytes)
    #expect(written.header.colorType == 6 && written.metadata.iccProfile == nil)
  }

  @Test func `a histogram does not outlast its palette`() throws {
    for (cut, isKept) in [(0..<2, true), (1..<3, false)] {
      var bytes = try film(last: 2)
      let place = try #require(bytes.firstRange(of: Array("tRNS".utf8))).lowerBound - 4
      var chunk = PNGBuilder()
      chunk.chunk("hIST", [UInt8](repeating: 1, count: 6))
      bytes.insert(contentsOf: chunk.bytes, at: place)
      let image = try AnimatedImage(bytes: bytes)
      let sink = MemorySink()
      _ = try EditPlan(image, [.frames(cut)], EditOptions()).write(to: sink)
      #expect(sink.bytes.contains(Array("hIST".utf8)) == isKept)
    }
  }

  @Test func `an empty first frame outside the canvas does not enlarge it`() throws {
    for empty in [
      PixelRect(x: 9, y: 0, width: 0, height: 1), PixelRect(x: 0, y: 9, width: 2, height: 0),
    ] {
      var gif = GIFBuilder()
      gif.signature()
      let gray = RGBA(red: 9, green: 9, blue: 9)
      gif.screen(width: 2, height: 2, palette: GIFPalette([.black, gray]))
      gif.frame(
        GIFFrame(rect: PixelRect(x: 0, y: 0, width: 2, height: 2), indices: [1, 0, 1, 1]))
      gif.frame(GIFFrame(rect: empty, indices: []))
      gif.trailer()
      try expectExact(gif.bytes, [.frames(1..<2)])
      try expectExact(gif.bytes, [.reverse])
    }
  }

  @Test(arguments: [1, 2, 4, 8])
  func `bits of a transparent grey above the bit depth do not count`(_ depth: Int) throws {
    var png = PNGBuilder()
    png.signature()
    png.chunk(
      "IHDR", PNGBuilder.header(width: 8, height: 2, layout: PNGLayout(.gray, depth: depth)))
    // The transparent grey is 1.
    png.chunk("tRNS", [0xff, depth == 8 ? 1 : 0xf1])
    png.chunk(
      "IDAT",
      try Self.rows(
        (0..<UInt8(depth)).map { $0 & 1 }, (0..<UInt8(depth)).map { $0 &* 0x1b }))
    png.chunk("IEND")
    try expectExact(png.bytes, [.crop(PixelRect(x: 1, y: 0, width: 5, height: 2))])
  }

  @Test func `colours of a palette past the bit depth have no index`() throws {
    let size = PixelSize(width: 1, height: 1)
    var header = ImageHeader(format: .png, canvasSize: size)
    (header.colorType, header.bitDepth) = (3, 1)
    header.palette = [RGBA.black.word, 0xff09_0909, 0]
    let clear = try PixelBuffer(asking: size, format: .rgba8).finish()
    #expect(PNGFormEncoder(header).fit(clear, in: PixelRect(size)) == .lacks([0]))
  }

  @Test func `chunks that are bound to the bytes of the file do not outlast an edit`() throws {
    var bytes = try film(last: 2)
    var chunks = PNGBuilder()
    chunks.chunk("iDOT", [1, 2, 3])
    chunks.chunk("prVt", [4])
    bytes.insert(contentsOf: chunks.bytes, at: 33)
    let image = try AnimatedImage(bytes: bytes)
    let lists: [[AnimationEdit]] = [[], [.playCount(.finite(7))], [.frames(0..<2)]]
    for edits in lists {
      let plan = try EditPlan(image, edits, EditOptions())
      let sink = MemorySink()
      _ = try plan.write(to: sink)
      #expect(sink.bytes.contains(Array("iDOT".utf8)) == edits.isEmpty, "\(edits)")
      #expect(sink.bytes.contains(Array("prVt".utf8)) && plan.losesMetadata != edits.isEmpty)
    }
  }

  @Test func `a still picture whose frame is repeated becomes an animation`() throws {
    var png = PNGBuilder()
    png.signature()
    png.chunk("IHDR", PNGBuilder.header(width: 2, height: 2, layout: PNGLayout(.rgb)))
    png.chunk("IDAT", try Self.rows([255, 0, 0, 1, 2, 3], [4, 5, 6, 0, 255, 0]))
    png.chunk("IEND")
    let image = try AnimatedImage(bytes: png.bytes)
    let plan = try EditPlan(image, [.frames(at: [0, 0])], EditOptions())
    let sink = MemorySink()
    let written = try plan.write(to: sink)
    let film = try AnimatedImage(bytes: sink.bytes)
    #expect(film.damage.isEmpty && film.frames.count == written.frameCount)
    #expect(written.frameCount == plan.frames.count)
    #expect(try FrameReader(film).frame(at: 0).bitmap == FrameReader(image).frame(at: 0).bitmap)
  }
}
