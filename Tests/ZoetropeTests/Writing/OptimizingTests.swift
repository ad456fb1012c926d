import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeWriting

@Suite(.timeLimit(.minutes(10)), .startsThreads) struct OptimizingTests {
  private static let efforts: [EncodingEffort] = [.fast, .balanced, .small]

  private static func optimized(
    _ bytes: [UInt8], _ options: OptimizingOptions
  ) throws -> (bytes: [UInt8], result: OptimizedAnimation) {
    let sink = MemorySink()
    let result = try AnimatedImage(bytes: bytes).optimize(to: sink, options: options)
    return (sink.bytes, result)
  }

  /// How two files differ for a viewer, as both decoders show them; nil if they do not.
  private static func difference(_ old: [UInt8], _ new: [UInt8]) throws -> String? {
    let isDeep = try AnimatedImage(bytes: old).header.bitDepth == 16
    for (decoder, keeps16Bit) in [
      (PixelDecoder.fast, false), (.reference, false), (.fast, true), (.reference, true),
    ] where isDeep || !keeps16Bit {
      let options = DecodingOptions(decoder: decoder, keeps16Bit: keeps16Bit, parallelism: 1)
      let before = try AnimatedImage(bytes: old, options: options)
      let after = try AnimatedImage(bytes: new, options: options)
      if before.canvasSize != after.canvasSize { return "\(after.canvasSize)" }
      if before.playCount != after.playCount { return "plays \(after.playCount)" }
      if before.frames.map(\.delay.duration) != after.frames.map(\.delay.duration) {
        return "delays"
      }
      let (first, second) = (FrameReader(before), FrameReader(after))
      while let frame = try first.next() {
        guard let other = try second.next() else { return "frame \(frame.index) is missing" }
        for y in 0..<frame.bitmap.height {
          let (row, otherRow) = (frame.bitmap.row(y), other.bitmap.row(y))
          let size = frame.bitmap.format.bytesPerPixel
          for x in 0..<frame.bitmap.width {
            var isEqual = true
            for place in x * size..<(x + 1) * size where row[place] != otherRow[place] {
              isEqual = false
            }
            let isClear =
              row[x * size + size - 1] == 0 && otherRow[x * size + size - 1] == 0
            if !isEqual, !isClear { return "\(decoder): frame \(frame.index), \(x), \(y)" }
          }
        }
      }
    }
    return nil
  }

  /// Checks all efforts; returns the sizes.
  @discardableResult
  private static func check(_ bytes: [UInt8], _ name: String) throws -> [Int] {
    try efforts.map { effort in
      let (new, result) = try optimized(bytes, OptimizingOptions(effort: effort))
      #expect(new.count <= bytes.count, "\(name), \(effort)")
      #expect(result.byteCount == new.count && result.sourceByteCount == bytes.count)
      #expect(result.isCopy == (new == bytes))
      let difference = try difference(bytes, new)
      #expect(difference == nil, "\(name), \(effort): \(difference ?? "")")
      return new.count
    }
  }

  private static func write(
    _ pictures: [Bitmap], effort: EncodingEffort = .fast
  ) throws -> [UInt8] {
    let sink = MemorySink()
    let writer = try AnimationWriter(
      to: sink, options: AnimationWriterOptions(format: .gif, effort: effort))
    for (place, picture) in pictures.enumerated() {
      try writer.append(
        picture, delay: FrameDelay(numerator: UInt32(place % 5 + 2), denominator: 100))
    }
    try writer.finish()
    return sink.bytes
  }

  private static func shade(_ number: Int) -> RGBA {
    RGBA(red: UInt8(number % 256), green: UInt8(number / 256), blue: 77)
  }

  // MARK: Files

  @Test(arguments: ["GIF", "Demo", "APNG"])
  func `every fixture stays the same picture by picture, and none grows`(folder: String) throws {
    let library = FixtureLibrary()
    var count = 0
    for name in try FixtureFile.list("\(library.root)/\(folder)").sorted() {
      let bytes = try library.file("\(folder)/\(name)")
      guard let image = try? AnimatedImage(bytes: bytes), image.canvasSize.area < 1 << 20,
        image.frames.count < 300
      else { continue }
      try Self.check(bytes, name)
      count += 1
    }
    #expect(count > 2)
  }

  @Test(arguments: [254, 255, 256, 257], [false, true])
  func `palettes around 256 colours`(colors: Int, hasHoles: Bool) throws {
    // The later frame has fewer, so that even 257 fit the file.
    let pictures = (0..<3).map { frame in
      Pictures.make(20, 26) { x, y in
        let number = y * 20 + x
        if hasHoles, number % 13 == 5 { return .clear }
        return Self.shade(frame == 0 ? number % min(colors, 250) : number % 9 + colors - 9)
      }
    }
    try Self.check(try Self.write(pictures), "\(colors) colours")
  }

  @Test func `three hundred colours in the file and two hundred in each frame`() throws {
    let pictures = (0..<3).map { frame in
      Pictures.make(20, 20) { x, y in Self.shade(frame * 50 + (y * 20 + x) % 200) }
    }
    try Self.check(try Self.write(pictures), "300 colours")
  }

  @Test func `in a shared table, frames use few bits per pixel`() throws {
    func order(_ frames: [(colors: [UInt32], area: Int)]) throws -> [UInt32] {
      var sets = ColorSets()
      for frame in frames { _ = sets.add(frame.colors, area: frame.area) }
      return try sets.order { false }
    }
    // Each set adds as few colours as possible; of two that add equally many, the larger frame comes first.
    #expect(
      try order([
        ([90, 91, 92, 93, 94], 1), ([1, 2, 3, 4, 5, 7], 1), ([1, 2, 3, 4], 1), ([7, 8, 9, 3], 2),
      ]) == [3, 7, 8, 9, 1, 2, 4, 5, 90, 91, 92, 93, 94])
    // Sets that grow one by one would push the colours of a large frame to the end.
    let growing = (1...200).map { (colors: (0..<$0).map { UInt32($0) }, area: 1) }
    let mixed = try order(growing + [([1000, 1001, 1002, 1003, 1004, 1005], 10_000)])
    #expect(mixed.firstIndex(of: 1005).map { $0 < 16 } == true)
    var full = ColorSets()
    let fits = [full.add((0..<256).map { $0 }, area: 1), full.add([300], area: 1)]
    #expect(fits == [true, false])
    #expect(throws: AnimatedImageError.self) { try full.order { true } }
  }

  @Test func `a sprite on a transparent background leaves no trail`() throws {
    let pictures = (0..<12).map { frame in
      Pictures.make(60, 40) { x, y in
        let (left, top) = (frame * 4, frame % 3 * 8)
        guard (left..<left + 12).contains(x), (top..<top + 12).contains(y) else { return .clear }
        return Self.shade((x - left) * (y - top) % 7)
      }
    }
    let file = try Self.write(pictures)
    let sizes = try Self.check(file, "sprite")
    #expect(sizes[2] <= sizes[1])
  }

  @Test func `a file whose frames are stored whole becomes much smaller`() throws {
    let pictures = (0..<10).map { frame in
      Pictures.make(64, 64) { x, y in
        let isDot = (x - frame * 5) * (x - frame * 5) + (y - 30) * (y - 30) < 16
        return Self.shade(isDot ? 200 : (x * 7 ^ y * 3) % 64)
      }
    }
    // Each picture in a file of its own, joined.
    let parts = try pictures.map { try Self.write([$0]) }
    var film = Array(parts[0].dropLast())
    for part in parts.dropFirst() {
      let image = try AnimatedImage(bytes: part)
      film += GIFFrameEncoder.control(delay: 5, disposal: .keep, transparentIndex: nil)
      film += part[image.frames[0].byteRange]
    }
    film.append(0x3b)
    let sizes = try Self.check(film, "whole frames")
    #expect(sizes[1] < film.count / 3)
  }

  @Test func `the bytes do not depend on the number of threads`() throws {
    let pictures = (0..<30).map { frame in
      Pictures.make(50, 50) { x, y in
        (x + frame) % 17 == y % 11 ? .clear : Self.shade((x / 3 + y / 2 + frame) % 90)
      }
    }
    let file = try Self.write(pictures)
    for effort in Self.efforts {
      let files = try [1, 2, 8].map {
        try Self.optimized(file, OptimizingOptions(effort: effort, parallelism: $0)).bytes
      }
      #expect(files[0] == files[1] && files[0] == files[2], "\(effort)")
    }
  }

  @Test func `metadata is kept or stripped`() throws {
    let picture = Pictures.make(30, 30) { x, y in Self.shade(x * y % 30) }
    var file = try Self.write([picture, picture])
    let comment: [UInt8] = [0x21, 0xfe, 5] + Array("hello".utf8) + [0]
    file.insert(contentsOf: comment, at: file.count - 1)
    let kept = try Self.optimized(file, OptimizingOptions()).bytes
    let stripped = try Self.optimized(file, OptimizingOptions(stripsMetadata: true)).bytes
    #expect(try AnimatedImage(bytes: kept).metadata.texts.map(\.value) == ["hello"])
    #expect(try AnimatedImage(bytes: stripped).metadata.texts.isEmpty)
  }

  /// An APNG with chunks after IHDR and before IEND, and with a text that becomes shorter.
  private static func chunked(
    _ pictures: [Bitmap], hasPalette: Bool, head: [PNGChunk], tail: [PNGChunk] = []
  ) throws -> [UInt8] {
    let options = AnimationWriterOptions(effort: .fast, identicalFrames: .keep)
    var bytes = try pictures.written(
      options, delay: FrameDelay(centiseconds: 5), hasSurvey: hasPalette
    ).bytes
    #expect(bytes[25] == (hasPalette ? 3 : 6))
    bytes.insert(contentsOf: tail.flatMap(\.bytes), at: bytes.count - 12)
    let text = PNGChunk("tEXt", Array("Comment".utf8) + [0] + [UInt8](repeating: 97, count: 4000))
    bytes.insert(contentsOf: (head + [text]).flatMap(\.bytes), at: 33)
    return bytes
  }

  /// Whether each of `chunks` is in the optimised file, and whether that says that metadata is missing.
  private static func kept(
    _ chunks: [PNGChunk], of file: [UInt8], _ options: OptimizingOptions = .init()
  ) throws -> (chunks: [Bool], isMissing: Bool) {
    let (bytes, result) = try optimized(file, options)
    #expect(!result.isCopy && result.isExact && bytes.count < file.count)
    let image = try AnimatedImage(bytes: bytes)
    #expect(image.damage.isEmpty && image.metadata.texts.isEmpty == options.stripsMetadata)
    return (chunks.map { bytes.contains($0.bytes) }, result.losesMetadata)
  }

  private static let fewColors = (0..<3).map { time in
    Pictures.make(20, 20) { x, y in OptimizingTests.shade((x / 3 + y / 2 + time) % 40) }
  }
  /// Pictures that only RGBA can store.
  private static let manyColors = (0..<3).map { time in
    Pictures.make(40, 40) { x, y in
      RGBA(red: UInt8(x * 6), green: UInt8(y * 6), blue: 9, alpha: UInt8(100 + x + y + time))
    }
  }

  @Test func `chunks that still apply are kept, and the result says if others are not`() throws {
    let time = PNGChunk("tIME", [7, 230, 11, 30, 12, 0, 0])
    let safe = PNGChunk("prVt", [1, 2, 3])
    let (bound, signed) = (PNGChunk("prVT", [4, 5]), PNGChunk("caBX", [6, 7, 8]))
    let last = PNGChunk("enDt", [9, 9])
    for effort in Self.efforts {
      let options = OptimizingOptions(effort: effort)
      let file = try Self.chunked(
        Self.fewColors, hasPalette: true, head: [time, safe], tail: [last])
      let all = try Self.kept([time, safe, last], of: file, options)
      #expect(all.chunks == [true, true, true] && !all.isMissing)
    }
    for chunk in [bound, signed, PNGChunk("hIST", [0, 1, 0, 2])] {
      let file = try Self.chunked(Self.fewColors, hasPalette: true, head: [chunk, safe])
      let some = try Self.kept([chunk, safe], of: file)
      #expect(some.chunks == [false, true] && some.isMissing)
      let none = try Self.kept([chunk, safe], of: file, OptimizingOptions(stripsMetadata: true))
      #expect(none.chunks == [false, false] && !none.isMissing)
    }
  }

  @Test func `a chunk after the pixels stays there`() throws {
    let last = PNGChunk("enDt", [9, 9])
    let file = try Self.chunked(Self.fewColors, hasPalette: true, head: [], tail: [last])
    let bytes = try Self.optimized(file, OptimizingOptions()).bytes
    #expect(bytes.dropLast(12).suffix(last.bytes.count).elementsEqual(last.bytes))
  }

  @Test func `chunks that depend on the form of pixels are kept if it is the same`() throws {
    let (bits, background) = (PNGChunk("sBIT", [5, 6, 5]), PNGChunk("bKGD", [1]))
    let palette = try Self.kept(
      [bits, background],
      of: Self.chunked(Self.fewColors, hasPalette: true, head: [bits, background]))
    #expect(palette.chunks == [true, false] && palette.isMissing)
    let deep = [PNGChunk("sBIT", [5, 6, 5, 8]), PNGChunk("bKGD", [0, 1, 0, 2, 0, 3])]
    let same = try Self.kept(
      deep, of: Self.chunked(Self.manyColors, hasPalette: false, head: deep))
    #expect(same.chunks == [true, true] && !same.isMissing)
    let other = try Self.kept(
      deep, of: Self.chunked(Self.fewColors, hasPalette: false, head: deep))
    #expect(other.chunks == [false, false] && other.isMissing)
  }

  @Test func `a text keeps its language`() throws {
    let text = PNGChunk("iTXt", Array("Title\0\0\0de\0Titel\0Sommer".utf8))
    // Texts are copied as they are, so that something else has to make the file smaller.
    let file = try Self.chunked(Self.manyColors, hasPalette: false, head: [text])
    let longer = file + [UInt8](repeating: 1, count: 1000)
    #expect(try Self.kept([text], of: longer).chunks == [true])
  }

  @Test func `a chunk that has to be left out is not counted as saved`() throws {
    let signed = PNGChunk("caBX", [UInt8](repeating: 1, count: 1000))
    let file = try Self.chunked(Self.fewColors, hasPalette: true, head: [])
    let least = try Self.optimized(file, OptimizingOptions()).bytes
    let bytes = least[..<33] + signed.bytes + least[33...]
    let image = try AnimatedImage(bytes: Array(bytes))
    let copied = try Self.optimized(Array(bytes), OptimizingOptions())
    #expect(copied.result.isCopy && !copied.result.losesMetadata)
    let bare = try Self.optimized(Array(bytes), OptimizingOptions(stripsMetadata: true))
    #expect(!bare.bytes.contains(signed.bytes) && !bare.result.losesMetadata)
    // A byte limit may need the room, and leaves the text alone.
    let sink = MemorySink()
    let fitted = try image.optimize(to: sink, options: .init(), byteLimit: least.count)
    #expect(fitted.isExact && fitted.losesMetadata && !sink.bytes.contains(signed.bytes))
    #expect(try AnimatedImage(bytes: sink.bytes).metadata == image.metadata)
  }

  @Test func `the shape of pixels is kept, and the background colour with its palette`() throws {
    // Frames that are stored whole, and become smaller.
    let palette = GIFPalette((0..<16).map { RGBA(red: UInt8($0 * 17), green: 9, blue: 200) })
    func film(background: UInt8) -> [UInt8] {
      var gif = GIFBuilder()
      gif.signature()
      gif.screen(width: 24, height: 16, palette: palette, background: background, aspect: 113)
      for time in 0..<6 {
        gif.frame(
          GIFFrame(
            rect: PixelRect(x: 0, y: 0, width: 24, height: 16),
            indices: (0..<384).map { $0 == time ? 15 : UInt8($0 * 7 / 5 % 16) }))
      }
      gif.trailer()
      return gif.bytes
    }
    for (stored, kept) in [(7, 7), (15, 15), (16, 0)] as [(UInt8, UInt8)] {
      let file = film(background: stored)
      let small = try Self.optimized(file, OptimizingOptions()).bytes
      #expect(small.count < file.count && Array(small[11..<13]) == [kept, 113])
    }
    let image = try AnimatedImage(bytes: film(background: 7))
    for (edits, aspect) in [
      ([.resize(TargetSize(width: 48))], 113), ([.resize(TargetSize(width: 7))], 113),
      ([.resize(TargetSize(width: 9, height: 9), fit: .fill)], 113),
      ([.resize(TargetSize(width: 24, height: 32), fit: .stretch)], 0),
    ] as [([AnimationEdit], UInt8)] {
      let sink = MemorySink()
      _ = try EditPlan(image, edits, EditOptions()).write(to: sink)
      #expect(sink.bytes[12] == aspect, "\(edits)")
    }
    let (copy, other) = (MemorySink(), MemorySink())
    var options = AnimationWriterOptions(copying: image)
    _ = try image.reencode(to: other, options: options)
    #expect(try AnimatedImage(bytes: other.bytes).damage.isEmpty)
    options.format = .gif
    _ = try image.reencode(to: copy, options: options)
    #expect(copy.bytes[12] == 113)
  }

  @Test func `a sink that fails ends it`() throws {
    let file = try Self.write([Pictures.make(9, 9) { x, y in Self.shade(x + y) }])
    let sink = CallbackSink { _ in throw AnimatedImageError(.io, "full") }
    let error = #expect(throws: AnimatedImageError.self) {
      try AnimatedImage(bytes: file).optimize(to: sink, options: .init())
    }
    #expect(error?.code == .io)
  }

  @Test func `cancelling ends it`() throws {
    let file = try Self.write([Pictures.make(9, 9) { x, y in Self.shade(x + y) }])
    let error = #expect(throws: AnimatedImageError.self) {
      try AnimatedImage(bytes: file).optimize(
        to: MemorySink(), options: .init(), isCancelled: { true })
    }
    #expect(error?.code == .cancelled)
  }

  @Test func `a way that cannot write a file does not keep the others from it`() throws {
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: 80, height: 20)
    // The right half stays transparent, and the left one gets 800 colours.
    for part in 0..<4 {
      let colors = (0..<256).map {
        RGBA(red: UInt8($0), green: UInt8(part * 60), blue: UInt8(255 - $0))
      }
      gif.graphicControl(GIFGraphicControl(delay: 5, disposal: 1))
      gif.frame(
        GIFFrame(
          rect: PixelRect(x: part * 10, y: 0, width: 10, height: 20), indices: (0..<200).map { $0 },
          palette: GIFPalette(colors)))
    }
    // Covers all of it for a moment, so that the right half vanishes afterwards.
    let white = GIFPalette([RGBA(red: 255, green: 255, blue: 255), .black])
    gif.graphicControl(GIFGraphicControl(delay: 5, disposal: 3))
    gif.frame(
      GIFFrame(
        rect: PixelRect(x: 0, y: 0, width: 80, height: 20),
        indices: [UInt8](repeating: 0, count: 1600), palette: white))
    gif.graphicControl(GIFGraphicControl(delay: 5, disposal: 1))
    gif.frame(
      GIFFrame(rect: PixelRect(x: 0, y: 0, width: 1, height: 1), indices: [1], palette: white))
    gif.trailer()
    try Self.check(gif.bytes, "cover")
  }

  @Test func `a GIF opened for 16 bits becomes as small`() throws {
    // Local tables of the same colours, so that one shared table saves bytes.
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: 16, height: 16)
    for time in 0..<8 {
      let colors = (0..<16).map {
        RGBA(red: UInt8(($0 + time) % 16 * 17), green: 9, blue: UInt8(255 - ($0 + time) % 16))
      }
      gif.frame(
        GIFFrame(
          rect: PixelRect(x: 0, y: 0, width: 16, height: 16),
          indices: (0..<256).map { UInt8(($0 * 7 + $0 / 16 * time) % 16) },
          palette: GIFPalette(colors)))
    }
    gif.trailer()
    let bytes = gif.bytes
    for effort in Self.efforts {
      let sink = MemorySink()
      let image = try AnimatedImage(bytes: bytes, options: DecodingOptions(keeps16Bit: true))
      _ = try image.optimize(to: sink, options: OptimizingOptions(effort: effort))
      let usual = try Self.optimized(bytes, OptimizingOptions(effort: effort))
      #expect(sink.bytes == usual.bytes, "\(effort)")
    }
  }
}
