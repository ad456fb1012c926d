import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// How streams end: too early, with an error, or cancelled.
@Suite(.timeLimit(.minutes(10)), .computes) struct StreamedEndingTests {
  @Test func `a stream that ends early or throws keeps its good frames`() async throws {
    struct Outage: Error {}
    let frame = GIFPieces.frame(dataBytes: 100)
    let bytes = GIFPieces.header + frame + frame + frame.prefix(20)
    let cut = try await StreamedImage(StreamedImageTests.sequence([bytes]))
    #expect(await cut.waitUntilEnded() == .truncated)
    #expect(cut.frameCount == 2)

    let (chunks, producer) = AsyncThrowingStream.makeStream(of: [UInt8].self)
    producer.yield(bytes)
    producer.finish(throwing: Outage())
    let broken = try await StreamedImage(chunks)
    let ending = await broken.waitUntilEnded()
    #expect(ending?.error?.code == .io)
    #expect(ending?.error?.detail.contains("Outage") == true)
    #expect(broken.image?.frames.count == 2)
  }

  @Test func `a byte that begins no block ends the stream as truncated`() async throws {
    let bytes = GIFPieces.header + GIFPieces.frame() + [0x77] + GIFPieces.frame() + [0x3b]
    let stream = try await StreamedImage(StreamedImageTests.sequence([bytes]))
    #expect(await stream.waitUntilEnded() == .truncated)
    #expect(stream.frameCount == 1)
  }

  @Test func `an empty canvas is refused as in a whole file`() async {
    var bytes = GIFPieces.header
    for place in 6..<10 { bytes[place] = 0 }
    // An image descriptor without pixels.
    bytes += [0x2c] + Array(repeating: 0, count: 9) + [2, 2, 0x4c, 1, 0]
    for rest in [[], [0x3b]] as [[UInt8]] {
      let whole = #expect(throws: AnimatedImageError.self) {
        _ = try AnimatedImage(bytes: bytes + rest)
      }
      let streamed = await #expect(throws: AnimatedImageError.self) {
        _ = try await StreamedImage(StreamedImageTests.sequence([bytes + rest]))
      }
      #expect(streamed == whole && streamed?.code == .malformed)
    }
  }

  @Test func `a frame that cannot be decoded ends the bitmaps, not the stream`() async throws {
    let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
    producer.yield(GIFPieces.header + GIFPieces.frame())
    var options = DecodingOptions()
    options.damage = .strict
    let stream = try await StreamedImage(chunks, options: options)
    // A frame of one code where 16 pixels belong.
    var cut = Array(GIFPieces.frame().prefix { $0 != 0x2c })
    cut += [0x2c, 0, 0, 0, 0, 4, 0, 4, 0, 0, 2, 2, 0x44, 1, 0]
    producer.yield(cut)
    #expect(await stream.waitForFrame(1))
    #expect(await !stream.waitForFrame(-1))
    var bitmaps = stream.bitmaps().makeAsyncIterator()
    #expect(try await bitmaps.next(isolation: #isolation)?.index == 0)
    await #expect(throws: AnimatedImageError.self) {
      _ = try await bitmaps.next(isolation: #isolation)
    }
    #expect(try await bitmaps.next(isolation: #isolation) == nil)
    #expect(stream.progress.ending == nil)
    producer.finish()
  }

  @Test func `a cancelled caller learns no ending`() async throws {
    let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
    producer.yield(GIFPieces.header + GIFPieces.frame())
    let stream = try await StreamedImage(chunks)
    let caller = Task { await stream.waitUntilEnded() }
    caller.cancel()
    #expect(await caller.value == nil)
    #expect(stream.progress.ending == nil)
    producer.yield([0x3b])
    #expect(await stream.waitUntilEnded() == .complete)
  }

  @Test func `a stream without an image throws`() async {
    for (bytes, code) in [
      ([], AnimatedImageError.Code.truncated), (Array("not an image at all".utf8), .notAnImage),
      (Array("GIF89a".utf8), .truncated),
    ] {
      let error = await #expect(throws: AnimatedImageError.self) {
        _ = try await StreamedImage(StreamedImageTests.sequence([bytes]))
      }
      #expect(error?.code == code)
    }
  }

  @Test func `strict ends the stream at the first damage that loses something`() async throws {
    let frame = GIFPieces.frame(dataBytes: 100)
    let bytes = GIFPieces.header + frame + frame + frame.prefix(20)
    let stream = try await StreamedImage(
      StreamedImageTests.sequence([bytes]), options: DecodingOptions(damage: .strict))
    #expect(await stream.waitUntilEnded()?.error != nil)
    #expect(stream.frameCount == 2)
  }

  @Test func `releasing or cancelling the stream stops the producer`() async throws {
    let frame = GIFPieces.frame(dataBytes: 100)
    for cancels in [true, false] {
      let (chunks, producer) = AsyncStream.makeStream(of: [UInt8].self)
      let ended = AsyncStream.makeStream(of: Bool.self)
      producer.onTermination = { reason in
        ended.continuation.yield(reason == .cancelled)
      }
      producer.yield(GIFPieces.header + frame)
      var stream: StreamedImage? = try await StreamedImage(chunks)
      #expect(await stream?.waitForFrame(0) == true)
      let core = try Weak(#require(stream?.core))
      if cancels {
        stream?.cancel()
        #expect(await stream?.waitUntilEnded() == .cancelled)
        #expect(stream?.frameCount == 1)
      }
      stream = nil
      var terminations = ended.stream.makeAsyncIterator()
      #expect(await terminations.next() == true)
      await eventually { core.object == nil }
    }
  }

  @Test func `a producer that ignores cancelling does not hold up the ending`() async throws {
    let gate = TaskGate()
    let frame = GIFPieces.frame(dataBytes: 100)
    let chunks = ChunkList([GIFPieces.header + frame])
    let stream = try await StreamedImage(
      AsyncStream<[UInt8]>(unfolding: {
        if let chunk = chunks.next() { return chunk }
        await gate.wait()
        return nil
      }))
    #expect(await stream.waitForFrame(0))
    stream.cancel()
    #expect(await stream.waitUntilEnded() == .cancelled)
    #expect(stream.frameCount == 1)
    gate.open()
  }

  @Test func `cancelling does not wait for a truncated frame that is being decoded`() async throws {
    let frame = GIFPieces.frame(dataBytes: 100)
    let core = StreamCore(options: .init(), storage: .init())
    _ = try await core.receive(GIFPieces.header + frame + frame.prefix(20))
    core.settle(nil) { (scan, source, options) throws(AnimatedImageError) in
      core.settle(.cancelled)
      #expect(core.ending == .cancelled)
      return try AnimatedImage(scan, source: source, options: options)
    }
    // The frame that was being decoded changes nothing any more.
    #expect(core.ending == .cancelled && core.frameCount == 1)
  }

  @Test func `a thousand streams cancelled at any point leave nothing behind`() async throws {
    let frame = GIFPieces.frame(dataBytes: 100)
    var random = SplitMix64(seed: 5)
    var cores: [Weak<StreamCore>] = []
    for round in 0..<1000 {
      let chunks =
        [GIFPieces.header + frame]
        + Array(repeating: frame, count: Int.random(in: 0...5, using: &random))
      let stream = try await StreamedImage(StreamedImageTests.sequence(chunks))
      cores.append(Weak(stream.core))
      switch round % 4 {
      case 0: stream.cancel()
      case 1: _ = await stream.waitForFrame(1)
      case 2: _ = await stream.waitUntilEnded()
      default: break
      }
    }
    await eventually { cores.allSatisfy { $0.object == nil } }
  }
}

private struct Weak<Object: AnyObject> {
  weak var object: Object?
  init(_ object: Object) { self.object = object }
}
