import Synchronization
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeWriting

@Suite(.timeLimit(.minutes(10)), .startsThreads) struct AnimationWriterTests {
  static let red = picture(RGBA(red: 255, green: 0, blue: 0))
  static let green = picture(RGBA(red: 0, green: 255, blue: 0))

  static func picture(_ color: RGBA) -> Bitmap { Pictures.make(8, 6) { _, _ in color } }

  static func delay(_ milliseconds: UInt32) -> FrameDelay {
    FrameDelay(numerator: milliseconds, denominator: 1000)
  }

  /// The file of `frames` with delays in milliseconds.
  static func write(
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

  @Test func `the only frame of a GIF has a control block only if it needs one`() throws {
    var options = AnimationWriterOptions(format: .gif, frameCount: 1)
    let control: [UInt8] = [0x21, 0xf9]
    #expect(try !Self.write([(Self.red, 0)], options).bytes.contains(control))
    #expect(try Self.write([(Self.red, 100)], options).bytes.contains(control))
    options.frameCount = nil
    #expect(try Self.write([(Self.red, 0)], options).bytes.contains(control))
  }

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

  @Test(arguments: [AnimationWriterOptions.ShortDelays.merge, .keep])
  func `a delay of a hundred years is too long for a GIF`(
    shortDelays: AnimationWriterOptions.ShortDelays
  ) throws {
    let sink = MemorySink()
    let writer = try AnimationWriter(
      to: sink, options: AnimationWriterOptions(format: .gif, shortDelays: shortDelays))
    let error = #expect(throws: AnimatedImageError.self) {
      try writer.append(Self.red, delay: FrameDelay(numerator: 3_200_000_000, denominator: 1))
      try writer.append(Self.green, delay: Self.delay(50))
      try writer.finish()
    }
    #expect(error?.code == .limitExceeded && error?.limit?.kind == .editedFrames)
  }

  @Test func `merged delays of centuries are too long for an APNG, too`() throws {
    let writer = try AnimationWriter(to: MemorySink(), options: AnimationWriterOptions())
    // One such delay takes 65,537 frames, and the sum of five takes more than a file may have.
    for _ in 0..<5 {
      try writer.append(Self.red, delay: FrameDelay(numerator: .max, denominator: 1))
    }
    let error = #expect(throws: AnimatedImageError.self) { try writer.finish() }
    #expect(error?.code == .limitExceeded && error?.limit?.kind == .editedFrames)
    #expect(error?.frameIndex == 0 && error?.limit?.allowed == EditTimeline.frameLimit)
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
