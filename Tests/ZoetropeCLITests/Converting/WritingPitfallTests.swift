import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCLI

/// What programs that write animations often get wrong: times, loops, transparency, palettes, scaling and controls.
@Suite(.timeLimit(.minutes(10)), .runsPrograms) struct WritingPitfallTests {
  /// Runs `body` with `pictures` in the files `f0.png`, `f1.png` and so on.
  private func withPictures(_ pictures: [Bitmap], _ body: (Tool) throws -> Void) throws {
    let tool = try Tool()
    defer { tool.cleanUp() }
    for (index, picture) in pictures.enumerated() {
      try tool.write(PNGEncoder().encode(picture), to: "f\(index).png")
    }
    #expect(try tool.shell("mkdir f && mv f?*.png f") == 0)
    try body(tool)
  }

  private func film(_ tool: Tool, _ name: String) throws -> WrittenFilm {
    try WrittenFilm(tool.read(name))
  }

  /// Makes `output` from the pictures.
  private func make(_ tool: Tool, _ output: String, _ options: String...) throws -> WrittenFilm {
    let made = try tool.run(["make", "f/", "-o", output] + options)
    #expect(made.status == 0, "\(made.errors)")
    return try film(tool, output)
  }

  private func convert(_ tool: Tool, _ input: String, _ output: String) throws -> WrittenFilm {
    let converted = try tool.run("convert", input, "-o", output)
    #expect(converted.status == 0, "\(converted.errors)")
    return try film(tool, output)
  }

  private static let red = RGBA(red: 255, green: 0, blue: 0)
  private static let green = RGBA(red: 0, green: 255, blue: 0)

  private func plain(_ color: RGBA, side: Int = 8) -> Bitmap {
    Bitmap(width: side, height: side) { _, _ in color }
  }

  /// The samples of the pictures, in the form of ``WrittenFilm/pictures``.
  private func samples(_ pictures: [Bitmap]) throws -> [[UInt16]] {
    try pictures.map { try WrittenFilm(PNGEncoder().encode($0)).pictures[0] }
  }

  // MARK: Times

  @Test(arguments: ["AAB", "ABA", "AAA", "ABB"], ["a.gif", "a.png"])
  func `equal frames keep their number and their delays`(_ order: String, _ output: String) throws {
    let pictures = order.map { plain($0 == "A" ? Self.red : Self.green) }
    try withPictures(pictures) { (tool: Tool) throws in
      try tool.write(Array("70ms\n20ms\n110ms\n".utf8), to: "delays")
      let made = try make(tool, output, "--delays", "delays")
      #expect(made.delays.map(\.milliseconds) == [70, 20, 110])
      #expect(made.pictures == (try samples(pictures)))
      let other = try convert(tool, output, output == "a.gif" ? "b.png" : "b.gif")
      #expect(other.difference(from: made) == nil)
    }
  }

  @Test func `a thousand frames of a thirtieth of a second do not drift`() throws {
    try withPictures([plain(Self.red, side: 1), plain(Self.green, side: 1)]) {
      (tool: Tool) throws in
      let script =
        #"n=2; while [ $n -lt 1000 ]; do ln f/f$((n % 2)).png f/f$n.png; n=$((n + 1)); done"#
      #expect(try tool.shell(script) == 0)
      let png = try make(tool, "a.png", "--fps", "30")
      #expect(png.delays.count == 1000)
      #expect(png.delays.allSatisfy { $0.numerator == 1 && $0.denominator == 30 })
      for gif in [try make(tool, "a.gif", "--fps", "30"), try convert(tool, "a.png", "b.gif")] {
        #expect(gif.pictures == png.pictures)
        var (end, worst) = (0, 0)
        for (index, delay) in gif.delays.enumerated() {
          end += delay.milliseconds
          // Thirtieths of a millisecond.
          worst = max(worst, abs(30 * end - 1000 * (index + 1)))
        }
        #expect(worst <= 150)
        #expect(gif.delays.allSatisfy { [30, 40].contains($0.milliseconds) })
      }
    }
  }

  @Test(arguments: [60, 100, 120])
  func `rates that are too high for browsers drop frames, and the duration stays`(
    _ rate: Int
  ) throws {
    let pictures = (0..<rate).map { plain(RGBA(red: UInt8($0), green: 0, blue: 0), side: 1) }
    try withPictures(pictures) { (tool: Tool) throws in
      // Two frames of 10 ms or less become one.
      let shown = rate > 90 ? rate / 2 : rate
      let png = try make(tool, "a.png", "--fps", "\(rate)")
      #expect(png.delays.allSatisfy { $0.numerator == 1 && $0.denominator == UInt32(shown) })
      #expect(png.pictures.count == shown)
      let every = try make(tool, "b.png", "--fps", "\(rate)", "--exact-delays")
      #expect(every.delays.allSatisfy { $0.numerator == 1 && $0.denominator == UInt32(rate) })
      #expect(every.pictures.count == rate)
      let gif = try make(tool, "a.gif", "--fps", "\(rate)")
      #expect(gif.pictures.count <= 50)
      #expect(gif.delays.allSatisfy { $0.milliseconds >= 20 })
      #expect(gif.delays.reduce(0) { $0 + $1.milliseconds } == 1000)
      let exact = try make(tool, "b.gif", "--fps", "\(rate)", "--exact-delays")
      #expect(exact.pictures.count == rate || rate > 100)
      #expect(exact.delays.reduce(0) { $0 + $1.milliseconds } == 1000)
    }
  }

  @Test func `delays that a manifest lists are stored as they are`() throws {
    var gif = SampleGIF()
    gif.frames = [(0, 0), (1, 1), (2, 2)]
    try withTool(gif) { (tool: Tool) throws in
      #expect(try tool.run("extract", "cat.gif", "-o", "d/", "--manifest", "m.json").status == 0)
      let made = try tool.run("make", "m.json", "-o", "a.gif")
      #expect(made.text.hasSuffix("exact\n"))
      #expect(try film(tool, "a.gif").delays.map(\.milliseconds) == [0, 10, 20])
      // A requested delay is one that browsers show.
      #expect(try tool.run("make", "m.json", "-o", "b.gif", "--delay", "10ms").status == 0)
      #expect(try film(tool, "b.gif").delays.allSatisfy { $0.milliseconds >= 20 })
      #expect(try tool.run("convert", "cat.gif", "-o", "c.gif", "--delay", "10ms").status == 0)
      #expect(try film(tool, "c.gif").delays.allSatisfy { $0.milliseconds >= 20 })
    }
  }

  @Test(arguments: [("1", nil), ("2", 1), ("65536", 65535), ("forever", 0)] as [(String, Int?)])
  func `the number of plays survives both formats`(_ plays: String, _ stored: Int?) throws {
    try withPictures([plain(Self.red), plain(Self.green)]) { (tool: Tool) throws in
      let png = try make(tool, "a.png", "--fps", "5", "--plays", plays)
      #expect(png.playCount == (plays == "forever" ? .indefinite : .finite(Int(plays) ?? 0)))
      let gif = try convert(tool, "a.png", "b.gif")
      #expect(gif.playCount == png.playCount)
      #expect(try convert(tool, "b.gif", "c.png").playCount == png.playCount)
      // A GIF stores the repetitions after the first play, and nothing for one.
      let bytes = try tool.read("b.gif")
      let name = Array("NETSCAPE2.0".utf8)
      let place = bytes.indices.first { bytes[$0...].starts(with: name) }
      #expect(place.map { Int(bytes[$0 + 13]) | Int(bytes[$0 + 14]) << 8 } == stored)
    }
  }

  @Test func `more plays than a GIF can have are refused`() throws {
    try withPictures([plain(Self.red), plain(Self.green)]) { (tool: Tool) throws in
      _ = try make(tool, "a.png", "--fps", "5", "--plays", "65537")
      // A plan is refused like the file, and both with advice.
      for plan in [[], ["--plan"]] {
        let result = try tool.run(["convert", "a.png", "-o", "b.gif"] + plan)
        #expect(result.status == 4)
        #expect(result.errors.contains("65537") && result.errors.contains("choose an APNG"))
      }
      let made = try tool.run(
        "make", "f/", "-o", "b.gif", "--fps", "5", "--plays", "65537")
      #expect(made.status == 4 && made.errors.contains("choose an APNG"), "\(made.errors)")
      #expect(try tool.run("convert", "a.png", "-o", "b.gif", "--plays", "9").status == 0)
    }
  }

  // MARK: Pixels

  /// Animations with transparent pixels: a square that moves, one that vanishes, first and last frames with holes.
  private static let transparent: [[Bitmap]] = [
    (0..<5).map { step in
      Bitmap(width: 16, height: 8) { x, y in
        (2..<6).contains(y) && (0..<4).contains(x - 3 * step) ? red : .clear
      }
    },
    [red, .clear, green, .clear].map { color in Bitmap(width: 6, height: 6) { _, _ in color } },
    (0..<4).map { step in
      Bitmap(width: 9, height: 9) { x, y in
        (x + y + step) % 3 == 0 ? .clear : step % 2 == 0 ? red : green
      }
    },
    [
      Bitmap(width: 9, height: 9) { x, _ in x < 4 ? green : .clear },
      Bitmap(width: 9, height: 9) { _, _ in red },
      Bitmap(width: 9, height: 9) { x, y in x == y ? .clear : red },
    ],
  ]

  @Test(arguments: transparent.indices) func `nothing leaves a trail over a transparent background`(
    _ number: Int
  )
    throws
  {
    let pictures = Self.transparent[number]
    try withPictures(pictures) { (tool: Tool) throws in
      let wanted = try samples(pictures)
      #expect(try make(tool, "a.gif", "--fps", "10").pictures.map(\.visible) == wanted)
      #expect(try make(tool, "a.png", "--fps", "10").pictures.map(\.visible) == wanted)
      #expect(try convert(tool, "a.gif", "b.png").pictures.map(\.visible) == wanted)
      #expect(try convert(tool, "a.png", "b.gif").pictures.map(\.visible) == wanted)
    }
  }

  /// A picture with this many opaque colours, and a transparent pixel if it is to have one.
  private func colors(_ count: Int, from first: Int = 0, hasClear: Bool = false) -> Bitmap {
    Bitmap(width: 20, height: 14) { x, y in
      if hasClear, x == 19, y == 13 { return .clear }
      let color = first + (y * 20 + x) % count
      return RGBA(red: UInt8(color & 255), green: UInt8(color >> 8), blue: 77)
    }
  }

  @Test(arguments: [
    (255, false, true), (256, false, true), (257, false, false), (255, true, true),
    (256, true, false),
  ])
  func `a GIF holds 256 colours, including a transparent one`(
    _ count: Int, _ hasClear: Bool, _ fits: Bool
  ) throws {
    let picture = colors(count, hasClear: hasClear)
    try withPictures([picture]) { (tool: Tool) throws in
      let result = try tool.run("make", "f/f0.png", "-o", "a.gif", "--colors", "exact")
      #expect(result.status == (fits ? 0 : 4))
      if fits {
        #expect(try film(tool, "a.gif").pictures == samples([picture]))
      } else {
        #expect(result.errors.contains("256 colours"))
        #expect(try tool.list() == ["f"])
      }
    }
  }

  @Test func `palettes follow the pictures`() throws {
    let films: [[Bitmap]] = [
      // Two scenes without a colour in common, and more colours in the file than in each frame.
      [plain(Self.red), plain(Self.red), plain(Self.green), plain(Self.green)],
      [colors(200), colors(200, from: 100), colors(200, from: 300)],
      (0..<8).map { colors(250, from: 500 * $0) },
    ]
    for pictures in films {
      try withPictures(pictures) { (tool: Tool) throws in
        #expect(try make(tool, "a.gif", "--fps", "10").pictures == samples(pictures))
      }
    }
  }

  @Test func `only what changes is stored`() throws {
    func noise(_ step: Int) -> Bitmap {
      Bitmap(width: 64, height: 64) { x, y in
        if (8..<16).contains(x), (8..<16).contains(y) {
          return RGBA(red: UInt8((x * y + step * 37) & 255), green: 1, blue: 2)
        }
        let level = UInt8((x * 197 ^ y * 131 ^ x * y * 29) & 63)
        return RGBA(red: level, green: level, blue: level)
      }
    }
    for output in ["a.gif", "a.png"] {
      let count = try [1, 21].map { frames in
        var count = 0
        try withPictures((0..<frames).map(noise)) { (tool: Tool) throws in
          _ = try make(tool, output, "--fps", "10")
          count = try tool.read(output).count
        }
        return count
      }
      #expect((count[1] - count[0]) / 20 < 400, "\(output): \(count)")
    }
  }

  // MARK: Scaling

  /// gifsicle scales with the palette of the source, so that edges get a tint (its issues 170 and 181). Other programs
  /// dither flat areas, and write a larger file.
  @Test func `a scaled logo of four colours keeps them without a tint, in no more bytes`() throws {
    let colors = [[255, 255, 255], [220, 30, 40], [20, 60, 160], [24, 24, 24]]
    let (width, height) = (160, 96)
    // A disc, a triangle and a bar that moves.
    func number(_ time: Int, _ x: Int, _ y: Int) -> Int {
      if (20..<60).contains(x - 6 * time), (42..<54).contains(y) { return 3 }
      if (80..<150).contains(x), (16..<80).contains(y), x - 80 >= y - 16 { return 2 }
      return (x - 48) * (x - 48) + (y - 48) * (y - 48) < 1600 ? 1 : 0
    }
    let pictures = (0..<4).map { time in
      Bitmap(width: width, height: height) { x, y in
        let color = colors[number(time, x, y)]
        return RGBA(red: UInt8(color[0]), green: UInt8(color[1]), blue: UInt8(color[2]))
      }
    }
    try withPictures(pictures) { (tool: Tool) throws in
      _ = try make(tool, "a.gif", "--fps", "10")
      let result = try tool.run("convert", "a.gif", "-o", "b.gif", "--size", "50%")
      #expect(result.status == 0, "\(result.errors)")
      #expect(try tool.read("b.gif").count <= tool.read("a.gif").count)
      let scaled = try film(tool, "b.gif")
      try #require(scaled.pictures.count == 4)
      try #require(scaled.size == PixelSize(width: width / 2, height: height / 2))
      var shades: Set<[Int]> = []
      var (flatCount, changedCount, tintedCount) = (0, 0, 0)
      for (time, samples) in scaled.pictures.enumerated() {
        for y in 0..<height / 2 {
          for x in 0..<width / 2 {
            let place = 4 * (y * width / 2 + x)
            let shown = samples[place..<place + 3].map { Int($0 >> 8) }
            shades.insert(shown)
            // The colours around the pixel, as bits.
            var near = 0
            for row in max(2 * y - 3, 0)...min(2 * y + 4, height - 1) {
              for column in max(2 * x - 3, 0)...min(2 * x + 4, width - 1) {
                near |= 1 << number(time, column, row)
              }
            }
            let around = colors.indices.filter { near >> $0 & 1 != 0 }.map { colors[$0] }
            if around.count == 1 {
              flatCount += 1
              if shown != around[0] { changedCount += 1 }
            } else if around.count == 2 {
              // A mixture of the two, but for rounding.
              let isMixed = (0..<3).allSatisfy { channel in
                let (one, other) = (around[0][channel], around[1][channel])
                return (min(one, other) - 1...max(one, other) + 1).contains(shown[channel])
              }
              if !isMixed { tintedCount += 1 }
            }
          }
        }
      }
      #expect(flatCount > 8000 && changedCount == 0 && tintedCount == 0)
      #expect(shades.count <= 32)
    }
  }

  @Test(arguments: [("nearest", "b.gif"), ("bilinear", "b.png")])
  func `frames that hold only what changes are composited before they are scaled`(
    _ filter: String, _ output: String
  ) throws {
    let bytes = DeltaGIF.make(width: 48, height: 32, frameCount: 24, patch: 11)
    let image = try AnimatedImage(bytes: bytes)
    let reader = FrameReader(image)
    let pictures = try image.frames.indices.map { index in
      try reader.frame(at: index).bitmap.scaled(
        to: TargetSize(width: 30), filter: filter == "nearest" ? .nearest : .bilinear)
    }
    try withTool { (tool: Tool) throws in
      try tool.write(bytes, to: "a.gif")
      let result = try tool.run(
        "convert", "a.gif", "-o", output, "--size", "30x", "--filter", filter)
      #expect(result.status == 0, "\(result.errors)")
      let wanted = try samples(pictures).map(\.visible)
      #expect(try film(tool, output).pictures.map(\.visible) == wanted)
    }
  }

  // MARK: Blocks

  /// The kinds of the blocks of a GIF: labels of extensions, and 0x2c for an image.
  private func blocks(_ gif: [UInt8]) throws -> [UInt8] {
    func tableSize(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 6 << Int(flags & 7) }
    var kinds: [UInt8] = []
    var place = 13 + tableSize(gif[10])
    while gif[place] != 0x3b {
      let isImage = gif[place] == 0x2c
      try #require(isImage || gif[place] == 0x21)
      kinds.append(isImage ? 0x2c : gif[place + 1])
      place += isImage ? 11 + tableSize(gif[place + 9]) : 2
      while gif[place] != 0 { place += Int(gif[place]) + 1 }
      place += 1
    }
    #expect(place == gif.count - 1)
    return kinds
  }

  /// A GIF of 4x4 pixels with these frames, each of one colour.
  private func gif(
    _ frames: [(control: GIFGraphicControl?, color: UInt8, place: Int)], colorCount: Int = 2
  ) -> [UInt8] {
    var gif = GIFBuilder()
    gif.signature()
    let unused = [RGBA](repeating: Self.red, count: colorCount - 2)
    gif.screen(width: 4, height: 4, palette: GIFPalette([Self.red, Self.green] + unused))
    for frame in frames {
      if let control = frame.control { gif.graphicControl(control) }
      gif.frame(
        GIFFrame(
          rect: PixelRect(x: frame.place, y: frame.place, width: 4, height: 4),
          indices: [UInt8](repeating: frame.color, count: 16)))
    }
    gif.trailer()
    return gif.bytes
  }

  /// Firefox drew a frame without a control block wrong if it followed a transparent one (Pillow issue 8003), and
  /// libvips shows such a frame for a second (its issue 2582).
  @Test func `a control block stands before every image of a GIF`() throws {
    let bare = gif([(nil, 0, 0), (nil, 1, 0), (nil, 0, 0)])
    for pictures in Self.transparent {
      try withPictures(pictures) { (tool: Tool) throws in
        try tool.write(bare, to: "bare.gif")
        _ = try make(tool, "a.gif", "--fps", "10")
        _ = try make(tool, "a.png", "--fps", "10")
        for command in [
          "make f/ --fps 10", "make f/ --fps 10 --colors 16", "convert a.png",
          "convert a.gif --plays 3", "convert a.gif --frames 1-", "convert a.gif --size 50%",
          "convert a.gif --reverse", "optimize a.gif", "optimize a.gif --effort small",
          "convert bare.gif --plays 3", "convert bare.gif --reverse", "convert bare.gif --size 50%",
        ] {
          let words = command.split(separator: " ").map(String.init)
          let result = try tool.run(words + ["-o", "o.gif", "--force"])
          #expect(result.status == 0, "\(command): \(result.errors)")
          let kinds = try blocks(tool.read("o.gif"))
          let images = kinds.indices.filter { kinds[$0] == 0x2c }
          #expect(!images.isEmpty, "\(command)")
          #expect(images.allSatisfy { $0 > 0 && kinds[$0 - 1] == 0xf9 }, "\(command): \(kinds)")
        }
        #expect(try tool.run("convert", "bare.gif", "-o", "b.gif").status == 0)
        #expect(try film(tool, "b.gif").delays.map(\.milliseconds) == [0, 0, 0])
      }
    }
  }

  @Test func `optimize leaves control blocks out only before the first that is needed`() throws {
    let control = GIFGraphicControl(delay: 10, disposal: 1)
    let source = gif([(nil, 0, 0), (control, 1, 0), (nil, 0, 0)], colorCount: 64)
    try withTool { (tool: Tool) throws in
      try tool.write(source, to: "a.gif")
      #expect(try tool.run("optimize", "a.gif", "-o", "b.gif").status == 0)
      #expect(try blocks(tool.read("b.gif")) == [0x2c, 0xf9, 0x2c, 0xf9, 0x2c])
    }
  }

  /// gifsicle enlarges the canvas so that such frames fit (its issue 199).
  @Test func `frames far off the canvas do not enlarge it`() throws {
    let control = GIFGraphicControl(delay: 10, disposal: 1)
    let source = gif([(control, 0, 0), (control, 1, 60_000), (control, 1, 0)])
    try withTool { (tool: Tool) throws in
      try tool.write(source, to: "a.gif")
      for (command, side) in [
        ("convert a.gif --plays 3", 4), ("convert a.gif --reverse", 4),
        ("convert a.gif --size 200% --filter nearest", 8), ("optimize a.gif", 4),
      ] {
        let words = command.split(separator: " ").map(String.init)
        let result = try tool.run(words + ["-o", "o.gif", "--force"])
        #expect(result.status == 0, "\(command): \(result.errors)")
        #expect(try film(tool, "o.gif").size == PixelSize(width: side, height: side))
        #expect(try tool.read("o.gif").count < 200, "\(command)")
      }
    }
  }
}
