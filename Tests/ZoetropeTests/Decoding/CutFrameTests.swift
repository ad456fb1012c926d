import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeFrames

/// Files that end within their only frame, which opening decodes to see how much of it is there.
@Suite(.timeLimit(.minutes(10))) struct CutFrameTests {
  private static let gif = DeltaGIF.make(width: 64, height: 64, frameCount: 1)

  private static func cutFile(_ format: AnimationFormat) throws -> [UInt8] {
    var bytes = gif
    if format == .png {
      bytes = try PNGEncoder().encode(FrameReader(AnimatedImage(bytes: gif)).frame(at: 0).bitmap)
    }
    return Array(bytes.prefix(bytes.count * 2 / 3))
  }

  /// An image that has kept what opening has decoded. It keeps nothing while other tests fill the memory that readers
  /// share.
  private static func opened(
    _ format: AnimationFormat
  ) async throws -> (source: CountingSource, image: AnimatedImage) {
    let bytes = try cutFile(format)
    while true {
      let source = CountingSource(bytes)
      let image = try source.open()
      if image.state.openingFrame != nil { return (source, image) }
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  @Test(arguments: [AnimationFormat.gif, .png])
  func `opening and the first reader decode a cut frame once`(
    format: AnimationFormat
  ) async throws {
    let (source, image) = try await Self.opened(format)
    #expect(image.damage.contains { $0.kind == .cutFrame })
    let readers = [FrameReader(image), FrameReader(image)]
    let first = try readers[0].frame(at: 0)
    #expect(source.count == 0)
    let again = try readers[0].frame(at: 0)
    #expect(source.count == 1)
    let other = try readers[1].frame(at: 0)
    #expect(source.count == 2)
    for frame in [again, other] {
      #expect(frame.bitmap == first.bitmap)
      #expect(frame.damage == first.damage)
    }
    #expect(first.damage?.kind.isTolerated == false)
  }

  @Test(arguments: [AnimationFormat.gif, .png])
  func `random access reuses what opening has decoded`(format: AnimationFormat) async throws {
    let (source, image) = try await Self.opened(format)
    let bitmap = try await image.bitmap(at: 0)
    #expect(source.count == 0)
    #expect(try FrameReader(image).frame(at: 0).bitmap == bitmap)
    #expect(source.count == 1)
  }

  @Test func `a whole file is not decoded while it is opened`() throws {
    let source = CountingSource(Self.gif)
    _ = try FrameReader(source.open()).frame(at: 0)
    #expect(source.count == 1)
  }

  @Test func `a decoded frame is charged until it is taken or forgotten`() throws {
    let memory = DecodeMemory(byteLimit: 10_000)
    let pixels = FramePixels()
    try pixels.reserve(byteCount: 6000)
    let count = pixels.storage.byteCount
    do {
      let frame = try #require(OpeningFrame(pixels, memory: memory))
      #expect(memory.usedBytes == count)
      #expect(OpeningFrame(pixels, memory: memory) == nil)
      #expect(memory.usedBytes == count)
      #expect(frame.take() === pixels)
      #expect(frame.take() == nil)
      #expect(memory.usedBytes == 0)
    }
    #expect(memory.usedBytes == 0)
    var forgotten = OpeningFrame(pixels, memory: memory)
    #expect(forgotten != nil && memory.usedBytes == count)
    forgotten = nil
    #expect(memory.usedBytes == 0)
  }
}
