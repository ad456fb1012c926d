import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeFrames

/// What one row of the table gives a format: everything, without a change elsewhere.
@Suite(.timeLimit(.minutes(10))) struct NewFormatTests {
  private let film = FarbfeldFilm()
  private let image: AnimatedImage
  private let half = Rendering(target: TargetSize(width: 6, height: 4), fit: .stretch, filter: .box)

  init() throws {
    #expect(FarbfeldCodec.isAdded)
    image = try AnimatedImage(bytes: film.bytes)
  }

  /// The bitmap of frame `index`, made without the decoder.
  private func scaled(_ index: Int) throws -> Bitmap {
    let reader = FrameReader(image)
    return try reader.frame(at: index).bitmap.scaled(
      to: TargetSize(width: 6, height: 4), fit: .stretch, filter: .box)
  }

  @Test func `it is opened and decoded`() throws {
    #expect(image.format == .farbfeld && "\(image.format)" == "farbfeld")
    #expect(image.canvasSize == film.size && image.playCount == .once && image.damage.isEmpty)
    #expect(image.duration() == .milliseconds(600))
    let reader = FrameReader(image)
    while let frame = try reader.next() {
      #expect(film.isShown(by: frame.bitmap, frame.index))
      #expect(frame.damage == nil)
    }
    #expect(reader.nextIndex == 6)
  }

  @Test func `its edits are written as APNG, with all frames encoded again`() async throws {
    let plan = try await image.plan([.reverse], options: EditOptions(keepsHiddenColors: true))
    #expect(plan.format == .apng && plan.copiedCount == 0 && plan.encodedCount == 6)
    let sink = MemorySink()
    try await plan.write(to: sink)
    let written = try AnimatedImage(bytes: sink.bytes)
    let reader = FrameReader(written)
    while let frame = try reader.next() {
      #expect(film.isShown(by: frame.bitmap, 5 - frame.index))
    }
    #expect(reader.nextIndex == 6 && written.duration() == image.duration())
  }

  @Test func `a format with a writer is written, and its edits stay in that format`() async throws {
    let sink = MemorySink()
    var options = AnimationWriterOptions(copying: image)
    (options.format, options.keepsHiddenColors) = (.farbfilm, true)
    try await image.reencode(to: sink, options: options)
    #expect(sink.bytes.count == film.bytes.count)
    let written = try AnimatedImage(bytes: sink.bytes)
    #expect(written.format == .farbfilm)

    let plan = try await written.plan([.reverse], options: EditOptions(keepsHiddenColors: true))
    #expect(plan.format == .farbfilm && plan.copiedCount == 0 && plan.encodedCount == 6)
    let edited = MemorySink()
    try await plan.write(to: edited)
    let reader = FrameReader(try AnimatedImage(bytes: edited.bytes))
    while let frame = try reader.next() {
      #expect(film.isShown(by: frame.bitmap, 5 - frame.index))
    }
    #expect(reader.nextIndex == 6)

    let copy = MemorySink()
    #expect(try await written.optimize(to: copy).isCopy)
    #expect(copy.bytes == sink.bytes)
  }

  @Test func `a file that ends in a frame keeps the frames before, and limits hold`() throws {
    let cut = try AnimatedImage(bytes: Array(film.bytes.dropLast(100)))
    #expect(cut.frames.count == 5)
    #expect(cut.damage.map(\.kind) == [.cutBlock, .cutFrame])
    var limits = DecodingLimits.default
    limits.frameCount = 5
    let error = #expect(throws: AnimatedImageError.self) {
      try AnimatedImage(bytes: film.bytes, options: DecodingOptions(limits: limits))
    }
    #expect(error?.limit == LimitExcess(.frameCount, found: 6, allowed: 5))
    #expect(error?.format == .farbfeld)
  }

  @Test func `its frames and the rows of a frame show while they arrive`() async throws {
    let bytes = film.bytes
    let chunks = stride(from: 0, to: bytes.count, by: 7).map {
      Array(bytes[$0..<min($0 + 7, bytes.count)])
    }
    let stream = try await StreamedImage(
      AsyncStream { continuation in
        for chunk in chunks { continuation.yield(chunk) }
        continuation.finish()
      })
    var count = 0
    for try await frame in stream.bitmaps() {
      #expect(film.isShown(by: frame.bitmap, frame.index))
      count += 1
    }
    #expect(count == 6 && stream.format == .farbfeld)
    #expect(await stream.waitUntilEnded() == .complete)

    let core = StreamCore(options: .init(), storage: .init())
    // One frame, and half of the next.
    let rowBytes = 8 * film.size.width
    _ = try await core.receive(Array(bytes[..<(film.frameByteCount + 16 + 4 * rowBytes + 5)]))
    let partial = try PartialReader(core).next { false }
    #expect(partial?.index == 1 && partial?.completeRows == 4 && partial?.passCount == 1)
    #expect(partial?.bitmap.pixels(row: 3)[2] == film.color(2, 3, frame: 1))
    #expect(partial?.bitmap.pixels(row: 4)[2] == film.color(2, 4, frame: 0))
    core.settle(.cancelled)
  }

  @Test func `it is read by byte ranges, with and without an index`() async throws {
    // Large frames: only what lies between them is read.
    let film = FarbfeldFilm(size: PixelSize(width: 100, height: 80), frameCount: 4)
    let options = RemoteOptions(readAheadByteCount: 0, gapByteLimit: 1)
    let ranges = CountedRanges(film.bytes)
    let remote = try await RemoteImage(reading: ranges, remoteOptions: options)
    #expect(remote.frames == (try AnimatedImage(bytes: film.bytes).frames))
    #expect(ranges.readByteCount < film.frameByteCount)
    #expect(film.isShown(by: try await remote.bitmap(at: 2), 2))

    let index = try ImageIndex(bytes: remote.index.bytes)
    #expect(index == remote.index && index.format == .farbfeld)
    let frames = CountedRanges(film.bytes)
    let known = try await RemoteImage(reading: frames, index: index, remoteOptions: options)
    #expect(film.isShown(by: try await known.bitmap(at: 3), 3))
    #expect(frames.readByteCount == film.frameByteCount)
    let other = CountedRanges([UInt8](repeating: 1, count: film.bytes.count))
    let wrong = try await RemoteImage(reading: other, index: index, remoteOptions: options)
    let error = await #expect(throws: AnimatedImageError.self) { try await wrong.bitmap(at: 1) }
    #expect(error?.code == .invalidImageIndex)
  }

  @Test func `frames are found in any order`() async throws {
    for index in [5, 0, 3, 4, 1] {
      #expect(film.isShown(by: try await image.bitmap(at: index), index))
    }
    #expect(film.isShown(by: try await image.bitmap(at: .milliseconds(250)), 2))
    let stored = try StoredFrameReader(image).frame(at: 4)
    #expect(stored.map { film.isShown(by: $0.bitmap, 4) } == true)
  }

  @Test func `it is played`() async throws {
    let clock = ManualClock(.jumping)
    var count = 0
    for try await frame in image.play(options: .everyFrame, clock: clock) {
      #expect(film.isShown(by: frame.bitmap, frame.index))
      #expect(frame.presentationTime == .milliseconds(100 * count))
      count += 1
    }
    #expect(count == 6)
  }

  @Test func `it is scaled`() async throws {
    for try await frame in image.bitmaps(rendering: half) {
      #expect(frame.bitmap == (try scaled(frame.index)))
    }
  }

  @Test func `it is cached`() throws {
    let cache = MemoryFrameCache(budget: MemoryBudget(byteLimit: 1 << 20))
    let first = RenderedReader(image, rendering: half, cache: cache)
    for index in 0..<6 { _ = try first.frame(at: index) }
    let second = RenderedReader(image, rendering: half, cache: cache)
    for index in 0..<6 {
      let bitmap = try second.frame(at: index).bitmap
      #expect(bitmap == (try scaled(index)))
    }
    #expect(second.decodedCount == 0)
  }

  @Test func `it is stored`() throws {
    let scratch = try ScratchDirectory()
    for count in [6, 0] {
      let cache = MemoryFrameCache(
        budget: MemoryBudget(byteLimit: 1 << 20), backing: try FrameStore(at: scratch.path))
      let reader = RenderedReader(image, rendering: half, cache: cache)
      for index in 0..<6 {
        let bitmap = try reader.frame(at: index).bitmap
        #expect(bitmap == (try scaled(index)))
      }
      #expect(count > 0 || reader.decodedCount == 0)
    }
  }

  // MARK: - Telling formats apart

  private func scan(
    _ bytes: [UInt8], in size: Int, _ rows: [any FormatCodec]? = nil
  ) throws(AnimatedImageError) -> ScannedImage {
    var file = FileScanner(limits: .default, rows: rows ?? FormatTable.rows)
    for start in stride(from: 0, to: bytes.count, by: size) {
      try file.feed(Array(bytes[start..<min(start + size, bytes.count)]).rawBytes)
    }
    try file.finish()
    return file.scanner.image
  }

  /// A row whose files begin as those of farbfeld do, but for the last letter.
  private struct Neighbour: FormatCodec {
    var name: String { "neighbour" }
    var fileExtensions: [String] { [] }
    var formats: [AnimationFormat] { [AnimationFormat(rawValue: "neighbour")] }
    var signatures: [[UInt8?]] { [Array("farb".utf8) + [nil, nil, nil] + Array("x".utf8)] }
    private var other: FarbfeldCodec { FarbfeldCodec() }

    func makeScanner(_ limits: DecodingLimits) -> any Scanning { other.makeScanner(limits) }
    func playCount(_ count: UInt32, of format: AnimationFormat) -> PlayCount { .once }
    func beginsFrame(_ bytes: borrowing RawSpan) -> Bool { false }
    func makeDecoder(_ options: DecodingOptions) -> any FrameDecoding { other.makeDecoder(options) }
    func makeArrival(
      _ control: FrameControl, _ header: ImageHeader, _ options: DecodingOptions
    ) throws(AnimatedImageError) -> any ArrivalDecoding {
      try other.makeArrival(control, header, options)
    }
    func decodedPixelSize(_ header: ImageHeader, _ options: DecodingOptions) -> Int { 8 }
    func workingByteCount(for byteCount: Int, _ options: DecodingOptions) -> Int { 0 }
  }

  @Test func `bytes of no format are refused in the same words, whatever formats are added`() {
    let error = #expect(throws: AnimatedImageError.self) {
      try AnimatedImage(bytes: Array("farbfelt".utf8))
    }
    #expect(error?.detail == "no GIF or PNG signature")
  }

  @Test func `a format is detected from as many bytes as it takes, in pieces of any length`() throws
  {
    let rows: [any FormatCodec] = [Neighbour(), FarbfeldCodec(), GIFCodec()]
    let whole = try scan(film.bytes, in: film.bytes.count)
    for size in [1, 5, 7, 8, 9] {
      #expect(try scan(film.bytes, in: size, rows) == whole)
    }
    func code(_ text: String, in size: Int) -> AnimatedImageError.Code? {
      do throws(AnimatedImageError) {
        _ = try scan(Array(text.utf8), in: size, rows)
        return nil
      } catch {
        return error.code
      }
    }
    for size in [1, 3, 20] {
      #expect(code("", in: size) == .truncated)
      #expect(code("farbf", in: size) == .truncated)
      #expect(code("farbfelt", in: size) == .notAnImage)
      #expect(code("RIFF", in: size) == .notAnImage)
      // The row is found, and its scanner requires a picture.
      #expect(code("farb...x12345678", in: size) == .malformed)
    }
  }
}
