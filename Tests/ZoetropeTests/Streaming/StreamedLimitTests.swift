import SystemPackage
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// What streams keep when they exceed a limit on bytes, memory or frames.
@Suite(.timeLimit(.minutes(10)), .computes) struct StreamedLimitTests {
  @Test func `bytes past the memory limit are read back from the file`() async throws {
    let frame = GIFPieces.frame(dataBytes: 4000)
    let bytes = GIFPieces.header + Array(repeating: frame, count: 200).flatMap { $0 } + [0x3b]
    let core = await StreamedImageTests.receive(
      bytes, .random, storage: StreamStorage(memoryByteLimit: 1))
    #expect(core.ending == .complete)
    #expect(core.received.memoryLimit == 1 << 18)
    #expect(core.received.spilledByteCount == bytes.count - 1 << 18)
    let source = ReceivedSource(core.received)
    var random = SplitMix64(seed: 3)
    var buffer = ReadBuffer()
    for _ in 0..<200 {
      let start = Int.random(in: 0...bytes.count, using: &random)
      let range = start..<start + Int.random(in: 0...20_000, using: &random)
      let found = try source.withBytes(in: range, buffer: &buffer) { span in
        (0..<span.byteCount).map { span[$0] }
      }
      #expect(found == Array(bytes[range.clamped(to: 0..<bytes.count)]))
    }
  }

  @Test func `a stream past the byte limit keeps the frames before it`() async throws {
    let frame = GIFPieces.frame(dataBytes: 1000)
    let bytes = GIFPieces.header + Array(repeating: frame, count: 20).flatMap { $0 } + [0x3b]
    let chunks = StreamedImageTests.Split.sixtyFour.chunks(bytes)
    let stream = try await StreamedImage(
      StreamedImageTests.sequence(chunks), storage: StreamStorage(byteLimit: 10_000))
    #expect(await stream.waitUntilEnded()?.error?.code == .limitExceeded)
    #expect(stream.frameCount == 9)
    #expect(stream.image?.frames.count == 9)
  }

  @Test func `a memory limit may be any number`() async {
    for (limit, expected) in [(Int.min, 0), (-1, 0), (0, 0), (1, 1 << 18)] {
      #expect(ReceivedBytes(memoryLimit: limit, byteLimit: .min).memoryLimit == expected)
    }
    #expect(ReceivedBytes(memoryLimit: .max, byteLimit: .max).memoryLimit > .max / 2)
    let bytes = GIFPieces.header + GIFPieces.frame() + [0x3b]
    let core = await StreamedImageTests.receive(
      bytes, .seven, storage: StreamStorage(memoryByteLimit: .max, byteLimit: .max))
    #expect(core.ending == .complete)
    #expect(core.received.spilledByteCount == 0)
  }

  @Test func `a file that cannot be made ends the stream and keeps its frames`() async throws {
    let frame = GIFPieces.frame(dataBytes: 4000)
    let start = GIFPieces.header + Array(repeating: frame, count: 60).flatMap { $0 }
    for memoryLimit in [0, 1] {
      let stream = StreamCore(
        options: .init(),
        storage: StreamStorage(memoryByteLimit: memoryLimit, directory: "/dev/null/missing"))
      var failure: AnimatedImageError?
      do {
        _ = try await stream.receive(start)
        _ = try await stream.receive(start)
      } catch {
        failure = error
      }
      #expect(failure?.code == .io)
      stream.settle(failure.map { .failed($0) })
      #expect(stream.ending?.error?.code == .io)
      #expect(stream.frameCount == (memoryLimit == 0 ? 0 : 60))
    }
  }

  @Test func `the frame that passes the limit of memory is not there`() async throws {
    let (small, large) = (GIFPieces.frame(), GIFPieces.frame(dataBytes: 30_000))
    let bytes = GIFPieces.header + small + small + large + small
    let whole = try AnimatedImage(bytes: bytes)
    let header = ImageHeader(format: .gif, canvasSize: whole.canvasSize)
    let needed = DecodeFootprint(whole.frames, header: header, options: .init()).byteCount
    for (limit, count) in [(needed, 4), (needed - 1, 2)] {
      var options = DecodingOptions()
      options.limits.liveBytes = limit
      let core = StreamCore(options: options, storage: .init())
      var failure: AnimatedImageError?
      do {
        _ = try await core.receive(Array(bytes[..<(GIFPieces.header.count + small.count)]))
        #expect(core.frameCount == 1)
        _ = try await core.receive(Array(bytes[(GIFPieces.header.count + small.count)...]))
      } catch {
        failure = error
      }
      #expect(core.frameCount == count)
      #expect(failure?.code == (count == 4 ? nil : .limitExceeded))
      core.settle(failure.map { .failed($0) })
      #expect(core.frameCount == count)
      #expect(core.image?.frames == Array(whole.frames[..<count]))
    }
  }

  @Test(arguments: [1, 64, .max])
  func `frames before a limit keep their bytes`(chunk: Int) async throws {
    let film = DeltaGIF.make(width: 24, height: 20, frameCount: 4, patch: 24)
    let sink = MemorySink()
    try await AnimatedImage(bytes: film).reencode(to: sink)
    for bytes in [film, sink.bytes] {
      let whole = try AnimatedImage(bytes: bytes)
      let reader = FrameReader(whole)
      let expected = try (0..<2).map { _ in try #require(try reader.next()).bitmap }
      for limit in [\DecodingLimits.frameCount, \.pixelsPerPlay] {
        var options = DecodingOptions()
        options.limits[keyPath: limit] = limit == \.frameCount ? 2 : 2 * 24 * 20
        let core = StreamCore(options: options, storage: .init())
        var failure: AnimatedImageError?
        do {
          for start in stride(from: 0, to: bytes.count, by: min(chunk, bytes.count)) {
            _ = try await core.receive(Array(bytes[start...].prefix(chunk)))
          }
        } catch { failure = error }
        #expect(failure?.code == .limitExceeded)
        core.settle(failure.map { .failed($0) })
        let image = try #require(core.image)
        #expect(image.frames == Array(whole.frames[..<2]))
        let kept = FrameReader(image)
        for bitmap in expected { #expect(try kept.next()?.bitmap == bitmap) }
      }
    }
  }
}
