import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames
@testable import ZoetropeTestSupport
@testable import ZoetropeWriting

@Suite("Plans of edits", .computes)
struct EditPlanTests {
  /// A frame of one colour, or of noise in colours `first..<first + count`.
  private struct Patch {
    var rect: PixelRect
    var disposal: UInt8 = 1
    var color: UInt8 = 1
    var transparent: UInt8?
    var palette: GIFPalette?
    var noise = 0
  }

  private static let colors = GIFPalette(
    (0..<16).map { (place: UInt8) in RGBA(red: place * 16, green: 255 - place * 3, blue: place) })

  private func gif(_ patches: [Patch], side: Int = 12) -> [UInt8] {
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: side, height: side, palette: Self.colors)
    for patch in patches {
      gif.graphicControl(
        GIFGraphicControl(delay: 5, disposal: patch.disposal, transparentIndex: patch.transparent))
      let area = patch.rect.size.area
      let indices =
        patch.noise > 0
        ? (0..<area).map { UInt8($0 % patch.noise) } : [UInt8](repeating: patch.color, count: area)
      gif.frame(GIFFrame(rect: patch.rect, indices: indices, palette: patch.palette))
    }
    gif.trailer()
    return gif.bytes
  }

  @Test func `a format that animations cannot have is refused`() throws {
    let image = try AnimatedImage(
      bytes: gif([Patch(rect: PixelRect(x: 0, y: 0, width: 12, height: 12))]))
    let error = #expect(throws: AnimatedImageError.self) {
      try EditPlan(image, [], EditOptions(format: AnimationFormat(rawValue: "webp")))
    }
    #expect(error?.code == .unwritable && error?.detail.contains("WEBP") == true)
    #expect(try EditPlan(image, [], EditOptions(format: .png)).format == .apng)
  }

  private func square(_ x: Int, _ y: Int, _ side: Int = 4) -> PixelRect {
    PixelRect(x: x, y: y, width: side, height: side)
  }

  private var whole: PixelRect { square(0, 0, 12) }

  /// For each frame of the result: `c` for copied, `p` for patched, `e` for encoded.
  private func actions(_ bytes: [UInt8], _ edits: [AnimationEdit]) throws -> String {
    var comparison = try EditComparison(bytes)
    let outcome = comparison.run(edits)
    if let refusal = outcome.refusal { throw refusal }
    #expect(outcome.problem == nil)
    return try #require(outcome.plan).frames.map {
      switch $0.action {
      case .copied: "c"
      case .patched: "p"
      case .encoded: "e"
      }
    }.joined()
  }

  @Test("After a frame that stays, cutting the head makes one new frame")
  func headKeep() throws {
    let film = gif([
      Patch(rect: whole), Patch(rect: square(2, 2), color: 2), Patch(rect: square(5, 3), color: 3),
      Patch(rect: square(1, 7), color: 4), Patch(rect: square(0, 0), color: 5),
    ])
    #expect(try actions(film, [.frames(2..<5)]) == "ecc")
    #expect(try actions(film, [.frames(0..<3)]) == "ccc")
    #expect(try actions(film, [.frames(0..<1)]) == "c")
  }

  @Test("Pictures that have the size already are not scaled")
  func sameSize() throws {
    let film = gif([
      Patch(rect: whole), Patch(rect: square(2, 2), color: 2), Patch(rect: square(5, 3), color: 3),
    ])
    for target in [
      TargetSize(width: 5000, height: 5000, allowsEnlarging: false), TargetSize(width: 12),
      TargetSize(width: 12, height: 40),
    ] {
      #expect(try actions(film, [.resize(target)]) == "ccc")
      #expect(try actions(film, [.speed(2), .resize(target)]) == "ppp")
    }
    let box = TargetSize(width: 12, height: 12)
    for fit in [ScalingFit.fill, .stretch, .integer] {
      #expect(try actions(film, [.resize(box, fit: fit)]) == "ccc")
    }
    // The last box cuts pictures.
    for edit in [
      AnimationEdit.resize(TargetSize(width: 6)),
      .resize(TargetSize(width: 12, height: 6), fit: .fill),
    ] {
      let image = try AnimatedImage(bytes: film)
      let plan = try EditPlan(image, [edit], EditOptions(), isCancelled: { false })
      #expect(plan.rewriting?.reason == .scaling)
    }
  }

  @Test(
    "Errors name what is wrong",
    arguments: [
      (AnimationEdit.frames(at: [0, 30]), "frame 30 does not exist; there are 2 frames"),
      (.frames(at: []), "the list of frames is empty"),
      (.frames(1..<5), "frames 1..<5 do not all exist; there are 2 frames"),
      (.delays([FrameDelay(centiseconds: 3)]), "the number of delays is 1; there are 2 frames"),
      (
        .time(.seconds(100)..<(.seconds(200))),
        "time 100.0 seconds to 200.0 seconds: no frame is shown during this time"
      ),
    ])
  func wrongValues(_ edit: AnimationEdit, _ words: String) throws {
    let film = gif([Patch(rect: whole), Patch(rect: square(2, 2), color: 2)])
    let error = #expect(throws: AnimatedImageError.self) { _ = try actions(film, [edit]) }
    #expect(error?.detail == words)
    #expect("\(AnimationEdit.resize(TargetSize(width: 60)))" == "resize to 60x")
  }

  @Test(
    "A single frame is not called several",
    arguments: [
      (AnimationEdit.frames(at: [5]), "frame 5 does not exist; there is 1 frame"),
      (.frames(1..<5), "frames 1..<5 do not all exist; there is 1 frame"),
      (
        .delays([FrameDelay(centiseconds: 3), FrameDelay(centiseconds: 4)]),
        "the number of delays is 2; there is 1 frame"
      ),
    ])
  func oneFrame(_ edit: AnimationEdit, _ words: String) throws {
    let film = gif([Patch(rect: whole)])
    let error = #expect(throws: AnimatedImageError.self) { _ = try actions(film, [edit]) }
    #expect(error?.detail == words)
  }

  @Test("A frame that fills the canvas is copied wherever it stands")
  func independent() throws {
    let film = gif([
      Patch(rect: whole), Patch(rect: square(2, 2), color: 2), Patch(rect: whole, color: 3),
      Patch(rect: square(1, 7), color: 4),
    ])
    #expect(try actions(film, [.frames(2..<4)]) == "cc")
    #expect(try actions(film, [.frames(2..<4), .reverse]) == "ec")
  }

  @Test("After a frame whose area is cleared, frames are new up to the first that stays")
  func headBackground() throws {
    let film = gif([
      Patch(rect: whole), Patch(rect: square(2, 2), disposal: 2, color: 2),
      Patch(rect: square(4, 4), disposal: 2, color: 3), Patch(rect: square(1, 7), color: 4),
      Patch(rect: square(0, 0), color: 5),
    ])
    #expect(try actions(film, [.frames(1..<5)]) == "eeec")
  }

  @Test("Sprites on an empty background are copied, wherever the film is cut")
  func sprites() throws {
    let film = gif(
      (0..<5).map { Patch(rect: square($0, $0), disposal: 2, color: UInt8($0 + 1)) })
    for first in 1..<5 {
      #expect(
        try actions(film, [.frames(first..<5)]) == String(repeating: "c", count: 5 - first))
    }
    #expect(try actions(film, [.reverse]) == "ccccc")
  }

  @Test("A film of frames that restore what was there is new throughout")
  func previous() throws {
    let film = gif(
      [Patch(rect: whole)]
        + (1..<5).map { Patch(rect: square($0, $0), disposal: 3, color: UInt8($0 + 1)) })
    #expect(try actions(film, [.frames(2..<5)]) == "eee")
    #expect(try actions(film, [.frames(0..<4)]) == "cccc")
  }

  @Test("Frames left out in the middle cost one frame")
  func middle() throws {
    let film = gif(
      [Patch(rect: whole)] + (1..<8).map { Patch(rect: square($0, $0), color: UInt8($0 + 1)) })
    var comparison = try EditComparison(film)
    let delays = (0..<8).map { FrameDelay(centiseconds: $0 == 3 ? 1 : 20) }
    let outcome = comparison.run([.delays(delays), .speed(1.25)], EditOptions(delayPolicy: .exact))
    #expect(outcome.problem == nil)
    let plan = try #require(outcome.plan)
    #expect(plan.mergedCount == 1)
    #expect(plan.encodedCount == 1)
    #expect(plan.frames.reduce(0) { $0 + $1.delay.numerator } == 113)
  }

  @Test("Pixels that become transparent again make the frame before clear them")
  func transparency() throws {
    // The second frame fills the canvas and is cleared; backwards, the first one needs its corner empty.
    let film = gif([
      Patch(rect: square(4, 4), color: 2), Patch(rect: whole, color: 3),
    ])
    #expect(try actions(film, [.reverse]) == "ec")
    #expect(try actions(film, [.reverse, .backAndForth]) == "ec")
  }

  @Test("More than 256 colours in the new frame are refused before anything is written")
  func manyColors() throws {
    func palette(_ blue: UInt8) -> GIFPalette {
      GIFPalette((0..<256).map { RGBA(red: UInt8($0), green: 0, blue: blue) })
    }
    let top = PixelRect(x: 0, y: 0, width: 20, height: 10)
    let bottom = PixelRect(x: 0, y: 10, width: 20, height: 10)
    func film(_ count: Int) -> [UInt8] {
      gif(
        [
          Patch(rect: top, palette: palette(0), noise: 128),
          Patch(rect: bottom, palette: palette(9), noise: count),
          Patch(rect: square(0, 0), color: 2),
        ], side: 20)
    }
    // Without a pixel that stays empty, all 256 colours can be used.
    #expect(try actions(film(128), [.frames(1..<3)]) == "ec")
    let error = #expect(throws: AnimatedImageError.self) {
      try actions(film(129), [.frames(1..<3)])
    }
    #expect(error?.code == .unwritable && error?.frameIndex == 1)
  }

  @Test("A transparent pixel takes one of the 256 colours")
  func manyColorsAndTransparency() throws {
    let palette = GIFPalette((0..<256).map { RGBA(red: UInt8($0), green: 1, blue: 2) })
    func film(_ count: Int) -> [UInt8] {
      gif(
        [
          Patch(rect: PixelRect(x: 0, y: 0, width: 20, height: 19), palette: palette, noise: count),
          Patch(rect: square(0, 0), disposal: 3, palette: palette, noise: 3),
        ], side: 20)
    }
    #expect(try actions(film(255), [.reverse]) == "ec")
    #expect(throws: AnimatedImageError.self) { try actions(film(256), [.reverse]) }
  }

  @Test(
    "Plays are stored as each format counts them",
    arguments: ["GIF/dispose-keep.gif", "APNG/delays.png"])
  func plays(_ path: String) throws {
    var comparison = try EditComparison(FixtureLibrary().file(path))
    for count in [PlayCount.once, .finite(2), .finite(65_536), .indefinite] {
      let outcome = comparison.run([.playCount(count)])
      #expect(outcome.problem == nil)
      #expect(try AnimatedImage(bytes: outcome.bytes).playCount == count)
    }
    let refused = comparison.run([.playCount(.finite(65_537))])
    #expect((refused.refusal?.code == .unwritable) == path.hasPrefix("GIF"))
  }

  @Test(
    "What the format of the output cannot hold is refused by the plan, before a picture is decoded",
    arguments: [
      (8, PlayCount.finite(70_000), "a GIF cannot store a play count of 70000"),
      (65_536, .once, "a canvas of 65536x1 is too large for a GIF"),
    ])
  func earlyRefusal(_ width: Int, _ plays: PlayCount, _ words: String) throws {
    let sink = MemorySink()
    let writer = try AnimationWriter(to: sink, options: AnimationWriterOptions(playCount: plays))
    try writer.append(
      Pictures.make(width, 1) { _, _ in .black }, delay: FrameDelay(centiseconds: 5))
    try writer.finish()
    let image = try AnimatedImage(bytes: sink.bytes)
    // One of these plans would encode the animation, to compare files, and one would find too many colours.
    for options in [
      EditOptions(format: .gif), EditOptions(format: .gif, colors: .exact),
      EditOptions(format: .gif, tolerance: 20),
    ] {
      let error = #expect(throws: AnimatedImageError.self) { try EditPlan(image, [], options) }
      #expect(error?.code == .unwritable && error?.format == .gif && error?.detail == words)
    }
    // Cut or played less often, it fits.
    let edits: [AnimationEdit] = [
      .playCount(.finite(2)), .crop(PixelRect(x: 0, y: 0, width: 8, height: 1)),
    ]
    #expect(try EditPlan(image, edits, EditOptions(format: .gif)).format == .gif)
  }

  @Test("A still PNG becomes an APNG if it gets plays or a delay, and its pixels are copied")
  func still() throws {
    var comparison = try EditComparison(FixtureLibrary().file("APNG/still.png"))
    for (edits, plays, delay) in [
      ([.playCount(.finite(5))], .finite(5), 0), ([.playCount(.indefinite)], .indefinite, 0),
      ([.delay(FrameDelay(centiseconds: 100))], .once, 100),
      // Browsers show a picture without a delay for 100 ms.
      ([.speed(0.5), .playCount(.finite(2))], .finite(2), 20),
    ] as [([AnimationEdit], PlayCount, Int)] {
      let outcome = comparison.run(edits)
      #expect(outcome.problem == nil && outcome.refusal == nil)
      #expect(outcome.plan?.format == .apng && outcome.plan?.isCopy == true)
      let output = try AnimatedImage(bytes: outcome.bytes)
      #expect(output.format == .apng && output.damage.isEmpty && output.playCount == plays)
      #expect(output.frames.map(\.delay.milliseconds) == [10 * delay])
    }
    for edits in [[], [.playCount(.once)], [.reverse, .framesPerSecond(4)]] as [[AnimationEdit]] {
      let outcome = comparison.run(edits)
      #expect(outcome.problem == nil && outcome.plan?.format == .png)
      #expect(try outcome.bytes == FixtureLibrary().file("APNG/still.png"))
    }
  }

  @Test("Comments stay, and there is one loop count")
  func extensions() throws {
    let source = try FixtureLibrary().file("GIF/metadata.gif")
    var comparison = try EditComparison(source)
    let outcome = comparison.run([.playCount(.finite(5))])
    let output = try AnimatedImage(bytes: outcome.bytes)
    #expect(output.metadata.texts == comparison.animation.metadata.texts)
    #expect(output.metadata.xmp == comparison.animation.metadata.xmp)
    #expect(output.damage.isEmpty && output.storedLoopCount == 4)
  }

  @Test("A hidden static image stays, and is cropped")
  func poster() throws {
    var comparison = try EditComparison(FixtureLibrary().file("APNG/static-hidden.png"))
    let source = try comparison.animation.renderStaticBitmap()
    let count = comparison.frames.count
    for edits in [[.frames(1..<count)], [.reverse], [.speed(2)]] as [[AnimationEdit]] {
      let outcome = comparison.run(edits)
      #expect(outcome.problem == nil)
      #expect(try AnimatedImage(bytes: outcome.bytes).renderStaticBitmap() == source)
    }
    let rect = PixelRect(x: 1, y: 0, width: source.width - 1, height: 1)
    let outcome = comparison.run([.crop(rect)])
    #expect(outcome.problem == nil)
    #expect(
      try AnimatedImage(bytes: outcome.bytes).renderStaticBitmap() == source.cropped(to: rect))
  }

  @Test("A frame outside the canvas does not become the first one")
  func outside() throws {
    let film = gif([
      Patch(rect: square(0, 0), disposal: 2), Patch(rect: square(10, 10), disposal: 2, color: 2),
      Patch(rect: square(3, 3), color: 3),
    ])
    #expect(try actions(film, [.frames(1..<3)]) == "ec")
  }

  @Test("The only frame of a file that ends in it keeps its 16 bits")
  func cutDeepFrame() throws {
    let bytes = try FixtureLibrary().file("APNG/type-grey-alpha-16.png")
    let first = try #require(try AnimatedImage(bytes: bytes).frames.first).byteRange
    var options = DecodingOptions()
    options.damage = .partialRows
    var comparison = try EditComparison(Array(bytes[..<(first.upperBound - 8)]), options: options)
    #expect(comparison.frames.count == 1)
    let outcome = comparison.run([.speed(2)])
    #expect(outcome.problem == nil && outcome.refusal == nil)
  }

  @Test("Every frame is announced, and the result says what was done")
  func progress() async throws {
    let film = gif((0..<6).map { Patch(rect: square($0, $0), color: UInt8($0 + 1)) })
    let image = try AnimatedImage(bytes: film)
    let sink = MemorySink()
    let seen = Tally()
    let written = try await image.write([.frames(2..<6)], to: sink) { _ in seen.add() }
    #expect(seen.count == 4)
    #expect(written.byteCount == sink.bytes.count && written.frameCount == 4)
    #expect(written.copiedCount == 3 && written.encodedCount == 1 && written.hasExactDelays)
    let plan = try await image.plan([.frames(2..<6)])
    #expect("\(plan)".contains("frames 1 to 3: frames 3 to 5, copied"))
    #expect("\(plan)".contains("frame 0: frame 2, encoded, since the canvas before it differs"))
  }

  /// With a tolerance, the file is encoded before anything is written to the sink.
  @Test("A sink that fails is abandoned, and its error is thrown", arguments: [0, 20])
  func failingSink(tolerance: Int) async throws {
    let image = try AnimatedImage(bytes: gif([Patch(rect: whole)]))
    let sink = FailingSink()
    let error = await #expect(throws: AnimatedImageError.self) {
      try await image.write([], to: sink, options: EditOptions(tolerance: tolerance))
    }
    #expect(error?.code == .io && sink.tally.count == 1)
  }

  @Test("A cancelled task writes nothing more and leaves the sink abandoned")
  func cancelling() async throws {
    let image = try AnimatedImage(bytes: gif([Patch(rect: whole)]))
    let sink = FailingSink()
    let task = Task {
      unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
      return try await image.plan([]).write(to: sink)
    }
    let error = await #expect(throws: AnimatedImageError.self) { try await task.value }
    #expect(error?.code == .cancelled)
  }

  private final class FailingSink: AnimationSink {
    let tally = Tally()
    var canPatch: Bool { false }
    func write(_ bytes: [UInt8]) throws(AnimatedImageError) {
      throw AnimatedImageError(.io, "full")
    }
    func patch(_ bytes: [UInt8], at offset: Int) throws(AnimatedImageError) {}
    func finish() throws(AnimatedImageError) {}
    func abandon() { tally.add() }
  }

  // MARK: Options

  /// Six pictures of 60x40 pixels with noise, as a file.
  private func noise(_ format: AnimationFormat) throws -> AnimatedImage {
    var random = SplitMix64(seed: 3)
    let sink = MemorySink()
    let writer = try AnimationWriter(
      to: sink, options: AnimationWriterOptions(format: format, identicalFrames: .keep))
    for time in 0..<6 {
      let picture = Pictures.make(60, 40) { x, y in
        let isNoisy = Int.random(in: 0..<6, using: &random) == 0
        let level = UInt8((x / 3 + y / 5 + (isNoisy ? time : 0)) % 9 * 20)
        return RGBA(red: level, green: level / 2, blue: UInt8(time))
      }
      try writer.append(picture, delay: FrameDelay(centiseconds: 5))
    }
    try writer.finish()
    return try AnimatedImage(bytes: sink.bytes)
  }

  @Test("New frames between copied ones are compressed as well as the effort asks")
  func effort() throws {
    for format in [AnimationFormat.gif, .apng] {
      let image = try noise(format)
      var sizes: [Int] = []
      var shown: [[Bitmap]] = []
      for effort in [EncodingEffort.fast, .balanced, .small] {
        let plan = try EditPlan(
          image, [.crop(square(3, 2, 30))], EditOptions(effort: effort))
        #expect(plan.rewriting == nil && plan.encodedCount == 6)
        let sink = MemorySink()
        _ = try plan.write(to: sink)
        sizes.append(sink.bytes.count)
        let reader = FrameReader(try AnimatedImage(bytes: sink.bytes))
        shown.append(try (0..<6).map { try reader.frame(at: $0).bitmap })
      }
      #expect(shown[0] == shown[1] && shown[1] == shown[2])
      #expect(sizes[0] > sizes[2] && sizes[1] >= sizes[2], "\(format): \(sizes)")
    }
  }

  @Test("A frame that is compressed in the form of its file ends when it is cancelled")
  func cancelledForm() throws {
    let image = try noise(.apng)
    let picture = try FrameReader(image).frame(at: 0).bitmap
    for (interlaced, effort) in [(true, EncodingEffort.fast), (false, .fast), (false, .balanced)] {
      var header = image.header
      header.isInterlaced = interlaced
      let error = #expect(throws: AnimatedImageError.self) {
        try PNGFormEncoder(header, effort: effort).compress(
          picture, in: PixelRect(picture.size), isCancelled: { true })
      }
      #expect(error?.code == .cancelled)
    }
  }
}
